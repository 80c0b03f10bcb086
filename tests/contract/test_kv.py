"""The key-value port's promises, over every implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.d1.bridge import D1Bridge

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import KV_KEY_BYTES_MAX, KV_TTL_S_MIN, KV_VALUE_BYTES_MAX
from remembrancer.local.kv import SqliteKeyValue
from remembrancer.ports.kv import KeyValue
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime

HOUR_S = 3_600

LOCAL = ("fake", "memory", "file-threads", "file-inline")
"""The kinds that expire by the test's clock; nobody can move the platform's."""


@pytest.fixture
def clock() -> FixedRuntime:
    """The clock that the stores expire by."""
    return FixedRuntime()


@pytest.fixture(params=[*LOCAL, "workers-kv"])
def kv(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedRuntime) -> Iterator[KeyValue]:
    """A key-value store of each kind."""
    if request.param == "fake":
        yield MemoryKeyValue(clock)
        return
    if request.param == "workers-kv":
        bridge: D1Bridge = request.getfixturevalue("d1_bridge")
        yield bridge.fresh_kv()
        return
    path = ":memory:" if request.param == "memory" else str(tmp_path / "cache.db")
    store = SqliteKeyValue(path, clock, threads=int(request.param == "file-threads"))
    yield store
    store.close()


async def test_absent_key_gives_none(kv: KeyValue) -> None:
    assert await kv.get("never/put") is None


@pytest.mark.parametrize(
    "text",
    ["a", "任务 清单", "🧠🏳️‍🌈", "a\0b", 'it\'s "x"; --', "line\nline", " ", "%_?*"],
    ids=["plain", "chinese", "emoji", "nul", "quotes", "lines", "space", "wildcards"],
)
async def test_value_put_comes_back_equal(kv: KeyValue, text: str) -> None:
    await kv.put(text, text * 3, ttl_s=HOUR_S)
    await kv.put(text + "x", "other", ttl_s=HOUR_S)
    assert await kv.get(text) == text * 3


async def test_empty_value_is_a_value(kv: KeyValue) -> None:
    await kv.put("k", "", ttl_s=HOUR_S)
    assert await kv.get("k") == ""


async def test_second_put_wins(kv: KeyValue) -> None:
    await kv.put("k", "first", ttl_s=HOUR_S)
    await kv.put("k", "second", ttl_s=HOUR_S)
    assert await kv.get("k") == "second"


async def test_deleted_key_is_absent(kv: KeyValue) -> None:
    await kv.put("k", "v", ttl_s=HOUR_S)
    await kv.delete("k")
    await kv.delete("k")
    await kv.delete("never")
    assert await kv.get("k") is None


@pytest.mark.parametrize("kv", LOCAL, indirect=True)
async def test_value_expires_when_its_time_is_over(kv: KeyValue, clock: FixedRuntime) -> None:
    await kv.put("k", "v", ttl_s=KV_TTL_S_MIN)
    clock.advance(KV_TTL_S_MIN * 1_000 - 1)
    assert await kv.get("k") == "v"
    clock.advance(1)
    assert await kv.get("k") is None


@pytest.mark.parametrize("kv", LOCAL, indirect=True)
async def test_second_put_renews_the_time(kv: KeyValue, clock: FixedRuntime) -> None:
    await kv.put("k", "v", ttl_s=KV_TTL_S_MIN)
    clock.advance(59_000)
    await kv.put("k", "v", ttl_s=KV_TTL_S_MIN)
    clock.advance(59_000)
    assert await kv.get("k") == "v"


LARGEST_KEYS = ["k" * KV_KEY_BYTES_MAX, "枝" * (KV_KEY_BYTES_MAX // 3) + "xx"]


@pytest.mark.parametrize("key", LARGEST_KEYS, ids=["ascii", "chinese"])
async def test_key_at_the_limit_is_taken(kv: KeyValue, key: str) -> None:
    await kv.put(key, "v", ttl_s=HOUR_S)
    assert await kv.get(key) == "v"


@pytest.mark.parametrize(
    "key",
    [*(key + "x" for key in LARGEST_KEYS), "", ".", "..", "a\ud800"],
    ids=["ascii", "chinese", "empty", "dot", "dots", "surrogate"],
)
async def test_key_that_kv_refuses_is_refused(kv: KeyValue, key: str) -> None:
    with pytest.raises(InvalidInput):
        await kv.put(key, "v", ttl_s=HOUR_S)
    with pytest.raises(InvalidInput):
        await kv.get(key)
    with pytest.raises(InvalidInput):
        await kv.delete(key)


async def test_value_at_the_limit_is_taken_and_over_it_refused(kv: KeyValue) -> None:
    largest = "枝" * (KV_VALUE_BYTES_MAX // 3) + "x"
    await kv.put("k", largest, ttl_s=HOUR_S)
    assert await kv.get("k") == largest
    with pytest.raises(InvalidInput, match=f"{KV_VALUE_BYTES_MAX + 1} bytes"):
        await kv.put("k", largest + "x", ttl_s=HOUR_S)
    assert await kv.get("k") == largest


async def test_surrogate_in_a_value_is_refused_without_showing_it(kv: KeyValue) -> None:
    with pytest.raises(InvalidInput) as raised:
        await kv.put("k", "secret \udfff", ttl_s=HOUR_S)
    assert "secret" not in raised.value.message


async def test_time_below_the_least_is_refused(kv: KeyValue) -> None:
    with pytest.raises(InvalidInput, match="59 s"):
        await kv.put("k", "v", ttl_s=KV_TTL_S_MIN - 1)


async def test_concurrent_puts_leave_one_of_the_values(kv: KeyValue) -> None:
    values = [str(number) * 1_000 for number in range(8)]
    await asyncio.gather(*(kv.put("k", value, ttl_s=HOUR_S) for value in values))
    assert await kv.get("k") in values
