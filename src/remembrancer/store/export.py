"""Reading a ledger for an export: pages of events, artifacts and counters of use, each in order.

It reads the ledger, and what is no function of it. The lines are `core.ledger.transfer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.transfer import members_of
from remembrancer.ports.sql import Row, SqlStore, SqlValue, Statement

PAGE_ROWS: Final = 200
"""Rows of one page at most. Our choice."""

PAGE_CHARS: Final = 1_000_000
"""Characters of bodies after which a page of events ends. Our choice."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is exported. *Shape:* no namespace means all; without keys, none of their events."""

    namespace: Namespace | None
    with_keys: bool = True


async def events_page(sql: SqlStore, scope: Scope, *, after: int, until: int) -> list[Row]:
    """Return the next events after a position, up to another, in ledger order; empty at the end.

    *Shape:* rows with the members of an event line. *Promise:* one round trip; at most
    `PAGE_ROWS` rows, and one body beyond `PAGE_CHARS`.
    """
    columns = ", ".join(members_of("event"))
    # The plus keeps SQLite on the order of positions instead of sorting the whole namespace.
    where = "position > ?1 AND position <= ?2"
    where += " AND +namespace = ?3" if scope.namespace is not None else ""
    if not scope.with_keys:
        where += " AND substr(stream, 1, 4) <> 'key/'"
    params: tuple[SqlValue, ...] = (after, until)
    if scope.namespace is not None:
        params += (scope.namespace,)
    statement = Statement(
        f"SELECT {columns} FROM (SELECT *, sum(coalesce(length(body), 0))"
        " OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier"
        f" FROM (SELECT {columns} FROM events WHERE {where} ORDER BY position LIMIT {PAGE_ROWS}))"
        f" WHERE coalesce(earlier, 0) < {PAGE_CHARS} ORDER BY position",
        params,
    )
    [outcome] = await sql.read([statement])
    return outcome.rows


async def artifacts_page(
    sql: SqlStore, namespace: Namespace | None, place: tuple[str, str]
) -> list[Row]:
    """Return the next artifacts after a namespace and id, without their text."""
    return await _page(sql, "artifact", "artifacts", "id", (namespace, place))


async def uses_page(
    sql: SqlStore, namespace: Namespace | None, place: tuple[str, str]
) -> list[Row]:
    """Return the next items' counters of use after a namespace and item."""
    return await _page(sql, "use", "item_use", "item_id", (namespace, place))


async def key_uses_page(
    sql: SqlStore, namespace: Namespace | None, place: tuple[str, str]
) -> list[Row]:
    """Return when the next keys after a namespace and key were last used."""
    return await _page(sql, "key_use", "key_use", "key_id", (namespace, place))


async def _page(
    sql: SqlStore,
    kind: str,
    table: str,
    id_: str,
    asked: tuple[Namespace | None, tuple[str, str]],
) -> list[Row]:
    namespace, place = asked
    params: Sequence[SqlValue] = place
    where = f"(namespace, {id_}) > (?1, ?2)"
    if namespace is not None:
        where, params = f"namespace = ?1 AND {id_} > ?2", (namespace, place[1])
    sql_text = (
        f"SELECT {', '.join(members_of(kind))} FROM {table} WHERE {where}"
        f" ORDER BY namespace, {id_} LIMIT {PAGE_ROWS}"
    )
    [outcome] = await sql.read([Statement(sql_text, tuple(params))])
    return outcome.rows
