"""Forgetting: the SQL that empties bodies and removes every copy of an item's text.

What is quoted elsewhere is found by the item's id; deciding is `core.ledger.redaction`.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import FORGOTTEN, PURGED
from remembrancer.core.values import canonical_json
from remembrancer.ports.sql import Row, Statement
from remembrancer.store import artifacts
from remembrancer.store.conversations import forget_blocks_statement
from remembrancer.store.marks import Marks


def mentions_statement(namespace: Namespace, item_id: str, own: Stream) -> Statement:
    """Return the statement that finds bodies of other streams which name an item.

    *Promise:* reads the namespace's whole ledger; forgetting is rare.
    """
    return Statement(
        "SELECT position, body FROM events WHERE namespace = ? AND stream <> ?"
        " AND body IS NOT NULL AND instr(body, ?) > 0",
        (namespace, own, item_id),
    )


def empty_bodies_statement(namespace: Namespace, stream: Stream) -> Statement:
    """Return the statement that empties body and salt of a stream's events, but the last one's."""
    return empty_all_statement(namespace, [stream])


def empty_all_statement(namespace: Namespace, streams: Sequence[Stream]) -> Statement:
    """Return the statement that empties the events of streams that have ended, but the endings."""
    return Statement(
        "UPDATE events SET body = NULL, salt = NULL WHERE namespace = ?1"
        " AND stream IN (SELECT value FROM json_each(?2)) AND kind <> ?3 AND kind <> ?4",
        (namespace, canonical_json(list(streams)), FORGOTTEN, PURGED),
    )


def redact_statement(namespace: Namespace, bodies: Sequence[tuple[int, str]]) -> Statement:
    """Return the statement that puts redacted bodies in place; their salts go."""
    marks = Marks(namespace)
    # The plus keeps SQLite from walking the namespace instead of looking up positions.
    sql = (
        f"UPDATE events SET body = j.column2, salt = NULL FROM {marks.rows(bodies)} AS j"
        " WHERE events.position = j.column1 AND +events.namespace = ?1"
    )
    return Statement(sql, marks.values)


def edges_statement(namespace: Namespace, item_id: str) -> Statement:
    """Return the statement that reads all relations of an item."""
    return Statement(
        "SELECT source_id, type, target_id, confidence, created_at FROM relations"
        " WHERE namespace = ?1 AND source_id = ?2"
        " UNION SELECT source_id, type, target_id, confidence, created_at"
        " FROM relations INDEXED BY relations_target WHERE namespace = ?1 AND target_id = ?2",
        (namespace, item_id),
    )


def owner_names_statements(namespace: Namespace, ids: Sequence[str]) -> list[Statement]:
    """Return the statements that read slug and every name of projects and of topics by id."""
    wanted = canonical_json(list(ids))
    return [
        Statement(
            f"SELECT DISTINCT o.slug, o.name FROM json_each(?2) AS j CROSS JOIN {table} AS o"
            " ON o.namespace = ?1 AND o.id = j.value",
            (namespace, wanted),
        )
        for table in ("project_versions", "topic_versions")
    ]


def edge_key_parts(row: Row) -> tuple[str, str, str]:
    """Return source, type and target in a row of `edges_statement`."""
    return str(row["source_id"]), str(row["type"]), str(row["target_id"])


def copies_statements(namespace: Namespace, item_id: str, *, at_ms: int) -> list[Statement]:
    """Return the statements that remove what no projection owns.

    Idempotency answers become a note that the item is forgotten, so that a repeated request
    neither shows the text nor makes the item again.
    """
    return [
        Statement(
            "UPDATE idempotency SET answer = ?3 WHERE namespace = ?1"
            " AND answer IS NOT NULL AND instr(answer, ?2) > 0",
            (namespace, item_id, canonical_json({"forgotten": item_id})),
        ),
        # A tag's name is text as well: none stays that nothing has.
        Statement(
            "DELETE FROM counters WHERE namespace = ?"
            " AND name >= 'tag/' AND name < 'tag0' AND value = 0",
            (namespace,),
        ),
        Statement("DELETE FROM item_use WHERE namespace = ? AND item_id = ?", (namespace, item_id)),
        *artifacts.forget_statements(namespace, "item_id = ?2", (item_id,), at_ms=at_ms),
        forget_blocks_statement(namespace, item_id),
        # FTS5 only marks a row as deleted: its words leave the index when segments are merged.
        Statement("INSERT INTO search (search) VALUES ('optimize')"),
    ]
