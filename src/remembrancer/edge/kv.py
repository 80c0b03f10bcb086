"""The key-value port over Workers KV: a cache that may be a minute old everywhere else.

It knows no key's meaning. `edge.wire` imports it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from remembrancer.core.kvcheck import check_entry, check_key
from remembrancer.edge.convert import is_absent
from remembrancer.edge.errors import kv_errors


class Namespace(Protocol):
    """KVNamespace."""

    def get(self, key: str) -> Awaitable[str | None]: ...

    # A Python keyword argument arrives as a member of the options, so it has their name.
    def put(self, key: str, value: str, *, expirationTtl: int) -> Awaitable[None]: ...  # noqa: N803

    def delete(self, key: str) -> Awaitable[None]: ...


class WorkersKeyValue:
    """A KV namespace behind the key-value port."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    async def get(self, key: str) -> str | None:
        """Return the value, or None when absent or expired. *Raises:* StoreUnavailable."""
        check_key(key)
        with kv_errors():
            value = await self._namespace.get(key)
        return None if is_absent(value) else value

    async def put(self, key: str, value: str, *, ttl_s: int) -> None:
        """Store the value; see the port."""
        check_entry(key, value, ttl_s)
        with kv_errors():
            await self._namespace.put(key, value, expirationTtl=ttl_s)

    async def delete(self, key: str) -> None:
        """Remove the value; a missing key is no error. *Raises:* StoreUnavailable."""
        check_key(key)
        with kv_errors():
            await self._namespace.delete(key)
