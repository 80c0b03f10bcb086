"""Moving artifacts' texts out of the database, and removing those that are forgotten.

The row in the database is the truth. A text is in chunks until its blob is there; a blob is noted
for removal by the batch that deletes its row, and the note stays until the blob is gone. So either
may be killed anywhere, run twice or find the blob store away: nothing is lost, nothing left behind.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.artifacts import blob_key, sha256_of
from remembrancer.core.errors import InvalidInput, LimitExceeded, PlatformError
from remembrancer.ports.blobs import BlobStore
from remembrancer.store import artifacts as store

logger = logging.getLogger(__name__)

REMOVED_AT_ONCE: Final = 200
"""Blobs that one call removes. Our choice; R2 takes a thousand."""


async def move_out(
    app: App, blobs: BlobStore, namespace: str, limit: int
) -> tuple[Counter[str], bool]:
    """Move the next texts to the blob store; return what was done, and whether none is left.

    *Shape:* counts `moved`, and `kept` of those that stay in the database: damaged ones, and what
    the blob store does not take. *Raises:* StoreUnavailable, and goes on there the next time.
    *Promise:* two statements, and four for each text.
    """
    [found] = await app.sql.read([store.to_move_statement(namespace, limit)])
    heads = store.heads_of(found.rows)
    done = Counter[str]()
    if not heads:
        return done, True
    await app.sql.write([store.moving_statement(namespace, [head.id for head in heads])])
    for head in heads:
        done[await _move(app, blobs, namespace, head)] += 1
    return done, len(heads) < limit


async def _move(app: App, blobs: BlobStore, namespace: str, head: store.Head) -> str:
    [body] = await app.sql.read([store.chunks_statement(namespace, head.id)])
    text = "".join(str(row["text"]) for row in body.rows)
    if sha256_of(text) == head.sha256:
        try:
            await blobs.put(blob_key(namespace, head.id), text.encode())
        except (InvalidInput, LimitExceeded) as error:
            logger.warning("an artifact stays in the database: %s", error.code)
        else:
            now_ms = app.runtime.now_ms()
            await app.sql.write(store.moved_statements(namespace, head.id, now_ms))
            return "moved"
    # Also what has lost its chunks meanwhile, since somebody else has moved or forgotten it: then
    # there is nothing that could stay.
    await app.sql.write([store.staying_statement(namespace, head.id)])
    return "kept"


async def remove_due(
    app: App, blobs: BlobStore, namespace: str, now_ms: int
) -> tuple[Counter[str], bool]:
    """Remove the next blobs of what was forgotten; return how many, and whether none is left.

    *Raises:* StoreUnavailable. *Promise:* two statements; may run beside itself.
    """
    [due] = await app.sql.read([store.removals_statement(namespace, now_ms, REMOVED_AT_ONCE)])
    ids = [str(row["artifact_id"]) for row in due.rows]
    if ids:
        await blobs.delete([blob_key(namespace, id_) for id_ in ids])
        await app.sql.write([store.removed_statement(namespace, ids, now_ms)])
    return Counter(removed=len(ids)), len(ids) < REMOVED_AT_ONCE


async def remove_now(app: App, namespace: str) -> None:
    """Remove the blobs of what was just forgotten, if the blob store answers.

    *Promise:* never fails: the notes stay, and the job tries until it is done.
    """
    if app.blobs is None:
        return
    try:
        is_done = False
        while not is_done:
            _, is_done = await remove_due(app, app.blobs, namespace, app.runtime.now_ms())
    except PlatformError as error:
        logger.warning("a text's removal waits for the next sweep: %s", error.code)
