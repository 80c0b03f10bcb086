"""Blob stores for tests: one in memory, and a faulty one around any other.

Every ring's tests import it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from remembrancer.core.blobcheck import check_key, check_keys, check_put
from remembrancer.core.errors import StoreUnavailable
from remembrancer.ports.blobs import BlobStore


class MemoryBlobs:
    """The blob port in memory. *Shape:* `held` is what it has, by key."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    async def put(self, key: str, data: bytes) -> None:
        """Keep a payload."""
        check_put(key, data)
        self.held[key] = data

    async def get(self, key: str) -> bytes | None:
        """Return a payload."""
        check_key(key)
        return self.held.get(key)

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove payloads."""
        check_keys(keys)
        for key in keys:
            self.held.pop(key, None)


class FaultyBlobs:
    """The blob port around another one, with switches that a test may turn at any time.

    *Shape:* `fail_at` holds the numbers of calls, from 1, that raise StoreUnavailable before they
    do anything, `lose_at` those that do it and raise then; `is_away` makes every call fail; `calls`
    counts. `before_put` is waited for ahead of each put: what happens meanwhile.
    """

    def __init__(self, inner: BlobStore) -> None:
        self.inner = inner
        self.fail_at: frozenset[int] = frozenset()
        self.lose_at: frozenset[int] = frozenset()
        self.is_away = False
        self.calls = 0
        self.before_put: Callable[[], Awaitable[object]] | None = None

    async def put(self, key: str, data: bytes) -> None:
        """Keep a payload, unless this call's turn to fail has come."""
        if self.before_put is not None:
            await self.before_put()
        number = self._count()
        await self.inner.put(key, data)
        self._lose(number)

    async def get(self, key: str) -> bytes | None:
        """Return a payload, unless this call's turn to fail has come."""
        number = self._count()
        found = await self.inner.get(key)
        self._lose(number)
        return found

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove payloads, unless this call's turn to fail has come."""
        number = self._count()
        await self.inner.delete(keys)
        self._lose(number)

    def _count(self) -> int:
        self.calls += 1
        if self.is_away or self.calls in self.fail_at:
            raise StoreUnavailable("the blob store fails on purpose")
        return self.calls

    def _lose(self, number: int) -> None:
        if number in self.lose_at:
            raise StoreUnavailable("the answer was lost on purpose; the call was done")
