"""The R2 driver: what it hands to the bucket, and what becomes of the bucket's errors."""

from __future__ import annotations

import pytest
from tests.edge.platform import Bucket

from remembrancer.core.errors import InvalidInput, LimitExceeded, StoreUnavailable
from remembrancer.core.limits import BLOB_BYTES_MAX, BLOB_KEYS_MAX
from remembrancer.edge.r2 import R2Blobs


async def test_payload_goes_with_its_hash_and_comes_back() -> None:
    bucket = Bucket()
    blobs = R2Blobs(bucket)
    await blobs.put("default/art_1", "两面".encode())
    assert bucket.held == {"default/art_1": "两面".encode()}
    assert await blobs.get("default/art_1") == "两面".encode()
    assert await blobs.get("default/art_2") is None
    await blobs.delete(["default/art_1", "default/art_2"])
    assert bucket.held == {}


async def test_removing_nothing_asks_for_nothing() -> None:
    await R2Blobs(Bucket(is_broken=True)).delete([])


async def test_failing_bucket_is_one_of_our_errors_without_its_words() -> None:
    blobs = R2Blobs(Bucket(is_broken=True))
    for call in (blobs.put("k", b"v"), blobs.get("k"), blobs.delete(["k"])):
        with pytest.raises(StoreUnavailable, match="bucket") as raised:
            await call
        assert "10001" not in str(raised.value)


async def test_what_the_platform_would_refuse_is_not_sent() -> None:
    bucket = Bucket()
    blobs = R2Blobs(bucket)
    with pytest.raises(InvalidInput):
        await blobs.put("", b"v")
    with pytest.raises(LimitExceeded):
        await blobs.put("k", bytes(BLOB_BYTES_MAX + 1))
    with pytest.raises(LimitExceeded):
        await blobs.delete(["k"] * (BLOB_KEYS_MAX + 1))
    assert bucket.held == {}
