"""The runtime port: the clock, randomness and work after the answer.

The only way in for time and chance, so that everything inside stays a function of its arguments.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol


class Runtime(Protocol):
    """What a process or an isolate gives to the use cases."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch, UTC."""
        ...

    def new_id(self, prefix: str) -> str:
        """Return a fresh identifier (see `core.ids.make_id`); later ones sort after earlier."""
        ...

    def random_bytes(self, count: int) -> bytes:
        """Return `count` bytes fit for keys and salts."""
        ...

    # Any: the result of the work is nobody's business.
    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Run work after the answer was sent; it must be safe to lose and to repeat."""
        ...
