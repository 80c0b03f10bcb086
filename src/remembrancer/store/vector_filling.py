"""Filling the index of another model: which items it lacks, and noting what was written.

The books say what is there, so a filling that was interrupted goes on. Embedding is
`app.vectors.filling`.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Statement
from remembrancer.store.vector_books import EMBEDDED
from remembrancer.store.vector_outbox import ITEM_COLUMNS, OWNERS, Waiting


def missing_statement(model: str, after: tuple[str, str], limit: int) -> Statement:
    """Return the statement that reads the next items, of all namespaces, that a model lacks."""
    return Statement(
        f"SELECT i.namespace, i.id AS item_id, 0 AS version, 0 AS attempts, {ITEM_COLUMNS}"
        " FROM items AS i LEFT JOIN vector_rows AS r"
        " ON r.namespace = i.namespace AND r.item_id = i.id AND r.model = ?1"
        f" {OWNERS} WHERE (i.namespace, i.id) > (?2, ?3) AND {EMBEDDED} AND r.item_id IS NULL"
        " ORDER BY i.namespace, i.id LIMIT ?4",
        (model, *after, limit),
    )


def filled_statements(rows: Sequence[Waiting], model: str, now_ms: int) -> list[Statement]:
    """Return what notes vectors that were written beside the outbox.

    *Promise:* an item that was changed meanwhile is queued: ours may have replaced a newer vector.
    """
    keys = canonical_json([[row.namespace, row.item_id, row.item_version] for row in rows])
    items = (
        "FROM json_each(?1) AS j LEFT JOIN items AS i"
        " ON i.namespace = j.value ->> 0 AND i.id = j.value ->> 1"
    )
    return [
        Statement(
            "INSERT OR REPLACE INTO vector_rows (namespace, item_id, model, version)"
            f" SELECT i.namespace, i.id, ?2, i.version {items} WHERE i.version = j.value ->> 2",
            (keys, model),
        ),
        Statement(
            "INSERT INTO vector_outbox (namespace, item_id, version, is_gone, queued_at)"
            f" SELECT j.value ->> 0, j.value ->> 1, -1, 0, ?2 {items}"
            " WHERE coalesce(i.version <> j.value ->> 2, 1) ON CONFLICT DO NOTHING",
            (keys, now_ms),
        ),
    ]
