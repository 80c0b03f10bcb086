"""The blob port over an R2 bucket: payloads by key, checked by the platform as they arrive.

It knows no key's meaning. `edge.wire` imports it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Sequence
from typing import Protocol

from remembrancer.core.blobcheck import check_key, check_keys, check_put
from remembrancer.edge.convert import (
    JsObject,
    from_bytes,
    is_absent,
    js_array,
    js_value,
    to_bytes,
)
from remembrancer.edge.errors import blob_errors


class Bucket(Protocol):
    """R2Bucket."""

    def put(self, key: str, value: JsObject, options: JsObject) -> Awaitable[JsObject]: ...

    def get(self, key: str) -> Awaitable[JsObject]: ...

    def delete(self, keys: JsObject) -> Awaitable[None]: ...


class R2Blobs:
    """An R2 bucket behind the blob port."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    async def put(self, key: str, data: bytes) -> None:
        """Keep a payload; see the port."""
        check_put(key, data)
        # The platform refuses bytes that do not have this hash: nothing is cut on its way.
        options = js_value({"sha256": hashlib.sha256(data).hexdigest()})
        with blob_errors():
            await self._bucket.put(key, from_bytes(data), options)

    async def get(self, key: str) -> bytes | None:
        """Return a payload, None when there is none; see the port."""
        check_key(key)
        with blob_errors():
            found = await self._bucket.get(key)
            return None if is_absent(found) else to_bytes(await found.arrayBuffer())

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove payloads; see the port."""
        check_keys(keys)
        if keys:
            with blob_errors():
                await self._bucket.delete(js_array(keys))
