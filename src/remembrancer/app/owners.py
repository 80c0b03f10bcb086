"""Finding or making the project or topic that an input names.

A slug alone must exist; a slug with a name, or a name alone, is made when it does not. Two
different names whose slugs would be the same get different slugs. Not for renaming.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.app.state import App
from remembrancer.core.errors import NotFound
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.items.record import Owner
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.projects.decide import check_name, create_project
from remembrancer.core.text.fold import fold
from remembrancer.core.text.slugs import slugify
from remembrancer.core.topics.decide import create_topic
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.items import owner_statement
from remembrancer.store.ledger import StreamEdit

Area = Literal["projects", "topics"]

_CANDIDATES: Final = 50
"""Slugs that are looked at for one name: more names with one slug than this do not occur."""


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
        return owner_statement(namespace, self.area, self._candidates())

    def _candidates(self) -> Sequence[str]:
        if self.slug is not None and self.name is None and not self.is_lenient:
            return [self.slug, slugify(self.slug)]
        stem = slugify(self.slug or self.name or "")
        return [stem, *(f"{stem}-{number}" for number in range(2, _CANDIDATES))]


@dataclass(frozen=True, slots=True)
class Found:
    """The project or topic, and the edit that makes it when it is new."""

    owner: Owner
    edit: StreamEdit | None = None


def settle(app: App, wanted: Wanted, rows: Sequence[Row]) -> Found:
    """Choose among the rows of `Wanted.statement`, or draft a new one.

    *Raises:* NotFound when a slug alone does not exist.
    """
    present = {str(row["slug"]): row for row in rows}
    if wanted.slug is not None:
        row = present.get(wanted.slug) or present.get(slugify(wanted.slug))
        if row is not None:
            return Found(_owner(row))
    name = wanted.name if wanted.name is not None else wanted.slug
    assert name is not None
    if wanted.name is None and not wanted.is_lenient:
        what = "project" if wanted.area == "projects" else "topic"
        raise NotFound(
            f"there is no {what} {name[:60]!r}",
            hint=f"give {what}_name as well to make it, or use list_{wanted.area}",
        )
    for row in rows:
        if wanted.slug is None and fold(str(row["name"])) == fold(name):
            return Found(_owner(row))
    return _make(app, wanted, check_name(name), present.keys())


def _make(app: App, wanted: Wanted, name: str, taken: Container[str]) -> Found:
    stem = slugify(wanted.slug or name)
    candidates = [stem, *(f"{stem}-{number}" for number in range(2, _CANDIDATES))]
    slug = next(candidate for candidate in candidates if candidate not in taken)
    if wanted.area == "projects":
        id_ = app.runtime.new_id("prj")
        draft: Draft = create_project(name=name, slug=slug, description=None)
        stream = Stream(f"project/{id_}")
    else:
        id_ = app.runtime.new_id("top")
        draft = create_topic({"name": name}, slug=slug)
        stream = Stream(f"topic/{id_}")
    return Found(Owner(id_, slug, name), StreamEdit(stream, Head(), {}, (draft,)))


def _owner(row: Row) -> Owner:
    return Owner(str(row["id"]), str(row["slug"]), str(row["name"]))
