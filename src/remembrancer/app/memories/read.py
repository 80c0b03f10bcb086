"""Showing memories: one, a page, what matches some words, all of them. Nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, cast

from remembrancer.app.commit import Answer
from remembrancer.app.items.read import get_item, list_items
from remembrancer.app.recall.answers import SCORE_DIGITS, check_query_text
from remembrancer.app.recall.recall import EVERYTHING, Purpose, RecallScope, recall
from remembrancer.app.search import MATCHES_MAX
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.items.record import ItemRecord, brief_view, item_view
from remembrancer.core.memories import decide as rules
from remembrancer.core.memories.view import UNUSED, found_view, memory_view
from remembrancer.core.recall.explain import explanation_of
from remembrancer.core.recall.scale import SHOWN_MIN
from remembrancer.core.values import JSON, Caller
from remembrancer.store import items as item_store
from remembrancer.store import memories as store

LISTED_MAX: Final = 1_000
"""Memories of one page. Source: the predecessor's limit."""

EXPORTED_MAX: Final = 1_000
"""Memories of one page of an export. Our choice: a few megabytes at most."""

SCORE_MIN: Final = SHOWN_MIN
"""Score from which a match is shown. Source: the predecessor's documented default."""


async def read_memory(app: App, caller: Caller, memory_id: str) -> ItemRecord:
    """Return a memory's record, deleted ones too. *Raises:* NotFound, also for a task.

    *Promise:* one round trip.
    """
    [outcome] = await app.sql.read([item_store.load_statement(caller.namespace, [memory_id])])
    items, _ = item_store.loaded(outcome)
    record = item_store.require(items, memory_id).record
    rules.require_memory(record)
    return record


async def get_memory(app: App, caller: Caller, memory_id: str) -> Answer:
    """Show one memory with its relations and counters of use.

    *Shape:* `{"memory", "relations"}`. *Raises:* NotFound, also for a task. *Promise:* two round
    trips.
    """
    answer = await get_item(app, caller, memory_id)
    item = cast("dict[str, JSON]", answer["item"])
    if item["kind"] != "memory":
        await read_memory(app, caller, memory_id)
    [memory] = await _with_use(app, caller, [item])
    return {"memory": memory, "relations": answer["relations"]}


async def _with_use(app: App, caller: Caller, items: list[dict[str, JSON]]) -> list[JSON]:
    ids = [str(item["id"]) for item in items]
    [outcome] = await app.sql.read([store.use_statement(caller.namespace, ids)])
    use = store.use_of(outcome.rows)
    return [memory_view(item, use.get(str(item["id"]), UNUSED)) for item in items]


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Which memories a page shows.

    *Shape:* `status` one state, `active` without what has expired; a `cursor` of digits is an
    offset, as the predecessor's were; `limit` 1…1,000.
    """

    type: str | None = None
    status: str = "active"
    limit: int = 100
    offset: int = 0
    cursor: str | None = None


async def list_memories(app: App, caller: Caller, query: MemoryQuery) -> Answer:
    """Return a page of memories, the latest changed first.

    *Shape:* `{"memories", "count", "next_cursor"}`. *Raises:* InvalidInput, LimitExceeded.
    *Promise:* one round trip for each hundred, and one for their use.
    """
    if not 1 <= query.limit <= LISTED_MAX:
        raise InvalidInput(
            f"limit {query.limit!r} is out of range", hint=f"1 to {LISTED_MAX}", field="limit"
        )
    asked = _item_query(query)
    items: list[dict[str, JSON]] = []
    while True:
        size = min(query.limit - len(items), limits.PAGE_ITEMS_MAX)
        answer = await list_items(app, caller, replace(asked, limit=size))
        items += cast("list[dict[str, JSON]]", answer["items"])
        cursor = answer["next_cursor"]
        if cursor is None or len(items) >= query.limit:
            break
        asked = replace(asked, cursor=str(cursor), offset=0)
    memories = await _with_use(app, caller, items) if items else []
    return {"memories": memories, "count": len(memories), "next_cursor": cursor}


def _item_query(query: MemoryQuery) -> ItemQuery:
    offset, cursor = query.offset, query.cursor
    if cursor is not None and cursor.isascii() and cursor.isdigit():
        if offset:
            raise InvalidInput(
                f"a cursor and offset {offset!r} were both given",
                hint="give one of them",
                field="offset",
            )
        offset, cursor = int(cursor[:18]), None
    return ItemQuery(
        kinds=("memory",),
        types=() if query.type is None else (query.type,),
        states=(query.status,),
        current_only=query.status == "active",
        include_deleted=query.status == "deleted",
        offset=offset,
        cursor=cursor,
    )


@dataclass(frozen=True, slots=True)
class MemorySearch:
    """What is looked for.

    *Shape:* `scope` what may be found; `top_k` 1…50; `min_score` 0…1, the floor below which a
    match is left out; without `is_filtered` every match is shown and no model ranks again;
    `has_prompt` wants the text to put into a conversation, `has_debug` why each candidate was kept
    or dropped.
    """

    query: str
    scope: RecallScope = EVERYTHING
    top_k: int = MATCHES_MAX
    min_score: float = SCORE_MIN
    is_filtered: bool = True
    has_prompt: bool = False
    has_debug: bool = False
    purpose: Purpose = "mcp"


async def search_memories(app: App, caller: Caller, asked: MemorySearch) -> Answer:
    """Return the current memories that a query recalls, the surest first; small talk none.

    *Shape:* `{"query", "data": [{"id", "content", "score", …}], "count", "raw_count", "degraded",
    "recall_id"}`, with `prompt` and `debug` where they are wanted; `raw_count` counts what the
    gates dropped too. A prompt holds only what is likely to answer, and counts as used.
    *Raises:* InvalidInput.
    *Promise:* as `recall`.
    """
    check_query_text(asked.query)
    found = await recall(
        app,
        caller,
        asked.query,
        limit=asked.top_k,
        min_score=asked.min_score,
        scope=asked.scope,
        purpose=asked.purpose,
        used="patch" if asked.has_prompt else "nothing",
        is_search=True,
        is_filtered=asked.is_filtered,
        # Who looks for a memory by hand wants it though the digest says the same.
        has_known=asked.purpose == "mcp",
    )
    data: list[JSON] = [
        found_view(brief_view(hit.record, found.references), round(hit.score, SCORE_DIGITS))
        for hit in found.hits
    ]
    answer: Answer = {
        "query": asked.query,
        "data": data,
        "count": len(data),
        "raw_count": len(found.explained),
        "degraded": list(found.degraded),
        "recall_id": found.id,
    }
    if asked.has_prompt:
        answer["prompt"] = found.patch
    if asked.has_debug:
        answer["debug"] = explanation_of(found.explained)
    return answer


async def export_memories(
    app: App,
    caller: Caller,
    *,
    type: str | None = None,  # noqa: A002  # the doors' word
    limit: int = EXPORTED_MAX,
    cursor: str | None = None,
) -> Answer:
    """Return memories in the order of their making, whatever their state; deleted ones not.

    *Shape:* `{"memories", "count", "next_cursor"}`. *Raises:* InvalidInput. *Promise:* one
    statement a page.
    """
    if not 1 <= limit <= EXPORTED_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {EXPORTED_MAX}", field="limit"
        )
    [after] = [0] if cursor is None else decode_cursor(cursor, kind="memories", types=[int])
    assert isinstance(after, int)
    [outcome] = await app.sql.read(
        [store.export_statement(caller.namespace, type_=type, after=after, limit=limit + 1)]
    )
    rows = outcome.rows[:limit]
    records, references = item_store.records_of(rows)
    memories: list[JSON] = [
        memory_view(item_view(record, references), use or UNUSED)
        for record, use in zip(records, store.exported_use_of(rows), strict=True)
    ]
    has_more = len(outcome.rows) > limit
    return {
        "memories": memories,
        "count": len(memories),
        "next_cursor": encode_cursor("memories", [records[-1].seq]) if has_more else None,
    }
