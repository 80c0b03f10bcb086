"""Whether jobs keep up: what is judged is the work that waits, in any namespace, not the clock.

A part of every health check; it reads a few rows of each namespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.dates import format_iso
from remembrancer.core.values import DAY_MS, HOUR_MS, JSON, MINUTE_MS
from remembrancer.ports.sql import Outcome, SqlValue, Statement
from remembrancer.store import job_health as store

UNEXTRACTED_MS_MAX: Final = 9 * HOUR_MS
"""Milliseconds that a message may wait for extraction: two scheduled runs and an hour. Ours."""

UNDREAMT_MS_MAX: Final = 50 * HOUR_MS
"""Milliseconds that a message may wait for its night: two nights. Our choice."""

UNKEPT_MS_MAX: Final = 2 * DAY_MS
"""Milliseconds that a message may stay beyond its period, once it was read. Our choice."""

FAILING_MS_MAX: Final = 70 * MINUTE_MS
"""Milliseconds for which a job may fail: its first six tries. Our choice."""


@dataclass(slots=True)
class JobHealth:
    """What the check found. *Shape:* `details` for whoever may see them."""

    reasons: list[str] = field(default_factory=list)
    details: dict[str, JSON] = field(default_factory=dict)


def job_statements() -> list[Statement]:
    """Return what `job_health` reads."""
    return [store.standing_statement(), store.waiting_statement()]


def job_health(app: App, outcomes: Sequence[Outcome], now_ms: int) -> JobHealth:
    """Judge what was read, of all namespaces."""
    standing, waiting = outcomes
    health = JobHealth()
    failing = dead = 0
    for row in standing.rows:
        job = str(row["job"])
        since, died = _number(row["failing_since"]), _number(row["dead"]) or 0
        failing += _number(row["failing"]) or 0
        dead += died
        if died:
            health.reasons.append(
                f"the job {job!r} is dead after many failures; see its runs, then resume it"
            )
        elif since is not None and now_ms - since > FAILING_MS_MAX:
            minutes = (now_ms - since) // MINUTE_MS
            health.reasons.append(f"the job {job!r} has failed for {minutes} minutes")
        success = _number(row["last_success_at"])
        if success is not None:
            health.details[f"{job}_last_success_at"] = format_iso(success)
    ages = {
        name: None if (at := _number(waiting.rows[0][name])) is None else max(0, now_ms - at)
        for name in ("unextracted", "undreamt", "passed")
    }
    if not app.settings.enable_auto_memory:
        ages["unextracted"] = None
    health.reasons += _late(app, ages)
    skipped = _number(waiting.rows[0]["skipped"]) or 0
    if skipped:
        health.reasons.append(
            f"a model refused {skipped} message{'s' if skipped > 1 else ''}: see"
            " /v1/jobs/extract/skipped, try again or let go"
        )
    health.details |= {
        "status": "behind" if health.reasons else "ok",
        "failing": failing,
        "dead": dead,
        "skipped_messages": skipped,
        "oldest_unextracted_s": (ages["unextracted"] or 0) // 1_000,
        "oldest_undreamt_s": (ages["undreamt"] or 0) // 1_000,
    }
    return health


def _late(app: App, ages: dict[str, int | None]) -> list[str]:
    keep_ms = app.settings.messages_keep_days * DAY_MS
    checks = (
        ("unextracted", UNEXTRACTED_MS_MAX, "extraction is behind: a message waits"),
        ("undreamt", UNDREAMT_MS_MAX, "the nights are behind: a message waits"),
        ("passed", keep_ms + UNKEPT_MS_MAX, "retention is behind: a message is kept"),
    )
    return [
        f"{words} for {age // HOUR_MS} hours"
        for name, limit, words in checks
        if (age := ages[name]) is not None and age > limit
    ]


def _number(value: SqlValue) -> int | None:
    return value if isinstance(value, int) else None
