"""The queue port that keeps what it is given, for a test to deliver: twice, late or in any order.

Tests of every ring import it.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.errors import StoreUnavailable
from remembrancer.ports.queue import JobMessage


class RecordingQueue:
    """A queue nobody consumes.

    *Shape:* `messages` in order; `fail_every` n makes each n-th call raise.
    """

    def __init__(self, *, fail_every: int = 0) -> None:
        self.messages: list[JobMessage] = []
        self.fail_every = fail_every
        self.calls = 0

    async def send(self, messages: Sequence[JobMessage], *, delay_s: int = 0) -> None:
        """Keep the messages, unless this call's turn to fail has come."""
        del delay_s
        self.calls += 1
        if self.fail_every and self.calls % self.fail_every == 0:
            raise StoreUnavailable("the queue fails on purpose")
        self.messages += messages
