"""The runtime port on one machine: the system's clock and randomness, tasks of the event loop.

It keeps no work across a restart; what must survive is a job. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Coroutine
from typing import Any, Final

from remembrancer.core.ids import RANDOM_BYTES, make_id

logger = logging.getLogger(__name__)

_RANDOM_END: Final = 1 << (8 * RANDOM_BYTES)


class LocalRuntime:
    """Clock, identifiers, randomness and work after the answer, for one process.

    *Promise:* identifiers made by one runtime sort strictly in the order they were made, within
    one millisecond and when the system's clock is set back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = 0
        self._last_random = 0
        self._tasks: set[asyncio.Task[object]] = set()

    def now_ms(self) -> int:
        """Return milliseconds since the epoch, UTC."""
        return time.time_ns() // 1_000_000

    def new_id(self, prefix: str) -> str:
        """Return a fresh identifier that sorts after every earlier one."""
        with self._lock:
            at_ms = self.now_ms()
            if at_ms > self._last_ms:
                self._last_ms = at_ms
                self._last_random = int.from_bytes(os.urandom(RANDOM_BYTES), "big")
            else:  # the same millisecond, or a clock that went back: count on
                self._last_random += 1
                if self._last_random == _RANDOM_END:
                    self._last_ms += 1
                    self._last_random = 0
            number = self._last_random.to_bytes(RANDOM_BYTES, "big")
            return make_id(prefix, self._last_ms, number)

    def random_bytes(self, count: int) -> bytes:
        """Return `count` bytes from the system's generator."""
        return os.urandom(count)

    # Any: the result of the work is nobody's business.
    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Start the work as a task of the running loop; its failure is logged, not raised."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def drain(self) -> None:
        """Wait until no work is left, the work started by work included."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("work after the answer failed", exc_info=task.exception())
