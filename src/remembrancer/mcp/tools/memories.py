"""Tools of memories, under the predecessor's names: find, list, show, save, end, bring back.

Precious quotes, the glossary, the digest and messages are `library.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, NoReturn, cast

from pydantic import Field, WithJsonSchema

from remembrancer.app.commit import Answer
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.memories import change, read, save
from remembrancer.app.recall.recall import RecallScope
from remembrancer.app.search import MATCHES_MAX
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import MemoryType, State
from remembrancer.core.items.query import OFFSET_MAX
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import (
    Names,
    Paged,
    Share,
    Types,
    given_of,
    named,
    page_limit,
    project_slug,
    topic_slug,
)
from remembrancer.mcp.registry import Tool

FilterType = Annotated[MemoryType, WithJsonSchema({"type": "string"})]
"""A type to filter by; the closed set is published where one is chosen, with memory_upsert."""


class OfMemory(Arguments):
    memory_id: str = named("id", "memory_id", default=...)


class Search(Arguments):
    query: str = named("query", "q", default=...)
    top_k: int = named("top_k", "k", "limit", default=MATCHES_MAX, ge=1, le=MATCHES_MAX)
    types: Types = named("types", "type", default=())
    min_score: Share = read.SCORE_MIN
    filter: bool = Field(True, description="False shows every match")
    project: str | None = project_slug()
    topic: str | None = topic_slug()
    tags: Names = named("tags", "tag", default=())


class ListMemories(Paged):
    type: FilterType | None = None
    status: State = named("status", "state", default="active")
    limit: int = page_limit(100, read.LISTED_MAX)
    offset: int = Field(0, ge=0, le=OFFSET_MAX)


class Export(Paged):
    type: FilterType | None = None
    limit: int = page_limit(read.EXPORTED_MAX, read.EXPORTED_MAX)


class Said(Arguments):
    tags: Names | None = None
    importance: Share | None = Field(None, description="New ones 0.6; else as before")
    confidence: Share | None = Field(None, description="0.8 when left out")
    source: str | None = None
    source_message_ids: Names | None = None
    valid_from: str | None = named("valid_as_of", "valid_from")
    valid_to: str | None = None
    expires_at: str | None = None
    pinned: bool | None = None


class Upsert(Said):
    fact_key: str = Field(description="Stable name of the fact, as 'profile:timezone'")
    content: str
    type: MemoryType | None = Field(None, description="New ones 'fact'; else as before")


class Supersede(Said):
    old_id: str
    content: str = named("new_content", "content", default=...)
    type: FilterType = named("new_type", "type", default="world_fact")
    fact_key: str | None = named("new_fact_key", "fact_key")
    reason: str | None = None


class Create(Arguments):
    content: str | None = None
    type: str | None = None
    importance: float | None = None
    confidence: float | None = None
    tags: Names | None = None


def _new(arguments: Upsert | Supersede) -> save.NewMemory:
    given = given_of(arguments)
    for name in ("content", "old_id", "reason"):
        given.pop(name, None)
    if isinstance(arguments, Supersede):
        given["type"] = arguments.type
    # The models' fields have the names and the types of ItemInput's.
    return save.NewMemory(arguments.content, cast(ItemInput, given), type="fact")


async def _search(app: App, caller: Caller, arguments: Search) -> Answer:
    scope = RecallScope(
        types=arguments.types,
        project=arguments.project,
        topic=arguments.topic,
        tags=arguments.tags,
    )
    asked = read.MemorySearch(
        arguments.query,
        scope,
        arguments.top_k,
        arguments.min_score,
        is_filtered=arguments.filter,
    )
    return await read.search_memories(app, caller, asked)


async def _list(app: App, caller: Caller, arguments: ListMemories) -> Answer:
    return await read.list_memories(app, caller, read.MemoryQuery(**dict(arguments)))


async def _export(app: App, caller: Caller, arguments: Export) -> Answer:
    return await read.export_memories(app, caller, **dict(arguments))


async def _get(app: App, caller: Caller, arguments: OfMemory) -> Answer:
    return await read.get_memory(app, caller, arguments.memory_id)


async def _upsert(app: App, caller: Caller, arguments: Upsert) -> Answer:
    return await save.save_memory(app, caller, _new(arguments))


async def _supersede(app: App, caller: Caller, arguments: Supersede) -> Answer:
    return await save.supersede_memory(
        app, caller, arguments.old_id, _new(arguments), reason=arguments.reason
    )


async def _archive(app: App, caller: Caller, arguments: OfMemory) -> Answer:
    return await change.archive_memory(app, caller, arguments.memory_id)


async def _delete(app: App, caller: Caller, arguments: OfMemory) -> Answer:
    return await change.delete_memory(app, caller, arguments.memory_id)


async def _restore(app: App, caller: Caller, arguments: OfMemory) -> Answer:
    return await change.restore_memory(app, caller, arguments.memory_id)


async def _create(app: App, caller: Caller, arguments: Create) -> NoReturn:
    del app, caller, arguments
    raise InvalidInput(
        "memory_create saves nothing.",
        hint="Call memory_upsert with a fact_key, or capture_context without one.",
    )


_MEMORY: Final = results.record({"id": results.TEXT, "content": results.TEXT}, "id", "content")
_ONE: Final = results.record({"memory": _MEMORY}, "memory")
_SAVED: Final = results.record(
    {"memory": _MEMORY, "outcome": results.TEXT, "superseded": results.IDS}
)
_FOUND: Final = results.record({"data": results.listed(_MEMORY), "count": results.NUMBER})

# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="memory_search",
        title="Search memories",
        description="Find current memories by what they say, the surest first; below min_score "
        "nothing is shown.",
        handler=_search,
        arguments=Search,
        result=_FOUND,
        scope="memory:read",
        toolsets=frozenset({"essential", "memory"}),
        read_only=True,
    ),
    Tool(
        name="memory_upsert",
        title="Save a fact",
        description="Save a fact under its key. The same text is only counted; a new one "
        "supersedes the old, which stays as history.",
        handler=_upsert,
        arguments=Upsert,
        result=_SAVED,
        scope="memory:write",
        toolsets=frozenset({"essential", "memory"}),
    ),
    Tool(
        name="memory_supersede",
        title="Replace a memory",
        description="Put a new statement in the place of a memory, which stays as history; key, "
        "tags and pin are inherited.",
        handler=_supersede,
        arguments=Supersede,
        result=_SAVED,
        scope="memory:write",
        toolsets=frozenset({"memory"}),
    ),
    Tool(
        name="memory_get",
        title="Show a memory",
        description="One memory with its relations and how often it was said and recalled.",
        handler=_get,
        arguments=OfMemory,
        result=_ONE,
        scope="memory:read",
        toolsets=frozenset({"memory"}),
        read_only=True,
    ),
    Tool(
        name="memory_list",
        title="List memories",
        description="Memories of a type and status, the latest changed first, a page at a time.",
        handler=_list,
        arguments=ListMemories,
        result=results.page_of("memories"),
        scope="memory:read",
        toolsets=frozenset({"memory"}),
        read_only=True,
    ),
    Tool(
        name="memory_export",
        title="Export memories",
        description="All memories in the order of their making, superseded ones too; follow "
        "next_cursor to the end.",
        handler=_export,
        arguments=Export,
        result=results.page_of("memories"),
        scope="export:read",
        toolsets=frozenset({"memory"}),
        read_only=True,
    ),
    Tool(
        name="memory_archive",
        title="Archive a memory",
        description="Take a memory out of recall without deleting it.",
        handler=_archive,
        arguments=OfMemory,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        idempotent=True,
    ),
    Tool(
        name="memory_delete",
        title="Delete a memory",
        description="Delete a memory softly; memory_restore brings it back for 30 days. For "
        "outdated facts prefer memory_upsert.",
        handler=_delete,
        arguments=OfMemory,
        result=results.record({"deleted": results.TEXT, "restorable_days": results.NUMBER}),
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="memory_restore",
        title="Restore a memory",
        description="Bring a deleted memory back, within 30 days.",
        handler=_restore,
        arguments=OfMemory,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        idempotent=True,
    ),
    Tool(
        name="memory_create",
        title="Superseded by memory_upsert",
        description="Always refuses: memory_upsert saves a fact, capture_context a note.",
        handler=_create,
        arguments=Create,
        result=_SAVED,
        scope="memory:write",
        toolsets=frozenset(),
    ),
)
"""The tools of this area; the last one is listed under `all` alone, for clients that know it."""
