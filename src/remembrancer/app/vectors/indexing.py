"""Which namespaces are about to be indexed: many writes make one drain.

Held by the App, so that all requests of a process share it. It does no work itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

RUN_MS_MAX: Final = 60_000
"""Milliseconds after which a drain that said nothing more counts as killed. Our choice; the
platform ends work after an answer after 30 seconds."""

TELL_DELAY_S: Final = 5
"""Seconds after which a message is delivered at the earliest. Our choice, as for its batches."""

TOLD_MS: Final = 4_000
"""Milliseconds for which a message stands for later writes as well: a second less, since clocks
differ. Our choice."""


class Indexing:
    """The namespaces that wait for a drain, and whether one runs.

    *Shape:* `is_eager` False starts nothing after a write: for a command that ends soon; `is_here`
    drains in this process also where there is a queue; `rest` is waited for before each drain, so
    that a burst of writes is one; `is_closed` once the process is about to end.
    """

    def __init__(
        self,
        *,
        is_eager: bool = True,
        is_here: bool = False,
        rest: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.is_eager = is_eager
        self.is_here = is_here
        self.rest = rest
        self.is_closed = False
        self._waiting: dict[str, None] = {}
        self._told: dict[str, int] = {}
        self._running_until = 0

    def ask(self, namespace: str, now_ms: int) -> bool:
        """Note that a namespace has something new; tells whether a drain must be started."""
        self._waiting[namespace] = None
        if self.is_closed or now_ms < self._running_until:
            return False
        self._running_until = now_ms + RUN_MS_MAX
        return True

    def tell(self, namespace: str, now_ms: int) -> bool:
        """Tell whether a message must be left; one that is under way stands for this write too."""
        if self.is_closed or now_ms < self._told.get(namespace, 0):
            return False
        self._told[namespace] = now_ms + TOLD_MS
        return True

    def untell(self, namespace: str) -> None:
        """Note that a message was not left."""
        self._told.pop(namespace, None)

    def take(self, now_ms: int) -> str | None:
        """Return the namespace that waits longest; None ends the run."""
        if self.is_closed or not self._waiting:
            self._running_until = 0
            return None
        self._running_until = now_ms + RUN_MS_MAX
        namespace = next(iter(self._waiting))
        del self._waiting[namespace]
        return namespace

    def go_on(self, now_ms: int) -> bool:
        """Note that the run is alive; tells whether it may do another step."""
        self._running_until = now_ms + RUN_MS_MAX
        return not self.is_closed

    def stop(self) -> None:
        """Note that the run has ended, whatever is left."""
        self._running_until = 0

    def close(self) -> None:
        """Ask what runs to stop after its present step, and start nothing any more."""
        self.is_closed = True
