"""Lanes: where blocking work runs, so that the event loop never waits for a disk.

A lane has its own threads, or none: then the work runs where it is called, which suits tests, a
one-shot command and a runtime without threads. It is not a pool for anything but local drivers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Lane:
    """A queue of blocking calls; with one thread they run one after the other."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, name) if threads else None

    async def run(self, work: Callable[[], T]) -> T:
        """Run the work and return its result; a cancelled caller does not stop started work."""
        if self._pool is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Wait for what is running and end the threads; the lane takes no work afterwards."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
