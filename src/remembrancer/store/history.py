"""Reading what happened: whole streams, feeds of events, and who uses a project or topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from remembrancer.core.ids import (
    DIGEST,
    GLOSSARY,
    PRECIOUS,
    RELATIONS,
    SETTINGS,
    Namespace,
    Stream,
)
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Event, Head
from remembrancer.core.relations.decide import split_key
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, SqlStore, Statement
from remembrancer.store import ledger, library, relations
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import load_json


async def read_streams(
    sql: SqlStore, namespace: Namespace, streams: Sequence[Stream]
) -> dict[Stream, tuple[list[Event], Head]]:
    """Return stream → its events, oldest first, and its head. *Promise:* one round trip."""
    if not streams:
        return {}
    wanted = canonical_json(list(streams))
    [outcome] = await sql.read(
        [
            Statement(
                f"SELECT {ledger.EVENT_COLUMNS}, e.chain FROM json_each(?2) AS j"
                " CROSS JOIN events AS e ON e.namespace = ?1 AND e.stream = j.value"
                " ORDER BY e.stream, e.version",
                (namespace, wanted),
            )
        ]
    )
    result: dict[Stream, tuple[list[Event], Head]] = {stream: ([], Head()) for stream in streams}
    for row in outcome.rows:
        event = ledger.event_of(row)
        events, _ = result[event.stream]
        events.append(event)
        result[event.stream] = (events, Head(event.version, str(row["chain"])))
    return result


async def read_shared(
    sql: SqlStore, namespace: Namespace, streams: Sequence[Stream], keys: Sequence[str]
) -> tuple[dict[Stream, Fields], dict[Stream, Head]]:
    """Return the named fields, and the heads, of the streams that a whole namespace shares.

    *Shape:* `keys` are the names of edges, settings or entries. *Promise:* one round trip; what
    is read does not grow with the stream.
    """
    if not streams:
        return {}, {}
    *found, head_rows = await sql.read(
        [
            *(_SHARED[stream][0](namespace, keys) for stream in streams),
            ledger.heads_statement(namespace, streams),
        ]
    )
    heads = ledger.heads(head_rows.rows)
    return (
        {
            stream: _SHARED[stream][1](outcome.rows)
            for stream, outcome in zip(streams, found, strict=True)
        },
        {stream: heads.get(stream, Head()) for stream in streams},
    )


def _relations(namespace: Namespace, keys: Sequence[str]) -> Statement:
    edges = [split_key(key) for key in keys if key.count("|") == 2]
    return relations.present_statement(namespace, edges)


def _settings(namespace: Namespace, _: Sequence[str]) -> Statement:
    return Statement("SELECT name, value FROM settings WHERE namespace = ?", (namespace,))


def _digest(namespace: Namespace, _: Sequence[str]) -> Statement:
    return library.digest_statement(namespace)


def _settings_of(rows: Sequence[Row]) -> Fields:
    return {str(row["name"]): load_json(row["value"]) for row in rows}


def _precious_of(rows: Sequence[Row]) -> Fields:
    return {quote.id: quote.fields for quote in library.quotes_of(rows)}


def _glossary_of(rows: Sequence[Row]) -> Fields:
    return {entry.id: entry.fields for entry in library.entries_of(rows)}


_SHARED: Final[
    Mapping[
        Stream,
        tuple[Callable[[Namespace, Sequence[str]], Statement], Callable[[Sequence[Row]], Fields]],
    ]
] = {
    RELATIONS: (_relations, relations.present_of),
    SETTINGS: (_settings, _settings_of),
    PRECIOUS: (library.named_quotes_statement, _precious_of),
    GLOSSARY: (library.named_entries_statement, _glossary_of),
    DIGEST: (_digest, library.digest_of),
}
"""Shared stream → what reads the named fields of its record, and what they are."""


def users_statement(
    namespace: Namespace, area: str, owner_ids: Sequence[str], *, without: Sequence[str]
) -> Statement:
    """Return the statement that finds, for each project or topic that has any, one current item of
    it but these.

    *Shape:* rows `owner_id` and `item_id`.
    """
    assert area in ("project", "topic")
    return Statement(
        f"SELECT j.value AS owner_id, (SELECT i.id FROM items AS i INDEXED BY items_{area}"
        f" WHERE i.namespace = ?1 AND i.{area}_id = j.value"
        " AND i.state IN ('active', 'dormant', 'stale')"
        " AND i.id NOT IN (SELECT value FROM json_each(?3)) LIMIT 1) AS item_id"
        " FROM json_each(?2) AS j WHERE item_id IS NOT NULL",
        (namespace, canonical_json(list(owner_ids)), canonical_json(list(without))),
    )


def feed_statement(
    namespace: Namespace,
    *,
    before_position: int | None,
    stream: Stream | None,
    limit: int,
    cause: str | None = None,
) -> Statement:
    """Return the statement that reads events newest first, of one stream or cause or of all.

    *Shape:* one stream's by version, one cause's by position, all by time and then position.
    *Promise:* reads what it returns, and one row more for the place to go on from.
    """
    marks = Marks(namespace)
    where, order = "e.namespace = ?1", "e.at_ms DESC, e.position DESC"
    if stream is not None:
        where += f" AND e.stream = {marks.add(stream)}"
        order = "e.version DESC"
    if cause is not None:
        where += f" AND e.cause = {marks.add(cause)}"
        order = "e.position DESC"
    if before_position is not None and cause is not None:
        where += f" AND e.position < {marks.add(before_position)}"
    elif before_position is not None:
        place = marks.add(before_position)
        part = "version" if stream is not None else "at_ms"
        start = f"(SELECT {part} FROM events WHERE position = {place} AND namespace = ?1)"
        where += f" AND (e.{part}, e.position) < ({start}, {place})"
    return Statement(
        f"SELECT {ledger.EVENT_COLUMNS} FROM events AS e WHERE {where}"
        f" ORDER BY {order} LIMIT {marks.add(limit)}",
        marks.values,
    )
