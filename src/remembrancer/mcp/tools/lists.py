"""Tools that list: items by filter, tags."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from remembrancer.app.commit import Answer
from remembrancer.app.items import read
from remembrancer.app.state import App
from remembrancer.core.items.query import OFFSET_MAX, SORTS, ItemQuery
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.models import (
    Kinds,
    Names,
    Paged,
    Priority,
    Startup,
    States,
    Types,
    as_list,
    named,
    page_limit,
    priority_numbers,
)
from remembrancer.mcp.registry import Tool

_PAST: Final = "A past time, or a position of the history"


class ListItems(Paged):
    ids: Names = ()
    q: str | None = named("q", "query", description="Words that must occur")
    kinds: Kinds = named("kinds", "kind", "item_kinds", "item_kind", default=())
    types: Types = named("entity_types", "types", "entity_type", default=())
    states: States = named("lifecycle_states", "states", "lifecycle_state", default=())
    completed: bool | None = None
    archived: bool | None = None
    pinned: bool | None = None
    priorities: Annotated[tuple[Priority, ...], BeforeValidator(as_list)] = named(
        "priority", "priorities", default=()
    )
    startup_priority_min: Startup | None = None
    startup_priority_max: Startup | None = None
    due_before: str | None = None
    due_after: str | None = None
    created_before: str | None = None
    created_after: str | None = None
    updated_before: str | None = None
    updated_after: str | None = None
    projects: Names = named("project_slugs", "projects", "project_slug", "project", default=())
    topics: Names = named("group_slugs", "topics", "group_slug", "topic", default=())
    tags: Names = named("tags", "tag", default=())
    tags_match: Literal["any", "all"] = "any"
    stale_only: bool = False
    current_only: bool = Field(False, description="Neither ended nor expired")
    include_deleted: bool = False
    limit: int = page_limit(20)
    offset: int = Field(0, ge=0, le=OFFSET_MAX)
    sort: str = Field("-updated_at", description=f"{', '.join(SORTS)}; '-' in front for descending")
    as_of: str | None = Field(None, description=_PAST)


class ListTags(Paged):
    prefix: str | None = None
    limit: int = page_limit(100, read.TAGS_PAGE_MAX)


async def _items(app: App, caller: Caller, arguments: ListItems) -> Answer:
    given = dict(arguments)
    given["priorities"] = priority_numbers(arguments.priorities)
    return await read.list_items(app, caller, ItemQuery(**given))


async def _tags(app: App, caller: Caller, arguments: ListTags) -> Answer:
    return await read.list_tags(
        app, caller, prefix=arguments.prefix, limit=arguments.limit, cursor=arguments.cursor
    )


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="list_items",
        title="List items",
        description="Items that pass all filters, a page at a time, now or in the past. Dates in "
        "words work. To find by meaning use semantic_search.",
        handler=_items,
        arguments=ListItems,
        result=results.record(
            {
                "items": results.listed(results.ITEM),
                "count": results.NUMBER,
                "total": results.NUMBER,
                "total_is_minimum": results.FLAG,
                "next_cursor": results.TEXT_OR_NULL,
                "as_of": results.OBJECT_OR_NULL,
            }
        ),
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        read_only=True,
    ),
    Tool(
        name="list_tags",
        title="List tags",
        description="Tags in use, with counts. Reuse one before inventing another.",
        handler=_tags,
        arguments=ListTags,
        result=results.page_of("tags"),
        scope="memory:read",
        toolsets=frozenset({"essential", "memory"}),
        read_only=True,
    ),
)
"""The tools of this area."""
