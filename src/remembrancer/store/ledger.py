"""The ledger's SQL: append with expected versions, heads, streams, idempotency, positions.

An append is a list of statements; the unique key on (namespace, stream, version) is the lock.
Deciding is not done here. `store.projections` fills the tables that lists read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import (
    Draft,
    Event,
    Head,
    Sealed,
    decode_body,
    fold_event,
    seal,
)
from remembrancer.core.values import JSON, Caller, canonical_json
from remembrancer.ports.sql import Row, SqlStore, SqlValue, Statement
from remembrancer.store.marks import Marks, portions
from remembrancer.store.projections import bump_scopes, project
from remembrancer.store.record_table import Placed, load_json
from remembrancer.store.vector_outbox import queue_statements


@dataclass(frozen=True, slots=True)
class StreamEdit:
    """What a use case wants to append to one stream.

    *Shape:* `head` and `fields` as they were read; `drafts` in order.
    """

    stream: Stream
    head: Head
    fields: Fields
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that was stored under an idempotency key."""

    request_hash: str
    answer: JSON


def place(
    edits: Sequence[StreamEdit], *, caller: Caller, at_ms: int, salts: Sequence[bytes]
) -> tuple[list[Sealed], list[Placed]]:
    """Number, seal and fold the drafts.

    *Shape:* one salt for each draft; the results are in the order of the edits.
    """
    sealed: list[Sealed] = []
    placed: list[Placed] = []
    remaining = iter(salts)
    for edit in edits:
        head, fields = edit.head, edit.fields
        for draft in edit.drafts:
            event = Event(
                namespace=caller.namespace,
                stream=edit.stream,
                version=head.version + 1,
                kind=draft.kind,
                actor=caller.actor,
                at_ms=at_ms,
                cause=caller.cause,
                changes=draft.changes,
                note=draft.note,
            )
            entry = seal(head, event, next(remaining))
            after = fold_event(fields, event)
            sealed.append(entry)
            placed.append(Placed(event, fields, after))
            head, fields = Head(event.version, entry.chain), after
    return sealed, placed


def append(sealed: Sequence[Sealed], placed: Sequence[Placed]) -> list[Statement]:
    """Return the batch that writes events, projections, counters, scope versions and outbox."""
    rows: list[list[SqlValue]] = [
        [
            entry.event.stream,
            entry.event.version,
            entry.event.kind,
            entry.event.actor,
            entry.event.at_ms,
            entry.event.cause,
            entry.body,
            entry.salt,
            entry.body_hash,
            entry.chain,
        ]
        for entry in sealed
    ]
    result: list[Statement] = []
    for portion in portions(rows):
        marks = Marks(sealed[0].event.namespace)
        # Positions are given in the order of the rows.
        sql = (
            "INSERT INTO events (namespace, stream, version, kind, actor, at_ms, cause, body, salt,"
            f" body_hash, chain) SELECT ?1, * FROM {marks.rows(portion)}"
        )
        result.append(Statement(sql, marks.values))
    return [
        *result,
        *project(placed),
        *bump_scopes(placed),
        *queue_statements(placed),
    ]


def heads_statement(namespace: Namespace, streams: Sequence[Stream]) -> Statement:
    """Return the statement that reads the last version and chain value of streams."""
    marks = Marks(namespace)
    sql = (
        f"SELECT e.stream, e.version, e.chain FROM {marks.rows([[one] for one in streams])} AS j"
        " CROSS JOIN events AS e ON e.namespace = ?1 AND e.stream = j.column1 AND e.version ="
        " (SELECT version FROM events WHERE namespace = ?1 AND stream = j.column1"
        " ORDER BY version DESC LIMIT 1)"
    )
    return Statement(sql, marks.values)


def heads(rows: Sequence[Row]) -> dict[str, Head]:
    """Return stream → head from the rows of `heads_statement`."""
    return {str(row["stream"]): Head(int(str(row["version"])), str(row["chain"])) for row in rows}


EVENT_COLUMNS: Final = (
    "e.position, e.namespace, e.stream, e.version, e.kind, e.actor, e.at_ms, e.cause, e.body,"
    " e.salt"
)
"""The columns that make an Event, of the table `events AS e`."""


def stream_statement(namespace: Namespace, stream: Stream) -> Statement:
    """Return the statement that reads all events of a stream, oldest first."""
    return Statement(
        f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE namespace = ? AND stream = ?"
        " ORDER BY version",
        (namespace, stream),
    )


def cause_statement(namespace: Namespace, cause: str) -> Statement:
    """Return the statement that reads all events of one request or run, in ledger order."""
    return Statement(
        f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE namespace = ? AND cause = ?"
        " ORDER BY position",
        (namespace, cause),
    )


def event_statement(namespace: Namespace, position: int) -> Statement:
    """Return the statement that reads the event at a position."""
    return Statement(
        f"SELECT {EVENT_COLUMNS} FROM events AS e WHERE position = ? AND namespace = ?",
        (position, namespace),
    )


def event_of(row: Row) -> Event:
    """Return the event in a row of the reading statements."""
    kind = str(row["kind"])
    body = row["body"]
    is_forgotten = not body
    changes, note = ({}, {}) if is_forgotten else decode_body(kind, str(body))
    return Event(
        namespace=Namespace(str(row["namespace"])),
        stream=Stream(str(row["stream"])),
        version=int(str(row["version"])),
        kind=kind,
        actor=str(row["actor"]),
        at_ms=int(str(row["at_ms"])),
        cause=str(row["cause"]),
        changes=changes,
        note=note,
        position=int(str(row["position"])),
        is_forgotten=is_forgotten,
    )


async def read_stream(sql: SqlStore, namespace: Namespace, stream: Stream) -> list[Event]:
    """Return all events of a stream, oldest first. *Promise:* one statement."""
    [outcome] = await sql.read([stream_statement(namespace, stream)])
    return [event_of(row) for row in outcome.rows]


def fold(events: Sequence[Event], fields: Fields | None = None) -> Fields:
    """Return the record after these events."""
    result: Fields = dict(fields or {})
    for event in events:
        result = fold_event(result, event)
    return result


def answer_statement(namespace: Namespace, key: str) -> Statement:
    """Return the statement that reads what an idempotency key was answered."""
    return Statement(
        "SELECT request_hash, answer FROM idempotency WHERE namespace = ? AND key = ?",
        (namespace, key),
    )


def answered(rows: Sequence[Row]) -> Answered | None:
    """Return the stored answer, or None when the key is new."""
    if not rows:
        return None
    return Answered(str(rows[0]["request_hash"]), load_json(rows[0]["answer"]))


def keep_answer(caller: Caller, answer: Mapping[str, JSON], at_ms: int) -> list[Statement]:
    """Return the statement that stores the answer under the caller's key; none without a key."""
    if caller.idempotency is None:
        return []
    return [
        Statement(
            "INSERT INTO idempotency (namespace, key, request_hash, answer, at_ms, cause)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                caller.namespace,
                caller.idempotency.key,
                caller.idempotency.request_hash,
                canonical_json(answer),
                at_ms,
                caller.cause,
            ),
        )
    ]
