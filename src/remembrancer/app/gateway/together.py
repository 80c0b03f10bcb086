"""What a chat's memory costs before the first byte: its first reads as one round trip, no write.

What recall leaves behind waits until the client has begun to read. Both classes are ports over
ports: what reads and writes through them knows nothing of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from remembrancer.core.errors import InvalidInput
from remembrancer.ports.runtime import Runtime
from remembrancer.ports.sql import Outcome, SqlStore, Statement


class SharedStore:
    """A store whose first reads, those that begin together, are one round trip; its writes too.

    *Promise:* a reading statement that two of them hold is run once; where one holds what the
    store refuses, each goes by itself. What comes later goes through as it is.
    """

    def __init__(self, inner: SqlStore) -> None:
        self._inner = inner
        self._reads = _Round(inner.read, is_reading=True)
        self._writes = _Round(inner.write, is_reading=False)

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Read together with what else begins now."""
        return await self._reads.run(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Write together with what else begins now."""
        return await self._writes.run(statements)

    def give_up(self) -> None:
        """Let go of a read that nobody waits for any more."""
        self._reads.give_up()

    def session(self, bookmark: str | None) -> SqlStore:
        """Pass it on."""
        return self._inner.session(bookmark)

    def bookmark(self) -> str | None:
        """Pass it on."""
        return self._inner.bookmark()

    async def scrub(self) -> None:
        """Pass it on."""
        await self._inner.scrub()


class _Round:
    """One round trip that several callers make together."""

    def __init__(
        self, send: Callable[[Sequence[Statement]], Awaitable[list[Outcome]]], *, is_reading: bool
    ) -> None:
        self._send = send
        self._is_reading = is_reading
        self._statements: list[Statement] = []
        self._places: dict[Statement, int] = {}
        self._sending: asyncio.Future[list[Outcome]] | None = None
        self._is_sent = False

    async def run(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Return the outcomes of one caller's statements."""
        if self._is_sent or not statements:
            return await self._send(statements)
        places = [self._place(one) for one in statements]
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send_all())
            self._sending.add_done_callback(_heard)
        try:
            outcomes = await asyncio.shield(self._sending)
        except InvalidInput:
            return await self._send(statements)
        return [outcomes[place] for place in places]

    def give_up(self) -> None:
        """Let go of it."""
        if self._sending is not None:
            self._sending.cancel()

    def _place(self, statement: Statement) -> int:
        if self._is_reading and statement in self._places:
            return self._places[statement]
        place = self._places[statement] = len(self._statements)
        self._statements.append(statement)
        return place

    async def _send_all(self) -> list[Outcome]:
        """Send everything; it begins when all that are ready have said what they want."""
        self._is_sent = True
        return await self._send(self._statements)


class HeldBack:
    """A runtime whose work after the answer begins when it is told to, and not before.

    *Promise:* what was handed in before `begin` begins with it, in order; later work at once. What
    was promised (`promise`) begins with it as well, and `settle` waits for that.
    """

    def __init__(self, inner: Runtime) -> None:
        self._inner = inner
        self._held: list[Coroutine[Any, Any, object]] = []
        self._promised: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._keeping: asyncio.Future[None] | None = None
        self._has_begun = False

    def now_ms(self) -> int:
        """Pass it on."""
        return self._inner.now_ms()

    def new_id(self, prefix: str) -> str:
        """Pass it on."""
        return self._inner.new_id(prefix)

    def random_bytes(self, count: int) -> bytes:
        """Pass it on."""
        return self._inner.random_bytes(count)

    # Any: the result of the work is nobody's business.
    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Keep the work until it may begin."""
        if self._has_begun:
            self._inner.run_later(work)
        else:
            self._held.append(work)

    # Any: as above.
    def promise(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Name the work that `settle` waits for."""
        self._promised = work

    def begin(self) -> None:
        """Let everything begin; once."""
        self._has_begun = True
        held, self._held = self._held, []
        for work in held:
            self._inner.run_later(work)
        if self._promised is not None:
            self._keeping = asyncio.ensure_future(self._promised())
            self._promised = None
            self._inner.run_later(finish(self._keeping))

    async def settle(self, limit_s: float) -> None:
        """Wait until what was promised is done, at most that many seconds; it goes on by itself."""
        self.begin()
        if self._keeping is not None and not self._keeping.done():
            await asyncio.wait({self._keeping}, timeout=limit_s)


async def finish(work: asyncio.Future[None]) -> None:
    """Wait for what goes on; a failure is logged by the runtime."""
    await work


def _heard(reading: asyncio.Future[list[Outcome]]) -> None:
    """Take note of an error that nobody may be left to hear."""
    if not reading.cancelled():
        reading.exception()
