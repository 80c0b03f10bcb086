"""REST of items: list, make, capture, show, edit, delete. Only parsing and form.

States and what belongs to an item's past are `item_states.py` and `item_history.py`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from remembrancer.app.items import read, states, write
from remembrancer.core import limits
from remembrancer.core.items.fields import PRIORITIES, Kind, State
from remembrancer.core.items.query import OFFSET_MAX, SORTS, ItemQuery
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Flag, Limit, Query, Shape
from remembrancer.http.rest.item_bodies import (
    OTHER_NAMES_TAKEN,
    Capture,
    ItemChange,
    ItemType,
    NewItem,
    item_input,
)
from remembrancer.http.rest.item_shapes import (
    ChangedItem,
    ItemShape,
    MadeItem,
    MomentShape,
    RelationShape,
    item_answer,
)
from remembrancer.http.rest.names import Named
from remembrancer.http.route_table import Route

AsOf = Annotated[
    str, Field(description="Shows the past: a time in words or ISO 8601, or a ledger position.")
]
"""A moment of the past."""

ITEM_ID: Final = {"item_id": "The item's id, `itm_…`."}
"""The path parameter of an item's routes."""

_PriorityText = Literal["1", "2", "3", "low", "medium", "high"]


def _texts(description: str) -> list[str]:
    # A fresh list each time; pydantic's Field is typed as what it stands for.
    return Field(default_factory=list, description=description)


class ItemsQuery(Query):
    """Filters, order and place of a list of items; a repeated parameter means any of its values."""

    id: list[str] = Field(default_factory=list)
    kind: list[Kind] = Field(default_factory=list)
    type: list[ItemType] = Field(default_factory=list)
    state: list[State] = Field(default_factory=list)
    completed: Flag | None = None
    archived: Flag | None = None
    pinned: Flag | None = None
    priority: list[_PriorityText] = Field(default_factory=list)
    startup_priority_min: int | None = Field(None, ge=0, le=10)
    startup_priority_max: int | None = Field(None, ge=0, le=10)
    q: str | None = Field(None, description="Words that title, content or tags must hold.")
    due_before: str | None = Field(None, description="Words or ISO 8601, exclusive.")
    due_after: str | None = Field(None, description="Words or ISO 8601, inclusive.")
    created_before: str | None = None
    created_after: str | None = None
    updated_before: str | None = None
    updated_after: str | None = None
    project: list[str] = _texts("Slug or name.")
    topic: list[str] = _texts("Slug or name.")
    tag: list[str] = _texts("As spelled by anyone; see tags_match.")
    tags_match: Literal["any", "all"] = "any"
    stale_only: Flag = False
    current_only: Flag = Field(False, description="Active, dormant or stale, and valid now.")
    include_deleted: Flag = False
    limit: Limit = 20
    cursor: Cursor | None = None
    offset: int = Field(0, ge=0, le=OFFSET_MAX)
    sort: str = Field(
        "-updated_at", description=f"One of {', '.join(SORTS)}; with - in front descending."
    )
    as_of: AsOf | None = None


class ItemsAnswer(Shape):
    """A page of items; a filtered total is counted up to a limit, then it is a minimum."""

    items: list[ItemShape]
    count: int
    total: int
    total_is_minimum: bool
    next_cursor: str | None
    as_of: MomentShape | None


class ItemInQuery(Query):
    """How one item is shown."""

    as_of: AsOf | None = None


class ItemAnswer(Shape):
    """One item with its relations; `as_of` is there when the past was asked for."""

    item: ItemShape
    relations: list[RelationShape]
    as_of: MomentShape | None = None


class DeletedAnswer(Shape):
    """What was deleted, and for how many days it can be restored."""

    deleted: list[str]
    already_deleted: list[str]
    restorable_days: int


class Ids(Named):
    """Items by their ids."""

    ids: list[str] = Field(
        json_schema_extra={"minItems": 1, "maxItems": limits.BULK_ITEMS_MAX},
        description="All of them or none.",
    )


def item_query(query: ItemsQuery) -> ItemQuery:
    """Return the query as the use cases take it."""
    priorities = tuple(PRIORITIES.get(text) or int(text) for text in query.priority)
    return ItemQuery(
        ids=query.id,
        kinds=query.kind,
        types=query.type,
        states=query.state,
        completed=query.completed,
        archived=query.archived,
        pinned=query.pinned,
        priorities=priorities,
        startup_priority_min=query.startup_priority_min,
        startup_priority_max=query.startup_priority_max,
        q=query.q,
        due_before=query.due_before,
        due_after=query.due_after,
        created_before=query.created_before,
        created_after=query.created_after,
        updated_before=query.updated_before,
        updated_after=query.updated_after,
        projects=query.project,
        topics=query.topic,
        tags=query.tag,
        tags_match=query.tags_match,
        stale_only=query.stale_only,
        current_only=query.current_only,
        include_deleted=query.include_deleted,
        limit=query.limit,
        cursor=query.cursor,
        offset=query.offset,
        sort=query.sort,
        as_of=query.as_of,
    )


async def _list(call: Call[ItemsQuery, None]) -> Answer:
    return Answer(await read.list_items(call.app, call.caller, item_query(call.query)))


async def _create(call: Call[None, NewItem]) -> Answer:
    answer = await write.create_item(call.app, call.caller, item_input(call.body))
    return item_answer(answer, 201)


async def _capture(call: Call[None, Capture]) -> Answer:
    given = item_input(call.body)
    answer = await write.quick_capture(call.app, call.caller, call.body.text, given)
    return item_answer(answer, 201)


async def _get(call: Call[ItemInQuery, None]) -> Answer:
    item_id = call.path["item_id"]
    return item_answer(await read.get_item(call.app, call.caller, item_id, as_of=call.query.as_of))


async def _update(call: Call[None, ItemChange]) -> Answer:
    answer = await write.update_item(
        call.app,
        call.caller,
        call.path["item_id"],
        item_input(call.body),
        expected_version=call.expected_version,
    )
    return item_answer(answer)


async def _delete(call: Call[None, None]) -> Answer:
    return Answer(await states.delete_items(call.app, call.caller, [call.path["item_id"]]))


async def _delete_many(call: Call[None, Ids]) -> Answer:
    return Answer(await states.delete_items(call.app, call.caller, call.body.ids))


_WRITE_ERRORS: Final = ("invalid_date", "invalid_transition", "not_found")

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/items",
        name="list_items",
        area="items",
        summary="List tasks and memories, now or in the past",
        description="All filters must pass. A cursor goes on where the page ended, also while "
        "others write.",
        scope="memory:read",
        query=ItemsQuery,
        response=ItemsAnswer,
        errors=("invalid_date", "not_found", "limit_exceeded"),
        handler=_list,
    ),
    Route(
        method="POST",
        path="/v1/items",
        name="create_item",
        area="items",
        summary="Make a task or a memory",
        description=OTHER_NAMES_TAKEN,
        scope="memory:write",
        body=NewItem,
        response=MadeItem,
        statuses=(201,),
        errors=_WRITE_ERRORS,
        handler=_create,
    ),
    Route(
        method="POST",
        path="/v1/capture",
        name="quick_capture",
        area="items",
        summary="Make an item from one line with markers",
        description="Fields that are sent win over the markers, and `due:` over a date or a series "
        "(每月最后一天, every friday 3pm) in the words of a task; unknown projects and topics are "
        f"made. {OTHER_NAMES_TAKEN}",
        scope="memory:write",
        body=Capture,
        response=MadeItem,
        statuses=(201,),
        errors=_WRITE_ERRORS,
        handler=_capture,
    ),
    Route(
        method="POST",
        path="/v1/items/delete",
        name="delete_items",
        area="items",
        summary="Delete several items, all or none",
        scope="memory:write",
        body=Ids,
        response=DeletedAnswer,
        errors=("not_found",),
        handler=_delete_many,
    ),
    Route(
        method="GET",
        path="/v1/items/{item_id}",
        name="get_item",
        area="items",
        summary="Show an item with its relations, now or as it was",
        params=ITEM_ID,
        scope="memory:read",
        query=ItemInQuery,
        response=ItemAnswer,
        errors=("invalid_date",),
        handler=_get,
    ),
    Route(
        method="PATCH",
        path="/v1/items/{item_id}",
        name="update_item",
        area="items",
        summary="Change fields of an item",
        description=f"What is left out stays; null empties. {OTHER_NAMES_TAKEN}",
        params=ITEM_ID,
        scope="memory:write",
        body=ItemChange,
        response=ChangedItem,
        errors=_WRITE_ERRORS,
        if_match=True,
        handler=_update,
    ),
    Route(
        method="DELETE",
        path="/v1/items/{item_id}",
        name="delete_item",
        area="items",
        summary="Delete an item; it can be restored for 30 days",
        params=ITEM_ID,
        scope="memory:write",
        response=DeletedAnswer,
        handler=_delete,
    ),
)
"""The routes of items."""
