"""Tools of single items: make, show, edit, delete, restore, forget. Lists are `lists.py`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from remembrancer.app.commit import Answer
from remembrancer.app.forget import forget_item, preview_forgetting
from remembrancer.app.items import read, states, write
from remembrancer.app.state import App
from remembrancer.core.limits import BULK_ITEMS_MAX
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import (
    EditFields,
    ItemFields,
    OfItem,
    as_list,
    item_input,
)
from remembrancer.mcp.registry import Tool


class Forget(OfItem):
    dry_run: bool = Field(False, description="Only show what would go")


class Titled(Arguments):
    title: str


class CreateItem(ItemFields, Titled):
    pass


class Retitled(OfItem):
    title: str | None = None


class UpdateItem(EditFields, Retitled):
    expected_version: int | None = Field(
        None, ge=1, description="Refuse when the item has another version by now"
    )


class GetItem(OfItem):
    as_of: str | None = Field(None, description="A past time, or a position of the history")


class DeleteItems(Arguments):
    ids: Annotated[
        tuple[str, ...],
        BeforeValidator(as_list),
        Field(json_schema_extra={"maxItems": BULK_ITEMS_MAX}),
    ]


async def _create(app: App, caller: Caller, arguments: CreateItem) -> Answer:
    return await write.create_item(app, caller, item_input(arguments))


async def _update(app: App, caller: Caller, arguments: UpdateItem) -> Answer:
    return await write.update_item(
        app,
        caller,
        arguments.item_id,
        item_input(arguments),
        expected_version=arguments.expected_version,
    )


async def _get(app: App, caller: Caller, arguments: GetItem) -> Answer:
    return await read.get_item(app, caller, arguments.item_id, as_of=arguments.as_of)


async def _delete(app: App, caller: Caller, arguments: OfItem) -> Answer:
    return await states.delete_items(app, caller, [arguments.item_id])


async def _delete_many(app: App, caller: Caller, arguments: DeleteItems) -> Answer:
    return await states.delete_items(app, caller, arguments.ids)


async def _restore(app: App, caller: Caller, arguments: OfItem) -> Answer:
    return await states.restore_item(app, caller, arguments.item_id)


async def _forget(app: App, caller: Caller, arguments: Forget) -> Answer:
    if arguments.dry_run:
        return await preview_forgetting(app, caller, arguments.item_id)
    return await forget_item(app, caller, arguments.item_id)


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="create_item",
        title="Create an item",
        description="Create a task or memory with any field. Call find_semantic_conflicts first "
        "and prefer update_item over a second copy.",
        handler=_create,
        arguments=CreateItem,
        result=results.CREATED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
    ),
    Tool(
        name="get_item",
        title="Show an item",
        description="One item with every field and its relations, now or in the past.",
        handler=_get,
        arguments=GetItem,
        result=results.record(
            {"item": results.FULL_ITEM, "relations": results.listed(results.OBJECT)}
        ),
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        read_only=True,
    ),
    Tool(
        name="update_item",
        title="Edit an item",
        description="Change the given fields; tags are replaced as a whole, null changes nothing. "
        "For done, snoozed or archived use update_task_state.",
        handler=_update,
        arguments=UpdateItem,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
    ),
    Tool(
        name="delete_item",
        title="Delete an item",
        description="Delete softly; restore_item brings it back for 30 days. For outdated facts "
        "prefer supersede_items.",
        handler=_delete,
        arguments=OfItem,
        result=results.DELETED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="delete_items",
        title="Delete items",
        description=f"Delete up to {BULK_ITEMS_MAX} items softly, all or none.",
        handler=_delete_many,
        arguments=DeleteItems,
        result=results.DELETED,
        scope="memory:write",
        toolsets=frozenset({"tasks", "memory"}),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="restore_item",
        title="Restore an item",
        description="Bring a deleted item back, within 30 days.",
        handler=_restore,
        arguments=OfItem,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        idempotent=True,
    ),
    Tool(
        name="forget",
        title="Forget an item",
        description="Erase an item and every copy of its text, for ever: no undo, no restore. Only "
        "when the user asks for exactly that; dry_run shows first what would go.",
        handler=_forget,
        arguments=Forget,
        result=results.record({"forgotten": results.TEXT, "would_forget": results.TEXT}),
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        destructive=True,
    ),
)
"""The tools of this area."""
