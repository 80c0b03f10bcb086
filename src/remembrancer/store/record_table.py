"""Projecting a stream of records into a table and its versioned twin, many events a statement.

A round holds at most one event of each stream, so one statement can serve them all. Positions are
looked up from the events that were written before, which makes the same text serve a live batch
and a rebuild into shadow tables. It knows no rule of any area.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Event
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.marks import Marks

ColumnType = Literal["text", "integer", "real", "flag", "json"]


@dataclass(frozen=True, slots=True)
class Placed:
    """An event with the record before and after it."""

    event: Event
    before: Fields
    after: Fields

    @property
    def id(self) -> str:
        """The record's id: the stream's name behind the slash."""
        return self.event.stream.partition("/")[2]


Entry = tuple[JSON, JSON, int]
"""One entry of a record that a namespace shares: before and after some events, and the moment of
the last of them that changed it, in ms. A tuple: every start of the Worker makes this module."""


def net_entries(round_: Sequence[Placed]) -> dict[str, Entry]:
    """Return what events of one shared stream change altogether, by the entries' names.

    *Shape:* events in their order; an entry that comes and goes is there with nothing on both
    sides.
    """
    result: dict[str, Entry] = {}
    for placed in round_:
        for name, (before, after) in placed.event.changes.items():
            first = result[name][0] if name in result else before
            result[name] = (first, after, placed.event.at_ms)
    return result


_CODED: Final = frozenset({"flag", "json"})
"""Types of columns whose values stand for others."""

ALONE_MAX: Final = 8
"""Records whose twins are closed by a term for each, which D1 counts fewer rows for. Our choice."""

_READ: Final = (
    "FROM json_each(?2) AS j CROSS JOIN events AS e ON e.namespace = ?1"
    " AND e.stream = {prefix} || (j.value ->> 0) AND e.version = (j.value ->> 1)"
)


@dataclass(frozen=True, slots=True)
class RecordTable:
    """One projected table: its name, its twin's, its stream prefix and its field columns."""

    name: str
    twin: str
    prefix: str
    columns: Mapping[str, ColumnType]
    has_seq: bool = False

    def statements(self, round_: Sequence[Placed], shadow: str) -> list[Statement]:
        """Return what brings table and twin up to these events.

        *Shape:* all events of one namespace, at most one a stream; `shadow` is the prefix of the
        tables that are written.
        """
        namespace = round_[0].event.namespace
        made = [placed for placed in round_ if placed.event.version == 1]
        edited = [placed for placed in round_ if placed.event.version > 1]
        result: list[Statement] = []
        if edited:
            result.append(self._close_twins(namespace, edited, shadow))
        groups: dict[tuple[str, ...], list[Placed]] = {}
        for placed in edited:
            names = tuple(name for name in self.columns if name in placed.event.changes)
            groups.setdefault(names, []).append(placed)
        for names, group in groups.items():
            result.append(self._update(namespace, group, names, shadow))
        if made:
            # After the edits: one of them may give up the key that a new record takes.
            result.append(self._insert(namespace, made, shadow))
        result.append(self._open_twins(namespace, round_, shadow))
        return result

    def row_fields(self, row: Row) -> Fields:
        """Return the record's fields from a row of the table or its twin."""
        # Recall reads a hundred rows: what stands for itself is taken as it is. No column of a
        # record holds bytes.
        plain = cast("Mapping[str, JSON]", row)
        return {
            name: decode(type_, row[name]) if type_ in _CODED else value
            for name, type_ in self.columns.items()
            if (value := plain[name]) is not None
        }

    def _insert(self, namespace: Namespace, made: list[Placed], shadow: str) -> Statement:
        names = ", ".join(self.columns)
        values = ", ".join(
            _value(type_, index + 2) for index, type_ in enumerate(self.columns.values())
        )
        seq = "seq, " if self.has_seq else ""
        position = "e.position, " if self.has_seq else ""
        sql = (
            f"INSERT INTO {shadow}{self.name}"
            f" ({seq}namespace, id, version, position, created_at, updated_at, {names})"
            f" SELECT {position}?1, j.value ->> 0, e.version, e.position, e.at_ms, e.at_ms,"
            f" {values} {self._events()}"
        )
        rows = [
            [placed.id, placed.event.version, *(placed.after.get(name) for name in self.columns)]
            for placed in made
        ]
        return Statement(sql, (namespace, canonical_json(rows)))

    def _update(
        self, namespace: Namespace, group: list[Placed], names: tuple[str, ...], shadow: str
    ) -> Statement:
        given = "".join(
            f", {_value(self.columns[name], index + 2)} AS {name}"
            for index, name in enumerate(names)
        )
        sets = "".join(f", {name} = j.{name}" for name in names)
        # MATERIALIZED, and the namespace out of it: else SQLite puts the table first and reads
        # every row of the namespace for each event.
        sql = (
            f"WITH j AS MATERIALIZED (SELECT e.namespace, j.value ->> 0 AS id, e.version,"
            f" e.position, e.at_ms{given} {self._events()}) UPDATE {shadow}{self.name} AS t"
            f" SET version = j.version, position = j.position, updated_at = j.at_ms{sets}"
            " FROM j WHERE t.namespace = j.namespace AND t.id = j.id"
        )
        rows = [
            [placed.id, placed.event.version, *(placed.after.get(name) for name in names)]
            for placed in group
        ]
        return Statement(sql, (namespace, canonical_json(rows)))

    def _close_twins(self, namespace: Namespace, edited: list[Placed], shadow: str) -> Statement:
        marks = Marks(namespace)
        if len(edited) <= ALONE_MAX:
            ids = [marks.add(placed.id) for placed in edited]
            terms = (
                f"(t.namespace = {mine} AND t.id = {mark} AND t.from_position = (SELECT i.position"
                f" FROM {shadow}{self.name} AS i WHERE i.namespace = ?1 AND i.id = {mark}))"
                for mine, mark in zip(marks.namespaces(len(ids)), ids, strict=True)
            )
            present = " OR ".join(terms)
        else:
            # The namespace is compared with the rest of the key, or SQLite would read all twins
            # of the namespace.
            present = (
                "(t.namespace, t.id, t.from_position) IN (SELECT i.namespace, i.id, i.position"
                f" FROM {marks.many([placed.id for placed in edited])} AS j"
                f" CROSS JOIN {shadow}{self.name} AS i ON i.namespace = ?1 AND i.id = j.value)"
            )
        # An event ends the version before its own.
        sql = (
            f"UPDATE {shadow}{self.twin} AS t SET to_position = (SELECT e.position"
            f" FROM events AS e WHERE e.namespace = ?1 AND e.stream = '{self.prefix}' || t.id"
            f" AND e.version = t.version + 1) WHERE {present}"
        )
        return Statement(sql, marks.values)

    def _open_twins(self, namespace: Namespace, round_: Sequence[Placed], shadow: str) -> Statement:
        marks = Marks(namespace)
        ids = marks.rows([[placed.id] for placed in round_])
        sql = (
            f"INSERT INTO {shadow}{self.twin} SELECT i.*, i.position, NULL"
            f" FROM {ids} AS j CROSS JOIN {shadow}{self.name} AS i"
            " ON i.namespace = ?1 AND i.id = j.column1"
        )
        return Statement(sql, marks.values)

    def _events(self) -> str:
        return _READ.format(prefix=f"'{self.prefix}'")


def _value(type_: ColumnType, index: int) -> str:
    """Return the SQL that takes element `index` of a JSON row as this type of column."""
    if type_ == "json":
        # `->` would turn JSON null into the text 'null'.
        return f"CASE WHEN json_type(j.value, '$[{index}]') <> 'null' THEN j.value -> {index} END"
    return f"j.value ->> {index}"


def decode(type_: ColumnType, value: SqlValue) -> JSON:
    """Return the field value that a column's value stands for."""
    if value is None:
        return None
    if type_ == "json":
        return load_json(value)
    if type_ == "flag":
        return bool(value)
    assert not isinstance(value, bytes)
    return value


def load_json(value: SqlValue) -> JSON:
    """Return the JSON value of a stored text."""
    assert isinstance(value, str)
    result: JSON = json.loads(value)
    return result


def whole(value: SqlValue) -> int:
    """Return the whole number that a column holds."""
    return value if isinstance(value, int) else int(str(value))
