"""Explanations of recalls, and the counters of use that a recall leaves behind.

Both are written after the answer and outside the ledger. What is found is `store.search`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.limits import USE_WRITE_INTERVAL_S
from remembrancer.core.recall.explain import QUERY_CHARS_MAX
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, SqlValue, Statement
from remembrancer.store.marks import Marks
from remembrancer.store.record_table import load_json

FORGOTTEN_QUERY: Final = "[forgotten]"
"""What stands for a query that said what was forgotten."""

_COLUMNS: Final = "r.id, r.at_ms, r.purpose, r.query, r.degraded, r.candidates, r.found, r.injected"


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One explanation as kept.

    *Shape:* `candidates` those of `core.recall.explain`, `found` how many there were in all;
    `injected` the ids that the answer brought. *Units:* `at_ms` milliseconds UTC.
    """

    id: str
    at_ms: int
    purpose: str
    query: str
    degraded: Sequence[str]
    candidates: Sequence[JSON]
    found: int
    injected: Sequence[str]
    tokens: int


def keep_statement(namespace: Namespace, row: RecallRow) -> Statement:
    """Return the statement that keeps an explanation; a second time it does nothing."""
    return Statement(
        "INSERT INTO recalls (namespace, id, at_ms, purpose, query, degraded, candidates, found,"
        " injected, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (namespace, id) DO NOTHING",
        (
            namespace,
            row.id,
            row.at_ms,
            row.purpose,
            row.query,
            canonical_json(list(row.degraded)),
            canonical_json(list(row.candidates)),
            row.found,
            canonical_json(list(row.injected)),
            row.tokens,
        ),
    )


def used_statement(namespace: Namespace, ids: Sequence[str], *, at_ms: int) -> Statement:
    """Return the statement that counts that items were used.

    *Promise:* an item counts at most once an hour, so a repeated recall writes nothing.
    """
    marks = Marks(namespace)
    at = marks.add(at_ms)
    before = marks.add(at_ms - USE_WRITE_INTERVAL_S * 1_000)
    return Statement(
        "INSERT INTO item_use (namespace, item_id, recall_count, last_recalled_at, seen_count)"
        f" SELECT ?1, j.value, 1, {at}, 0 FROM {marks.many(ids)} AS j WHERE true"
        " ON CONFLICT (namespace, item_id) DO UPDATE SET recall_count = recall_count + 1,"
        " last_recalled_at = excluded.last_recalled_at"
        f" WHERE item_use.last_recalled_at IS NULL OR item_use.last_recalled_at <= {before}",
        marks.values,
    )


def recall_statement(namespace: Namespace, recall_id: str) -> Statement:
    """Return the statement that reads one explanation."""
    return Statement(
        f"SELECT {_COLUMNS}, r.tokens FROM recalls AS r WHERE r.namespace = ? AND r.id = ?",
        (namespace, recall_id),
    )


def recalls_statement(namespace: Namespace, *, before_id: str | None, limit: int) -> Statement:
    """Return the statement that reads a page of explanations, the newest first."""
    marks = Marks(namespace)
    where = "" if before_id is None else f" AND r.id < {marks.add(before_id)}"
    return Statement(
        f"SELECT {_COLUMNS}, r.tokens FROM recalls AS r WHERE r.namespace = ?1{where}"
        f" ORDER BY r.id DESC LIMIT {marks.add(limit)}",
        marks.values,
    )


def recalls_of(rows: Sequence[Row]) -> list[RecallRow]:
    """Return the explanations from the rows of the reading statements."""
    return [
        RecallRow(
            id=str(row["id"]),
            at_ms=int(str(row["at_ms"])),
            purpose=str(row["purpose"]),
            query=str(row["query"]),
            degraded=[str(reason) for reason in _listed(row["degraded"])],
            candidates=_listed(row["candidates"]),
            found=int(str(row["found"])),
            injected=[str(id_) for id_ in _listed(row["injected"])],
            tokens=int(str(row["tokens"])),
        )
        for row in rows
    ]


def _listed(value: SqlValue) -> list[JSON]:
    loaded = load_json(value)
    assert isinstance(loaded, list)
    return loaded


def titles_statement(namespace: Namespace, ids: Sequence[str]) -> Statement:
    """Return the statement that reads the titles of items by id, whatever their state."""
    marks = Marks(namespace)
    return Statement(
        f"SELECT i.id, i.title, i.state FROM {marks.many(ids)} AS j CROSS JOIN items AS i"
        " ON i.namespace = ?1 AND i.id = j.value",
        marks.values,
    )


def forget_statement(namespace: Namespace, item_id: str, texts: Sequence[str]) -> Statement:
    """Return the statement that takes an item out of every explanation.

    A query that brought it up, or that says one of its texts, goes as well.
    *Promise:* reads all explanations of the namespace; forgetting is rare.
    """
    marks = Marks(namespace)
    id_ = marks.add(item_id)
    # A longer text cannot stand in a query, which is cut.
    short = [text for text in texts if text.strip() and len(text) <= QUERY_CHARS_MAX]
    said = f"json_each({marks.add(canonical_json(short))})"
    entry = "SELECT coalesce(json_group_array(json(c.value)), '[]') FROM json_each(candidates) AS c"
    name = "SELECT coalesce(json_group_array(n.value), '[]') FROM json_each(injected) AS n"
    return Statement(
        f"UPDATE recalls SET query = {marks.add(FORGOTTEN_QUERY)},"
        f" candidates = ({entry} WHERE c.value ->> 'id' <> {id_}),"
        f" injected = ({name} WHERE n.value <> {id_})"
        f" WHERE namespace = ?1 AND (instr(candidates, {id_}) > 0 OR instr(injected, {id_}) > 0"
        f" OR EXISTS (SELECT 1 FROM {said} AS t WHERE instr(query, t.value) > 0))",
        marks.values,
    )
