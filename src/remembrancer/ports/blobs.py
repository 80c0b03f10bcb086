"""The blob port: large payloads by key, outside the database.

It promises the weaker of R2 and a folder of files: whole payloads, one key at a time, nothing that
spans two keys and nothing that spans a key and the database. What is in it is only found by a
row of the database, which alone says whether a payload is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class BlobStore(Protocol):
    """Payloads by key."""

    async def put(self, key: str, data: bytes) -> None:
        """Keep a payload; one of the same key is replaced.

        *Shape:* a key of 1 to `BLOB_KEY_BYTES_MAX` bytes, at most `BLOB_BYTES_MAX` bytes of data.
        *Raises:* InvalidInput, LimitExceeded, StoreUnavailable. *Promise:* whole or not at all, and
        visible once it has returned; may be repeated. After a failure either may be there.
        """
        ...

    async def get(self, key: str) -> bytes | None:
        """Return a payload, None when there is none.

        *Raises:* InvalidInput, StoreUnavailable. *Promise:* nothing vouches for its bytes; who
        kept it knows their hash.
        """
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove payloads; missing ones are no error.

        *Shape:* at most `BLOB_KEYS_MAX`. *Raises:* InvalidInput, LimitExceeded, StoreUnavailable.
        *Promise:* may be repeated; after a failure some may be gone.
        """
        ...
