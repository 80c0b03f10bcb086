"""A turnstile: one command at a time for each namespace, in this process.

All relations of a namespace are one stream, so commands that touch it would clash whenever they
overlap. The stream's version stays the lock that keeps them right, also between processes; this
only spares them the clash. Nothing is kept for a namespace in which nobody waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from remembrancer.core.ids import Namespace


@dataclass(slots=True)
class _Line:
    lock: AbstractAsyncContextManager[object]
    count: int = 0


class Turnstile:
    """Who passes waits for those of the same namespace that came before.

    *Shape:* `make_lock` gives the lock of one namespace; a wire whose requests may not wake each
    other hands in its own.
    """

    def __init__(
        self, make_lock: Callable[[], AbstractAsyncContextManager[object]] = asyncio.Lock
    ) -> None:
        self._make_lock = make_lock
        self._lines: dict[Namespace, _Line] = {}

    @property
    def waiting(self) -> int:
        """How many commands are passing or wait to pass, in all namespaces."""
        return sum(line.count for line in self._lines.values())

    @asynccontextmanager
    async def passing(self, namespace: Namespace) -> AsyncIterator[None]:
        """Hold the namespace's turn for as long as the block runs; it is no correctness lock."""
        line = self._lines.get(namespace)
        if line is None:
            line = self._lines[namespace] = _Line(self._make_lock())
        line.count += 1
        try:
            async with line.lock:
                yield
        finally:
            line.count -= 1
            if line.count == 0:
                del self._lines[namespace]
