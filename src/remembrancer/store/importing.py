"""Writing an import: events at their positions, artifacts and counters of use, batch by batch.

Deciding what is new is `app.importing`. Every batch fails when something else was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from remembrancer.core.artifacts import MOVED
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import ENDINGS, Event
from remembrancer.core.ledger.transfer import Line, members_of
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import SqlStore, SqlValue, Statement
from remembrancer.store import ledger
from remembrancer.store.forgetting import empty_all_statement
from remembrancer.store.marks import Marks
from remembrancer.store.projections import bump_scopes, least_round, project
from remembrancer.store.record_table import Placed, whole
from remembrancer.store.vector_outbox import queue_statements
from remembrancer.store.verify import StoredEvent

Command = tuple[str, str, int]
"""What the events of one command have in common: namespace, cause and moment."""

EventKey = tuple[str, str, int]
"""Names an event: its namespace, stream and version."""


@dataclass(frozen=True, slots=True)
class Known:
    """An event that is there: what a file's must be equal to."""

    position: int
    chain: str
    body: str | None
    salt: str | None


async def read_known(sql: SqlStore, keys: Sequence[EventKey]) -> tuple[int, dict[EventKey, Known]]:
    """Return the ledger's last position, and those of the named events that are there.

    *Promise:* one round trip of two statements, which reads a row for each that is there.
    """
    last, found = await sql.read(
        [
            Statement("SELECT coalesce(max(position), 0) AS position FROM events"),
            Statement(
                "SELECT e.namespace, e.stream, e.version, e.position, e.chain, e.body, e.salt"
                " FROM json_each(?1) AS j CROSS JOIN events AS e ON e.namespace = j.value ->> 0"
                " AND e.stream = j.value ->> 1 AND e.version = j.value ->> 2",
                (canonical_json([[*key] for key in keys]),),
            ),
        ]
    )
    return whole(last.rows[0]["position"]), {
        (str(row["namespace"]), str(row["stream"]), whole(row["version"])): Known(
            whole(row["position"]),
            str(row["chain"]),
            None if row["body"] is None else str(row["body"]),
            None if row["salt"] is None else str(row["salt"]),
        )
        for row in found.rows
    }


async def read_before(
    sql: SqlStore, places: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], list[Event]]:
    """Return the events of streams before a version of each, oldest first."""
    [outcome] = await sql.read(
        [
            Statement(
                f"SELECT {ledger.EVENT_COLUMNS} FROM json_each(?1) AS j CROSS JOIN events AS e"
                " ON e.namespace = j.value ->> 0 AND e.stream = j.value ->> 1"
                " AND e.version < j.value ->> 2 ORDER BY e.namespace, e.stream, e.version",
                (canonical_json([[*place, version] for place, version in places.items()]),),
            )
        ]
    )
    result: dict[tuple[str, str], list[Event]] = {}
    for row in outcome.rows:
        event = ledger.event_of(row)
        result.setdefault((event.namespace, event.stream), []).append(event)
    return result


async def count_events(sql: SqlStore, namespaces: Sequence[str]) -> dict[str, int]:
    """Return how many events these namespaces have; one without any is left out."""
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT e.namespace, count(*) AS count FROM json_each(?1) AS j"
                " CROSS JOIN events AS e ON e.namespace = j.value GROUP BY e.namespace",
                (canonical_json(list(namespaces)),),
            )
        ]
    )
    return {str(row["namespace"]): whole(row["count"]) for row in outcome.rows}


async def read_chunks(sql: SqlStore, namespace: str, artifact_id: str, count: int) -> list[str]:
    """Return the texts of an artifact's first chunks that are there, in order."""
    [outcome] = await sql.read(
        [
            Statement(
                "SELECT text FROM artifact_chunks WHERE namespace = ? AND artifact_id = ?"
                " AND number < ? ORDER BY number",
                (namespace, artifact_id, count),
            )
        ]
    )
    return [str(row["text"]) for row in outcome.rows]


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


def projection_statements(placed: Sequence[Placed], now_ms: int) -> list[Statement]:
    """Return what brings the tables up to events of one namespace that are in the ledger already.

    *Units:* `now_ms` since when their vectors wait.
    """
    queued = queue_statements(placed, at_ms=now_ms)
    # What a file still held of an item that was forgotten while it was written goes.
    ended = sorted({one.event.stream for one in placed if one.event.kind in ENDINGS})
    emptied = [empty_all_statement(placed[0].event.namespace, ended)] if ended else []
    return [*project(placed, rounds=_rounds(placed)), *bump_scopes(placed), *queued, *emptied]


def _rounds(placed: Sequence[Placed]) -> list[list[Placed]]:
    """Return the events of whole commands in rounds that the tables' unique indexes take.

    A key that one record gives up is taken by another only behind that: they may lie far apart in
    the ledger, where a live batch knows no more than its own command.
    """
    result: list[list[Placed]] = []
    reached: dict[str, int] = {}
    freed: dict[_Claim, int] = {}
    for one in _freeing_first(placed):
        before, after = _claims(one, one.before), _claims(one, one.after)
        behind = [freed[claim] + 1 for claim in after - before if claim in freed]
        number = max([*behind, least_round(one, reached)])
        reached[one.event.stream] = number
        freed |= dict.fromkeys(before - after, number)
        while number >= len(result):
            result.append([])
        result[number].append(one)
    return result


def _freeing_first(placed: Sequence[Placed]) -> Iterator[Placed]:
    """Give the events in their order, but in a command what frees a key before what takes it.

    In the ledger they stand as the command's batch had them, which changes rows before it adds
    some.
    """
    for _, command in groupby(placed, key=lambda one: (one.event.cause, one.event.at_ms)):
        waiting = [*command]
        while waiting:
            pending = Counter(
                claim
                for one in waiting
                for claim in _claims(one, one.before) - _claims(one, one.after)
            )
            late: set[str] = set()
            later: list[Placed] = []
            for one in waiting:
                before, after = _claims(one, one.before), _claims(one, one.after)
                if one.event.stream in late or any(pending[claim] for claim in after - before):
                    late.add(one.event.stream)
                    later.append(one)
                    continue
                pending.subtract(before - after)
                yield one
            if len(later) == len(waiting):  # keys that go around: no batch has ever written that
                yield from later
                return
            waiting = later


_Claim = tuple[str, str]


_CLAIMED: Final = {
    "item": ("fact_key", "state", "active"),
    "project": ("slug", "state", "active"),
    "topic": ("slug", "state", "active"),
    "candidate": ("fact", "status", "pending"),
}
"""Area → the field that at most one record may hold, and what another must be for it to count."""


def _claims(one: Placed, fields: Fields) -> set[_Claim]:
    area = one.event.stream.partition("/")[0]
    name, condition, value = _CLAIMED.get(area, ("", "", ""))
    held = fields.get(name)
    return {(area, str(held))} if held is not None and fields.get(condition) == value else set()


def imported_statement(namespace: str, at_ms: int) -> Statement:
    """Return the statement that notes when a namespace was imported: outside the ledger, and no
    part of an export. What came without counters of use counts as used then."""
    return Statement(
        "INSERT INTO imports (namespace, imported_at) VALUES (?, ?)"
        " ON CONFLICT (namespace) DO UPDATE SET imported_at = excluded.imported_at",
        (namespace, at_ms),
    )


SIDE_CHARS: Final = 900_000
"""Characters of the JSON of one statement's rows, but for a single one: they stay under the 2 MB
of one value. Our choice."""


def side_statements(lines: Sequence[Line]) -> list[Statement]:
    """Return the statements that write artifacts, chunks and counters of use, many in each.

    *Promise:* safe to repeat; a counter that has grown meanwhile stays.
    """
    sets: dict[str, list[list[str]]] = {}
    room: dict[str, int] = {}
    for line in lines:
        row = canonical_json([line.members[name] for name in members_of(line.kind)])
        if len(row) > room.get(line.kind, -1):
            sets.setdefault(line.kind, []).append([])
            room[line.kind] = SIDE_CHARS
        sets[line.kind][-1].append(row)
        room[line.kind] -= len(row)
    return [_side_statement(kind, rows) for kind, those in sets.items() for rows in those]


def _side_statement(kind: str, rows: Sequence[str]) -> Statement:
    table, ending = _SIDES[kind]
    names = members_of(kind)
    values = ", ".join(f"j.value ->> {number}" for number in range(len(names)))
    # The chunks of a text that was moved out by now must not come back.
    is_wanted = _UNMOVED if kind == "chunk" else "true"
    return Statement(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM json_each(?1) AS j"
        f" WHERE {is_wanted} ON CONFLICT DO {ending}",
        (f"[{','.join(rows)}]",),
    )


_UNMOVED: Final = (
    "NOT EXISTS (SELECT 1 FROM artifacts AS a WHERE a.namespace = j.value ->> 0"
    f" AND a.id = j.value ->> 1 AND a.stage = {MOVED})"
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
