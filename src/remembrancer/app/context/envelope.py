"""What every bundle carries, and how one is served: from the cache when it holds, else built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from remembrancer.app.context.cache import Kept, cache_key, keep, look_up
from remembrancer.app.state import App
from remembrancer.core.context.budget import trim_bundle
from remembrancer.core.context.levels import ContextRequest, cache_arguments
from remembrancer.core.dates import day_bounds, format_iso
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Outcome, Statement

Bundle = dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Scoped:
    """What a request is about, once its version is known: the scope's own id, name and version."""

    version: int
    id: str = ""
    slug: str = ""


@dataclass(frozen=True, slots=True)
class Built:
    """A fresh bundle and the moment at which time alone changes it. *Units:* ms UTC."""

    bundle: Bundle
    valid_until: int


@dataclass(frozen=True, slots=True)
class Level:
    """One level's way of serving.

    *Shape:* `scope` names what is asked for in the cache's key; `versions` reads its version in
    one statement, `scoped` reads the outcome, `build` makes the bundle.
    """

    scope: str
    versions: Sequence[Statement]
    scoped: Callable[[list[Outcome]], Scoped]
    build: Callable[[Scoped, int], Awaitable[Built]]


async def serve(app: App, caller: Caller, request: ContextRequest, level: Level) -> Bundle:
    """Return the bundle, from the cache when it holds, trimmed to the budget.

    *Promise:* one round trip when cached; writes nothing to the store; a cached answer differs
    from a fresh one in `source` and `generated_at` alone.
    """
    now_ms = app.runtime.now_ms()
    arguments = cache_arguments(request)
    key = cache_key(caller.namespace, level.scope, arguments)
    if request.use_cache:
        outcomes, kept = await look_up(app.sql, app.kv, app.bundles, key, level.versions)
    else:
        outcomes, kept = await app.sql.read(level.versions), None
    scoped = level.scoped(outcomes)
    if kept is not None and kept.holds(scoped.id, scoped.version, now_ms):
        app.bundles.put(key, kept)
        return trim_bundle({**kept.bundle, "source": "kv_cache"}, request.max_tokens)
    built = await level.build(scoped, now_ms)
    bundle: Bundle = {
        **built.bundle,
        "source": "d1",
        "context_version": scoped.version,
        "generated_at": format_iso(now_ms),
        "valid_until": format_iso(built.valid_until),
    }
    kept = Kept(scoped.id, scoped.version, built.valid_until, bundle)
    await keep(app.kv, app.bundles, key, kept, is_shared=not arguments)
    return trim_bundle(bundle, request.max_tokens)


def end_of_validity(zone: ZoneInfo, now_ms: int, *next_changes: Outcome) -> int:
    """Return the next moment at which time alone changes a bundle: at the latest midnight.

    *Shape:* `next_changes` one row each, with a moment in every column that is not NULL.
    """
    _, midnight = day_bounds(now_ms, zone)
    moments = [
        value
        for outcome in next_changes
        for value in outcome.rows[0].values()
        if isinstance(value, int)
    ]
    return min([midnight, *moments])
