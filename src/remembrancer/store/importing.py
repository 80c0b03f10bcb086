"""Writing an import: events at their positions, artifacts and counters of use, batch by batch.

Deciding what is new is `app.importing`. Every batch fails when something else was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core.artifacts import MOVED
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.transfer import Line, members_of
from remembrancer.ports.sql import SqlStore, SqlValue, Statement
from remembrancer.store import ledger
from remembrancer.store.forgetting import empty_bodies_statement
from remembrancer.store.marks import Marks
from remembrancer.store.projections import bump_scopes, project
from remembrancer.store.record_table import Placed
from remembrancer.store.vector_outbox import queue_statements
from remembrancer.store.verify import StoredEvent

PAGE_EVENTS: Final = 500
"""Events that are read at once to compare them with a file. Our choice."""


async def present_after(
    sql: SqlStore, namespace: str, position: int
) -> list[tuple[int, str, str | None, str | None]]:
    """Return position, chain value, body and salt of a namespace's next events, in order."""
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT position, chain, body, salt FROM events"
                " WHERE position > ? AND +namespace = ? ORDER BY position LIMIT ?",
                (position, namespace, PAGE_EVENTS),
            )
        ]
    )
    return [
        (
            int(str(row["position"])),
            str(row["chain"]),
            None if row["body"] is None else str(row["body"]),
            None if row["salt"] is None else str(row["salt"]),
        )
        for row in outcome.rows
    ]


def ledger_statements(
    stored: Sequence[StoredEvent], *, last_position: int, keeps_positions: bool
) -> list[Statement]:
    """Return what writes events behind `last_position`, unless that is not the last any more.

    *Shape:* at least one event; without `keeps_positions` the next ones are taken, in order.
    """
    rows: list[list[SqlValue]] = [
        [
            one.position if keeps_positions else None,
            one.namespace,
            one.stream,
            one.version,
            one.kind,
            one.actor,
            one.at_ms,
            one.cause,
            one.body,
            one.salt,
            one.body_hash,
            one.chain,
        ]
        for one in stored
    ]
    marks = Marks(Namespace(stored[0].namespace))
    return [
        Statement(
            "INSERT INTO guards (holds) SELECT coalesce(max(position), 0) = ? FROM events",
            (last_position,),
        ),
        Statement("DELETE FROM guards"),
        Statement(
            f"INSERT INTO events ({', '.join(members_of('event'))})"
            f" SELECT * FROM {marks.rows(rows)}",
            marks.values,
        ),
    ]


def projection_statements(placed: Placed, now_ms: int) -> list[Statement]:
    """Return what brings the tables up to one event that is in the ledger already.

    One at a time and in the ledger's order: the tables have their unique indexes, and a key that
    one event frees may be taken by the next. *Units:* `now_ms` since when its vector waits.
    """
    queued = queue_statements([placed], at_ms=now_ms)
    return [*project([placed]), *bump_scopes([placed]), *queued]


def forgotten_statement(namespace: str, stream: str) -> Statement:
    """Return the statement that empties what a file still held of an item forgotten meanwhile."""
    return empty_bodies_statement(Namespace(namespace), Stream(stream))


def imported_statement(namespace: str, at_ms: int) -> Statement:
    """Return the statement that notes when a namespace was imported: outside the ledger, and no
    part of an export. What came without counters of use counts as used then."""
    return Statement(
        "INSERT INTO imports (namespace, imported_at) VALUES (?, ?)"
        " ON CONFLICT (namespace) DO UPDATE SET imported_at = excluded.imported_at",
        (namespace, at_ms),
    )


async def record_before(sql: SqlStore, stored: StoredEvent) -> Fields:
    """Return the record that a stream in the ledger folds to, before an event of a file."""
    events = await ledger.read_stream(sql, Namespace(stored.namespace), Stream(stored.stream))
    return ledger.fold([event for event in events if event.version < stored.version])


def side_statement(line: Line) -> Statement:
    """Return the statement that writes an artifact, a chunk or a counter of use.

    *Promise:* safe to repeat; a counter that has grown meanwhile stays.
    """
    table, ending = _SIDES[line.kind]
    names = members_of(line.kind)
    values: list[SqlValue] = []
    for name in names:
        value = line.members[name]
        assert value is None or isinstance(value, str | int)
        values.append(value)
    # The chunks of a text that was moved out by now must not come back.
    is_wanted = _UNMOVED if line.kind == "chunk" else "true"
    marks = ", ".join(f"?{number}" for number in range(1, len(names) + 1))
    return Statement(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {marks} WHERE {is_wanted}"
        f" ON CONFLICT DO {ending}",
        tuple(values),
    )


_UNMOVED: Final = (
    f"NOT EXISTS (SELECT 1 FROM artifacts WHERE namespace = ?1 AND id = ?2 AND stage = {MOVED})"
)


def _latest(*names: str) -> str:
    grown = (
        f"{name} = max(coalesce({name}, excluded.{name}), coalesce(excluded.{name}, {name}))"
        for name in names
    )
    return "UPDATE SET " + ", ".join(grown)


_SIDES: Final = {
    "artifact": ("artifacts", "NOTHING"),
    "chunk": ("artifact_chunks", "NOTHING"),
    "use": (
        "item_use",
        _latest("recall_count", "last_recalled_at", "seen_count", "last_seen_at"),
    ),
    "key_use": ("key_use", _latest("last_used_at")),
}
