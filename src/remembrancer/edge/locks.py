"""A lock between requests of one isolate, which no request can hold for ever.

Python's own wakes the next in line from within the request that lets go: on the platform the
woken one would then do its input and output on that request's account, and end with it. Here each
waits for a promise of its own. `edge.wire` imports it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from remembrancer.edge.convert import promise

WAIT_S_MAX: Final = 5.0
"""Seconds to wait for one's turn; then it is taken. The platform may have ended the request that
had it, and nobody would let go. Our choice: longer than any line that is in order."""


class PatientLock:
    """A lock in block form for what is right without it, too: it only spares clashes."""

    def __init__(self) -> None:
        self._is_held = False
        self._line: deque[Callable[[], None]] = deque()

    async def __aenter__(self) -> None:
        """Wait for one's turn, or until it is overdue."""
        if self._is_held:
            await self._wait()
        self._is_held = True

    async def __aexit__(self, *_: object) -> None:
        """Let the next one go on."""
        self._let_go()

    async def _wait(self) -> None:
        mine, fulfil = promise()
        self._line.append(fulfil)
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await mine
        except TimeoutError:
            self._leave(fulfil)
        except asyncio.CancelledError:
            if not self._leave(fulfil):  # it was my turn already
                self._let_go()
            raise

    def _leave(self, fulfil: Callable[[], None]) -> bool:
        if fulfil in self._line:
            self._line.remove(fulfil)
            return True
        return False

    def _let_go(self) -> None:
        if self._line:
            self._line.popleft()()
        else:
            self._is_held = False
