"""REST of bringing together what was saved more than once. Only parsing and form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, cast

from pydantic import Field

from remembrancer.app import consolidation
from remembrancer.app.consolidation import GROUPS_MAX, Consolidation
from remembrancer.core import limits
from remembrancer.core.items.fields import Kind, State
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query, Shape
from remembrancer.http.rest.item_bodies import text
from remembrancer.http.rest.item_shapes import ItemShape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

Relationship = Literal["duplicate_of", "supersedes", "replaces", "derived_from"]


class GroupsQuery(Query):
    """Which groups are looked for."""

    kind: Kind = "memory"
    tag: str | None = Field(None, description="Only those that share this tag.")
    min_group_size: int = Field(2, ge=2, le=limits.BULK_ITEMS_MAX)
    limit: Annotated[int, Field(ge=1, le=GROUPS_MAX)] = 20


class MemberShape(Shape):
    """An item of a group."""

    id: str
    title: str
    excerpt: str
    state: State
    pinned: bool
    tags: list[str]
    updated_at: str


class GroupShape(Shape):
    """Items that share tags, and how they could be brought together.

    A pair that is near in meaning without sharing one has a `score` and its `differences`.
    """

    tags: list[str]
    items: list[MemberShape]
    count: int
    suggested_relationship: Relationship
    source_item_id: str
    target_item_ids: list[str]
    score: float | None = None
    differences: list[str] | None = None


class GroupsAnswer(Shape):
    """The groups, the largest first."""

    groups: list[GroupShape]
    count: int


class Bringing(Named):
    """What stays, and what it takes the place of."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        "source_id": "source_item_id",
        "target_ids": "target_item_ids",
        "type": "relationship_type",
    }

    source_item_id: str = Field(description="What stays.")
    target_item_ids: list[str] = Field(
        json_schema_extra={"minItems": 1, "maxItems": limits.BULK_ITEMS_MAX}
    )
    relationship_type: Relationship
    reason: str | None = text(limits.REASON_CHARS_MAX)
    mark_superseded: bool | None = optional(
        description="By default true, and false for derived_from."
    )


class BroughtAnswer(Shape):
    """What stays, and what became of the others; `created` counts new relations."""

    source: ItemShape
    relationship_type: Relationship
    created: int
    superseded: list[str]
    already: list[str]


async def _find(call: Call[GroupsQuery, None]) -> Answer:
    query = call.query
    answer = await consolidation.find_consolidation_candidates(
        call.app,
        call.caller,
        kind=query.kind,
        tag=query.tag,
        min_group_size=query.min_group_size,
        limit=query.limit,
    )
    return Answer(answer)


async def _consolidate(call: Call[None, Bringing]) -> Answer:
    # The model's fields have the names and the types of Consolidation's.
    given = cast(Consolidation, call.body.given())
    return Answer(await consolidation.consolidate_memories(call.app, call.caller, **given))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/consolidation",
        name="find_consolidation_candidates",
        area="search",
        summary="Find groups of items that share tags and may say the same",
        scope="memory:read",
        query=GroupsQuery,
        response=GroupsAnswer,
        errors=("limit_exceeded",),
        handler=_find,
    ),
    Route(
        method="POST",
        path="/v1/consolidation",
        name="consolidate",
        area="search",
        summary="Relate what stays to the others, and supersede these",
        scope="memory:write",
        body=Bringing,
        response=BroughtAnswer,
        errors=("not_found", "cycle", "invalid_transition"),
        handler=_consolidate,
    ),
)
"""The routes of consolidation."""
