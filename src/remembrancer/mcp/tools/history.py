"""Tools of what happened: history, undo, redo."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from remembrancer.app import history, undo
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import OfItem, Paged, named, page_limit
from remembrancer.mcp.registry import Tool


class ItemHistory(Paged, OfItem):
    limit: int = page_limit(50)


class Redo(Arguments):
    item_id: str | None = named("id", "item_id", description="Its last command")
    cause: str | None = Field(None, description="Or the command of this id, from item_history")


class Undo(Redo):
    position: int | None = Field(None, ge=1, description="Or the command at this position")


async def _history(app: App, caller: Caller, arguments: ItemHistory) -> Answer:
    return await history.item_history(
        app, caller, arguments.item_id, limit=arguments.limit, cursor=arguments.cursor
    )


async def _undo(app: App, caller: Caller, arguments: Undo) -> Answer:
    return await undo.undo(
        app,
        caller,
        item_id=arguments.item_id,
        position=arguments.position,
        cause=arguments.cause,
    )


async def _redo(app: App, caller: Caller, arguments: Redo) -> Answer:
    return await undo.redo(app, caller, item_id=arguments.item_id, cause=arguments.cause)


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="item_history",
        title="Show an item's history",
        description="Every change of an item with before and after, newest first.",
        handler=_history,
        arguments=ItemHistory,
        result=results.page_of("events"),
        scope="memory:read",
        toolsets=frozenset({"essential", "memory"}),
        read_only=True,
    ),
    Tool(
        name="undo",
        title="Undo",
        description="Take back a whole command: the last one on an item, or one from item_history. "
        "Refused when later edits stand in the way.",
        handler=_undo,
        arguments=Undo,
        result=results.record({"undone": results.listed(results.OBJECT), "item": results.OBJECT}),
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
    ),
    Tool(
        name="redo",
        title="Redo",
        description="Bring back what the last undo took back.",
        handler=_redo,
        arguments=Redo,
        result=results.record({"redone": results.listed(results.OBJECT), "item": results.OBJECT}),
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
    ),
)
"""The tools of this area."""
