"""A run by hand in a request of the platform: few statements, and an honest answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.app.distill.test_dream import remember
from tests.app.jobs.scenarios import DREAM_SAID, KNOWN, SCENARIOS
from tests.builders import NAMESPACE

from remembrancer.app.jobs.frame import Asked
from remembrancer.app.jobs.running import handle_message, run_job
from remembrancer.core.errors import RemembrancerError
from remembrancer.core.values import DAY_MS
from remembrancer.testing.stores import CountingStore, memory_store

STATEMENTS_MAX = 44
"""Of the 45 that a request may send, one is for whoever asks: its key."""


@pytest.mark.parametrize("name", SCENARIOS)
async def test_each_request_sends_few_statements_and_the_last_one_says_that_it_is_done(
    name: str,
) -> None:
    scenario = SCENARIOS[name]
    world = await scenario.world()
    world.bench.runtime.advance(scenario.wait_ms)
    counting = CountingStore(world.app.sql)
    app = replace(world.app, sql=counting, request_pieces=1)
    asked = Asked() if scenario.asked is None else await scenario.asked(world)
    answers: list[dict[str, Any]] = []
    for _ in range(60):
        counting.counts.reset()
        try:
            answers.append(dict(await run_job(app, scenario.job, NAMESPACE, asked=asked)))
        except RemembrancerError:
            assert "refused" in name
        assert counting.counts.statements <= STATEMENTS_MAX
        if answers and not answers[-1].get("more"):
            break
        world.bench.runtime.advance(scenario.wait_ms)
    assert answers[-1]["status"] == "done"
    # What was left was said, and there was some.
    assert all(any(one["left"].values()) for one in answers[:-1])
    again = await run_job(app, scenario.job, NAMESPACE, asked=asked)
    assert again["status"] == "nothing"
    assert await scenario.settle(world) == await scenario.expected()


async def test_night_that_closes_two_weeks_and_two_months_is_no_larger_a_request() -> None:
    scenario = SCENARIOS["dream"]
    world = scenario.made(memory_store())
    runtime = world.bench.runtime
    sunday = int(datetime(2027, 1, 31, 6, tzinfo=UTC).timestamp() * 1_000)
    runtime.advance(sunday - 40 * DAY_MS - runtime.now_ms())
    await remember(world.bench, *KNOWN, tags=["港口", "tea"])
    await world.bench.say("今天搬进了新家")
    runtime.advance(DAY_MS)
    assert (await run_job(world.app, "dream", NAMESPACE))["status"] == "done"
    runtime.advance(sunday - runtime.now_ms())
    await world.bench.say(*DREAM_SAID)
    runtime.advance(DAY_MS)
    counting = CountingStore(world.app.sql)
    app = replace(world.app, sql=counting, request_pieces=1)
    more = True
    while more:
        counting.counts.reset()
        more = bool((await run_job(app, "dream", NAMESPACE)).get("more"))
        assert counting.counts.statements <= STATEMENTS_MAX
    labels = {str(row["label"]) for row in await world.bench.rows("SELECT label FROM pages")}
    assert labels >= {"2026-12", "2027-01", "2026-W52", "2027-W04"}


async def test_queue_goes_on_where_a_request_stops() -> None:
    scenario = SCENARIOS["extract"]
    world = await scenario.world()
    app = replace(world.app, request_pieces=1)
    world.bench.runtime.advance(scenario.wait_ms)
    answer: Any = await run_job(app, "extract", NAMESPACE, asked=Asked(force=True))
    assert answer["counts"]["messages"] == 2
    assert (answer["more"], answer["left"]) == (True, {"messages": 3})
    while world.queue.messages:
        await handle_message(world.app, world.queue.messages.pop())
    assert await scenario.settle(world) == await scenario.expected()


async def test_last_piece_that_was_full_is_done() -> None:
    scenario = SCENARIOS["extract refused"]
    world = await scenario.world()
    await scenario.settle(world)
    await world.bench.say("我喜欢绿茶")
    world.bench.runtime.advance(scenario.wait_ms)
    app = replace(world.app, request_pieces=1)
    answer = await run_job(app, "extract", NAMESPACE)
    assert answer["status"] == "done" and "more" not in answer
    assert world.queue.messages == []
