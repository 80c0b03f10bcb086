"""A runtime whose clock is set by hand, whose ids count and whose chance repeats.

For tests and examples; it is not fit for keys or salts. Tests of every ring import it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Coroutine
from typing import Any, Final

from remembrancer.core.ids import RANDOM_BYTES, make_id

NOON_MS: Final = 1_772_366_400_000
"""Sunday 2026-03-01 12:00 UTC, in milliseconds: where a fixed clock stands unless told."""


class FixedRuntime:
    """The runtime port without a clock: `at_ms` is what `now_ms` says until it is changed.

    *Promise:* two runtimes made alike give the same ids and bytes; ids sort in the order they
    were made even when the clock is set back. Work is collected until `drain`.
    """

    def __init__(self, at_ms: int = NOON_MS) -> None:
        self.at_ms = at_ms
        self._last_ms = 0
        self._ids = 0
        self._draws = 0
        self._later: list[Coroutine[Any, Any, object]] = []

    @property
    def pending(self) -> int:
        """How many pieces of work wait for `drain`."""
        return len(self._later)

    def advance(self, by_ms: int) -> int:
        """Move the clock and return its new time in milliseconds."""
        self.at_ms += by_ms
        return self.at_ms

    def now_ms(self) -> int:
        """Return the set time."""
        return self.at_ms

    def new_id(self, prefix: str) -> str:
        """Return the next identifier: the set time and a counter."""
        self._ids += 1
        self._last_ms = max(self._last_ms, self.at_ms)
        return make_id(prefix, self._last_ms, self._ids.to_bytes(RANDOM_BYTES, "big"))

    def random_bytes(self, count: int) -> bytes:
        """Return the next `count` bytes of a fixed sequence."""
        drawn = b""
        while len(drawn) < count:
            self._draws += 1
            drawn += hashlib.sha256(b"fixed" + self._draws.to_bytes(8, "big")).digest()
        return drawn[:count]

    # Any: as in the port.
    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Keep the work for `drain`."""
        self._later.append(work)

    async def drain(self) -> None:
        """Run the collected work in order, and what it adds; the first failure is raised."""
        while self._later:
            await self._later.pop(0)

    def discard(self) -> None:
        """Lose the collected work, as a killed isolate does."""
        while self._later:
            self._later.pop(0).close()

    def __del__(self) -> None:
        """Lose what was never drained without a word: a test need not care for it."""
        self.discard()
