"""Projecting a stream of records into a table and its versioned twin, many events a statement.

A round holds at most one event of each stream, so one statement can serve them all. Positions are
looked up from the events that were written before, which makes the same text serve a live batch
and a rebuild into shadow tables. It knows no rule of any area.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.changes import Changes, Fields
from remembrancer.core.ledger.events import Event
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.marks import Marks, portions

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


def stretches(round_: Sequence[Placed]) -> list[list[Placed]]:
    """Return the events of a round stream by stream, each stream's in their order."""
    result: dict[str, list[Placed]] = {}
    for placed in round_:
        result.setdefault(placed.event.stream, []).append(placed)
    return [*result.values()]


def joined(stretch: Sequence[Placed]) -> Placed:
    """Return what events of one stream come to: as if the last had changed all that they do."""
    last = stretch[-1]
    if len(stretch) == 1:
        return last
    changes: Changes = {}
    for placed in stretch:
        for name, (before, after) in placed.event.changes.items():
            changes[name] = (changes[name][0] if name in changes else before, after)
    return Placed(replace(last.event, changes=changes), stretch[0].before, last.after)


def lives(round_: Sequence[Placed], mark: str) -> tuple[list[Placed], list[tuple[Placed, int]]]:
    """Return the records of a round whose rows go first, and those that are there at its end.

    *Shape:* a record is there while it has the field `mark`; a kept one stands with the moment at
    which it came to be, in ms, should it have no row. All are `joined`.
    """
    gone: list[Placed] = []
    kept: list[tuple[Placed, int]] = []
    for stretch in stretches(round_):
        had_row = bool(stretch[0].before.get(mark))
        born_ms: int | None = None
        is_there = had_row
        is_again = False
        for placed in stretch:
            if placed.after.get(mark) and not is_there:
                born_ms, is_again = placed.event.at_ms, had_row
            is_there = bool(placed.after.get(mark))
        record = joined(stretch)
        if not is_there or is_again:
            gone.append(record)
        if is_there:
            kept.append((record, record.event.at_ms if born_ms is None else born_ms))
    return gone, kept


_CODED: Final = frozenset({"flag", "json"})
"""Types of columns whose values stand for others."""

ALONE_MAX: Final = 8
"""Records whose twins are closed by a term for each, which D1 counts fewer rows for. Our choice."""

_READ: Final = (
    "FROM json_each(?2) AS j CROSS JOIN events AS e ON e.namespace = ?1"
    " AND e.stream = {prefix} || (j.value ->> 0) AND e.version = (j.value ->> 1)"
)

_KEPT: Final = ("seq", "namespace", "id", "version", "position", "created_at", "updated_at")
"""Columns before a record's own; some tables have no `seq`."""

_PassedRow = tuple[str, int, dict[str, JSON]]
"""A record's id, a version of it, and the fields that are others in a later one."""

_FIRST: Final = (
    " CROSS JOIN events AS f ON f.namespace = ?1 AND f.stream = e.stream AND f.version = 1"
)

_NEXT: Final = (
    " CROSS JOIN events AS n ON n.namespace = ?1 AND n.stream = e.stream"
    " AND n.version = e.version + 1"
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

        *Shape:* all events of one namespace, each stream's in their order; `shadow` is the prefix
        of the tables that are written. *Promise:* as many statements for many events as for one,
        but where their rows are more than one value holds.
        """
        namespace = round_[0].event.namespace
        records = stretches(round_)
        made = [stretch for stretch in records if stretch[0].event.version == 1]
        edited = [joined(stretch) for stretch in records if stretch[0].event.version > 1]
        passed = [row for stretch in records for row in self._passed_rows(stretch)]
        result: list[Statement] = []
        if edited:
            result.append(self._close_twins(namespace, edited, shadow))
            result += self._updates(namespace, edited, shadow)
        # After the edits: one of them may give up the key that a new record takes.
        is_edited = any(len(stretch) > 1 for stretch in made)
        for portion in portions([self._whole_row(stretch[-1]) for stretch in made]):
            result.append(self._insert(namespace, portion, shadow, is_edited=is_edited))
        for others in portions(passed):
            result.append(self._pass_twins(namespace, others, shadow))
        result.append(self._open_twins(namespace, [stretch[-1] for stretch in records], shadow))
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

    def _whole_row(self, placed: Placed) -> list[JSON]:
        return [placed.id, placed.event.version, *(placed.after.get(name) for name in self.columns)]

    def _insert(
        self, namespace: Namespace, rows: Sequence[list[JSON]], shadow: str, *, is_edited: bool
    ) -> Statement:
        """Return what adds new records; `is_edited` when some have more than their first event."""
        born, first = ("f", _FIRST) if is_edited else ("e", "")
        names = ", ".join(self.columns)
        seq = "seq, " if self.has_seq else ""
        position = f"{born}.position, " if self.has_seq else ""
        sql = (
            f"INSERT INTO {shadow}{self.name}"
            f" ({seq}namespace, id, version, position, created_at, updated_at, {names})"
            f" SELECT {position}?1, j.value ->> 0, e.version, e.position, {born}.at_ms, e.at_ms,"
            f" {self._values()} {self._events()}{first}"
        )
        return Statement(sql, (namespace, canonical_json(rows)))

    def _values(self) -> str:
        columns = enumerate(self.columns.values())
        return ", ".join(_value(type_, f"[{index + 2}]") for index, type_ in columns)

    def _updates(
        self, namespace: Namespace, edited: Sequence[Placed], shadow: str
    ) -> list[Statement]:
        # One statement changes its rows in the order of the table, and each row is checked as it is
        # written: what takes a key goes behind what gives it up.
        takers = [placed for placed in edited if _takes_key(placed)]
        if takers and len(takers) < len(edited):
            givers = [placed for placed in edited if not _takes_key(placed)]
            return [
                statement
                for group in (givers, takers)
                for statement in self._updates(namespace, group, shadow)
            ]
        changed = [
            tuple(name for name in self.columns if name in placed.event.changes)
            for placed in edited
        ]
        wanted = {name for names in changed for name in names}
        names = tuple(name for name in self.columns if name in wanted)
        is_mixed = any(own != names for own in changed)
        return [
            self._update(namespace, portion, names, shadow, is_mixed=is_mixed)
            for portion in portions([_edited_row(placed, names) for placed in edited])
        ]

    def _update(
        self,
        namespace: Namespace,
        rows: Sequence[list[JSON]],
        names: Sequence[str],
        shadow: str,
        *,
        is_mixed: bool,
    ) -> Statement:
        """Return what changes records; `is_mixed` when some have not all of the columns: the others
        stay as they are."""
        given = sets = ""
        for name in names:
            path = f"[2].{name}"
            value = _value(self.columns[name], path)
            given += f", {value} AS {name}"
            if is_mixed:
                given += f", json_type(j.value, '${path}') IS NOT NULL AS has_{name}"
                sets += f", {name} = CASE WHEN j.has_{name} THEN j.{name} ELSE t.{name} END"
            else:
                sets += f", {name} = j.{name}"
        # MATERIALIZED, and the namespace out of it: else SQLite puts the table first and reads
        # every row of the namespace for each event.
        sql = (
            f"WITH j AS MATERIALIZED (SELECT e.namespace, j.value ->> 0 AS id, e.version,"
            f" e.position, e.at_ms{given} {self._events()}) UPDATE {shadow}{self.name} AS t"
            f" SET version = j.version, position = j.position, updated_at = j.at_ms{sets}"
            " FROM j WHERE t.namespace = j.namespace AND t.id = j.id"
        )
        return Statement(sql, (namespace, canonical_json(rows)))

    def _passed_rows(self, stretch: Sequence[Placed]) -> list[_PassedRow]:
        """Return the versions behind which the stretch goes on, each with what is another then."""
        result: list[_PassedRow] = []
        later: set[str] = set()
        for placed, following in zip(stretch[-2::-1], stretch[:0:-1], strict=True):
            later |= following.event.changes.keys() & self.columns.keys()
            other = {name: placed.after.get(name) for name in later}
            result.append((placed.id, placed.event.version, other))
        return result[::-1]

    def _pass_twins(
        self, namespace: Namespace, rows: Sequence[_PassedRow], shadow: str
    ) -> Statement:
        """Return what adds the versions that were followed by another within the same batch; what
        is not given of one is as it is in the record by now."""
        given = {name for _, _, other in rows for name in other}
        names, values = ", ".join([*_KEPT[not self.has_seq :], *self.columns]), ""
        for name, type_ in self.columns.items():
            path = f"[2].{name}"
            if name in given:
                has_own = f"json_type(j.value, '${path}') IS NOT NULL"
                values += f" CASE WHEN {has_own} THEN {_value(type_, path)} ELSE i.{name} END,"
            else:
                values += f" i.{name},"
        seq = "i.seq, " if self.has_seq else ""
        sql = (
            f"INSERT INTO {shadow}{self.twin} ({names}, from_position, to_position)"
            f" SELECT {seq}i.namespace, i.id, e.version, e.position, i.created_at, e.at_ms,"
            f"{values} e.position, n.position {self._events()}{_NEXT}"
            f" CROSS JOIN {shadow}{self.name} AS i ON i.namespace = ?1 AND i.id = j.value ->> 0"
        )
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
        names = ", ".join([*_KEPT[not self.has_seq :], *self.columns])
        sql = (
            f"INSERT INTO {shadow}{self.twin} ({names}, from_position)"
            f" SELECT {names}, i.position"
            f" FROM {ids} AS j CROSS JOIN {shadow}{self.name} AS i"
            " ON i.namespace = ?1 AND i.id = j.column1"
        )
        return Statement(sql, marks.values)

    def _events(self) -> str:
        return _READ.format(prefix=f"'{self.prefix}'")


def _takes_key(placed: Placed) -> bool:
    """Tell whether a record holds a fact key by now that it did not hold before."""
    held, key = (
        fields.get("fact_key") if fields.get("state") == "active" else None
        for fields in (placed.before, placed.after)
    )
    return key is not None and key != held


def _edited_row(placed: Placed, names: Sequence[str]) -> list[JSON]:
    changes = placed.event.changes
    given = {name: placed.after.get(name) for name in names if name in changes}
    return [placed.id, placed.event.version, given]


def _value(type_: ColumnType, path: str) -> str:
    """Return the SQL that takes the value at a path of a JSON row as this type of column."""
    if type_ == "json":
        # `->` would turn JSON null into the text 'null'.
        return f"CASE WHEN json_type(j.value, '${path}') <> 'null' THEN j.value -> '${path}' END"
    return f"j.value ->> '${path}'"


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
