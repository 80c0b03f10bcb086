"""The KV driver: what it asks the platform for, and what it makes of its failures."""

from __future__ import annotations

import pytest
from tests.edge.databases import Kv

from remembrancer.core.errors import InvalidInput, StoreUnavailable
from remembrancer.edge.kv import WorkersKeyValue


async def test_value_lives_as_long_as_was_asked() -> None:
    namespace = Kv()
    store = WorkersKeyValue(namespace)
    assert await store.get("任务") is None
    await store.put("任务", "荔枝", ttl_s=3_600)
    assert await store.get("任务") == "荔枝"
    assert namespace.lives == {"任务": 3_600}
    await store.delete("任务")
    assert await store.get("任务") is None


async def test_empty_value_is_a_value() -> None:
    store = WorkersKeyValue(Kv())
    await store.put("k", "", ttl_s=60)
    assert await store.get("k") == ""


async def test_failing_platform_is_an_unavailable_store() -> None:
    store = WorkersKeyValue(Kv(is_broken=True))
    for call in (store.get("k"), store.put("k", "v", ttl_s=60), store.delete("k")):
        with pytest.raises(StoreUnavailable):
            await call


async def test_what_kv_would_refuse_is_not_sent() -> None:
    store = WorkersKeyValue(Kv(is_broken=True))
    for call in (store.get(""), store.put("k", "v", ttl_s=59), store.delete("x" * 513)):
        with pytest.raises(InvalidInput):
            await call
