"""Artifacts: their rows are the truth, their texts lie in chunks or, moved out, in the blob store.

A text is written as chunks, in the batch of its item. Moving it out comes later (`app.artifacts`)
and in three steps: the row says that it is on its way, the blob is put, one batch takes the chunks
away. Whatever deletes a row that may have a blob notes the removal in the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core import limits
from remembrancer.core.artifacts import (
    IN_CHUNKS,
    MOVED,
    MOVING,
    STAYING,
    blob_key,
    chunks,
    sha256_of,
)
from remembrancer.core.errors import CorruptData, InvalidInput, NotFound
from remembrancer.core.ids import Namespace
from remembrancer.core.values import MINUTE_MS, canonical_json
from remembrancer.ports.blobs import BlobStore
from remembrancer.ports.sql import SqlStore, SqlValue, Statement

PUT_MS_MAX: Final = 15 * MINUTE_MS
"""Milliseconds that putting a blob may take at most, and for which the removal of one that is being
put waits. Source: the wall clock of a queue's consumer on Cloudflare."""


@dataclass(frozen=True, slots=True)
class Head:
    """An artifact without its text. *Shape:* `sha256` is that of the text's UTF-8 bytes."""

    id: str
    item_id: str
    sha256: str
    stage: int


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


async def read_artifact(
    sql: SqlStore, blobs: BlobStore | None, namespace: Namespace, artifact_id: str
) -> tuple[str, str]:
    """Return the item's id and the whole text of an artifact.

    *Raises:* NotFound, CorruptData when the text is not what was stored, InvalidInput when the blob
    store that has it is not there; StoreUnavailable.
    """
    head, text = await _read(sql, blobs, namespace, artifact_id)
    if text is None:  # forgotten meanwhile, or lost
        head, text = await _read(sql, blobs, namespace, artifact_id)
    if text is None or sha256_of(text) != head.sha256:
        raise CorruptData(f"artifact {artifact_id[:60]} is not what was stored")
    return head.item_id, text


async def _read(
    sql: SqlStore, blobs: BlobStore | None, namespace: str, artifact_id: str
) -> tuple[Head, str | None]:
    found, body = await sql.read(
        [
            Statement(
                "SELECT id, item_id, sha256, stage FROM artifacts WHERE namespace = ? AND id = ?",
                (namespace, artifact_id),
            ),
            chunks_statement(namespace, artifact_id),
        ]
    )
    if not found.rows:
        raise NotFound(
            f"there is no artifact {artifact_id[:60]!r}", hint="its item's content names it"
        )
    head = _head(found.rows[0])
    if head.stage == MOVED:
        return head, await _moved_text(blobs, namespace, artifact_id)
    return head, "".join(str(row["text"]) for row in body.rows)


async def _moved_text(blobs: BlobStore | None, namespace: str, artifact_id: str) -> str | None:
    if blobs is None:
        raise InvalidInput(
            f"the text of artifact {artifact_id[:60]} is in a bucket that is not bound",
            hint="bind the bucket as ARTIFACTS again",
            field="ARTIFACTS",
        )
    data = await blobs.get(blob_key(namespace, artifact_id))
    # What is no UTF-8 has another hash than the text, too.
    return None if data is None else data.decode("utf-8", "replace")


async def read_pieces(
    sql: SqlStore, blobs: BlobStore | None, namespace: str, artifact_id: str
) -> list[str]:
    """Return an artifact's text as its chunks, wherever it is; none when it has gone.

    *Raises:* CorruptData when a text that was moved out is lost; InvalidInput, StoreUnavailable.
    """
    try:
        head, text = await _read(sql, blobs, namespace, artifact_id)
        if text is None:
            head, text = await _read(sql, blobs, namespace, artifact_id)
    except NotFound:
        return []
    if text is None or (head.stage == MOVED and sha256_of(text) != head.sha256):
        raise CorruptData(
            f"the text of artifact {artifact_id[:60]} is not in the blob store",
            hint="restore the store's folder or bucket of artifacts from a copy",
        )
    return [*chunks(text)]


def chunks_statement(namespace: str, artifact_id: str) -> Statement:
    """Return the statement that reads the chunks of an artifact, in order."""
    return Statement(
        "SELECT number, text FROM artifact_chunks WHERE namespace = ? AND artifact_id = ?"
        " ORDER BY number",
        (namespace, artifact_id),
    )


def forget_statements(
    namespace: Namespace,
    of: str,
    values: Sequence[SqlValue],
    *,
    at_ms: int,
) -> list[Statement]:
    """Return the statements that remove artifacts and note the removal of their blobs.

    *Shape:* `of` is the condition on the table `artifacts` behind that on the namespace (`?1`),
    with `values` from `?2` on.
    """
    which = f"namespace = ?1 AND {of}"
    params = (namespace, *values)
    now, later = f"?{len(params) + 1}", f"?{len(params) + 2}"
    return [
        # What is being put may arrive after it was removed, so its removal waits that out.
        Statement(
            "INSERT INTO blob_removals (namespace, artifact_id, due_at)"
            f" SELECT namespace, id, CASE stage WHEN {MOVED} THEN {now} ELSE {later} END"
            f" FROM artifacts WHERE {which} AND (stage = {MOVING} OR stage = {MOVED})"
            " ON CONFLICT DO UPDATE SET due_at = max(due_at, excluded.due_at)",
            (*params, at_ms, at_ms + PUT_MS_MAX),
        ),
        Statement(
            "DELETE FROM artifact_chunks WHERE namespace = ?1 AND artifact_id IN"
            f" (SELECT id FROM artifacts WHERE {which})",
            params,
        ),
        Statement(f"DELETE FROM artifacts WHERE {which}", params),
    ]


def waiting_statement(namespace: str, now_ms: int) -> Statement:
    """Return the statement that counts texts to move and blobs to remove, each up to a limit."""
    to_move = f"SELECT 1 FROM artifacts INDEXED BY artifacts_to_move {_TO_MOVE}"
    due = "SELECT 1 FROM blob_removals WHERE namespace = ?1 AND due_at <= ?2"
    return Statement(
        f"SELECT (SELECT count(*) FROM ({to_move} LIMIT {limits.COUNT_MAX})) AS texts,"
        f" (SELECT count(*) FROM ({due} LIMIT {limits.COUNT_MAX})) AS removals",
        (namespace, now_ms),
    )


_TO_MOVE: Final = (
    "WHERE namespace = ?1 AND stage < 2 AND NOT EXISTS (SELECT 1 FROM blob_removals AS r"
    " WHERE r.namespace = ?1 AND r.artifact_id = artifacts.id)"
)
"""What may be moved out: what an import brought back waits until its old blob is removed."""


def to_move_statement(namespace: str, limit: int) -> Statement:
    """Return the statement that reads the next artifacts to move, in the order of their ids."""
    return Statement(
        "SELECT id, item_id, sha256, stage FROM artifacts INDEXED BY artifacts_to_move"
        f" {_TO_MOVE} ORDER BY id LIMIT ?2",
        (namespace, limit),
    )


def moving_statement(namespace: str, ids: Sequence[str]) -> Statement:
    """Return the statement that says of artifacts that their blobs may be there from now on."""
    return Statement(
        f"UPDATE artifacts SET stage = {MOVING} WHERE namespace = ?1 AND stage = {IN_CHUNKS}"
        " AND id IN (SELECT value FROM json_each(?2))",
        (namespace, canonical_json(list(ids))),
    )


def moved_statements(namespace: str, artifact_id: str, now_ms: int) -> list[Statement]:
    """Return the batch that takes the chunks of an artifact away, its blob being there.

    Of one that was forgotten meanwhile it notes that the blob must go.
    """
    return [
        Statement(
            "DELETE FROM artifact_chunks WHERE namespace = ?1 AND artifact_id = ?2"
            " AND EXISTS (SELECT 1 FROM artifacts WHERE namespace = ?1 AND id = ?2"
            f" AND stage = {MOVING})",
            (namespace, artifact_id),
        ),
        Statement(
            f"UPDATE artifacts SET stage = {MOVED} WHERE namespace = ? AND id = ?"
            f" AND stage = {MOVING}",
            (namespace, artifact_id),
        ),
        Statement(
            "INSERT INTO blob_removals (namespace, artifact_id, due_at) SELECT ?1, ?2, ?3"
            " WHERE NOT EXISTS (SELECT 1 FROM artifacts WHERE namespace = ?1 AND id = ?2)"
            " ON CONFLICT DO NOTHING",
            (namespace, artifact_id, now_ms),
        ),
    ]


def staying_statement(namespace: str, artifact_id: str) -> Statement:
    """Return the statement that leaves an artifact in its chunks for good."""
    return Statement(
        f"UPDATE artifacts SET stage = {STAYING} WHERE namespace = ? AND id = ? AND stage < 2",
        (namespace, artifact_id),
    )


def removals_statement(namespace: str, now_ms: int, limit: int) -> Statement:
    """Return the statement that reads which blobs are to be removed now."""
    return Statement(
        "SELECT artifact_id FROM blob_removals WHERE namespace = ? AND due_at <= ? LIMIT ?",
        (namespace, now_ms, limit),
    )


def removed_statement(namespace: str, ids: Sequence[str], now_ms: int) -> Statement:
    """Return the statement that takes removals off that are done."""
    return Statement(
        "DELETE FROM blob_removals WHERE namespace = ?1 AND due_at <= ?3"
        " AND artifact_id IN (SELECT value FROM json_each(?2))",
        (namespace, canonical_json(list(ids)), now_ms),
    )


def heads_of(rows: Sequence[dict[str, SqlValue]]) -> list[Head]:
    """Return the artifacts in rows of `to_move_statement`."""
    return [_head(row) for row in rows]


def _head(row: dict[str, SqlValue]) -> Head:
    return Head(str(row["id"]), str(row["item_id"]), str(row["sha256"]), int(str(row["stage"])))
