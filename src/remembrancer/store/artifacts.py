"""Storing and reading artifacts: chunks of text in the database, checked when read."""

from __future__ import annotations

from remembrancer.core.artifacts import chunks, sha256_of
from remembrancer.core.errors import CorruptData, NotFound
from remembrancer.core.ids import Namespace
from remembrancer.ports.sql import SqlStore, Statement


def keep_statements(
    namespace: Namespace, artifact_id: str, item_id: str, text: str, *, at_ms: int
) -> list[Statement]:
    """Return the statements that store a text; they belong into the batch of its item."""
    return [
        Statement(
            "INSERT INTO artifacts (namespace, id, item_id, sha256, chars, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (namespace, artifact_id, item_id, sha256_of(text), len(text), at_ms),
        ),
        *(
            Statement(
                "INSERT INTO artifact_chunks (namespace, artifact_id, number, text)"
                " VALUES (?, ?, ?, ?)",
                (namespace, artifact_id, number, chunk),
            )
            for number, chunk in enumerate(chunks(text))
        ),
    ]


async def read_artifact(sql: SqlStore, namespace: Namespace, artifact_id: str) -> tuple[str, str]:
    """Return the item's id and the whole text of an artifact.

    *Raises:* NotFound, CorruptData when the text is not what was stored.
    """
    head, body = await sql.read(
        [
            Statement(
                "SELECT item_id, sha256 FROM artifacts WHERE namespace = ? AND id = ?",
                (namespace, artifact_id),
            ),
            Statement(
                "SELECT text FROM artifact_chunks WHERE namespace = ? AND artifact_id = ?"
                " ORDER BY number",
                (namespace, artifact_id),
            ),
        ]
    )
    if not head.rows:
        raise NotFound(
            f"there is no artifact {artifact_id[:60]!r}", hint="its item's content names it"
        )
    text = "".join(str(row["text"]) for row in body.rows)
    if sha256_of(text) != head.rows[0]["sha256"]:
        raise CorruptData(f"artifact {artifact_id} is not what was stored")
    return str(head.rows[0]["item_id"]), text


def forget_statements(namespace: Namespace, item_id: str) -> list[Statement]:
    """Return the statements that remove all artifacts of an item."""
    return [
        Statement(
            "DELETE FROM artifact_chunks WHERE namespace = ?1 AND artifact_id IN"
            " (SELECT id FROM artifacts WHERE namespace = ?1 AND item_id = ?2)",
            (namespace, item_id),
        ),
        Statement(
            "DELETE FROM artifacts WHERE namespace = ? AND item_id = ?", (namespace, item_id)
        ),
    ]
