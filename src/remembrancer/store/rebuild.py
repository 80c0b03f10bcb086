"""Rebuilding: shadow tables, the replay's cursor, and the swap.

Shadows carry no secondary index while they are filled; the swap drops the old tables, renames the
shadows and makes the indexes anew, in one batch that fails when the ledger has moved on. The
schema is read from the database itself, so no table is described twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from remembrancer.core.errors import CorruptData
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import Event
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, SqlStore, Statement
from remembrancer.store import ledger
from remembrancer.store.projections import TABLES

SHADOW: Final = "rebuild_"
"""Prefix of the shadow tables."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a replay is: all events up to `position` of streams before this place are in."""

    position: int
    namespace: str = ""
    stream: str = ""
    version: int = 0


async def read_cursor(sql: SqlStore) -> Cursor | None:
    """Return where an interrupted replay stands, or None when there is none."""
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT started_position, last_namespace, last_stream, last_version"
                " FROM rebuild_state"
            )
        ]
    )
    if not outcome.rows:
        return None
    row = outcome.rows[0]
    return Cursor(
        _int(row, "started_position"),
        str(row["last_namespace"]),
        str(row["last_stream"]),
        _int(row, "last_version"),
    )


async def last_position(sql: SqlStore) -> int:
    """Return the ledger's last position, 0 when it is empty."""
    [outcome] = await sql.read([Statement("SELECT max(position) AS position FROM events")])
    value = outcome.rows[0]["position"]
    return int(str(value)) if value is not None else 0


def cursor_statement(cursor: Cursor) -> Statement:
    """Return the statement that keeps the cursor; it belongs into the batch it speaks of."""
    return Statement(
        "INSERT INTO rebuild_state (id, started_position, last_namespace, last_stream,"
        " last_version) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " started_position = excluded.started_position,"
        " last_namespace = excluded.last_namespace, last_stream = excluded.last_stream,"
        " last_version = excluded.last_version",
        (cursor.position, cursor.namespace, cursor.stream, cursor.version),
    )


async def make_shadows(sql: SqlStore, cursor: Cursor) -> None:
    """Make empty shadow tables, dropping any that are left, and set the cursor."""
    definitions = await _definitions(sql, "table")
    statements = [Statement(f"DROP TABLE IF EXISTS {SHADOW}{table}") for table in TABLES]
    for table in TABLES:
        if table not in definitions:
            raise CorruptData(f"the table {table!r} is missing", hint="run the migrations")
        pattern = rf'^(CREATE (?:VIRTUAL )?TABLE )"?{table}"?'
        text, count = re.subn(pattern, rf"\1{SHADOW}{table}", definitions[table], count=1)
        assert count == 1, definitions[table]
        statements.append(Statement(text))
    await sql.write([*statements, cursor_statement(cursor)])


async def swap(sql: SqlStore, position: int) -> None:
    """Put the shadows in place.

    *Raises:* Conflict when an event came after `position`; nothing is changed then.
    """
    indexes = await _definitions(sql, "index")
    statements = [
        Statement(
            "INSERT INTO guards (holds) SELECT coalesce(max(position), 0) = ? FROM events",
            (position,),
        ),
        Statement("DELETE FROM guards"),
    ]
    for table in TABLES:
        statements.append(Statement(f"DROP TABLE {table}"))
        statements.append(Statement(f"ALTER TABLE {SHADOW}{table} RENAME TO {table}"))
    statements += [Statement(text) for text in indexes.values()]
    statements.append(Statement("DELETE FROM rebuild_state"))
    statements.append(Statement("UPDATE scope_versions SET version = version + 1"))
    await sql.write(statements)


async def _definitions(sql: SqlStore, type_: str) -> dict[str, str]:
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL"
                " AND tbl_name IN (SELECT value FROM json_each(?)) ORDER BY name",
                (type_, canonical_json(list(TABLES))),
            )
        ]
    )
    return {str(row["name"]): str(row["sql"]) for row in outcome.rows}


async def events_after(sql: SqlStore, cursor: Cursor, limit: int) -> list[Event]:
    """Return the next events of the replay, stream by stream, up to the cursor's position."""
    [outcome] = await sql.read(
        [
            Statement(
                f"SELECT {ledger.EVENT_COLUMNS} FROM events AS e"
                " WHERE (e.namespace, e.stream, e.version) > (?, ?, ?) AND e.position <= ?"
                " ORDER BY e.namespace, e.stream, e.version LIMIT ?",
                (cursor.namespace, cursor.stream, cursor.version, cursor.position, limit),
            )
        ]
    )
    return [ledger.event_of(row) for row in outcome.rows]


async def events_since(sql: SqlStore, position: int, limit: int) -> list[Event]:
    """Return the events after a position, in ledger order."""
    [outcome] = await sql.read(
        [
            Statement(
                f"SELECT {ledger.EVENT_COLUMNS} FROM events AS e WHERE e.position > ?"
                " ORDER BY e.position LIMIT ?",
                (position, limit),
            )
        ]
    )
    return [ledger.event_of(row) for row in outcome.rows]


async def stream_before(
    sql: SqlStore, namespace: Namespace, stream: Stream, version: int
) -> list[Event]:
    """Return a stream's events before a version, oldest first."""
    events = await ledger.read_stream(sql, namespace, stream)
    return [event for event in events if event.version < version]


async def totals(sql: SqlStore) -> tuple[int, int]:
    """Return how many events and how many streams the ledger holds."""
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT count(*) AS events, count(DISTINCT namespace || '/' || stream) AS streams"
                " FROM events"
            )
        ]
    )
    return _int(outcome.rows[0], "events"), _int(outcome.rows[0], "streams")


def _int(row: Row, name: str) -> int:
    return int(str(row[name]))
