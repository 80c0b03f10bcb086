"""Memories beside what all items have: the holder of a key, counters of use, whole exports.

Counters of use are no projection: seeing or recalling something again writes no event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from remembrancer.core.dates import format_iso
from remembrancer.core.ids import Namespace
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.items import COLUMNS, owner_columns
from remembrancer.store.marks import Marks

_CHAIN = (
    "(SELECT e.chain FROM events AS e WHERE e.namespace = ?1"
    " AND e.stream = 'item/' || i.id AND e.version = i.version) AS chain"
)


def held_statement(namespace: Namespace, fact_key: str) -> Statement:
    """Return the statement that reads the active item of a key, for `store.items.loaded`."""
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()}, {_CHAIN} FROM items AS i"
        " WHERE i.namespace = ?1 AND i.fact_key = ?2 AND i.state = 'active'",
        (namespace, fact_key),
    )


def forgotten_statement(namespace: Namespace, text_hash: str) -> Statement:
    """Return the statement that finds a tombstone of this folded text."""
    return Statement(
        "SELECT item_id FROM tombstones WHERE namespace = ? AND text_hash = ? LIMIT 1",
        (namespace, text_hash),
    )


def seen_statement(namespace: Namespace, item_id: str, *, at_ms: int) -> Statement:
    """Return the statement that counts that a memory was said again."""
    return Statement(
        "INSERT INTO item_use (namespace, item_id, recall_count, seen_count, last_seen_at)"
        " VALUES (?, ?, 0, 1, ?) ON CONFLICT (namespace, item_id)"
        " DO UPDATE SET seen_count = seen_count + 1, last_seen_at = excluded.last_seen_at",
        (namespace, item_id, at_ms),
    )


def seen_again_statement(namespace: Namespace, ids: Sequence[str], *, at_ms: int) -> Statement:
    """Return the statement that counts that memories were said again: once for each time that an
    id is given."""
    marks = Marks(namespace)
    moment = marks.add(at_ms)
    rows = marks.rows([[id_, times] for id_, times in Counter(ids).items()])
    return Statement(
        "INSERT INTO item_use (namespace, item_id, recall_count, seen_count, last_seen_at)"
        f" SELECT ?1, column1, 0, column2, {moment} FROM {rows} WHERE true"
        " ON CONFLICT (namespace, item_id) DO UPDATE SET"
        " seen_count = seen_count + excluded.seen_count, last_seen_at = excluded.last_seen_at",
        marks.values,
    )


def use_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads the counters of use of memories by id."""
    marks = Marks(namespace)
    return Statement(
        "SELECT u.item_id, u.recall_count, u.last_recalled_at, u.seen_count, u.last_seen_at"
        f" FROM {marks.many(ids)} AS j CROSS JOIN item_use AS u"
        " ON u.namespace = ?1 AND u.item_id = j.value",
        marks.values,
    )


def use_of(rows: Sequence[Row]) -> dict[str, dict[str, JSON]]:
    """Return id → counters of use in answer form, from the rows of `use_statement`."""
    return {str(row["item_id"]): _use(row) for row in rows}


def exported_use_of(rows: Sequence[Row]) -> list[dict[str, JSON] | None]:
    """Return the counters of use in rows of `export_statement`; None for what was never used."""
    return [None if row["recall_count"] is None else _use(row) for row in rows]


def _use(row: Row) -> dict[str, JSON]:
    return {
        "recall_count": int(str(row["recall_count"])),
        "last_recalled_at": _time(row["last_recalled_at"]),
        "seen_count": int(str(row["seen_count"])),
        "last_seen_at": _time(row["last_seen_at"]),
    }


def _time(value: SqlValue) -> str | None:
    return format_iso(value) if isinstance(value, int) else None


def export_statement(
    namespace: Namespace, *, type_: str | None, after: int, limit: int
) -> Statement:
    """Return the statement that reads memories in the order of their making, deleted ones not, with
    their counters of use, for `store.items.records_of` and `exported_use_of`.

    *Shape:* `after` the `seq` of the last one before, 0 for the first page.
    """
    marks = Marks(namespace)
    last = marks.add(after)
    typed = "" if type_ is None else f" AND i.type = {marks.add(type_)}"
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()}, u.recall_count, u.last_recalled_at, u.seen_count,"
        " u.last_seen_at FROM items AS i LEFT JOIN item_use AS u ON u.namespace = i.namespace"
        f" AND u.item_id = i.id WHERE i.seq > {last} AND i.namespace = ?1"
        f" AND i.kind = 'memory' AND i.state <> 'deleted'{typed}"
        f" ORDER BY i.seq LIMIT {marks.add(limit)}",
        marks.values,
    )
