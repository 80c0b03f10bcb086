"""Health: does the work get done, not does the process run.

Each check adds a reason when something is behind, and a detail for who may see it. A store that
does not answer is no reason but an error. Alerts and repairs are not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.app.jobs.health import job_health, job_statements
from remembrancer.app.state import App
from remembrancer.app.vectors.health import Backlog, backlog, backlog_statement, vector_reasons
from remembrancer.core.errors import PlatformError
from remembrancer.core.values import JSON, MINUTE_MS
from remembrancer.store import health, vector_models

PROBE_KEY: Final = "health/probe"
"""The cache key that the check asks for; it need not exist."""


WRITE_FAILED_MS_MAX: Final = 10 * MINUTE_MS
"""Milliseconds for which a write that failed is a reason, when none was tried since: who takes a
degraded server out of service sends it nothing that could be written. Our choice."""


@dataclass(frozen=True, slots=True)
class Health:
    """What the checks found. *Shape:* `reasons` is empty when and only when status is `ok`."""

    status: Literal["ok", "degraded"]
    reasons: tuple[str, ...]
    details: dict[str, JSON]


async def check_health(app: App) -> Health:
    """Run every check.

    *Raises:* StoreUnavailable, TimedOut when the store does not answer.
    *Promise:* one round trip to the database, one to the cache; writes nothing.
    """
    reasons: list[str] = []
    now = app.runtime.now_ms()
    ping, rebuild, outbox, pauses, *jobs = await app.sql.read(
        [
            health.ping_statement(),
            health.rebuild_statement(),
            backlog_statement(),
            vector_models.pauses_statement(now),
            *job_statements(),
        ]
    )
    position = ping.rows[0]["position"]
    assert not isinstance(position, bytes)
    damage = app.damage()
    if damage is not None:
        reasons.append(f"the database is damaged: {damage}")
    failure = app.writes.failure if now - app.writes.failed_at_ms <= WRITE_FAILED_MS_MAX else None
    if failure is not None:
        reasons.append(f"nothing is written: {failure}")
    if rebuild.rows:
        reasons.append("a rebuild has begun and not ended; run it again to go on")
    waits = backlog(outbox, now)
    vectors = vector_reasons(app, waits, vector_models.paused(pauses))
    reasons += vectors
    work = job_health(app, jobs, now)
    reasons += work.reasons
    cache = await _check_cache(app)
    if cache != "ok":
        reasons.append("the cache does not answer; reads are slower and still right")
    return Health(
        status="degraded" if reasons else "ok",
        reasons=tuple(reasons),
        details={
            "store": {
                "status": "ok" if failure is None else "failing",
                "ledger_position": position or 0,
            },
            "cache": {"status": cache},
            "rebuild": {"status": "unfinished" if rebuild.rows else "ok"},
            "jobs": work.details,
            "vectors": _vectors(app, waits, is_behind=bool(vectors)),
        },
    )


def _vectors(app: App, waits: Backlog, *, is_behind: bool) -> dict[str, JSON]:
    if app.vectors is None or app.embedder is None:
        return {"status": "off", "waiting": waits.waiting}
    return {
        "status": "behind" if is_behind else "ok",
        "model": app.embedder.model.name,
        "dims": app.embedder.model.dims,
        "waiting": waits.waiting,
        "failing": waits.failing,
        "oldest_age_s": waits.oldest_ms // 1_000,
    }


async def _check_cache(app: App) -> str:
    try:
        await app.kv.get(PROBE_KEY)
    except PlatformError as error:
        return error.code
    return "ok"
