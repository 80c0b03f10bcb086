"""Rebuilding step by step, as a request does it: few statements, and done twice it is done once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.app.test_ledger_properties import commands, play
from tests.app.test_rebuild import filled
from tests.builders import Bench
from tests.examples import examples
from tests.seeding import seed

from remembrancer.app.items.write import quick_capture, update_item
from remembrancer.app.rebuild import Rebuilding, rebuild_step
from remembrancer.core.errors import Conflict, StoreUnavailable
from remembrancer.core.ids import Namespace
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.ports.sql import Statement
from remembrancer.store.projections import TABLES
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.stores import CountingStore

STATEMENTS_MAX = SQL_BATCH_STATEMENTS_MAX - 2
"""Of those that a request may send, two are for whoever asks: its key, and that it was used."""


async def step_through(bench: Bench) -> tuple[Rebuilding, int]:
    """Rebuild step by step, counting each; return what was told last, and the steps."""
    counting = CountingStore(bench.sql)
    app = replace(bench.app, sql=counting, request_pieces=1)
    told, is_over, steps = Rebuilding(), False, 0
    while not is_over:
        counting.counts.reset()
        told, is_over = await rebuild_step(app, told)
        assert counting.counts.statements <= STATEMENTS_MAX
        steps += 1
    return told, steps


@examples(30)
@given(script=commands)
async def test_rebuilt_step_by_step_equals_incremental(
    script: list[tuple[str, int, int]],
) -> None:
    bench = Bench()
    await play(bench, script)
    before = await bench.tables()
    await step_through(bench)
    assert await bench.tables() == before
    assert await bench.rows("SELECT * FROM rebuild_state") == []
    left = "SELECT name FROM sqlite_master WHERE name LIKE 'rebuild~_%' ESCAPE '~'"
    assert [row["name"] for row in await bench.rows(left)] == ["rebuild_state"]


async def test_thousands_of_items_are_rebuilt_in_few_statements_each() -> None:
    bench = Bench()
    await seed(bench.sql, 2_000)
    for number in range(60):
        text = f"写第{number}章 #写作"
        item = await quick_capture(bench.app, bench.caller(cause=f"req_a{number}"), text, {})
        del item
    [row] = await bench.rows("SELECT id FROM items LIMIT 1")
    for number in range(80):
        caller = bench.caller(cause=f"req_b{number}")
        await update_item(bench.app, caller, str(row["id"]), {"title": f"第{number}版"})
    before = await bench.tables()
    told, steps = await step_through(bench)
    assert told.events > 2_500
    assert steps < told.events / 20
    assert await bench.tables() == before


async def test_what_was_wrong_is_made_right_and_counted() -> None:
    bench, _ = await filled()
    before = await bench.tables()
    assert (await step_through(bench))[0].changed == 0
    await bench.sql.write(
        [
            Statement("UPDATE items SET title = 'wrong 错' WHERE title LIKE '任务 7%'"),
            Statement("DELETE FROM item_tags WHERE tag = '标签1'"),
            Statement("INSERT INTO tombstones SELECT namespace, 'itm_x', 'y', NULL, 'user', 1"
                      " FROM items LIMIT 1"),
            Statement("DELETE FROM search WHERE rowid = 3"),
        ]
    )  # fmt: skip
    told, _ = await step_through(bench)
    assert told.changed >= 6
    assert await bench.tables() == before


@pytest.mark.parametrize("cut", range(1, 8))
@pytest.mark.parametrize("is_done", [False, True], ids=["failed", "answer-lost"])
async def test_step_that_failed_or_whose_answer_was_lost_is_done_once(
    monkeypatch: pytest.MonkeyPatch, cut: int, is_done: bool
) -> None:
    monkeypatch.setattr("remembrancer.app.rebuild.CHUNK_EVENTS", 12)
    bench, ids = await filled()
    before = await bench.tables()
    app = replace(bench.app, request_pieces=1)
    told, is_over, steps = Rebuilding(), False, 0
    while not is_over:
        steps += 1
        if steps == cut:
            crash = None if is_done else CrashPoint(0, write=1)
            failing = replace(app, sql=FaultyStore(bench.sql, Faults(crash=crash)))
            try:
                await rebuild_step(failing, told)
            except StoreUnavailable:
                assert not is_done
        told, is_over = await rebuild_step(app, told)
    assert await bench.tables() == before
    await update_item(bench.app, bench.caller(), ids[0], {"title": "after 之后"})


async def test_shadows_that_are_left_of_another_program_go_first() -> None:
    bench, _ = await filled()
    before = await bench.tables()
    left = [Statement(f"CREATE TABLE rebuild_{table} (x TEXT)") for table in TABLES]
    await bench.sql.write(left)
    await step_through(bench)
    assert await bench.tables() == before


async def test_two_that_rebuild_at_once_do_it_once() -> None:
    bench, _ = await filled()
    before = await bench.tables()
    app = replace(bench.app, request_pieces=1)
    one, other = Rebuilding(), Rebuilding()
    is_over = False
    while not is_over:
        one, is_over = await rebuild_step(app, one)
        if not is_over:
            other, is_over = await rebuild_step(app, other)
    assert await bench.tables() == before


async def test_event_before_the_swap_stops_it_and_is_caught_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, _ = await filled()
    neighbour = Namespace("neighbour")
    app = replace(bench.app, request_pieces=1)
    told, is_over, clashes = Rebuilding(), False, 0

    class Busy(FaultyStore):
        async def write(self, statements):  # type: ignore[no-untyped-def]  # as the port
            if "scope_versions" in statements[-1].sql and clashes < 2:
                for caller in (bench.caller(), bench.caller(namespace=neighbour)):
                    text = f"meanwhile {clashes} #并发"
                    await quick_capture(replace(app, sql=self.inner), caller, text, {})
            return await super().write(statements)

    app = replace(app, sql=Busy(bench.sql))
    while not is_over:
        try:
            told, is_over = await rebuild_step(app, told)
        except Conflict:
            clashes += 1
    assert clashes == 2
    assert len(await bench.rows("SELECT 1 FROM items WHERE title LIKE 'meanwhile%'")) == 4
    before = await bench.tables()
    await step_through(bench)
    assert await bench.tables() == before
