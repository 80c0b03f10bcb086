"""The queue port in one process: words that wait for their time, and the one who does them.

Nothing survives the process, which the port allows: what there is to do is read from the store,
and the schedule finds what was lost. What a word asks for is handed in. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
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

    def take_due(self) -> list[JobMessage]:
        """Take out what is due by now, the longest due first."""
        now_s = self._now_s()
        due = sorted((at, key) for key, (at, _) in self._waiting.items() if at <= now_s)
        return [self._waiting.pop(key)[1] for _, key in due]

    def wait_s(self) -> float | None:
        """Return in how many seconds the next word is due; None when there is none."""
        if not self._waiting:
            return None
        return max(0.0, min(at for at, _ in self._waiting.values()) - self._now_s())

    async def consume(self, handle: Handle) -> None:
        """Do words as they become due, one after the other, until cancelled."""
        while True:
            self._changed.clear()
            for message in self.take_due():
                await _do(handle, message)
            try:
                async with asyncio.timeout(self.wait_s()):
                    await self._changed.wait()
            except TimeoutError:
                continue


async def _do(handle: Handle, message: JobMessage) -> None:
    try:
        await handle(message)
    except RemembrancerError as error:
        logger.warning("the job %s waits for its schedule: %s", message.kind, error.code)
    except Exception:
        logger.exception("the job %s failed", message.kind)
