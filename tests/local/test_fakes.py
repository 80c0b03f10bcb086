"""The shipped fakes do to their callers what they say."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from remembrancer.core.errors import Conflict, StoreUnavailable
from remembrancer.local.sqlite import Moment
from remembrancer.ports.sql import SqlStore, Statement
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import NOON_MS, FixedRuntime
from remembrancer.testing.stores import CountingStore, memory_store

TABLE = Statement("CREATE TABLE things(id TEXT PRIMARY KEY) STRICT")
COUNT = Statement("SELECT count(*) AS n FROM things")


def insert(name: str) -> Statement:
    """A row of that name."""
    return Statement("INSERT INTO things(id) VALUES (?)", (name,))


async def faulty(faults: Faults | None = None) -> tuple[SqlStore, FaultyStore]:
    """A store with the table, and the same store with faults."""
    store = memory_store(is_migrated=False)
    await store.write([TABLE])
    return store, FaultyStore(store, faults)


async def count(store: SqlStore) -> object:
    """How many rows there are."""
    (outcome,) = await store.read([COUNT])
    return outcome.rows[0]["n"]


async def test_every_nth_call_fails_and_changes_nothing() -> None:
    store, broken = await faulty(Faults(fail_every=3))
    results = []
    for number in range(6):
        try:
            await broken.write([insert(str(number))])
            results.append("done")
        except StoreUnavailable:
            results.append("failed")
    assert results == ["done", "done", "failed"] * 2
    assert await count(store) == 4


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("statement", [0, 1, 2])
async def test_crash_between_two_statements_leaves_nothing(moment: Moment, statement: int) -> None:
    store, broken = await faulty()
    broken.faults.crash = CrashPoint(statement, moment, write=2)
    await broken.write([insert("first")])
    with pytest.raises(StoreUnavailable, match=f"{moment} statement {statement}"):
        await broken.write([insert("a"), insert("b"), insert("c")])
    assert broken.faults.has_crashed
    assert await count(store) == 1
    await broken.write([insert("a"), insert("b"), insert("c")])
    assert await count(store) == 4


async def test_crash_point_past_the_end_is_not_reached() -> None:
    store, broken = await faulty()
    broken.faults.crash = CrashPoint(1)
    await broken.write([insert("a")])
    assert not broken.faults.has_crashed
    assert await count(store) == 1


async def test_crash_point_needs_a_local_store_inside() -> None:
    store, _ = await faulty()
    broken = FaultyStore(CountingStore(store), Faults(crash=CrashPoint(0)))
    with pytest.raises(TypeError, match="SqliteStore"):
        await broken.write([insert("a")])


async def test_lost_answer_is_a_write_that_was_done() -> None:
    store, broken = await faulty(Faults(lose_answer_every=2))
    await broken.write([insert("a")])
    with pytest.raises(StoreUnavailable, match="the write was done"):
        await broken.write([insert("b")])
    assert await count(store) == 2


async def test_write_delivered_twice_answers_the_second_time() -> None:
    store, broken = await faulty(Faults(deliver_twice_every=1))
    with pytest.raises(Conflict):
        await broken.write([insert("a")])
    assert await count(store) == 1
    await broken.write([Statement("INSERT INTO things(id) VALUES ('b') ON CONFLICT DO NOTHING")])
    assert await count(store) == 2


async def test_session_shares_its_stores_faults() -> None:
    _, broken = await faulty(Faults(fail_every=2))
    await broken.read([COUNT])
    with pytest.raises(StoreUnavailable):
        await broken.session(broken.bookmark()).read([COUNT])
    assert broken.faults.calls == 2


async def test_counting_store_counts_calls_statements_and_texts() -> None:
    inner, _ = await faulty()
    store = CountingStore(inner)
    await store.write([insert("a"), insert("b")])
    await store.session(store.bookmark()).read([COUNT])
    with pytest.raises(Conflict):
        await store.write([insert("a")])
    counts = store.counts
    assert (counts.round_trips, counts.reads, counts.writes, counts.statements) == (3, 1, 2, 4)
    assert counts.log == [insert("").sql, insert("").sql, COUNT.sql, insert("").sql]
    counts.reset()
    assert (counts.round_trips, counts.statements, counts.log) == (0, 0, [])


async def test_lagging_key_value_store_answers_what_was_there_before() -> None:
    clock = FixedRuntime()
    kv = MemoryKeyValue(clock, lag_ms=60_000)
    await kv.put("k", "first", ttl_s=3_600)
    assert await kv.get("k") is None
    clock.advance(60_000)
    await kv.put("k", "second", ttl_s=3_600)
    assert await kv.get("k") == "first"
    clock.advance(59_999)
    assert await kv.get("k") == "first"
    clock.advance(1)
    assert await kv.get("k") == "second"
    await kv.delete("k")
    assert await kv.get("k") == "second"
    clock.advance(60_000)
    assert await kv.get("k") is None


async def test_failing_key_value_store_fails_every_nth_call() -> None:
    kv = MemoryKeyValue(FixedRuntime(), fail_every=2)
    await kv.put("k", "v", ttl_s=60)
    with pytest.raises(StoreUnavailable):
        await kv.get("k")
    assert await kv.get("k") == "v"
    assert kv.calls == 3


def test_fixed_runtime_stands_at_noon_until_it_is_moved() -> None:
    runtime = FixedRuntime()
    assert runtime.now_ms() == NOON_MS
    assert datetime.fromtimestamp(NOON_MS / 1_000, UTC) == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert runtime.advance(5) == runtime.now_ms() == NOON_MS + 5


def test_fixed_runtimes_made_alike_answer_alike() -> None:
    first, second = FixedRuntime(), FixedRuntime()
    for runtime in (first, second):
        runtime.new_id("itm")
        runtime.random_bytes(40)
    assert first.new_id("itm") == second.new_id("itm")
    assert first.random_bytes(33) == second.random_bytes(33)


def test_fixed_ids_sort_when_the_clock_is_set_back() -> None:
    runtime = FixedRuntime()
    made = [runtime.new_id("itm") for runtime.at_ms in (NOON_MS, NOON_MS - 9, NOON_MS + 1)]
    assert made == sorted(set(made))


async def test_fixed_runtime_raises_what_work_raises_and_can_lose_the_rest() -> None:
    runtime = FixedRuntime()

    async def fail() -> None:
        raise ValueError("broken on purpose")

    runtime.run_later(fail())
    runtime.run_later(fail())
    with pytest.raises(ValueError, match="on purpose"):
        await runtime.drain()
    assert runtime.pending == 1
    runtime.discard()
    await runtime.drain()
