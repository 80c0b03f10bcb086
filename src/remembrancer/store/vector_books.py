"""Comparing the vectors with the items: what should have one, what has one, what waits.

`vector_rows` says which vectors were written; asking the index itself is `app.vectors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import Namespace
from remembrancer.core.items.fields import CURRENT_STATES, KINDS
from remembrancer.core.limits import COUNT_MAX
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Outcome, Row, Statement

_CURRENT: Final = ", ".join(f"'{state}'" for state in CURRENT_STATES)

EMBEDDED: Final = f"(i.state IN ({_CURRENT}) OR (i.kind = 'memory' AND i.state = 'archived'))"
"""The condition that an item has a vector: `core.vectors.embedding.vector_kind`, as SQL."""

_COUNTERS: Final = canonical_json(
    [
        *(f"items/{kind}/{state}" for kind in KINDS for state in CURRENT_STATES),
        "items/memory/archived",
    ]
)


@dataclass(frozen=True, slots=True)
class Shelved:
    """An item that should have a vector. *Shape:* `is_booked` when one was written."""

    item_id: str
    version: int
    is_booked: bool
    is_waiting: bool


def wanted_statement(namespace: Namespace | None) -> Statement:
    """Return the statement that counts the items that should have a vector, by their counters."""
    within = "?2 IS NULL" if namespace is None else "namespace = ?2"
    return Statement(
        "SELECT coalesce(sum(value), 0) AS count FROM counters"
        f" WHERE {within} AND name IN (SELECT value FROM json_each(?1))",
        (_COUNTERS, namespace),
    )


def booked_statement(namespace: Namespace | None, model: str) -> Statement:
    """Return the statement that counts the vectors written for a model.

    *Promise:* reads all its rows; for a question that is asked by hand.
    """
    within = "?2 IS NULL" if namespace is None else "namespace = ?2"
    return Statement(
        f"SELECT count(*) AS count FROM vector_rows WHERE {within} AND model = ?1",
        (model, namespace),
    )


def queue_statement(namespace: Namespace | None) -> Statement:
    """Return the statement that sums the outbox up; beyond `COUNT_MAX` rows, of the first ones."""
    within = "?1 IS NULL" if namespace is None else "namespace = ?1"
    return Statement(
        "SELECT count(*) AS waiting, coalesce(sum(is_gone), 0) AS removals,"
        " coalesce(sum(attempts > 0), 0) AS failing, min(queued_at) AS oldest_at,"
        " max(last_error) AS last_error FROM (SELECT is_gone, attempts, queued_at, last_error"
        f" FROM vector_outbox WHERE {within} LIMIT {COUNT_MAX})",
        (namespace,),
    )


def count_of(outcome: Outcome) -> int:
    """Return the number that a counting statement read."""
    return int(str(outcome.rows[0]["count"]))


def page_statement(namespace: Namespace, after: str, model: str, limit: int) -> Statement:
    """Return the statement that reads the next items that should have a vector, by id."""
    return Statement(
        "SELECT i.id, i.version, r.version IS NOT NULL AS is_booked,"
        f" o.version IS NOT NULL AS is_waiting FROM (SELECT i.id, i.version FROM items AS i"
        f" WHERE i.namespace = ?1 AND i.id > ?2 AND {EMBEDDED} ORDER BY i.id LIMIT ?4) AS i"
        " LEFT JOIN vector_rows AS r ON r.namespace = ?1 AND r.item_id = i.id AND r.model = ?3"
        " LEFT JOIN vector_outbox AS o ON o.namespace = ?1 AND o.item_id = i.id ORDER BY i.id",
        (namespace, after, model, limit),
    )


def shelved(outcome: Outcome) -> list[Shelved]:
    """Return the items that `page_statement` read."""
    return [_shelved(row) for row in outcome.rows]


def _shelved(row: Row) -> Shelved:
    return Shelved(
        str(row["id"]), int(str(row["version"])), bool(row["is_booked"]), bool(row["is_waiting"])
    )


def orphans_statement(namespace: Namespace, after: str, until: str | None, model: str) -> Statement:
    """Return the statement that reads vectors, by id, whose items should have none.

    *Shape:* ids behind `after`, up to `until`; what waits already is left out.
    """
    return Statement(
        "SELECT r.item_id FROM vector_rows AS r"
        " LEFT JOIN items AS i ON i.namespace = r.namespace AND i.id = r.item_id"
        " LEFT JOIN vector_outbox AS o ON o.namespace = r.namespace AND o.item_id = r.item_id"
        " WHERE r.namespace = ?1 AND r.item_id > ?2 AND (?3 IS NULL OR r.item_id <= ?3)"
        f" AND r.model = ?4 AND o.item_id IS NULL AND coalesce({EMBEDDED}, 0) = 0",
        (namespace, after, until, model),
    )


def again_statement(
    namespace: Namespace, rows: Sequence[tuple[str, int]], now_ms: int, *, is_gone: bool
) -> Statement:
    """Return the statement that queues items (id, version) anew; what waits already stays."""
    return Statement(
        "INSERT INTO vector_outbox (namespace, item_id, version, is_gone, queued_at)"
        " SELECT ?1, value ->> 0, value ->> 1, ?3, ?4 FROM json_each(?2) WHERE 1"
        " ON CONFLICT DO NOTHING",
        (namespace, canonical_json([[*row] for row in rows]), int(is_gone), now_ms),
    )
