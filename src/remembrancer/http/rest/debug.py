"""REST of a look inside: vectors and cache, with a canary each, and the vectors' repair.

Only parsing and form, at the predecessor's paths.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from pydantic import Field

from remembrancer.app.access import require
from remembrancer.app.cache_health import cache_health
from remembrancer.app.vectors import repair
from remembrancer.app.vectors.health import vector_health
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Shape
from remembrancer.http.rest.names import Named
from remembrancer.http.route_table import Route


class VectorCanary(Shape):
    """How a vector went through: written, found, removed and found no more."""

    written: bool
    found: bool
    deleted: bool
    polls: int
    ms: int


class Outbox(Shape):
    """What waits to be embedded or removed, of the first thousand rows."""

    waiting: int
    removals: int
    failing: int
    oldest_at: str | None
    oldest_age_s: int
    last_error: str | None


class NextIndex(Shape):
    """How far the index of the next model is."""

    model: str
    dims: int
    vectors: int
    total: int


class VectorHealth(Shape):
    """Whether index and store agree; all but status and reasons is absent without an index."""

    status: Literal["ok", "degraded", "off"]
    reasons: list[str]
    model: str | None = None
    dims: int | None = None
    items: int | None = None
    vectors: int | None = None
    all_items: int | None = None
    all_vectors: int | None = None
    index_count: int | None = None
    outbox: Outbox | None = None
    canary: VectorCanary | None = None
    next: NextIndex | None = None


class Reindexing(Named):
    """How to embed anew; a dry run unless told otherwise."""

    dry_run: bool = Field(True, description="Only count what is missing.")
    limit: Annotated[
        int, Field(ge=1, le=repair.REINDEX_ITEMS_MAX, description="Items of this call.")
    ] = repair.REINDEX_ITEMS
    cursor: Cursor | None = None
    force: bool = Field(False, description="Embed what has a vector as well.")
    index: Literal["serving", "next"] = Field(
        "serving",
        description="`next` fills the index of the next model, of all namespaces; it keeps its "
        "place itself.",
    )


class Progress(Shape):
    """How far a walk over the items is."""

    done: int
    total: int


class ReindexAnswer(Shape):
    """What a page of items showed, and what was done about it."""

    dry_run: bool
    model: str
    examined: int
    missing: int
    orphans: int
    queued: int
    embedded: int
    deleted: int
    progress: Progress
    next_cursor: str | None
    failure: str | None


class CacheCanary(Shape):
    """How a value went through the cache: written, found and removed."""

    written: bool
    found: bool
    deleted: bool
    ms: int


class CacheHealth(Shape):
    """Whether the cache keeps what it is given."""

    status: Literal["ok", "degraded"]
    reasons: list[str]
    canary: CacheCanary


async def _vector_health(call: Call[None, None]) -> Answer:
    return Answer(await vector_health(call.app, call.caller, pause=asyncio.sleep))


async def _reindex(call: Call[None, Reindexing]) -> Answer:
    body = call.body
    if not body.dry_run:
        require(call.caller, "memory:write")
    if body.index == "next":
        # It counts and embeds the items of every namespace.
        require(call.caller, "admin")
        return Answer(await repair.reindex_next(call.app, dry_run=body.dry_run, limit=body.limit))
    return Answer(
        await repair.reindex_vectors(
            call.app,
            call.caller,
            dry_run=body.dry_run,
            limit=body.limit,
            cursor=body.cursor,
            force=body.force,
        )
    )


async def _cache_health(call: Call[None, None]) -> Answer:
    return Answer(await cache_health(call.app, call.caller))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/debug/vector_health",
        name="vector_health",
        area="debug",
        summary="Whether vectors and items agree",
        description="Counts, what waits, and a canary that is written, found and removed. An index "
        "that shows writes late is looked at again every 2.5 seconds, eight times at most.",
        scope="debug:read",
        response=VectorHealth,
        handler=_vector_health,
    ),
    Route(
        method="POST",
        path="/v1/debug/vector_reindex",
        name="vector_reindex",
        area="debug",
        summary="Embed what has no vector, page by page",
        description="A dry run unless `dry_run` is false. Send `next_cursor` to go on; what was "
        "queued is embedded by the outbox if this call does not get to it. Embedding needs the "
        "scope `memory:write` as well, and the index `next` needs `admin`.",
        scope="debug:read",
        body=Reindexing,
        response=ReindexAnswer,
        errors=("limit_exceeded",),
        handler=_reindex,
    ),
    Route(
        method="GET",
        path="/v1/debug/cache_health",
        name="cache_health",
        area="debug",
        summary="Whether the cache keeps what it is given",
        scope="debug:read",
        response=CacheHealth,
        handler=_cache_health,
    ),
)
"""The routes of a look inside."""
