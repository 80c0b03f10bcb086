"""What distilling costs on a real D1, and that its SQL runs there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, counted, echoing
from tests.app.distill.test_dream import dreaming
from tests.budgets.places import Place, make_place
from tests.d1.bridge import D1Bridge

from remembrancer.app.candidates.decide import decide_candidate
from remembrancer.app.candidates.queue import list_candidates
from remembrancer.app.days import list_days
from remembrancer.app.forget import forget_item
from remembrancer.app.library.boot import memory_boot
from remembrancer.app.undo import undo
from remembrancer.app.verify import verify
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.core.values import DAY_MS

ITEMS = 1_000


class Night:
    """A distiller over a seeded D1, with a counter around it."""

    def __init__(self, bridge: D1Bridge) -> None:
        self.place: Place = asyncio.run(make_place(bridge.fresh(), ITEMS))
        self.bench = Distiller(
            actor="agent:claude",
            runtime=self.place.bench.runtime,
            sql=self.place.bench.sql,
            given={"EXTRACT_MAX_RUNS": "1"},
        )
        self.bench.runtime.advance(DAY_MS)

    def cost(self) -> tuple[int, int]:
        """Statements and rows read since the last look."""
        counts = self.place.counts
        cost = counts.statements, counts.rows_read
        self.place.start()
        return cost


@pytest.fixture(scope="module")
def night(d1_bridge: D1Bridge) -> Night:
    return Night(d1_bridge)


async def test_one_batch_of_an_extraction_stays_within_a_request(night: Night) -> None:
    bench = night.bench
    bench.teach(echoing)
    await bench.say(*(f"I visited the town number {n} by bike last week" for n in range(40)))
    night.cost()
    done = await bench.run()
    statements, rows = night.cost()
    assert counted(done, "created") == 40
    assert statements <= SQL_BATCH_STATEMENTS_MAX
    assert rows <= 2_000


async def test_night_is_dreamt_undone_and_shown(night: Night) -> None:
    bench = night.bench
    bench.teach(dreaming(quotes=["by bike last week"]))
    bench.runtime.advance(DAY_MS)
    night.cost()
    done: Any = await bench.run("dream", force=False)
    statements, rows = night.cost()
    assert (counted(done, "days"), counted(done, "quotes")) == (1, 1)
    # Three pieces: a batch of messages, the day's end, and the look for another day.
    assert statements <= 2 * SQL_BATCH_STATEMENTS_MAX
    assert rows <= 6_000
    days: Any = await list_days(bench.app, bench.caller())
    boot: Any = await memory_boot(bench.app, bench.caller())
    assert boot["daily_log"]["date"] == days["days"][0]["date"]
    await undo(bench.app, bench.caller(), cause=str(done["run_id"]))
    days = await list_days(bench.app, bench.caller())
    assert days["days"] == []


async def test_candidates_are_decided_and_forgotten(night: Night) -> None:
    bench = night.bench
    bench.teach(echoing)
    bench.given = {"EXTRACT_REVIEW_CONFIDENCE": "0.99"}
    await bench.say("I might visit the mountains")
    await bench.run()
    queue: Any = await list_candidates(bench.app, bench.caller())
    [waiting] = queue["candidates"]
    night.cost()
    answer: Any = await decide_candidate(bench.app, bench.caller(), waiting["id"], "approve")
    statements, _ = night.cost()
    assert statements <= SQL_BATCH_STATEMENTS_MAX
    await forget_item(bench.app, bench.caller(), answer["memory"]["id"])
    assert await bench.rows("SELECT * FROM candidates") == []
    assert (await verify(bench.app))["ok"]
