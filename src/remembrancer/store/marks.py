"""The bound values of a statement, and how a list of rows becomes one of its sources.

D1 binds a hundred values at most and counts a read for each element that `json_each` gives, but
none for a VALUES clause. So few rows are bound value by value, and many travel as one JSON array;
the text around them is the same. It knows no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from remembrancer.core.ids import Namespace
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import SqlValue

LISTED_VALUES_MAX: Final = 60
"""Values that one list binds singly; leaves 40 of D1's hundred for the rest. Our choice."""

PORTION_BYTES: Final = 1_000_000
"""Bytes of the JSON of one statement's rows, but for a single one: half of what D1 lets a value
have, since NULs and names are added. Our choice."""

RowT = TypeVar("RowT")
"""A row of whatever JSON holds."""


def portions(rows: Sequence[RowT]) -> Iterator[Sequence[RowT]]:
    """Give rows in portions that travel as one array each, nearly always all at once.

    *Shape:* in their order, none empty; no portion of no rows.
    """
    if len(rows) == 1 or 4 * len(canonical_json(rows)) <= PORTION_BYTES:
        if rows:
            yield rows
        return
    first = size = 0
    for number, row in enumerate(rows):
        own = len(canonical_json(row).encode())
        if number > first and size + own > PORTION_BYTES:
            yield rows[first:number]
            first, size = number, 0
        size += own
    yield rows[first:]


class Marks:
    """The bound values of one statement, in the order of their numbered marks; `?1` is the
    namespace."""

    def __init__(self, namespace: Namespace) -> None:
        self._values: list[SqlValue] = [namespace]
        self._listed = 0

    def add(self, value: SqlValue) -> str:
        """Bind a value and return its mark."""
        self._values.append(value)
        return f"?{len(self._values)}"

    def many(self, values: Sequence[SqlValue]) -> str:
        """Bind values and return the select that lists them in a column `value`."""
        return f"(SELECT column1 AS value FROM {self.rows([[value] for value in values])})"

    def rows(self, rows: Sequence[Sequence[SqlValue]]) -> str:
        """Bind rows of equal length and return the source of them.

        *Shape:* columns `column1`, `column2`, …; rows in the order given.
        """
        count = sum(len(row) for row in rows)
        if not rows or self._listed + count > LISTED_VALUES_MAX:
            return self._array(rows)
        self._listed += count
        marks = (f"({', '.join(self.add(value) for value in row)})" for row in rows)
        return f"(VALUES {', '.join(marks)})"

    def _array(self, rows: Sequence[Sequence[SqlValue]]) -> str:
        width = len(rows[0]) if rows else 1
        picks = [f"value ->> {index}" for index in range(width)]
        text = canonical_json(rows)
        if "\\u0000" in text:
            # SQLite's JSON ends a text at its first NUL: another sign travels in its place.
            sign = next(one for one in map(chr, range(0xE000, 0xF900)) if one not in text)
            text = canonical_json([[_without_nul(value, sign) for value in row] for row in rows])
            mark = self.add(sign)
            for index in {index for row in rows for index in range(width) if _has_nul(row[index])}:
                picks[index] = f"replace({picks[index]}, {mark}, char(0))"
        names = ", ".join(f"{pick} AS column{index + 1}" for index, pick in enumerate(picks))
        return f"(SELECT {names} FROM json_each({self.add(text)}))"

    def keys(self, columns: Sequence[str], rows: Sequence[Sequence[SqlValue]]) -> str:
        """Bind keys and return the condition that these columns hold one of them.

        *Shape:* with the namespace they are the columns of a primary key or unique index.
        *Promise:* one row read for each of a few keys.
        """
        count = sum(len(row) for row in rows)
        if self._listed + count > LISTED_VALUES_MAX:
            names = ", ".join(f"column{index + 1}" for index in range(len(columns)))
            columns = ("namespace", *columns)
            return f"({', '.join(columns)}) IN (SELECT ?1, {names} FROM {self.rows(rows)})"
        self._listed += count
        terms = (
            [f"{name} = {self.add(value)}" for name, value in zip(columns, row, strict=True)]
            for row in rows
        )
        return " OR ".join(
            f"(namespace = {mine} AND {' AND '.join(term)})"
            for mine, term in zip(self.namespaces(len(rows)), terms, strict=True)
        )

    def namespaces(self, count: int) -> list[str]:
        """Return the mark of the namespace for each of the terms that an OR joins.

        *Promise:* each term is looked up by its whole key: what two terms have in common SQLite
        would take out of them, and then read all of the namespace, so the second has a mark of
        its own.
        """
        return ["?1", self.add(self._values[0])] if count == 2 else ["?1"] * count

    @property
    def values(self) -> tuple[SqlValue, ...]:
        """The values to bind."""
        return tuple(self._values)


def _has_nul(value: SqlValue) -> bool:
    return isinstance(value, str) and "\0" in value


def _without_nul(value: SqlValue, sign: str) -> SqlValue:
    return value.replace("\0", sign) if isinstance(value, str) else value
