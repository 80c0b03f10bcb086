"""Reading topics: a choice of topics for the statements of `store.projects`."""

from __future__ import annotations

from remembrancer.core.ids import Namespace
from remembrancer.store import projects as owners
from remembrancer.store.projections import TOPICS
from remembrancer.store.projects import Choice


def named(namespace: Namespace, *, slug: str | None, name: str | None) -> Choice:
    """Choose the topics that a slug or a name may mean."""
    return owners.named(TOPICS, namespace, slug=slug, name=name)


def page(
    namespace: Namespace, *, after_slug: str, limit: int, position: int | None = None
) -> Choice:
    """Choose a page of all topics, by slug."""
    return owners.page(TOPICS, namespace, after_slug=after_slug, limit=limit, position=position)
