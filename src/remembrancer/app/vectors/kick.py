"""Starting a drain after a write: behind the answer, one for many writes.

On one machine it runs in this process. Elsewhere a message is left in the queue, if there is one;
it comes some seconds later, and stands for the writes until then. Either may be lost: the sweep of
the cron finds what is left.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Final

from remembrancer.app.state import App
from remembrancer.app.vectors.indexing import TELL_DELAY_S
from remembrancer.core.errors import LimitExceeded, PlatformError
from remembrancer.ports.queue import JobMessage, JobQueue

logger = logging.getLogger(__name__)

PASS_STATEMENTS: Final = 20
"""Statements of one pass over the outbox: where requests have a bound and no queue is there, the
write that asked for it drains no more than its request affords. Source: measured."""

INDEX_JOB: Final = "index"
"""The job's name in messages."""


def index_soon(app: App, namespace: str) -> None:
    """See to it that a namespace's outbox is drained soon; nothing is waited for."""
    indexing, now = app.indexing, app.runtime.now_ms()
    if app.vectors is None or not indexing.is_eager:
        return
    if app.queue is None or indexing.is_here:
        if indexing.ask(namespace, now):
            app.runtime.run_later(run_waiting(app))
    elif indexing.tell(namespace, now):
        app.runtime.run_later(_tell(app, app.queue, namespace))


async def run_waiting(app: App) -> None:
    """Drain every namespace that has asked, each until nothing more can be done now."""
    # Every write imports this module, and few isolates of the edge ever drain.
    index = import_module("remembrancer.app.vectors.index")
    try:
        await _rest(app)
        while (namespace := app.indexing.take(app.runtime.now_ms())) is not None:
            while app.spending.affords(PASS_STATEMENTS) and app.indexing.go_on(
                app.runtime.now_ms()
            ):
                done = await index.drain_outbox(app, namespace=namespace, limit=index.DRAIN_ROWS)
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


async def _tell(app: App, queue: JobQueue, namespace: str) -> None:
    try:
        await queue.send([JobMessage(INDEX_JOB, namespace)], delay_s=TELL_DELAY_S)
    except (PlatformError, LimitExceeded) as error:
        app.indexing.untell(namespace)
        logger.warning("indexing waits for the next sweep: %s", error.code)
