"""The queue port: a word that there is work.

It promises the weaker of Cloudflare Queues and a task of this process: a message comes late, twice,
out of order or, when this process ends, never. What there is to do is always read from the store,
so a lost message costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from remembrancer.core.values import JSON


@dataclass(frozen=True, slots=True)
class JobMessage:
    """One word. *Shape:* `kind` a job's name; all together at most `MESSAGE_BYTES_MAX` as JSON."""

    kind: str
    namespace: str
    body: Mapping[str, JSON] = field(default_factory=dict)


class JobQueue(Protocol):
    """Where words are left."""

    async def send(self, messages: Sequence[JobMessage], *, delay_s: int = 0) -> None:
        """Leave messages. *Units:* `delay_s` 0…86400. *Raises:* LimitExceeded, StoreUnavailable."""
        ...
