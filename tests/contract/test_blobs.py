"""The blob port's promises, over every implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.d1.bridge import D1Bridge

from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.limits import BLOB_BYTES_MAX, BLOB_KEY_BYTES_MAX, BLOB_KEYS_MAX
from remembrancer.local.blobs import DiskBlobs
from remembrancer.ports.blobs import BlobStore
from remembrancer.testing.blobs import FaultyBlobs, MemoryBlobs


@pytest.fixture(params=["fake", "faulty-off", "disk-thread", "disk-inline", "r2"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlobStore]:
    """A store of each kind, empty."""
    if request.param == "fake":
        yield MemoryBlobs()
    elif request.param == "faulty-off":
        yield FaultyBlobs(MemoryBlobs())
    elif request.param == "r2":
        bridge: D1Bridge = request.getfixturevalue("d1_bridge")
        yield bridge.fresh_blobs()
    else:
        store = DiskBlobs(tmp_path / "blobs", threads=int(request.param == "disk-thread"))
        yield store
        store.close()


async def test_absent_key_gives_none(blobs: BlobStore) -> None:
    assert await blobs.get("nobody/put") is None


@pytest.mark.parametrize(
    "data",
    [b"a", b"", "两面包夹芝士".encode(), bytes(range(256)) * 5, b"line\r\nline\0"],
    ids=["plain", "empty", "chinese", "every byte", "lines"],
)
async def test_payload_comes_back_byte_for_byte(blobs: BlobStore, data: bytes) -> None:
    await blobs.put("default/art_1", data)
    await blobs.put("default/art_2", b"other")
    assert await blobs.get("default/art_1") == data


@pytest.mark.parametrize(
    "key",
    ["a", "任务/清单", "..", "../../etc/passwd", "/", "a/", "a//b", "A b%?*:|\\", "🧠"],
    ids=["plain", "chinese", "dots", "way out", "slash", "ending", "empty part", "odd", "emoji"],
)
async def test_any_key_of_unicode_is_a_key(blobs: BlobStore, key: str) -> None:
    await blobs.put(key, key.encode())
    assert await blobs.get(key) == key.encode()
    await blobs.delete([key])
    assert await blobs.get(key) is None


async def test_keys_that_differ_in_case_are_two(blobs: BlobStore) -> None:
    await blobs.put("ns/ART", b"large")
    await blobs.put("ns/art", b"small")
    assert (await blobs.get("ns/ART"), await blobs.get("ns/art")) == (b"large", b"small")


async def test_second_put_replaces_the_first(blobs: BlobStore) -> None:
    await blobs.put("k", b"first, and longer")
    await blobs.put("k", b"second")
    assert await blobs.get("k") == b"second"


async def test_removed_is_absent_and_removing_again_is_no_error(blobs: BlobStore) -> None:
    await blobs.put("k", b"v")
    await blobs.put("stays", b"v")
    await blobs.delete(["k", "never"])
    await blobs.delete(["k"])
    await blobs.delete([])
    assert await blobs.get("k") is None
    assert await blobs.get("stays") == b"v"


LARGEST_KEYS = ["k" * BLOB_KEY_BYTES_MAX, "枝" * (BLOB_KEY_BYTES_MAX // 3) + "x"]


@pytest.mark.parametrize("key", LARGEST_KEYS, ids=["ascii", "chinese"])
async def test_key_at_the_limit_is_taken(blobs: BlobStore, key: str) -> None:
    await blobs.put(key, b"v")
    assert await blobs.get(key) == b"v"


@pytest.mark.parametrize(
    "key", [*(key + "x" for key in LARGEST_KEYS), "", "a\ud800"], ids=str.__len__
)
async def test_key_that_r2_refuses_is_refused(blobs: BlobStore, key: str) -> None:
    with pytest.raises(InvalidInput):
        await blobs.put(key, b"v")
    with pytest.raises(InvalidInput):
        await blobs.get(key)
    with pytest.raises(InvalidInput):
        await blobs.delete([key])


async def test_payload_at_the_limit_is_taken_and_over_it_refused(blobs: BlobStore) -> None:
    largest = b"x" * BLOB_BYTES_MAX
    await blobs.put("k", largest)
    assert await blobs.get("k") == largest
    with pytest.raises(LimitExceeded, match=str(BLOB_BYTES_MAX + 1)):
        await blobs.put("k", largest + b"x")
    assert await blobs.get("k") == largest


async def test_as_many_as_one_call_removes_go_and_one_more_is_refused(blobs: BlobStore) -> None:
    await blobs.put("k0", b"v")
    keys = [f"k{number}" for number in range(BLOB_KEYS_MAX)]
    await blobs.delete(keys)
    assert await blobs.get("k0") is None
    with pytest.raises(LimitExceeded, match=str(BLOB_KEYS_MAX + 1)):
        await blobs.delete([*keys, "more"])


async def test_puts_of_one_key_at_once_leave_one_of_them_whole(blobs: BlobStore) -> None:
    payloads = [str(number).encode() * 100_000 for number in range(6)]
    await asyncio.gather(*(blobs.put("k", one) for one in payloads))
    assert await blobs.get("k") in payloads
