"""Reading relations: those of an item, the named ones, and who leads to an item.

The rules are `core.relations`; the table is filled by `store.projections`. Nothing is written
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.ids import RELATIONS, Namespace
from remembrancer.core.ledger.events import Head
from remembrancer.core.relations.decide import relation_key
from remembrancer.core.values import JSON, canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store import ledger

SHOWN_MAX: Final = 200
"""Relations of one item that an answer shows, newest first. Our choice."""

Edge = tuple[str, str, str]
"""Source, type and target of a relation."""


def head_statement(namespace: Namespace) -> Statement:
    """Return the statement that reads the head of the stream of relations."""
    return ledger.heads_statement(namespace, [RELATIONS])


def head_of(rows: Sequence[Row]) -> Head:
    """Return the head from the rows of `head_statement`."""
    return ledger.heads(rows).get(RELATIONS, Head())


def present_statement(namespace: Namespace, edges: Sequence[Edge]) -> Statement:
    """Return the statement that reads those of the named relations that are there."""
    return Statement(
        "SELECT r.source_id, r.type, r.target_id, r.confidence, r.reason, r.created_at"
        " FROM json_each(?2) AS j CROSS JOIN relations AS r ON r.namespace = ?1"
        " AND r.source_id = (j.value ->> 0) AND r.type = (j.value ->> 1)"
        " AND r.target_id = (j.value ->> 2)",
        (namespace, canonical_json([list(edge) for edge in edges])),
    )


def incoming_statement(namespace: Namespace, type_: str, target_id: str) -> Statement:
    """Return the statement that reads all relations of one type that lead to an item."""
    return Statement(
        "SELECT source_id, type, target_id, confidence, reason, created_at FROM relations"
        " INDEXED BY relations_target WHERE namespace = ? AND target_id = ? AND type = ?",
        (namespace, target_id, type_),
    )


def outgoing_statement(namespace: Namespace, type_: str, source_id: str) -> Statement:
    """Return the statement that reads all relations of one type that an item has to others."""
    return Statement(
        "SELECT source_id, type, target_id, confidence, reason, created_at FROM relations"
        " WHERE namespace = ? AND source_id = ? AND type = ?",
        (namespace, source_id, type_),
    )


def successors_statement(namespace: Namespace, item_ids: Sequence[str]) -> Statement:
    """Return the statement that reads which items these have superseded."""
    return Statement(
        "SELECT r.source_id, r.type, r.target_id FROM json_each(?2) AS j CROSS JOIN relations AS r"
        " ON r.namespace = ?1 AND r.source_id = j.value AND r.type = 'supersedes'",
        (namespace, canonical_json(list(item_ids))),
    )


def present_of(rows: Sequence[Row]) -> dict[str, JSON]:
    """Return edge name → what is known of it, as the stream's record holds it."""
    return {
        relation_key(str(row["source_id"]), str(row["type"]), str(row["target_id"])): {
            "confidence": float(str(row["confidence"])),
            "reason": None if row["reason"] is None else str(row["reason"]),
            "created_at": int(str(row["created_at"])),
        }
        for row in rows
    }


def ancestors_statement(
    namespace: Namespace, type_: str, source_id: str, among: Sequence[str]
) -> Statement:
    """Return the statement that finds from which of some items a way leads to one item.

    *Promise:* looks at each item on the ways to it once, whatever circles there are.
    """
    return Statement(
        "WITH RECURSIVE leading (id) AS (VALUES (?3) UNION"
        " SELECT r.source_id FROM leading CROSS JOIN relations AS r ON r.namespace = ?1"
        " AND r.target_id = leading.id AND r.type = ?2)"
        " SELECT leading.id FROM leading WHERE leading.id IN (SELECT value FROM json_each(?4))",
        (namespace, type_, source_id, canonical_json(list(among))),
    )


def ancestors_of(rows: Sequence[Row]) -> frozenset[str]:
    """Return the ids from the rows of `ancestors_statement`."""
    return frozenset(str(row["id"]) for row in rows)


def circle_statement(
    namespace: Namespace, *, gone: Sequence[Edge], come: Sequence[Edge]
) -> Statement:
    """Return the statement that finds a relation which closes a circle, of those that come.

    *Shape:* `gone` are taken out of the stored ones before. *Promise:* looks at each item on the
    ways to a source once, whatever circles there are.
    """
    edge = "value ->> 0 AS source_id, value ->> 1 AS type, value ->> 2 AS target_id"
    begun = "l.source_id, l.type, l.target_id"
    return Statement(
        f"WITH RECURSIVE come AS (SELECT {edge} FROM json_each(?2)),"
        f" gone AS (SELECT {edge} FROM json_each(?3)),"
        " leading (source_id, type, target_id, id) AS ("
        "SELECT source_id, type, target_id, source_id FROM come UNION"
        f" SELECT {begun}, r.source_id FROM leading AS l CROSS JOIN relations AS r"
        " ON r.namespace = ?1 AND r.target_id = l.id AND r.type = l.type"
        " AND (r.source_id, r.type, r.target_id) NOT IN (SELECT * FROM gone) UNION"
        f" SELECT {begun}, c.source_id FROM leading AS l CROSS JOIN come AS c"
        " ON c.type = l.type AND c.target_id = l.id)"
        " SELECT source_id, type, target_id FROM leading WHERE id = target_id LIMIT 1",
        (namespace, canonical_json([*map(list, come)]), canonical_json([*map(list, gone)])),
    )


def relations_statement(namespace: Namespace, item_id: str, *, limit: int = SHOWN_MAX) -> Statement:
    """Return the statement that reads an item's relations, newest first, both directions.

    *Shape:* relations with a deleted item are left out until it is restored.
    """
    return Statement(
        "SELECT r.direction, r.type, r.item_id, r.confidence, r.reason, r.created_at,"
        " i.title, i.state FROM ("
        "SELECT 'out' AS direction, type, target_id AS item_id, confidence, reason, created_at"
        " FROM relations WHERE namespace = ?1 AND source_id = ?2 UNION ALL "
        "SELECT 'in', type, source_id, confidence, reason, created_at"
        " FROM relations INDEXED BY relations_target"
        " WHERE namespace = ?1 AND target_id = ?2) AS r"
        " CROSS JOIN items AS i ON i.namespace = ?1 AND i.id = r.item_id"
        " AND i.state <> 'deleted'"
        " ORDER BY r.created_at DESC, r.direction, r.type, r.item_id LIMIT ?3",
        (namespace, item_id, limit),
    )


def relation_views(rows: Sequence[Row]) -> list[JSON]:
    """Return the answer form of the rows of `relations_statement`."""
    return [_view(row) for row in rows]


def _view(row: Mapping[str, object]) -> dict[str, JSON]:
    return {
        "type": str(row["type"]),
        "direction": str(row["direction"]),
        "item_id": str(row["item_id"]),
        "title": str(row["title"]),
        "state": str(row["state"]),
        "confidence": float(str(row["confidence"])),
        "reason": None if row["reason"] is None else str(row["reason"]),
    }
