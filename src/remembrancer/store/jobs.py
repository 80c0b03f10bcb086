"""SQL of jobs: leases, cursors, runs. What a run does is not here.

A lease is one row that is taken by an upsert whose condition the database checks; the batch that
holds a run's effects checks it again, so that a run which lost its lease writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.limits import COUNT_MAX
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement


@dataclass(frozen=True, slots=True)
class JobState:
    """Where a job of a namespace stands.

    *Shape:* `owner` is the run that holds the lease until `lease_until`; `attempts` failures in a
    row since `failing_since`; `next_at` the earliest moment of the next try. *Units:* ms, UTC.
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


@dataclass(frozen=True, slots=True)
class Lease:
    """What a run claims: a job of a namespace, for itself, until a moment."""

    namespace: Namespace
    job: str
    run_id: str


_STATE: Final = (
    "job, owner, lease_until, paused_at, attempts, next_at, dead_at, failing_since,"
    " last_run_id, last_started_at, last_success_at"
)
_RUN: Final = (
    "r.id, r.job, r.started_by, r.status, r.started_at, r.finished_at, r.attempt, r.done, r.total,"
    " r.counts, r.error, r.undone_at"
)
_HELD: Final = "(SELECT 1 FROM job_states WHERE namespace = ?1 AND job = ?2 AND owner = ?3)"


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
    """Return the batch that takes a lease and begins its run, unless another holds it.

    *Shape:* the first outcome has a row when and only when the lease is ours. *Promise:* safe to
    be delivered twice; the run that held an expired lease is marked lost.
    """
    key = (lease.namespace, lease.job, lease.run_id)
    return [
        Statement(
            "INSERT INTO job_states (namespace, job, owner, lease_until, attempts, last_run_id,"
            " last_started_at) VALUES (?1, ?2, ?3, ?5, 0, ?3, ?4)"
            " ON CONFLICT (namespace, job) DO UPDATE SET owner = excluded.owner,"
            " lease_until = excluded.lease_until,"
            " last_run_id = excluded.last_run_id, last_started_at = excluded.last_started_at"
            " WHERE job_states.owner IS NULL OR job_states.owner = excluded.owner"
            " OR job_states.lease_until <= ?4 RETURNING owner",
            (*key, now_ms, until_ms),
        ),
        Statement(
            "UPDATE job_runs SET status = 'lost', finished_at = ?4 WHERE namespace = ?1"
            f" AND job = ?2 AND status = 'running' AND id <> ?3 AND EXISTS {_HELD}",
            (*key, now_ms),
        ),
        Statement(
            "INSERT OR IGNORE INTO job_runs (namespace, id, job, started_by, status, started_at,"
            " attempt, counts) SELECT ?1, ?3, ?2, ?4, 'running', ?5, ?6, '{}'"
            f" WHERE EXISTS {_HELD}",
            (*key, started_by, now_ms, attempt),
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
    key = (lease.namespace, lease.job, lease.run_id)
    done, total = progress or (None, None)
    return [
        Statement(
            "UPDATE job_states SET lease_until = ?4"
            " WHERE namespace = ?1 AND job = ?2 AND owner = ?3 RETURNING owner",
            (*key, until_ms),
        ),
        Statement(
            "UPDATE job_runs SET counts = ?4, done = ?5, total = ?6"
            f" WHERE namespace = ?1 AND id = ?3 AND EXISTS {_HELD}",
            (*key, canonical_json(dict(counts)), done, total),
        ),
    ]


def finish_statements(lease: Lease, *, counts: Mapping[str, JSON], now_ms: int) -> list[Statement]:
    """Return the batch that ends a run well and gives its lease back."""
    key = (lease.namespace, lease.job, lease.run_id)
    return [
        Statement(
            "UPDATE job_runs SET status = 'done', finished_at = ?4, counts = ?5"
            f" WHERE namespace = ?1 AND id = ?3 AND EXISTS {_HELD}",
            (*key, now_ms, canonical_json(dict(counts))),
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
    key = (lease.namespace, lease.job, lease.run_id)
    return [
        Statement(
            "UPDATE job_runs SET status = 'failed', finished_at = ?4, counts = ?5, error = ?6"
            f" WHERE namespace = ?1 AND id = ?3 AND EXISTS {_HELD}",
            (*key, now_ms, canonical_json(dict(counts)), failure.error),
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
    key = (lease.namespace, lease.job, lease.run_id)
    return [
        Statement(
            "UPDATE job_runs SET status = 'lost', finished_at = ?4, counts = ?5"
            f" WHERE namespace = ?1 AND id = ?3 AND EXISTS {_HELD}",
            (*key, now_ms, canonical_json(dict(counts))),
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
            "UPDATE job_runs SET status = 'lost', finished_at = ?3 WHERE namespace = ?1"
            " AND job = ?2 AND status = 'running' AND EXISTS (SELECT 1 FROM job_states"
            f" WHERE namespace = ?1 AND job = ?2 AND {free})",
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
    key = (lease.namespace, lease.job, lease.run_id)
    return [
        Statement(f"INSERT INTO guards (holds) SELECT count(*) FROM {_HELD}", key),
        Statement("DELETE FROM guards"),
    ]


def cursor_statement(lease: Lease, name: str, cursor: Cursor) -> Statement:
    """Return the statement that moves a cursor; its batch fails unless the lease is held."""
    return Statement(
        "INSERT INTO job_cursors (namespace, name, at_ms, id, holds)"
        f" SELECT ?1, ?4, ?5, ?6, count(*) FROM {_HELD} WHERE 1"
        " ON CONFLICT (namespace, name) DO UPDATE SET at_ms = excluded.at_ms, id = excluded.id,"
        " holds = excluded.holds",
        (lease.namespace, lease.job, lease.run_id, name, cursor.at_ms, cursor.id),
    )


def cursors_statement(namespace: Namespace, prefix: str = "") -> Statement:
    """Return the statement that reads a namespace's cursors whose names begin so."""
    return Statement(
        "SELECT name, at_ms, id FROM job_cursors WHERE namespace = ?1 AND name >= ?2"
        " AND name < ?2 || char(1114111) ORDER BY name",
        (namespace, prefix),
    )


def cursors_of(rows: list[Row]) -> dict[str, Cursor]:
    """Return name → cursor from the rows of `cursors_statement`."""
    return {str(row["name"]): Cursor(_number(row["at_ms"]) or 0, str(row["id"])) for row in rows}


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
