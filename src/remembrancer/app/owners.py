"""Finding or making the project or topic that an input names.

A slug alone must exist; a slug with a name, or a name alone, is made when it does not. Two
different names whose slugs would be the same get different slugs. The profile topic is always
there: it is made when it is first referred to. Not for renaming.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from remembrancer.app.state import App
from remembrancer.core.errors import Conflict, NotFound
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.items.record import Owner
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.projects.decide import check_name, create_project
from remembrancer.core.text.fold import fold
from remembrancer.core.text.slugs import numbered_slugs, slugify
from remembrancer.core.topics.decide import PROFILE_NAME, PROFILE_SLUG, create_topic
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.items import owner_statement
from remembrancer.store.ledger import StreamEdit

Area = Literal["projects", "topics"]


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
"""Stands for an argument that was not given, where None means to clear."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A project or topic as an input names it. *Shape:* at least one of the two is given."""

    area: Area
    slug: str | None
    name: str | None
    is_lenient: bool = False
    """An unknown slug is taken as a name (quick capture)."""

    def statement(self, namespace: Namespace) -> Statement:
        """Return the statement that reads what could be meant."""
        return owner_statement(namespace, self.area, slug=self.slug, name=self.name)


@dataclass(frozen=True, slots=True)
class Found:
    """The project or topic, and the edit that makes it when it is new."""

    owner: Owner
    edit: StreamEdit | None = None


def pick(present: Mapping[str, str], slug: str | None, name: str | None) -> str | None:
    """Return the slug that is meant among those present (slug → name), or None.

    *Shape:* a slug by itself, by what is called so, or in its folded form; else the name.
    """
    if slug is not None and slug in present:
        return slug
    wanted = name if slug is None else slug
    is_alone = slug is None or name is None
    for candidate, known in present.items():
        if is_alone and wanted is not None and fold(known) == fold(wanted):
            return candidate
    stem = slugify(slug) if slug is not None else None
    return stem if stem in present else None


def free_slug(slug: str | None, name: str, taken: Container[str]) -> str:
    """Return the first slug for a new name that is not taken.

    *Raises:* InvalidInput (no letter or digit), Conflict when too many share it.
    """
    candidates = numbered_slugs(slug if slug is not None else name)
    for candidate in candidates:
        if candidate not in taken:
            return candidate
    raise Conflict(
        f"too many names share the slug {candidates[0]!r}",
        hint="choose a name that differs in its letters",
    )


def settle(app: App, wanted: Wanted, rows: Sequence[Row]) -> Found:
    """Choose among the rows of `Wanted.statement`, or draft a new one.

    *Raises:* NotFound when a slug alone does not exist.
    """
    by_slug = {str(row["slug"]): row for row in rows}
    present = {slug: str(row["name"]) for slug, row in by_slug.items()}
    slug = pick(present, wanted.slug, wanted.name)
    if slug is not None:
        row = by_slug[slug]
        return Found(Owner(str(row["id"]), slug, str(row["name"])))
    name = wanted.name if wanted.name is not None else wanted.slug
    assert name is not None
    is_profile = wanted.area == "topics" and slugify(wanted.slug or name) == PROFILE_SLUG
    if wanted.name is None and is_profile:
        name = PROFILE_NAME
    elif wanted.name is None and not wanted.is_lenient:
        raise missing(wanted.area, name)
    return _make(app, wanted, check_name(name), present)


def missing(area: Area, name: str) -> NotFound:
    """Return the error for a project or topic that does not exist."""
    what = "project" if area == "projects" else "topic"
    return NotFound(
        f"there is no {what} {name[:60]!r}",
        hint=f"give {what}_name as well to make it, or use list_{area}",
    )


def _make(app: App, wanted: Wanted, name: str, taken: Container[str]) -> Found:
    slug = free_slug(wanted.slug, name, taken)
    if wanted.area == "projects":
        id_ = app.runtime.new_id("prj")
        draft: Draft = create_project(name=name, slug=slug, description=None)
        stream = Stream(f"project/{id_}")
    else:
        id_ = app.runtime.new_id("top")
        draft = create_topic({"name": name}, slug=slug)
        stream = Stream(f"topic/{id_}")
    return Found(Owner(id_, slug, name), StreamEdit(stream, Head(), {}, (draft,)))
