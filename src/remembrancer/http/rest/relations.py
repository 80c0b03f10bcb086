"""REST of relations between items: add, remove, list. Only parsing and form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from remembrancer.app import relations
from remembrancer.core import limits
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query, Shape
from remembrancer.http.rest.item_bodies import Share, text
from remembrancer.http.rest.item_shapes import RelationShape
from remembrancer.http.rest.items import ITEM_ID
from remembrancer.http.rest.names import Named
from remembrancer.http.route_table import Route

RelationType = Literal[
    "supersedes",
    "replaces",
    "derived_from",
    "duplicate_of",
    "blocks",
    "depends_on",
    "supports",
    "contradicts",
]
"""Types of relations; the same as `core.relations.decide.TYPES`."""


class NewRelation(Named):
    """A relation to add."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        "source_item_id": "source_id",
        "relationship_type": "type",
        "target_item_id": "target_id",
    }

    source_id: str
    type: RelationType
    target_id: str
    confidence: Share = 1.0
    reason: str | None = text(limits.REASON_CHARS_MAX)


class RelationQuery(Query):
    """The relation that is meant."""

    source_id: str
    type: RelationType
    target_id: str


class EdgeShape(Shape):
    """A relation from one item to another."""

    source_id: str
    type: RelationType
    target_id: str
    confidence: float | None
    reason: str | None
    created_at: str | None


class AddedRelation(Shape):
    """A relation; `unchanged` says that it was there already."""

    relation: EdgeShape
    outcome: Literal["created", "unchanged"]


class RemovedRelation(Shape):
    """A relation that was removed."""

    relation: EdgeShape
    removed: bool


class RelationsAnswer(Shape):
    """An item's relations, newest first."""

    item_id: str
    relations: list[RelationShape]
    count: int = Field(description="Of those shown.")


async def _add(call: Call[None, NewRelation]) -> Answer:
    body = call.body
    answer = await relations.add_relation(
        call.app,
        call.caller,
        source_id=body.source_id,
        type=body.type,
        target_id=body.target_id,
        confidence=body.confidence,
        reason=body.reason,
    )
    return Answer(answer, status=201 if answer["outcome"] == "created" else 200)


async def _remove(call: Call[RelationQuery, None]) -> Answer:
    query = call.query
    answer = await relations.remove_relation(
        call.app,
        call.caller,
        source_id=query.source_id,
        type=query.type,
        target_id=query.target_id,
    )
    return Answer(answer)


async def _list(call: Call[None, None]) -> Answer:
    return Answer(await relations.list_relations(call.app, call.caller, call.path["item_id"]))


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/relations",
        name="add_relation",
        area="relations",
        summary="Relate two items",
        description="A circle of supersedes, blocks or depends_on is refused. The predecessor's "
        f"names are taken too: {', '.join(f'`{name}`' for name in NewRelation.OTHER_NAMES)}.",
        scope="memory:write",
        body=NewRelation,
        response=AddedRelation,
        statuses=(200, 201),
        errors=("not_found", "cycle"),
        handler=_add,
    ),
    Route(
        method="DELETE",
        path="/v1/relations",
        name="remove_relation",
        area="relations",
        summary="Remove a relation; both items stay as they are",
        scope="memory:write",
        query=RelationQuery,
        response=RemovedRelation,
        errors=("not_found",),
        handler=_remove,
    ),
    Route(
        method="GET",
        path="/v1/items/{item_id}/relations",
        name="list_relations",
        area="relations",
        summary="List an item's relations",
        params=ITEM_ID,
        scope="memory:read",
        response=RelationsAnswer,
        handler=_list,
    ),
)
"""The routes of relations."""
