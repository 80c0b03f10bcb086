"""A turnstile: one command at a time for each namespace, in this process.

All relations of a namespace are one stream, so commands that touch it would clash whenever they
overlap. The stream's version stays the lock that keeps them right, also between processes; this
only spares them the clash. Nothing is kept for a namespace in which nobody waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from remembrancer.core.ids import Namespace


@dataclass(slots=True)
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    count: int = 0


class Turnstile:
    """Who passes waits for those of the same namespace that came before."""

    def __init__(self) -> None:
        self._lines: dict[Namespace, _Line] = {}

    @property
    def waiting(self) -> int:
        """How many commands are passing or wait to pass, in all namespaces."""
        return sum(line.count for line in self._lines.values())

    @asynccontextmanager
    async def passing(self, namespace: Namespace) -> AsyncIterator[None]:
        """Hold the namespace's turn for as long as the block runs; it is no correctness lock."""
        line = self._lines.setdefault(namespace, _Line())
        line.count += 1
        try:
            async with line.lock:
                yield
        finally:
            line.count -= 1
            if line.count == 0:
                del self._lines[namespace]
