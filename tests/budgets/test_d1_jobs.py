"""Jobs on a real D1: leases, guards and retention's statements mean the same there, and cost so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.app.jobs.benches import Copying, copies, copying_job, message_ids, prepare
from tests.app.jobs.scenarios import SCENARIOS
from tests.builders import NAMESPACE, Bench
from tests.d1.bridge import D1BridgeStore

from remembrancer.app.health import check_health
from remembrancer.app.jobs.frame import LEASE_MS, Asked
from remembrancer.app.jobs.preview import preview_retention
from remembrancer.app.jobs.running import run, run_job
from remembrancer.app.jobs.schedule import namespaces
from remembrancer.app.verify import verify
from remembrancer.core.errors import Conflict
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.ports.sql import Statement
from remembrancer.store import job_cursors
from remembrancer.store import jobs as store
from remembrancer.store.jobs import Lease
from remembrancer.testing.queue import RecordingQueue
from remembrancer.testing.stores import CountingStore

REQUEST_STATEMENTS_MAX = 45


async def test_frame_on_d1_does_the_work_once(d1_store: D1BridgeStore) -> None:
    bench = Bench(sql=d1_store)
    await prepare(bench, 8)
    now_ms = bench.runtime.now_ms()
    other = Lease(NAMESPACE, "copy", "run_other")
    taking = store.take_statements(
        other, started_by="cron", attempt=1, now_ms=now_ms, until_ms=now_ms + LEASE_MS
    )
    assert [len((await d1_store.write(taking))[1].rows) for _ in range(2)] == [1, 1]

    assert (await run(bench.app, copying_job(Copying()), NAMESPACE))["status"] == "busy"
    bench.runtime.advance(LEASE_MS)
    assert (await run(bench.app, copying_job(Copying()), NAMESPACE))["status"] == "done"
    assert await copies(bench) == await message_ids(bench)
    for refused in (
        store.guard_statements(other),
        [job_cursors.cursor_statement(other, "x", Cursor(1))],
    ):
        with pytest.raises(Conflict):
            await d1_store.write(refused)
    assert await namespaces(bench.app) == [NAMESPACE]
    assert (await check_health(bench.app)).details["jobs"]


async def test_run_on_d1_reads_as_much_after_a_thousand_runs_as_after_one(
    d1_store: D1BridgeStore,
) -> None:
    bench = Bench(sql=d1_store)
    await prepare(bench, 0)
    runs = (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        " INSERT INTO job_runs"
        " (namespace, id, job, started_by, status, started_at, attempt, counts)"
        " SELECT ?, 'run_' || i, 'copy', 'cron', 'done', i, 1, '{}' FROM n"
    )
    await d1_store.write([Statement(runs, (NAMESPACE,))])
    now_ms = bench.runtime.now_ms()
    lease = Lease(NAMESPACE, "copy", "run_new")
    for statements in (
        store.take_statements(
            lease, started_by="cron", attempt=1, now_ms=now_ms, until_ms=now_ms + LEASE_MS
        ),
        store.finish_statements(lease, counts={}, now_ms=now_ms),
        store.calm_statements(NAMESPACE, "copy", now_ms),
    ):
        outcomes = await d1_store.write(statements)
        assert sum(outcome.rows_read or 0 for outcome in outcomes) <= 12
        assert outcomes[0].rows_read is not None


async def test_retention_on_d1_takes_what_it_takes_elsewhere(d1_store: D1BridgeStore) -> None:
    scenario = SCENARIOS["retention"]
    expected = await scenario.expected()
    world = scenario.made(d1_store)
    await scenario.prepare(world)
    before = await preview_retention(world.app, world.bench.caller(), days=0)
    assert before["counts"] != {} and len(before["expire"]) == 3  # type: ignore[arg-type]
    counting = CountingStore(d1_store)
    queue = RecordingQueue()
    app = replace(world.app, sql=counting, queue=queue)

    pieces = 0
    while pieces == 0 or queue.messages:
        queue.messages = []
        counting.counts.reset()
        await run_job(app, "retention", NAMESPACE, asked=Asked(pieces_max=1), trigger="queue")
        pieces += 1
        assert counting.counts.statements <= REQUEST_STATEMENTS_MAX
        assert pieces < 10
    assert await scenario.seen(world) == expected
    assert (await verify(world.app))["ok"]
    counting.counts.reset()
    assert (await run_job(app, "retention", NAMESPACE))["status"] == "nothing"
    assert (counting.counts.round_trips, counting.counts.rows_written) == (3, 0)
