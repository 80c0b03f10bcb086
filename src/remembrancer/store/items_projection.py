"""Projecting item events: the items table and its twin, tags, search rows.

The rules of what is counted, searched and shown are `core.items.derive`. Not for reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from remembrancer.core.items.derive import scope_word, search_columns, tag_keys
from remembrancer.core.items.fields import DEFAULTS
from remembrancer.core.ledger.events import ENDINGS, FORGOTTEN
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import SqlValue, Statement
from remembrancer.store.marks import Marks, portions
from remembrancer.store.record_table import (
    ColumnType,
    Placed,
    RecordTable,
    joined,
    stretches,
)

_JSON: Final = ("tags", "source_message_ids", "steps", "notes", "decisions", "problems")
_FLAGS: Final = ("pinned", "type_by_hand")
_REALS: Final = ("importance", "confidence")
_SEARCHED: Final = frozenset({"title", "content", "summary", "fact_key", "tags", *_JSON[2:]})


def _type(name: str) -> ColumnType:
    if name in _JSON:
        return "json"
    if name in _FLAGS:
        return "flag"
    # Values keep their own type; the distinction matters only where a column is read.
    return "real" if name in _REALS else "text"


ITEMS: Final = RecordTable(
    name="items",
    twin="item_versions",
    prefix="item/",
    # The kind is the fields' order in the table.
    columns=MappingProxyType(
        {name: _type(name) for name in ("kind", *(n for n in DEFAULTS if n != "kind"))}
    ),
    has_seq=True,
)
"""The items table: one column for each field of an item."""


def project_items(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what brings items, twins, tags and search rows up to these events."""
    # What was forgotten or purged has no body to project; only a tombstone is made.
    gone = [placed for placed in round_ if placed.event.kind in ENDINGS]
    kept = [
        placed
        for placed in round_
        if placed.event.kind not in ENDINGS and not placed.event.is_forgotten
    ]
    result: list[Statement] = []
    if kept:
        records = [joined(stretch) for stretch in stretches(kept)]
        # What gives up a fact key goes before what takes it: each row is checked as it is written.
        active = {one.id for one in records if one.after.get("state") == "active"}
        kept.sort(key=lambda placed: placed.id in active)
        result += ITEMS.statements(kept, shadow)
        result += _tag_statements(records, shadow)
        result += _search_statements(records, shadow)
    return result + _end(gone, shadow)


def _end(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    """Return what removes records that were forgotten or purged, and makes the tombstones."""
    if not round_:
        return []
    namespace = round_[0].event.namespace
    key = (namespace, canonical_json([placed.id for placed in round_]))
    listed = "(SELECT value FROM json_each(?2))"
    result = [
        Statement(
            f"DELETE FROM {shadow}search WHERE rowid IN"
            f" (SELECT seq FROM {shadow}items WHERE namespace = ?1 AND id IN {listed})",
            key,
        )
    ]
    tags = [[tag, placed.id] for placed in round_ for tag in tag_keys(placed.before)]
    if tags:
        marks = Marks(namespace)
        sql = f"DELETE FROM {shadow}item_tags WHERE {marks.keys(('tag', 'item_id'), tags)}"
        result.append(Statement(sql, marks.values))
    result += [
        Statement(f"DELETE FROM {shadow}{table} WHERE namespace = ?1 AND id IN {listed}", key)
        for table in ("items", "item_versions")
    ]
    forgotten = [placed for placed in round_ if placed.event.kind == FORGOTTEN]
    return result + ([_tombstones(forgotten, shadow)] if forgotten else [])


def _tombstones(forgotten: Sequence[Placed], shadow: str) -> Statement:
    marks = Marks(forgotten[0].event.namespace)
    rows: list[list[SqlValue]] = []
    for placed in forgotten:
        event, fact_key = placed.event, placed.event.note.get("fact_key")
        key = None if fact_key is None else str(fact_key)
        rows.append([placed.id, str(event.note["text_hash"]), key, event.actor, event.at_ms])
    sql = (
        f"INSERT INTO {shadow}tombstones (namespace, item_id, text_hash, fact_key, actor, at_ms)"
        f" SELECT ?1, * FROM {marks.rows(rows)}"
    )
    return Statement(sql, marks.values)


def _tag_statements(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    namespace = round_[0].event.namespace
    gone: list[list[str]] = []
    come: list[list[str]] = []
    for placed in round_:
        before, after = tag_keys(placed.before), tag_keys(placed.after)
        gone += [[tag, placed.id] for tag, name in before.items() if after.get(tag) != name]
        come += [[tag, placed.id, name] for tag, name in after.items() if before.get(tag) != name]
    result: list[Statement] = []
    if gone:
        marks = Marks(namespace)
        sql = f"DELETE FROM {shadow}item_tags WHERE {marks.keys(('tag', 'item_id'), gone)}"
        result.append(Statement(sql, marks.values))
    if come:
        marks = Marks(namespace)
        sql = (
            f"INSERT INTO {shadow}item_tags (namespace, tag, item_id, name)"
            f" SELECT ?1, column1, column2, column3 FROM {marks.rows(come)}"
        )
        result.append(Statement(sql, marks.values))
    return result


def _search_statements(round_: Sequence[Placed], shadow: str) -> list[Statement]:
    namespace = round_[0].event.namespace
    changed = [placed for placed in round_ if placed.event.changes.keys() & _SEARCHED]
    if not changed:
        return []
    result: list[Statement] = []
    for portion in portions([(placed.id, *search_columns(placed.after)) for placed in changed]):
        marks = Marks(namespace)
        scope, rows = marks.add(scope_word(namespace)), marks.rows(portion)
        # An edited item's row is replaced.
        sql = (
            f"INSERT OR REPLACE INTO {shadow}search (rowid, scope, title, body, tags)"
            f" SELECT i.seq, {scope}, j.column2, j.column3, j.column4 FROM {rows} AS j"
            f" CROSS JOIN {shadow}items AS i ON i.namespace = ?1 AND i.id = j.column1"
        )
        result.append(Statement(sql, marks.values))
    return result
