"""Tools of relations between items, and of superseding."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator

from remembrancer.app import relations
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import OfItem, Share, as_list, named
from remembrancer.mcp.registry import Tool

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

Targets = Annotated[tuple[str, ...], BeforeValidator(as_list)]
"""Ids of items that something is done to."""


class OfRelation(Arguments):
    source_id: str = named("source_item_id", "source_id", default=...)
    type: RelationType = named("relationship_type", "type", default=...)
    target_id: str = named("target_item_id", "target_id", default=...)


class AddRelation(OfRelation):
    confidence: Share = 1.0
    reason: str | None = None


class Supersede(Arguments):
    source_id: str = named("source_item_id", "source_id", default=..., description="What stays")
    target_ids: Targets = named(
        "target_item_ids",
        "target_ids",
        "target_item_id",
        default=...,
        description="What it replaces",
    )
    reason: str | None = None


async def _add(app: App, caller: Caller, arguments: AddRelation) -> Answer:
    return await relations.add_relation(
        app,
        caller,
        source_id=arguments.source_id,
        type=arguments.type,
        target_id=arguments.target_id,
        confidence=arguments.confidence,
        reason=arguments.reason,
    )


async def _remove(app: App, caller: Caller, arguments: OfRelation) -> Answer:
    return await relations.remove_relation(
        app,
        caller,
        source_id=arguments.source_id,
        type=arguments.type,
        target_id=arguments.target_id,
    )


async def _list(app: App, caller: Caller, arguments: OfItem) -> Answer:
    return await relations.list_relations(app, caller, arguments.item_id)


async def _supersede(app: App, caller: Caller, arguments: Supersede) -> Answer:
    return await relations.supersede_items(
        app,
        caller,
        source_item_id=arguments.source_id,
        target_item_ids=arguments.target_ids,
        reason=arguments.reason,
    )


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="supersede_items",
        title="Supersede",
        description="Let one item take the place of others, which stay as history. Prefer this to "
        "deleting what is no longer true.",
        handler=_supersede,
        arguments=Supersede,
        result=results.record(
            {"source": results.ITEM, "superseded": results.IDS, "already": results.IDS}
        ),
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        idempotent=True,
    ),
    Tool(
        name="add_relation",
        title="Relate items",
        description="Say how one item stands to another, as A blocks B; circles are refused. To "
        "replace an item use supersede_items.",
        handler=_add,
        arguments=AddRelation,
        result=results.record({"relation": results.OBJECT, "outcome": results.TEXT}),
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        idempotent=True,
    ),
    Tool(
        name="remove_relation",
        title="Unrelate items",
        description="Remove a relation; both items stay as they are.",
        handler=_remove,
        arguments=OfRelation,
        result=results.record({"relation": results.OBJECT, "removed": results.FLAG}),
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        destructive=True,
    ),
    Tool(
        name="list_relations",
        title="List relations",
        description="An item's relations, newest first.",
        handler=_list,
        arguments=OfItem,
        result=results.record(
            {"relations": results.listed(results.OBJECT), "count": results.NUMBER}
        ),
        scope="memory:read",
        toolsets=frozenset({"memory"}),
        read_only=True,
    ),
)
"""The tools of this area."""
