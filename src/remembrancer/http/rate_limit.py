"""The rate limit: a bucket of tokens for each key, in the memory of this process or isolate.

It protects against a client that runs wild, not against an attack from many sides. It reads no
clock: the time is an argument.
"""

from __future__ import annotations

import math
from typing import Final

from remembrancer.core.values import MINUTE_MS
from remembrancer.http.errors import RateLimited

BUCKETS_MAX: Final = 10_000
"""Buckets kept at most; the one that has rested longest goes first. Our choice."""


class RateLimiter:
    """Buckets that hold one minute's requests and refill evenly.

    *Units:* `per_minute` requests; 0 means no limit.
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._buckets: dict[str, tuple[float, int]] = {}

    def take(self, key: str, now_ms: int) -> None:
        """Count one request of a key. *Raises:* RateLimited with the seconds to wait."""
        if self._per_minute == 0:
            return
        capacity = float(self._per_minute)
        tokens, at_ms = self._buckets.pop(key, (capacity, now_ms))
        passed_ms = max(0, now_ms - at_ms)
        tokens = min(capacity, tokens + passed_ms * capacity / MINUTE_MS)
        is_allowed = tokens >= 1
        # Last in the dict is the latest used, so the first is the one that rested longest.
        self._buckets[key] = (tokens - 1 if is_allowed else tokens, max(now_ms, at_ms))
        if len(self._buckets) > BUCKETS_MAX:
            self._buckets.pop(next(iter(self._buckets)))
        if not is_allowed:
            wait_s = math.ceil((1 - tokens) * MINUTE_MS / capacity / 1000)
            raise RateLimited(per_minute=self._per_minute, retry_after_s=max(1, wait_s))
