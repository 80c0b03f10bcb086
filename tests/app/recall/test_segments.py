"""The index's segments are brought together while nobody writes, and nothing is found otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import Bench

from remembrancer.app.jobs.works import works_of
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.recall.recall import recall
from remembrancer.app.recall.segments import PATIENCE_MS, SEGMENTS_MAX, Segments
from remembrancer.store import search as store

QUESTIONS = ("where is the key of store 3", "第7号仓库的钥匙在哪里", "钥匙")


async def segments(bench: Bench) -> int:
    [outcome] = await bench.app.sql.read([store.segments_statement()])
    return len(store.segments_of(outcome.rows))


async def save(bench: Bench, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        text = f"第{number}号仓库的钥匙在抽屉里 the key of store {number}"
        await save_memory(bench.app, bench.caller(), NewMemory(text, {}, "fact"))


# Any: explanations are compared whole.
async def found(bench: Bench) -> list[Any]:
    recalled = [await recall(bench.app, bench.caller(), each) for each in QUESTIONS]
    return [(one.patch, one.explained) for one in recalled]


async def test_segments_are_merged_once_nobody_writes() -> None:
    bench = Bench()
    watch = Segments(bench.app)
    await save(bench, SEGMENTS_MAX + 1)
    many = await segments(bench)
    assert many > SEGMENTS_MAX
    await watch.tick()
    assert await segments(bench) == many
    before = await found(bench)
    await watch.tick()
    assert await segments(bench) == 1
    assert await found(bench) == before
    await save(bench, 1, start=50)
    assert "store 50" in (await recall(bench.app, bench.caller(), "where is store 50")).patch


async def test_segments_are_merged_in_the_end_though_somebody_writes_all_the_time() -> None:
    bench = Bench()
    watch = Segments(bench.app)
    await save(bench, SEGMENTS_MAX + 1)
    await watch.tick()
    await save(bench, 1, start=20)
    await watch.tick()
    assert await segments(bench) > SEGMENTS_MAX
    bench.runtime.advance(PATIENCE_MS)
    await save(bench, 1, start=21)
    await watch.tick()
    assert await segments(bench) == 1


async def test_few_segments_are_left_as_they_are() -> None:
    bench = Bench()
    watch = Segments(bench.app)
    await save(bench, SEGMENTS_MAX)
    few = await segments(bench)
    assert 1 < few <= SEGMENTS_MAX
    for _ in range(3):
        await watch.tick()
    assert await segments(bench) == few


async def test_a_large_index_is_merged_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MERGED_PAGES", 1)
    bench = Bench()
    watch = Segments(bench.app)
    await save(bench, 40)
    before = await found(bench)
    await watch.tick()
    await watch.tick()
    assert await segments(bench) == 1
    assert await found(bench) == before


async def test_merging_ends_though_others_write_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    watch = Segments(bench.app)
    await save(bench, 1)
    # As if somebody else had always just written.
    monkeypatch.setattr(store, "segments_of", lambda _: dict.fromkeys(range(SEGMENTS_MAX + 1), 1))
    for _ in range(3):
        await watch.tick()
    monkeypatch.undo()
    assert await segments(bench) == 1


async def test_a_server_watches_them() -> None:
    bench = Bench()
    await save(bench, SEGMENTS_MAX + 1)

    async def consume(_: object) -> None:
        return None

    async def tick_on(tick: Any) -> None:
        await tick()
        await tick()

    words, ticks = works_of(bench.app, consume, tick_on)
    await words
    await ticks
    assert await segments(bench) == 1
