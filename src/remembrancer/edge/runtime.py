"""The runtime port of an isolate: the platform's clock and randomness, work after the answer.

Python's clock and generator are JavaScript's `Date.now` and `crypto.getRandomValues` there, one
call without a proxy. The clock stands still while Python runs. `edge.wire` imports it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from remembrancer.core.ids import RANDOM_BYTES, make_id
from remembrancer.edge.convert import promise

logger = logging.getLogger(__name__)

_RANDOM_END: Final = 1 << (8 * RANDOM_BYTES)


class ExecutionContext(Protocol):
    """What the platform hands to a handler: it keeps the isolate at work for a promise."""

    def waitUntil(self, promise: object) -> None: ...  # noqa: N802 - the platform's name


_SERVING: Final[ContextVar[ExecutionContext | None]] = ContextVar("serving", default=None)


@contextmanager
def serving(context: ExecutionContext) -> Iterator[None]:
    """Make this the request on whose account work goes on, for the block and its tasks."""
    token = _SERVING.set(context)
    try:
        yield
    finally:
        _SERVING.reset(token)


def keep_alive() -> Callable[[], None]:
    """Let the platform keep this request at work, also when its client leaves.

    *Shape:* what is returned says that the work has ended; whether well or not is not passed on.
    """
    context = _SERVING.get()
    if context is None:
        return _nothing
    ended, fulfil = promise()
    context.waitUntil(ended)
    return fulfil


def _nothing() -> None:
    """There is no request to keep."""


class EdgeRuntime:
    """Clock, identifiers, randomness and work after the answer, for one isolate.

    *Promise:* identifiers made by one isolate sort strictly in the order they were made.
    """

    def __init__(self) -> None:
        self._last_ms = 0
        self._last_random = 0
        self._tasks: set[asyncio.Task[object]] = set()

    def now_ms(self) -> int:
        """Return milliseconds since the epoch, UTC, of the last input or output."""
        return time.time_ns() // 1_000_000

    def new_id(self, prefix: str) -> str:
        """Return a fresh identifier that sorts after every earlier one of this isolate."""
        at_ms = self.now_ms()
        if at_ms > self._last_ms:
            self._last_ms = at_ms
            self._last_random = int.from_bytes(os.urandom(RANDOM_BYTES), "big")
        else:  # the clock stands still: count on
            self._last_random += 1
            if self._last_random == _RANDOM_END:
                self._last_ms += 1
                self._last_random = 0
        return make_id(prefix, self._last_ms, self._last_random.to_bytes(RANDOM_BYTES, "big"))

    def random_bytes(self, count: int) -> bytes:
        """Return `count` bytes from the platform's generator."""
        return os.urandom(count)

    # Any: the result of the work is nobody's business.
    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Start the work on the account of the request that runs; its failure is logged."""
        ended = keep_alive()
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)

        def done(_: asyncio.Task[object]) -> None:
            self._tasks.discard(task)
            if not task.cancelled() and task.exception() is not None:
                logger.error("work after the answer failed", exc_info=task.exception())
            ended()

        task.add_done_callback(done)
