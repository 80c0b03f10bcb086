"""Tasks left lying: found by age, marked without a new touch, and only those that may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.app.test_list_items import make
from tests.builders import Bench

from remembrancer.app.focus import get_stale_tasks, mark_stale_candidates
from remembrancer.app.items.states import set_item_state, update_task_state
from remembrancer.app.items.write import update_item
from remembrancer.app.objectives import set_active_objective
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import DAY_MS
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.testing.stores import CountingStore


# Any: tests look into answers by key.
async def stale(bench: Bench, limit: int = 25) -> list[tuple[str, str, str]]:
    answer: Any = await get_stale_tasks(bench.app, bench.caller(), limit=limit)
    assert answer["count"] == len(answer["items"])
    return [(item["title"], item["state"], item["untouched_since"]) for item in answer["items"]]


async def mark(bench: Bench, limit: int = 25) -> dict[str, Any]:
    return await mark_stale_candidates(bench.app, bench.caller(), limit=limit)


async def test_stale_task_counts_from_its_last_touch_at_21_days() -> None:
    bench = Bench()
    await make(bench, title="second")
    first = await make(bench, title="first", priority=1, pinned=True)
    await make(bench, title="memory", kind="memory")
    await make(bench, title="weekly", recurrence_kind="weekly", due="monday")
    bench.runtime.advance(21 * DAY_MS - 3_000)
    assert await stale(bench) == [("second", "active", "2026-03-01T12:00:01Z")]
    bench.runtime.advance(1_000)
    assert [title for title, _, _ in await stale(bench)] == ["second", "first"]
    assert [title for title, _, _ in await stale(bench, limit=1)] == ["second"]
    await update_item(bench.app, bench.caller(), first, {"title": "touched"})
    assert [title for title, _, _ in await stale(bench)] == ["second"]


async def test_stale_mark_keeps_the_age() -> None:
    bench = Bench()
    await make(bench, title="left", project="p", project_name="P")
    bench.runtime.advance(30 * DAY_MS)
    answer = await mark(bench)
    [item] = answer["items"]
    assert answer["marked"] == [item["id"]]
    assert (item["state"], item["untouched_since"]) == ("stale", "2026-03-01T12:00:01Z")
    assert item["project"]["slug"] == "p"
    assert await stale(bench) == [("left", "stale", "2026-03-01T12:00:01Z")]
    bench.runtime.advance(DAY_MS)
    assert (await mark(bench))["items"] == []
    assert await stale(bench) == [("left", "stale", "2026-03-01T12:00:01Z")]
    await update_item(bench.app, bench.caller(), item["id"], {"title": "edited"})
    assert await stale(bench) == []
    bench.runtime.advance(22 * DAY_MS)
    assert await stale(bench) == [("edited", "stale", "2026-04-01T12:00:01Z")]


async def test_stale_mark_by_hand_of_a_fresh_task_is_no_age() -> None:
    bench = Bench()
    fresh = await make(bench, title="fresh")
    await set_item_state(bench.app, bench.caller(), fresh, "stale")
    assert await stale(bench) == []
    bench.runtime.advance(21 * DAY_MS)
    assert await stale(bench) == [("fresh", "stale", "2026-03-01T12:00:01Z")]


async def test_stale_mark_spares_the_pinned_the_serving_and_the_put_off() -> None:
    bench = Bench()
    await make(bench, title="pinned", pinned=True, project="p", project_name="P")
    goal: Any = await set_active_objective(bench.app, bench.caller(), project="p", title="Goal")
    await make(bench, title="serves", objective_id=goal["item"]["id"])
    snoozed = await make(bench, title="snoozed")
    await update_task_state(bench.app, bench.caller(), snoozed, "snooze", until="in 60 days")
    await make(bench, title="left")
    bench.runtime.advance(22 * DAY_MS)
    assert {title for title, _, _ in await stale(bench)} == {"pinned", "serves", "left"}
    assert [item["title"] for item in (await mark(bench))["items"]] == ["left"]


async def test_stale_mark_takes_the_longest_untouched_up_to_its_limit() -> None:
    bench = Bench()
    for number in range(5):
        await make(bench, title=str(number), priority=number % 3 + 1)
    bench.runtime.advance(22 * DAY_MS)
    answer = await mark(bench, limit=3)
    assert [item["title"] for item in answer["items"]] == ["0", "1", "2"]
    assert len(await bench.rows("SELECT id FROM items WHERE state = 'stale'")) == 3
    events = await bench.rows("SELECT kind FROM events WHERE kind = 'ItemMarkedStale'")
    assert len(events) == 3


async def test_stale_mark_leaves_a_task_that_was_touched_meanwhile() -> None:
    bench = Bench()
    left = await make(bench, title="left")
    bench.runtime.advance(22 * DAY_MS)
    inner, other = bench.sql, Bench(sql=bench.sql, runtime=bench.runtime)

    class Meddling(CountingStore):
        """The store, with another writer between the first two reads."""

        async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
            if self.counts.reads == 1:
                await update_item(other.app, other.caller(cause="req_other"), left, {"priority": 3})
            return await CountingStore.read(self, statements)

    bench.sql = Meddling(inner)
    assert (await mark(bench))["items"] == []
    bench.sql = inner
    assert await bench.rows("SELECT state, priority FROM items") == [
        {"state": "active", "priority": 3}
    ]


async def test_stale_tasks_are_read_in_two_round_trips_without_a_write() -> None:
    counting = CountingStore(Bench().sql)
    bench = Bench(sql=counting)
    await make(bench, title="left", project="p", project_name="P")
    bench.runtime.advance(22 * DAY_MS)
    counting.counts.reset()
    await stale(bench)
    assert (counting.counts.reads, counting.counts.writes) == (2, 0)


@pytest.mark.parametrize("limit", [0, 101])
async def test_stale_limit_out_of_range_is_refused(limit: int) -> None:
    for call in (get_stale_tasks, mark_stale_candidates):
        with pytest.raises(InvalidInput):
            await call(Bench().app, Bench().caller(), limit=limit)
