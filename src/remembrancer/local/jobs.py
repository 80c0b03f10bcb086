"""The queue port in one process: words that wait for their time, and the one who does them.

Nothing survives the process, which the port allows: what there is to do is read from the store,
and the schedule finds what was lost. What a word asks for is handed in. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Final

from remembrancer.core.errors import LimitExceeded, RemembrancerError
from remembrancer.core.values import canonical_json
from remembrancer.ports.queue import JobMessage

logger = logging.getLogger(__name__)

WAITING_MAX: Final = 10_000
"""Words that may wait at once. Our choice; equal ones are one."""

Handle = Callable[[JobMessage], Awaitable[object]]
"""Does what a word asks for."""


class TaskQueue:
    """Words by the time at which they are due.

    *Shape:* `now_s` is a clock that only goes forward. *Promise:* an equal word replaces the one
    that waits, so that a conversation which goes on is left alone until it is quiet.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._waiting: dict[str, tuple[float, JobMessage]] = {}
        self._changed = asyncio.Event()

    async def send(self, messages: Sequence[JobMessage], *, delay_s: int = 0) -> None:
        """Leave messages; see the port."""
        if len(self._waiting) + len(messages) > WAITING_MAX:
            raise LimitExceeded(
                f"{len(self._waiting)} words wait already", hint="the schedule finds the rest"
            )
        for message in messages:
            key = canonical_json([message.kind, message.namespace, dict(message.body)])
            self._waiting[key] = (self._now_s() + delay_s, message)
        self._changed.set()

    def take_due(self, busy: Collection[str] = ()) -> list[JobMessage]:
        """Take out what is due by now, the longest due first: one of each kind that is not busy."""
        now_s = self._now_s()
        kinds = set(busy)
        taken = []
        for _, key in sorted((at, key) for key, (at, _) in self._waiting.items() if at <= now_s):
            kind = self._waiting[key][1].kind
            if kind not in kinds:
                kinds.add(kind)
                taken.append(self._waiting.pop(key)[1])
        return taken

    def wait_s(self, busy: Collection[str] = ()) -> float | None:
        """Return in how many seconds the next word is due; None when there is none."""
        times = [at for at, message in self._waiting.values() if message.kind not in busy]
        return max(0.0, min(times) - self._now_s()) if times else None

    async def consume(self, handle: Handle) -> None:
        """Do words as they become due, those of one kind one after the other, until cancelled.

        A vector need not wait for a model that takes its time over messages.
        """
        running: dict[str, asyncio.Task[None]] = {}

        def ended(kind: str, _: asyncio.Task[None]) -> None:
            del running[kind]
            self._changed.set()

        try:
            while True:
                self._changed.clear()
                for message in self.take_due(running):
                    task = asyncio.get_running_loop().create_task(_do(handle, message))
                    running[message.kind] = task
                    task.add_done_callback(partial(ended, message.kind))
                try:
                    async with asyncio.timeout(self.wait_s(running)):
                        await self._changed.wait()
                except TimeoutError:
                    continue
        finally:
            tasks = [*running.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _do(handle: Handle, message: JobMessage) -> None:
    try:
        await handle(message)
    except RemembrancerError as error:
        logger.warning("the job %s waits for its schedule: %s", message.kind, error.code)
    except Exception:
        logger.exception("the job %s failed", message.kind)
