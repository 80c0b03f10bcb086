"""REST of memories, at the predecessor's paths and in its shapes. Only parsing and form.

Precious quotes, the glossary, messages and boot are routes of their own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import ClassVar, Final, Literal, cast

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from remembrancer.app.commit import Answer as AppAnswer
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.memories import change, read, save
from remembrancer.app.recall.meaning import VECTOR_FAULTS
from remembrancer.app.recall.recall import RecallScope
from remembrancer.app.search import MATCHES_MAX
from remembrancer.core import limits
from remembrancer.core.items.fields import MemoryType, State
from remembrancer.core.items.query import OFFSET_MAX
from remembrancer.core.values import JSON
from remembrancer.http.answers import Answer, json_bytes
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query
from remembrancer.http.rest.item_bodies import Share, text
from remembrancer.http.rest.memory_shapes import (
    DeletedMemory,
    ExportedMemories,
    FoundMemories,
    ListedMemories,
    OneMemory,
    SavedMemory,
)
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

MEMORY_ID: Final = {"memory_id": "The memory's id, `itm_…`."}


class MemoriesQuery(Query):
    """Which memories a page shows."""

    status: State = "active"
    type: MemoryType | None = None
    limit: int = Field(100, ge=1, le=read.LISTED_MAX)
    offset: int = Field(0, ge=0, le=OFFSET_MAX)
    cursor: str | None = Field(
        None, description="`paging.cursor` of the page before; digits count as an offset."
    )


class ExportQuery(Query):
    """What is exported."""

    type: MemoryType | None = None
    format: Literal["json"] = "json"
    cursor: str | None = Field(None, description="`meta.next_cursor` of the piece before.")


class MemoryFields(Named):
    """What can be said of a memory beside its text."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"valid_as_of": "valid_from"}

    fact_key: str | None = text(
        limits.FACT_KEY_CHARS_MAX, "Stable name of the fact; one active memory each."
    )
    type: MemoryType | None = optional()
    summary: str | None = text(limits.SUMMARY_CHARS_MAX)
    importance: Share | None = optional()
    confidence: Share | None = optional()
    tags: list[str] = optional()
    pinned: bool = optional()
    source: str | None = text(limits.NAME_CHARS_MAX)
    source_message_ids: list[str] = optional()
    valid_from: str | None = optional(description="Words or ISO 8601, as every date.")
    valid_to: str | None = optional()
    expires_at: str | None = optional()
    project: str | None = optional(description="A slug or a name.")
    topic: str | None = optional(description="A slug or a name.")


class NewMemoryBody(MemoryFields):
    """A statement to keep; with a `fact_key` it supersedes what holds the key."""

    content: str = Field(json_schema_extra={"minLength": 1, "maxLength": limits.ARTIFACT_CHARS_MAX})


class MemoryChange(MemoryFields):
    """Fields to change; what is left out stays, null empties."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"valid_as_of": "valid_from", "state": "status"}

    content: str = optional(json_schema_extra={"minLength": 1})
    status: State = optional()


class MemorySearchBody(Named):
    """What is looked for among current memories."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        "q": "query",
        "limit": "top_k",
        "project_slug": "project",
        "group_slug": "topic",
    }

    query: str = Field(description="Words, in any script.")
    top_k: int = Field(MATCHES_MAX, ge=1, le=MATCHES_MAX)
    types: list[MemoryType] = Field(default_factory=list)
    project: str | None = Field(None, description="A slug or a name.")
    topic: str | None = Field(None, description="A slug or a name.")
    tags: list[str] = Field(default_factory=list, description="Any of them.")
    min_score: Share = Field(read.SCORE_MIN, description="Below it nothing is shown.")
    filter: bool = Field(True, description="False shows every match, as it was found.")
    include_prompt: bool = Field(False, description="Also the text to put into a conversation.")
    include_filter_debug: bool = Field(False, description="Also why each was kept or dropped.")


_WORDS_ALONE: Final = frozenset(VECTOR_FAULTS)


def _given(body: MemoryFields) -> ItemInput:
    given = body.given()
    if isinstance(body, NewMemoryBody):
        given.pop("content")
    if "status" in given:
        given["state"] = given.pop("status")
    # The models' fields have the names and the types of ItemInput's.
    return cast(ItemInput, given)


def _one(answer: AppAnswer, status: int = 200) -> Answer:
    """Return an answer with one memory under `data`; its version is the ETag."""
    memory = cast("dict[str, JSON]", answer["memory"])
    rest = {name: value for name, value in answer.items() if name != "memory"}
    version = memory["version"]
    assert isinstance(version, int)
    return Answer({"data": memory, **rest}, status=status, version=version)


async def _list(call: Call[MemoriesQuery, None]) -> Answer:
    query = call.query
    asked = read.MemoryQuery(
        type=query.type,
        status=query.status,
        limit=query.limit,
        offset=query.offset,
        cursor=query.cursor,
    )
    answer = await read.list_memories(call.app, call.caller, asked)
    cursor = answer["next_cursor"]
    paging = {
        "limit": query.limit,
        "cursor": cursor,
        "has_more": cursor is not None,
        "count": answer["count"],
    }
    return Answer({"data": answer["memories"], "paging": paging})


async def _create(call: Call[None, NewMemoryBody]) -> Answer:
    new = save.NewMemory(call.body.content, _given(call.body))
    answer = await save.save_memory(call.app, call.caller, new)
    return _one(answer, 201 if answer["outcome"] == "created" else 200)


async def _get(call: Call[None, None]) -> Answer:
    return _one(await read.get_memory(call.app, call.caller, call.path["memory_id"]))


async def _update(call: Call[None, MemoryChange]) -> Answer:
    answer = await change.update_memory(
        call.app,
        call.caller,
        call.path["memory_id"],
        _given(call.body),
        expected_version=call.expected_version,
    )
    return _one(answer)


async def _delete(call: Call[None, None]) -> Answer:
    answer = await change.delete_memory(call.app, call.caller, call.path["memory_id"])
    gone = {"id": answer["deleted"], "status": "deleted"}
    return Answer({"data": gone, "restorable_days": answer["restorable_days"]})


async def _search(call: Call[None, MemorySearchBody]) -> Answer:
    body = call.body
    asked = read.MemorySearch(
        body.query,
        RecallScope(types=body.types, project=body.project, topic=body.topic, tags=body.tags),
        body.top_k,
        body.min_score,
        is_filtered=body.filter,
        has_prompt=body.include_prompt,
        has_debug=body.include_filter_debug,
        purpose="rest",
    )
    answer = await read.search_memories(call.app, call.caller, asked)
    degraded = cast("list[str]", answer["degraded"])
    has_vectors = not _WORDS_ALONE.intersection(degraded)
    meta: dict[str, JSON] = {
        "namespace": call.caller.namespace,
        "backend": "lexical+vector" if has_vectors else "lexical",
        "top_k": body.top_k,
        "raw_count": answer["raw_count"],
        "count": answer["count"],
        "filtered": body.filter,
        "recall_id": answer["recall_id"],
        "degraded": answer["degraded"],
    }
    if body.include_filter_debug:
        meta["filter_debug"] = answer["debug"]
    found: dict[str, JSON] = {"data": answer["data"], "meta": meta}
    if body.include_prompt:
        found["prompt"] = answer["prompt"]
    return Answer(found)


async def _export(call: Call[ExportQuery, None]) -> Response:
    # The first page before the answer begins: what is wrong is said in its status.
    first = await _page(call, call.query.cursor)
    return StreamingResponse(_exported(call, first), media_type="application/json")


async def _page(call: Call[ExportQuery, None], cursor: str | None) -> AppAnswer:
    asked = call.query.type
    return await read.export_memories(call.app, call.caller, type=asked, cursor=cursor)


async def _exported(call: Call[ExportQuery, None], page: AppAnswer) -> AsyncIterator[bytes]:
    """Give the answer page by page, for as long as the request affords another."""
    count = 0
    yield b'{"data":['
    while True:
        memories = cast("list[JSON]", page["memories"])
        if memories:
            yield (b"," if count else b"") + json_bytes(memories)[1:-1]
        count += len(memories)
        cursor = page["next_cursor"]
        if cursor is None or not call.app.spending.affords(1):
            break
        page = await _page(call, str(cursor))
    meta = {"namespace": call.caller.namespace, "count": count}
    yield b'],"meta":' + json_bytes(meta | ({} if cursor is None else {"next_cursor": cursor}))
    yield b"}"


_WRITE_ERRORS: Final = ("invalid_date", "invalid_transition", "not_found")

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/memories",
        aliases=("/v1/memory",),
        name="list_memories",
        area="memories",
        summary="List memories, the latest changed first",
        scope="memory:read",
        query=MemoriesQuery,
        response=ListedMemories,
        errors=("limit_exceeded",),
        handler=_list,
    ),
    Route(
        method="POST",
        path="/v1/memories",
        aliases=("/v1/memory",),
        name="save_memory",
        area="memories",
        summary="Keep a statement, under a key or without one",
        description="201 when it is new; 200 when it was said before, or supersedes what held "
        "the key.",
        scope="memory:write",
        body=NewMemoryBody,
        response=SavedMemory,
        statuses=(200, 201),
        errors=_WRITE_ERRORS,
        handler=_create,
    ),
    Route(
        method="POST",
        path="/v1/search/memories",
        aliases=("/v1/memories/search", "/v1/memory/search"),
        name="search_memories",
        area="memories",
        summary="Find current memories by what they say",
        description="Behind the gates of recall: small talk finds nothing, and what is not sure "
        "enough is left out. `meta.degraded` says what had no part; what is in a `prompt` counts "
        "as used.",
        scope="memory:read",
        body=MemorySearchBody,
        response=FoundMemories,
        errors=("not_found",),
        handler=_search,
    ),
    Route(
        method="GET",
        path="/v1/memories/export",
        aliases=("/v1/memory/export", "/api/memories/export"),
        name="export_memories",
        area="memories",
        summary="Export all memories but deleted ones, in the order of their making",
        description="All of them at once, as a rule. On Cloudflare an answer holds 40,000 or so: "
        "when there are more, `meta.next_cursor` is there, and the same request with it as its "
        "`cursor` goes on.",
        scope="export:read",
        query=ExportQuery,
        response=ExportedMemories,
        handler=_export,
    ),
    Route(
        method="GET",
        path="/v1/memories/{memory_id}",
        aliases=("/v1/memory/{memory_id}",),
        name="get_memory",
        area="memories",
        summary="Show a memory with its relations",
        params=MEMORY_ID,
        scope="memory:read",
        response=OneMemory,
        handler=_get,
    ),
    Route(
        method="PATCH",
        path="/v1/memories/{memory_id}",
        aliases=("/v1/memory/{memory_id}",),
        name="update_memory",
        area="memories",
        summary="Change fields of a memory in place; its history keeps what it said",
        params=MEMORY_ID,
        scope="memory:write",
        body=MemoryChange,
        response=OneMemory,
        errors=_WRITE_ERRORS,
        if_match=True,
        handler=_update,
    ),
    Route(
        method="DELETE",
        path="/v1/memories/{memory_id}",
        aliases=("/v1/memory/{memory_id}",),
        name="delete_memory",
        area="memories",
        summary="Delete a memory; it can be restored for 30 days",
        params=MEMORY_ID,
        scope="memory:write",
        response=DeletedMemory,
        handler=_delete,
    ),
)
"""The routes of memories."""
