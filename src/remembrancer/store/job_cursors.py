"""SQL of jobs' cursors: how far each has read, moved together with what came of it.

Whose lease must be held for it is `store.jobs`.
"""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.core.ids import Namespace
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.jobs import HELD, Lease


@dataclass(frozen=True, slots=True)
class ReadMessages:
    """What a batch has read: so many messages behind a place, up to the cursor that it moves."""

    after: Cursor
    count: int


def cursor_statement(
    lease: Lease, name: str, cursor: Cursor, read: ReadMessages | None = None
) -> Statement:
    """Return the statement that moves a cursor; its batch fails unless the lease is held.

    *Promise:* it fails as well when, of what was read, there are more messages by now: one that was
    written late, under an earlier time, would be passed unread.
    """
    holds = "count(*)"
    params: tuple[SqlValue, ...] = (*lease.key, name, cursor.at_ms, cursor.id)
    if read is not None:
        holds = (
            "count(*) = 1 AND (SELECT count(*) FROM messages AS m WHERE m.namespace = ?1"
            " AND (m.created_at, m.id) > (?7, ?8) AND m.created_at <= ?5"
            " AND NOT (m.created_at = ?5 AND m.id > ?6)) = ?9"
        )
        params += (read.after.at_ms, read.after.id, read.count)
    return Statement(
        "INSERT INTO job_cursors (namespace, name, at_ms, id, holds)"
        f" SELECT ?1, ?4, ?5, ?6, {holds} FROM {HELD} WHERE 1"
        " ON CONFLICT (namespace, name) DO UPDATE SET at_ms = excluded.at_ms, id = excluded.id,"
        " holds = excluded.holds",
        params,
    )


def drop_cursor_statement(namespace: Namespace, name: str) -> Statement:
    """Return the statement that removes a cursor, beside one that asks for the lease."""
    return Statement("DELETE FROM job_cursors WHERE namespace = ? AND name = ?", (namespace, name))


def cursors_statement(namespace: Namespace, prefix: str = "") -> Statement:
    """Return the statement that reads a namespace's cursors whose names begin so."""
    return Statement(
        "SELECT name, at_ms, id FROM job_cursors WHERE namespace = ?1 AND name >= ?2"
        " AND name < ?2 || char(1114111) ORDER BY name",
        (namespace, prefix),
    )


def cursors_of(rows: list[Row]) -> dict[str, Cursor]:
    """Return name → cursor from the rows of `cursors_statement`."""
    return {str(row["name"]): Cursor(int(str(row["at_ms"])), str(row["id"])) for row in rows}
