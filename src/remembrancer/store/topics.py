"""Reading topics: a choice of topics for the statements of `store.projects`."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.ids import Namespace
from remembrancer.store import projects as owners
from remembrancer.store.projections import TOPICS
from remembrancer.store.projects import Choice


def named(namespace: Namespace, slugs: Sequence[str], *, name: str | None = None) -> Choice:
    """Choose topics by slug, or by name without regard to case."""
    return owners.named(TOPICS, namespace, slugs, name=name)


def page(
    namespace: Namespace, *, after_slug: str, limit: int, position: int | None = None
) -> Choice:
    """Choose a page of all topics, by slug."""
    return owners.page(TOPICS, namespace, after_slug=after_slug, limit=limit, position=position)
