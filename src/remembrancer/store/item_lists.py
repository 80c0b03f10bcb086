"""Lists of items: one page, its total, and what its items refer to, in one batch.

The same text reads the present and, over the versioned twin, any moment of the past. Conditions
are `store.item_filters`. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core import limits
from remembrancer.core.cursors import CursorValue
from remembrancer.core.ids import Namespace
from remembrancer.core.items.fields import CURRENT_STATES, STATES
from remembrancer.core.items.query import (
    TITLE_KEY_CHARS,
    ItemQuery,
    Place,
    Sort,
    SortKey,
    counted_by,
    shown_states,
    shows_state,
)
from remembrancer.core.moments import PastMoment
from remembrancer.core.text.fold import fold
from remembrancer.ports.sql import Row, Statement
from remembrancer.store.item_filters import (
    CURRENT,
    ENDED,
    ENDED_STATES,
    Asked,
    conditions,
    moment_sql,
    owner_slugs,
    owners_sql,
    scoped_match,
    tagged_sql,
)
from remembrancer.store.items import COLUMNS, owner_columns
from remembrancer.store.marks import Marks

_KEY_SQL: Final = {
    "title": f"substr(i.title, 1, {TITLE_KEY_CHARS}) COLLATE NOCASE",
    "pinned": "coalesce(i.pinned, 0)",
}


def items_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads items by id, with what they refer to."""
    marks = Marks(namespace)
    source = f"{marks.many(list(dict.fromkeys(ids)))} AS chosen CROSS JOIN items AS i"
    return Statement(
        f"SELECT {COLUMNS}, {owner_columns()} FROM {source}"
        " ON i.namespace = ?1 AND i.id = chosen.value",
        marks.values,
    )


def page_statement(asked: Asked, sort: Sort, place: Place | None) -> Statement:
    """Return the statement that reads a page and one item more, in the query's order."""
    marks = Marks(asked.namespace)
    query = asked.query
    prefix = f"WITH {moment_sql(asked.as_of, marks)} " if asked.as_of is not None else ""
    source, chosen = _source(asked, marks)
    if place is not None:
        chosen.append(_behind(sort, place, marks))
    key = "i.id, i.from_position" if asked.is_past else "i.seq"
    same = "i.seq = page.seq"
    if asked.is_past:
        same = "i.namespace = ?1 AND i.id = page.id AND i.from_position = page.from_position"
    order = _order(sort)
    limit, offset = marks.add(query.limit + 1), marks.add(query.offset)
    return Statement(
        f"{prefix}SELECT {COLUMNS}, {owner_columns(is_past=asked.is_past)} FROM"
        f" (SELECT {key} FROM {source} WHERE {' AND '.join(chosen)}"
        f" ORDER BY {order} LIMIT {limit} OFFSET {offset}) AS page"
        f" CROSS JOIN {asked.table} AS i ON {same} ORDER BY {order}",
        marks.values,
    )


def _source(asked: Asked, marks: Marks) -> tuple[str, list[str]]:
    """Return what to read from, the few rows first, and the conditions on it."""
    query, table = asked.query, asked.table
    if query.ids:
        ids = marks.many(list(dict.fromkeys(query.ids)))
        on = "i.namespace = ?1 AND i.id = chosen.value"
        return f"{ids} AS chosen CROSS JOIN {table} AS i ON {on}", conditions(asked, marks)
    if asked.is_past:
        return f"{table} AS i", conditions(asked, marks)
    if query.q is not None:
        match = marks.add(scoped_match(asked.namespace, asked.terms))
        chosen = conditions(asked, marks, is_matched=True)
        return (
            "search AS found CROSS JOIN items AS i ON i.seq = found.rowid",
            [f"found.search MATCH {match}", *chosen],
        )
    if query.tags:
        tagged = tagged_sql(asked, marks)
        on = "i.namespace = ?1 AND i.id = tagged.item_id"
        chosen = conditions(asked, marks, is_tagged=True)
        return f"({tagged}) AS tagged CROSS JOIN {table} AS i ON {on}", chosen
    chosen = conditions(asked, marks)
    states = set(shown_states(query))
    for area, names, among, partial in (
        ("project", query.projects, CURRENT_STATES, CURRENT),
        ("topic", query.topics, CURRENT_STATES, CURRENT),
        ("project", query.projects, ENDED_STATES, ENDED),
    ):
        if names and states <= set(among):
            owners = owners_sql(asked, area, names, marks)
            on = f"i.namespace = ?1 AND i.{area}_id = owner.id"
            return f"({owners}) AS owner CROSS JOIN {table} AS i ON {on}", [partial, *chosen]
    return f"{table} AS i", chosen


def _key_sql(key: SortKey) -> str:
    return _KEY_SQL.get(key.column, f"i.{key.column}")


def _order(sort: Sort) -> str:
    parts = ["i.due_at IS NULL"] if sort.name == "due_at" else []
    parts += [f"{_key_sql(key)}{' DESC' if sort.descends(key) else ''}" for key in sort.keys]
    return ", ".join(parts)


def _behind(sort: Sort, place: Place, marks: Marks) -> str:
    """Return the condition that an item comes after the place."""
    pairs = list(zip(sort.keys, place.values, strict=True))
    if sort.name == "due_at" and pairs[0][1] is None:
        return f"(i.due_at IS NULL AND {_beyond(sort, pairs[1:], marks)})"
    behind = _beyond(sort, pairs, marks)
    return f"(i.due_at IS NULL OR {behind})" if sort.name == "due_at" else behind


def _beyond(sort: Sort, pairs: Sequence[tuple[SortKey, CursorValue]], marks: Marks) -> str:
    """Return the comparison of keys with values: the first key bounds, the others decide ties."""
    (key, value), rest = pairs[0], pairs[1:]
    sign = "<" if sort.descends(key) else ">"
    sql, mark = _key_sql(key), marks.add(value)
    if not rest:
        return f"{sql} {sign} {mark}"
    return f"({sql} {sign}= {mark} AND ({sql} {sign} {mark} OR {_beyond(sort, rest, marks)}))"


def place_after(row: Row, sort: Sort, *, moment: PastMoment | None, seen: int) -> Place:
    """Return the place behind the item in a row."""
    values: list[CursorValue] = []
    for key in sort.keys:
        value = row[key.column]
        assert not isinstance(value, bytes)
        if key.column == "title":
            value = str(value)[:TITLE_KEY_CHARS]
        elif key.column == "pinned":
            value = value or 0
        values.append(value)
    return Place(tuple(values), moment, seen)


def total_statement(asked: Asked) -> Statement:
    """Return the statement that counts what the query finds: from the counters when these can
    tell, else up to one more than `COUNT_MAX`."""
    query, marks = asked.query, Marks(asked.namespace)
    area = counted_by(query)
    if area is None:
        source, chosen = _source(asked, marks)
        limit = marks.add(limits.COUNT_MAX + 1)
        return Statement(
            "SELECT count(*) AS total FROM"
            f" (SELECT 1 FROM {source} WHERE {' AND '.join(chosen)} LIMIT {limit})",
            marks.values,
        )
    first = "SELECT name, value FROM counters AS c WHERE c.namespace = ?1"
    if area == "items":
        return Statement(f"{first} AND c.name >= 'items/' AND c.name < 'items0'", marks.values)
    owners = owners_sql(asked, area, query.projects or query.topics, marks)
    prefix = f"'{area}/' || owner.id"
    return Statement(
        f"SELECT c.name, c.value FROM ({owners}) AS owner CROSS JOIN counters AS c"
        f" ON c.namespace = ?1 AND c.name >= {prefix} || '/' AND c.name < {prefix} || '0'",
        marks.values,
    )


def total_of(query: ItemQuery, rows: Sequence[Row]) -> int:
    """Return the total from the rows of `total_statement`; `COUNT_MAX` + 1 means more."""
    if counted_by(query) is None:
        return int(str(rows[0]["total"]))
    total = 0
    for row in rows:
        area, name, state = str(row["name"]).split("/")
        # `pinned` is a counter beside those of the states.
        of_kind = area != "items" or not query.kinds or name in query.kinds
        if of_kind and state in STATES and shows_state(query, state):
            total += int(str(row["value"]))
    return total


def moment_statement(namespace: Namespace, as_of: PastMoment) -> Statement:
    """Return the statement that reads the position of a moment and the time of its event."""
    marks = Marks(namespace)
    return Statement(
        f"WITH {moment_sql(as_of, marks)} SELECT m.position, e.at_ms FROM moment AS m"
        " LEFT JOIN events AS e ON e.position = m.position AND e.namespace = ?1",
        marks.values,
    )


def owners_statement(asked: Asked, area: str, names: Sequence[str]) -> Statement:
    """Return the statement that reads which of the named projects or topics there are."""
    marks = Marks(asked.namespace)
    prefix = f"WITH {moment_sql(asked.as_of, marks)} " if asked.as_of is not None else ""
    return Statement(prefix + owners_sql(asked, area, names, marks), marks.values)


def unknown_owner(names: Sequence[str], rows: Sequence[Row]) -> str | None:
    """Return the first name that no row of `owners_statement` answers; None when all are there."""
    slugs = {str(row["slug"]) for row in rows}
    called = {fold(str(row["name"])) for row in rows}
    return next(
        (
            name
            for name in names
            if slugs.isdisjoint(owner_slugs(name)) and fold(name) not in called
        ),
        None,
    )
