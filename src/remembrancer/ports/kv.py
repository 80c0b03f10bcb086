"""The key-value port: a cache that may be stale, never a truth.

It promises the weaker of Workers KV and a local table: reads may be up to a minute old anywhere
else, one write a second and key. It is not for anything that a user would miss.
"""

from __future__ import annotations

from typing import Protocol


class KeyValue(Protocol):
    """A string store with expiry."""

    async def get(self, key: str) -> str | None:
        """Return the value, or None when absent or expired. May be stale."""
        ...

    async def put(self, key: str, value: str, *, ttl_s: int) -> None:
        """Store a value for at least 60 seconds.

        *Units:* `ttl_s` seconds, ≥ 60. *Raises:* InvalidInput over the platform's limits,
        StoreUnavailable. *Promise:* the last writer wins; visible elsewhere within a minute.
        """
        ...

    async def delete(self, key: str) -> None:
        """Remove a value; a missing key is no error."""
        ...
