"""What a server does about its vectors once it answers: warm up, go on, look for gaps.

It runs behind the requests and stops when the process is about to end. Each step may be lost.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from remembrancer.app.state import App
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.app.vectors.repair import examine, queue_page
from remembrancer.core.errors import InvalidInput, LimitExceeded, PlatformError
from remembrancer.core.ids import Namespace
from remembrancer.store import vector_books as store
from remembrancer.store import vector_models as models
from remembrancer.store.jobs import namespaces_statement

logger = logging.getLogger(__name__)

GAP_PAGE: Final = 500
"""Items that are looked at in one step; under the limit of one question to an index."""


async def keep_indexed(app: App) -> None:
    """Load the encoder, do what waits, and queue what the index lacks.

    *Promise:* never raises our errors; does nothing over an empty store.
    """
    if app.vectors is None or app.embedder is None:
        return
    try:
        wanted, waits = await app.sql.read(
            [store.wanted_statement(None), store.queue_statement(None)]
        )
        if not store.count_of(wanted) and not waits.rows[0]["waiting"]:
            return
        await warm(app)
        await drain_all(app)
        if await find_gaps(app):
            await drain_all(app)
    except (PlatformError, LimitExceeded, InvalidInput) as error:
        logger.warning("indexing waits for the next sweep: %s", error.code)


async def warm(app: App) -> None:
    """Load what the first query would wait for: encoder and index. Failures show later."""
    if app.vectors is None or app.embedder is None:
        return
    with suppress(PlatformError, LimitExceeded):
        await app.embedder.embed(["warm"])
    with suppress(PlatformError, LimitExceeded):
        await app.vectors.describe()


async def drain_all(app: App) -> None:
    """Drain every namespace until nothing more can be done now."""
    while not app.indexing.is_closed:
        done = await drain_outbox(app)
        if not done["left"] or not (done["embedded"] or done["deleted"]):
            return


async def find_gaps(app: App) -> int:
    """Queue every item that has no vector though it should, and every vector without its item.

    *Shape:* returns how many. The index itself is only asked for each id when it holds another
    number than was written. *Raises:* StoreUnavailable, LimitExceeded. *Promise:* may be repeated.
    """
    assert app.vectors is not None and app.embedder is not None
    label = models.label_of(app.embedder.model)
    [booked, names] = await app.sql.read(
        [store.booked_statement(None, label), namespaces_statement()]
    )
    is_whole = (await app.vectors.describe()).count == store.count_of(booked)
    queued = 0
    for row in names.rows:
        namespace, after = Namespace(str(row["name"])), ""
        while not app.indexing.is_closed:
            index = None if is_whole else app.vectors
            page = await examine(app, namespace, after, GAP_PAGE, index=index)
            queued += await queue_page(app, namespace, page)
            if page.last is None:
                break
            after = page.last
    return queued
