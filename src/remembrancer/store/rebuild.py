"""Rebuilding: shadow tables, the replay's cursor, and the swap.

Shadows carry no secondary index but that of the items' ids. The swap is one batch that fails when
the ledger has moved on: it takes out of each table what its shadow does not have, and puts in what
the shadow has more, so that rows and indexes that were right stay as they are. The schema is read
from the database itself, so no table is described twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.errors import CorruptData
from remembrancer.core.ledger.events import Event
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, SqlStore, SqlValue, Statement
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

    @property
    def is_replayed(self) -> bool:
        """Whether it is behind every stream: what is left is to catch up, and to swap."""
        return self.namespace == _BEHIND

    @property
    def is_swapped(self) -> bool:
        """Whether the tables are new: what is left is to drop the shadows."""
        return self.namespace == _SWAPPED


_BEHIND: Final = "\U0010ffff"
_SWAPPED: Final = "\U0010ffff\U0010ffff"
"""Behind every name of a namespace."""


def replayed(position: int) -> Cursor:
    """Return the cursor behind every stream, with all events up to a position in the shadows."""
    return Cursor(position, _BEHIND)


async def read_cursor(sql: SqlStore) -> Cursor | None:
    """Return where a rebuild stands, or None when there is none."""
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


def cursor_statement(
    cursor: Cursor, before: Cursor | None, *, ledger_ends_at: int | None = None
) -> Statement:
    """Return the statement that moves the cursor; it belongs into the batch it speaks of.

    *Promise:* a clash unless the cursor stands where it was before (None: there is none), and the
    ledger ends at a position if one is given.
    """
    is_there = (
        "NOT EXISTS (SELECT 1 FROM rebuild_state)"
        if before is None
        else "EXISTS (SELECT 1 FROM rebuild_state WHERE started_position = ?5"
        " AND last_namespace = ?6 AND last_stream = ?7 AND last_version = ?8)"
    )
    params: list[SqlValue] = [*_parts(cursor), *(_parts(before) if before is not None else ())]
    if ledger_ends_at is not None:
        params.append(ledger_ends_at)
        is_there += f" AND (SELECT coalesce(max(position), 0) FROM events) = ?{len(params)}"
    # The table takes no other id than 1.
    return Statement(
        "INSERT INTO rebuild_state (id, started_position, last_namespace, last_stream,"
        f" last_version) SELECT CASE WHEN {is_there} THEN 1 ELSE 2 END, ?1, ?2, ?3, ?4 WHERE true"
        " ON CONFLICT (id) DO UPDATE SET started_position = excluded.started_position,"
        " last_namespace = excluded.last_namespace, last_stream = excluded.last_stream,"
        " last_version = excluded.last_version",
        tuple(params),
    )


def _parts(cursor: Cursor) -> tuple[SqlValue, ...]:
    return cursor.position, cursor.namespace, cursor.stream, cursor.version


async def make_shadows(sql: SqlStore, cursor: Cursor) -> None:
    """Make empty shadow tables, and set the cursor; or drop those that another program has left,
    and set none.

    *Raises:* Conflict when another rebuild has begun meanwhile.
    """
    names = [*TABLES, *(SHADOW + table for table in TABLES)]
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
                " AND name IN (SELECT value FROM json_each(?))",
                (canonical_json(names),),
            )
        ]
    )
    definitions = {str(row["name"]): str(row["sql"]) for row in outcome.rows}
    left = [name for name in names if name.startswith(SHADOW) and name in definitions]
    if left:
        await sql.write([Statement(f"DROP TABLE {name}") for name in left])
        return
    statements = [cursor_statement(cursor, None)]
    for table in TABLES:
        if table not in definitions:
            raise CorruptData(f"the table {table!r} is missing", hint="run the migrations")
        pattern = rf'^(CREATE (?:VIRTUAL )?TABLE )"?{table}"?'
        text, count = re.subn(pattern, rf"\1{SHADOW}{table}", definitions[table], count=1)
        assert count == 1, definitions[table]
        statements.append(Statement(text))
    # Found by it for each event that edits one; the other shadows have their ids for keys.
    statements.append(
        Statement(f"CREATE UNIQUE INDEX {SHADOW}items_id ON {SHADOW}items (namespace, id)")
    )
    await sql.write(statements)


async def swap(sql: SqlStore, before: Cursor) -> int:
    """Make the tables equal to their shadows; return how many rows were not.

    *Raises:* Conflict when an event came after the cursor's position, or another has swapped;
    nothing is changed then. *Promise:* two statements for each table, and two.
    """
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT m.value AS name, p.name AS column, p.pk FROM json_each(?1) AS m"
                " CROSS JOIN pragma_table_info(m.value) AS p ORDER BY m.key, p.cid",
                (canonical_json([table for table in TABLES if table != _INDEX]),),
            )
        ]
    )
    columns: dict[str, list[tuple[str, bool]]] = {}
    for row in outcome.rows:
        is_key = row["pk"] != 0
        columns.setdefault(str(row["name"]), []).append((str(row["column"]), is_key))
    after = Cursor(before.position, _SWAPPED)
    statements = [cursor_statement(after, before, ledger_ends_at=before.position)]
    for table, named in columns.items():
        statements += _equalling(table, named)
    # Words of the index that belong to no row would not show in a comparison: it is replaced.
    statements.append(Statement(f"DROP TABLE {_INDEX}"))
    statements.append(Statement(f"ALTER TABLE {SHADOW}{_INDEX} RENAME TO {_INDEX}"))
    statements.append(Statement("UPDATE scope_versions SET version = version + 1"))
    outcomes = await sql.write(statements)
    return sum(one.changes for one in outcomes[1 : 1 + 2 * len(columns)])


_COUNTERS: Final = "counters"
"""The table whose rows of nothing may be missing."""

_INDEX: Final = "search"
"""The table that is an index itself."""


def _equalling(table: str, columns: Sequence[tuple[str, bool]]) -> list[Statement]:
    # As rows: a term for each column would be too deep an expression for D1.
    shadow = ", ".join(f"s.{name}" for name, _ in columns)
    present = ", ".join(f"t.{name}" for name, _ in columns)
    key = " AND ".join(f"t.{name} = s.{name}" for name, is_key in columns if is_key)
    names = ", ".join(name for name, _ in columns)
    kept = missing = ""
    if table == _COUNTERS:
        # One that has come back to nothing says as much as one that never was.
        kept = f" AND (t.value <> 0 OR EXISTS (SELECT 1 FROM {SHADOW}{table} AS s WHERE {key}))"
        missing = " AND s.value <> 0"
    return [
        Statement(
            f"DELETE FROM {table} AS t WHERE NOT EXISTS"
            f" (SELECT 1 FROM {SHADOW}{table} AS s WHERE {key}"
            f" AND ({shadow}) IS ({present})){kept}"
        ),
        Statement(
            f"INSERT INTO {table} ({names}) SELECT {names} FROM {SHADOW}{table} AS s"
            f" WHERE NOT EXISTS (SELECT 1 FROM {table} AS t WHERE {key}){missing}"
        ),
    ]


async def drop_shadows(sql: SqlStore) -> None:
    """Drop the shadows of tables that are new, and the cursor. *Promise:* safe to repeat."""
    statements = [
        Statement(f"DROP TABLE IF EXISTS {SHADOW}{table}") for table in TABLES if table != _INDEX
    ]
    await sql.write([*statements, Statement("DELETE FROM rebuild_state")])


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
