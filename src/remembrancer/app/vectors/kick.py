"""Starting a drain after a write: behind the answer, one for many writes.

On one machine it runs in this process. Elsewhere a message is left in the queue, if there is one.
Either may be lost: the sweep of the cron finds what is left.
"""

from __future__ import annotations

import logging
from typing import Final

from remembrancer.app.state import App
from remembrancer.app.vectors.index import DRAIN_ROWS, drain_outbox
from remembrancer.core.errors import LimitExceeded, PlatformError
from remembrancer.ports.queue import JobMessage

logger = logging.getLogger(__name__)

INDEX_JOB: Final = "index"
"""The job's name in messages."""


def index_soon(app: App, namespace: str) -> None:
    """See to it that a namespace's outbox is drained soon; nothing is waited for."""
    if app.vectors is None or not app.indexing.is_eager:
        return
    if not app.indexing.ask(namespace, app.runtime.now_ms()):
        return
    is_here = app.queue is None or app.indexing.is_here
    app.runtime.run_later(run_waiting(app) if is_here else _tell(app))


async def run_waiting(app: App) -> None:
    """Drain every namespace that has asked, each until nothing more can be done now."""
    try:
        await _rest(app)
        while (namespace := app.indexing.take(app.runtime.now_ms())) is not None:
            while app.indexing.go_on(app.runtime.now_ms()):
                done = await drain_outbox(app, namespace=namespace, limit=DRAIN_ROWS)
                if not done["left"] or not (done["embedded"] or done["deleted"]):
                    break
            await _rest(app)
    except PlatformError as error:
        logger.warning("indexing waits for the next sweep: %s", error.code)
    finally:
        app.indexing.stop()


async def _rest(app: App) -> None:
    if app.indexing.rest is not None and not app.indexing.is_closed:
        await app.indexing.rest()


async def _tell(app: App) -> None:
    assert app.queue is not None
    messages = []
    while (namespace := app.indexing.take(app.runtime.now_ms())) is not None:
        messages.append(JobMessage(INDEX_JOB, namespace))
    try:
        await app.queue.send(messages)
    except (PlatformError, LimitExceeded) as error:
        logger.warning("indexing waits for the next sweep: %s", error.code)
