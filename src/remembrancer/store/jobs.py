"""SQL of jobs: leases, cursors, runs. What a run does is not here.

A lease is one row that is taken by an upsert whose condition the database checks; the batch that
holds a run's effects checks it again, so that a run which lost its lease writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.limits import COUNT_MAX
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement


@dataclass(frozen=True, slots=True)
class JobState:
    """Where a job of a namespace stands.

    *Shape:* `owner` is who holds the lease until `lease_until`, of the run `holding_run`;
    `attempts` failures in a row since `failing_since`; `next_at` the earliest moment of the next
    try. *Units:* ms, UTC.
    """

    job: str
    owner: str | None = None
    lease_until: int = 0
    paused_at: int | None = None
    attempts: int = 0
    next_at: int | None = None
    dead_at: int | None = None
    failing_since: int | None = None
    last_run_id: str | None = None
    last_started_at: int | None = None
    last_success_at: int | None = None

    @property
    def holding_run(self) -> str | None:
        """The run of whoever holds the lease."""
        return None if self.owner is None else self.owner.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Lease:
    """What a run claims: a job of a namespace, for itself, until a moment.

    *Shape:* `holder` is who of the run: a run that goes on has a name of its own each time, so that
    two that were told to go on with it do not take each other for themselves.
    """

    namespace: Namespace
    job: str
    run_id: str
    holder: str = ""

    @property
    def owner(self) -> str:
        """What stands in the lease's row: the run, and who of it when there may be two."""
        return f"{self.run_id}/{self.holder}" if self.holder else self.run_id

    @property
    def key(self) -> tuple[str, str, str]:
        """The first values of every statement that asks whether it is held."""
        return self.namespace, self.job, self.owner


_STATE: Final = (
    "job, owner, lease_until, paused_at, attempts, next_at, dead_at, failing_since,"
    " last_run_id, last_started_at, last_success_at"
)
_RUN: Final = (
    "r.id, r.job, r.started_by, r.status, r.started_at, r.finished_at, r.attempt, r.done, r.total,"
    " r.counts, r.error, r.undone_at"
)
HELD: Final = "(SELECT 1 FROM job_states WHERE namespace = ?1 AND job = ?2 AND owner = ?3)"
"""Of a statement whose first values are a lease's: one row when and only when it is held."""


_LAST_RUNNING: Final = (
    "namespace = ?1 AND status = 'running' AND id = (SELECT last_run_id FROM job_states"
    " WHERE namespace = ?1 AND job = ?2"
)
"""The run of a job that is not over: no other than its last one, so none is looked for."""


def states_statement(namespace: Namespace, job: str | None = None) -> Statement:
    """Return the statement that reads the states of a namespace's jobs, or of one."""
    return Statement(
        f"SELECT {_STATE} FROM job_states WHERE namespace = ?1 AND (?2 IS NULL OR job = ?2)",
        (namespace, job),
    )


def states_of(rows: list[Row]) -> dict[str, JobState]:
    """Return job → state from the rows of `states_statement`."""
    return {str(row["job"]): _state(row) for row in rows}


def _state(row: Row) -> JobState:
    return JobState(
        job=str(row["job"]),
        owner=_text(row["owner"]),
        lease_until=_number(row["lease_until"]) or 0,
        paused_at=_number(row["paused_at"]),
        attempts=_number(row["attempts"]) or 0,
        next_at=_number(row["next_at"]),
        dead_at=_number(row["dead_at"]),
        failing_since=_number(row["failing_since"]),
        last_run_id=_text(row["last_run_id"]),
        last_started_at=_number(row["last_started_at"]),
        last_success_at=_number(row["last_success_at"]),
    )


def take_statements(
    lease: Lease, *, started_by: str, attempt: int, now_ms: int, until_ms: int
) -> list[Statement]:
    """Return the batch that takes a lease and begins its run, or goes on with it, unless another
    holds it.

    *Shape:* the second outcome has a row when and only when the lease is ours. *Promise:* safe to
    be delivered twice; the run that held an expired lease is marked lost; no more rows read than
    those of one run, however many there were.
    """
    key = lease.key
    is_free = "owner IS NULL OR owner = ?3 OR lease_until <= ?4"
    return [
        Statement(
            f"UPDATE job_runs SET status = 'lost', finished_at = ?4 WHERE {_LAST_RUNNING}"
            f" AND last_run_id <> ?5 AND ({is_free}))",
            (*key, now_ms, lease.run_id),
        ),
        Statement(
            "INSERT INTO job_states (namespace, job, owner, lease_until, attempts, last_run_id,"
            " last_started_at) VALUES (?1, ?2, ?3, ?5, 0, ?6, ?4)"
            " ON CONFLICT (namespace, job) DO UPDATE SET owner = excluded.owner,"
            " lease_until = excluded.lease_until,"
            " last_run_id = excluded.last_run_id, last_started_at = excluded.last_started_at"
            " WHERE job_states.owner IS NULL OR job_states.owner = excluded.owner"
            " OR job_states.lease_until <= ?4 RETURNING owner",
            (*key, now_ms, until_ms, lease.run_id),
        ),
        Statement(
            "INSERT INTO job_runs (namespace, id, job, started_by, status, started_at,"
            " attempt, counts) SELECT ?1, ?7, ?2, ?4, 'running', ?5, ?6, '{}'"
            f" WHERE EXISTS {HELD} ON CONFLICT (namespace, id) DO UPDATE SET"
            " status = excluded.status, finished_at = NULL, error = NULL",
            (*key, started_by, now_ms, attempt, lease.run_id),
        ),
    ]


def renew_statements(
    lease: Lease,
    *,
    until_ms: int,
    counts: Mapping[str, JSON],
    progress: tuple[int, int] | None,
) -> list[Statement]:
    """Return the batch that lengthens a lease and shows how far its run is.

    *Shape:* the first outcome has a row when and only when the lease is still ours.
    """
    key = lease.key
    done, total = progress or (None, None)
    return [
        Statement(
            "UPDATE job_states SET lease_until = ?4"
            " WHERE namespace = ?1 AND job = ?2 AND owner = ?3 RETURNING owner",
            (*key, until_ms),
        ),
        Statement(
            "UPDATE job_runs SET counts = ?4, done = ?5, total = ?6"
            f" WHERE namespace = ?1 AND id = ?7 AND EXISTS {HELD}",
            (*key, canonical_json(dict(counts)), done, total, lease.run_id),
        ),
    ]


def finish_statements(lease: Lease, *, counts: Mapping[str, JSON], now_ms: int) -> list[Statement]:
    """Return the batch that ends a run well and gives its lease back."""
    key = lease.key
    return [
        Statement(
            "UPDATE job_runs SET status = 'done', finished_at = ?4, counts = ?5"
            f" WHERE namespace = ?1 AND id = ?6 AND EXISTS {HELD}",
            (*key, now_ms, canonical_json(dict(counts)), lease.run_id),
        ),
        Statement(
            "UPDATE job_states SET owner = NULL, lease_until = 0, attempts = 0, next_at = NULL,"
            " dead_at = NULL, failing_since = NULL, last_success_at = ?4"
            " WHERE namespace = ?1 AND job = ?2 AND owner = ?3",
            (*key, now_ms),
        ),
    ]


@dataclass(frozen=True, slots=True)
class Failure:
    """How a run failed. *Shape:* `error` an error code and its meaning, no text of a memory."""

    error: str
    attempts: int
    next_at: int
    is_dead: bool


def fail_statements(
    lease: Lease, failure: Failure, *, counts: Mapping[str, JSON], now_ms: int
) -> list[Statement]:
    """Return the batch that ends a run badly and says when the job is tried again."""
    key = lease.key
    return [
        Statement(
            "UPDATE job_runs SET status = 'failed', finished_at = ?4, counts = ?5, error = ?6"
            f" WHERE namespace = ?1 AND id = ?7 AND EXISTS {HELD}",
            (*key, now_ms, canonical_json(dict(counts)), failure.error, lease.run_id),
        ),
        Statement(
            "UPDATE job_states SET owner = NULL, lease_until = 0, attempts = ?5, next_at = ?6,"
            " failing_since = coalesce(failing_since, ?4),"
            " dead_at = CASE WHEN ?7 = 1 THEN coalesce(dead_at, ?4) END"
            " WHERE namespace = ?1 AND job = ?2 AND owner = ?3",
            (*key, now_ms, failure.attempts, failure.next_at, int(failure.is_dead)),
        ),
    ]


def let_go_statements(lease: Lease, counts: Mapping[str, JSON], now_ms: int) -> list[Statement]:
    """Return the batch that gives a lease back in the midst of the work: it goes on at once."""
    key = lease.key
    return [
        Statement(
            "UPDATE job_runs SET status = 'lost', finished_at = ?4, counts = ?5"
            f" WHERE namespace = ?1 AND id = ?6 AND EXISTS {HELD}",
            (*key, now_ms, canonical_json(dict(counts)), lease.run_id),
        ),
        Statement(
            "UPDATE job_states SET owner = NULL, lease_until = 0, next_at = ?4"
            " WHERE namespace = ?1 AND job = ?2 AND owner = ?3",
            (*key, now_ms),
        ),
    ]


def calm_statements(namespace: Namespace, job: str, now_ms: int) -> list[Statement]:
    """Return the batch that forgets failures whose work is gone, and a run that vanished."""
    free = "(owner IS NULL OR lease_until <= ?3)"
    return [
        Statement(
            f"UPDATE job_runs SET status = 'lost', finished_at = ?3 WHERE {_LAST_RUNNING}"
            f" AND {free})",
            (namespace, job, now_ms),
        ),
        Statement(
            "UPDATE job_states SET owner = NULL, lease_until = 0, attempts = 0, next_at = NULL,"
            " dead_at = NULL, failing_since = NULL"
            f" WHERE namespace = ?1 AND job = ?2 AND {free}",
            (namespace, job, now_ms),
        ),
    ]


def guard_statements(lease: Lease) -> list[Statement]:
    """Return what makes a batch fail unless the lease is still held. *Promise:* CHECK clash."""
    key = lease.key
    return [
        Statement(f"INSERT INTO guards (holds) SELECT count(*) FROM {HELD}", key),
        Statement("DELETE FROM guards"),
    ]


def pause_statement(namespace: Namespace, job: str, now_ms: int) -> Statement:
    """Return the statement that pauses a job; what runs is not stopped."""
    return Statement(
        "INSERT INTO job_states (namespace, job, lease_until, attempts, paused_at)"
        " VALUES (?1, ?2, 0, 0, ?3) ON CONFLICT (namespace, job) DO UPDATE SET"
        " paused_at = coalesce(paused_at, excluded.paused_at)",
        (namespace, job, now_ms),
    )


def resume_statement(namespace: Namespace, job: str, now_ms: int) -> Statement:
    """Return the statement that lets a job run again, a dead one too, and at once."""
    return Statement(
        "UPDATE job_states SET paused_at = NULL, next_at = ?3, dead_at = NULL, attempts = 0,"
        " failing_since = NULL WHERE namespace = ?1 AND job = ?2"
        " AND (paused_at IS NOT NULL OR attempts > 0)",
        (namespace, job, now_ms),
    )


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a run that goes on has done. *Shape:* `total` what was pending when it began."""

    counts: Mapping[str, int]
    total: int


def earlier_of(rows: list[Row], job: str) -> Earlier | None:
    """Return what the run in the row of `run_statement` has done; None when there is none to go on
    with: of another job, failed, lost, or taken back by now."""
    for row in rows:
        is_whole = row["status"] in ("done", "running") and row["undone_at"] is None
        if is_whole and row["job"] == job:
            return Earlier(json.loads(str(row["counts"])), _number(row["total"]) or 0)
    return None


def run_statement(namespace: Namespace, run_id: str) -> Statement:
    """Return the statement that reads one run."""
    return Statement(
        f"SELECT {_RUN} FROM job_runs AS r WHERE r.namespace = ? AND r.id = ?", (namespace, run_id)
    )


def runs_statement(
    namespace: Namespace, *, job: str | None, before: tuple[int, str], limit: int
) -> Statement:
    """Return the statement that reads runs before a place, newest first."""
    return Statement(
        f"SELECT {_RUN} FROM job_runs AS r WHERE r.namespace = ?1"
        " AND (r.started_at, r.id) < (?3, ?4) AND (?2 IS NULL OR r.job = ?2)"
        " ORDER BY r.started_at DESC, r.id DESC LIMIT ?5",
        (namespace, job, *before, limit),
    )


def last_runs_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads the last run of each job that ever ran."""
    return Statement(
        f"SELECT {_RUN} FROM job_states AS s CROSS JOIN job_runs AS r"
        " ON r.namespace = ?1 AND r.id = s.last_run_id WHERE s.namespace = ?1",
        (namespace,),
    )


def undone_statement(namespace: Namespace, run_id: str, now_ms: int) -> Statement:
    """Return the statement that notes that a run's changes were taken back."""
    return Statement(
        "UPDATE job_runs SET undone_at = ?3 WHERE namespace = ?1 AND id = ?2",
        (namespace, run_id, now_ms),
    )


def namespaces_statement() -> Statement:
    """Return the statement that reads every namespace that has events or messages.

    *Promise:* a few rows read for each namespace, however much it holds.
    """
    return Statement(
        "WITH RECURSIVE e (name) AS (SELECT min(namespace) FROM events UNION"
        " SELECT (SELECT min(namespace) FROM events WHERE namespace > e.name) FROM e"
        " WHERE e.name IS NOT NULL), m (name) AS (SELECT min(namespace) FROM messages UNION"
        " SELECT (SELECT min(namespace) FROM messages WHERE namespace > m.name) FROM m"
        " WHERE m.name IS NOT NULL) SELECT name FROM e WHERE name IS NOT NULL UNION"
        " SELECT name FROM m WHERE name IS NOT NULL ORDER BY 1"
    )


def outbox_due_statement(namespace: Namespace, now_ms: int) -> Statement:
    """Return the statement that counts the outbox's rows that are due, and the removals of them."""
    return Statement(
        "SELECT count(*) AS waiting, coalesce(sum(is_gone), 0) AS removals FROM (SELECT is_gone"
        f" FROM vector_outbox WHERE namespace = ? AND not_before <= ? LIMIT {COUNT_MAX})",
        (namespace, now_ms),
    )


def due_again_statement(now_ms: int) -> Statement:
    """Return the statement that reads what to try again, of all namespaces: failures whose wait is
    over, and leases that ran out with their process."""
    return Statement(
        "SELECT namespace, job FROM job_states WHERE paused_at IS NULL AND dead_at IS NULL"
        " AND ((next_at <= ?1 AND owner IS NULL) OR (owner IS NOT NULL AND lease_until <= ?1))"
        " ORDER BY namespace, job",
        (now_ms,),
    )


def _number(value: SqlValue) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: SqlValue) -> str | None:
    return None if value is None else str(value)
