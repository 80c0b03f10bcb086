"""The frame under faults at every call, by a job that only copies. Real jobs: `test_matrix`."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from tests.app.jobs.benches import Copying, add_messages, copies, copying_job, message_ids, prepare
from tests.app.jobs.mortal import HOWS, How, disturbed
from tests.builders import NAMESPACE, Bench

from remembrancer.app.jobs.frame import LEASE_MS, Asked, Job
from remembrancer.app.jobs.running import run
from remembrancer.core.errors import StoreUnavailable
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.queue import RecordingQueue


async def settle(bench: Bench, job: Job) -> None:
    """Let the schedule come by until nothing is left, as it does after a crash."""
    for _ in range(10):
        bench.runtime.advance(LEASE_MS)
        answer = await run(bench.app, job, NAMESPACE, trigger="retry")
        if answer["status"] == "nothing":
            return
    raise AssertionError(answer)


@pytest.mark.parametrize("how", [*HOWS, "delivered twice"])
async def test_frame_with_a_fault_at_any_call_does_the_work_once(how: How) -> None:
    for at in itertools.count(1):
        bench = Bench()
        await prepare(bench, 8)
        reached = await disturbed(bench, copying_job(Copying()), at, how)
        await settle(bench, copying_job(Copying()))
        assert await copies(bench) == await message_ids(bench), (at, how)
        [state] = await bench.rows("SELECT owner FROM job_states")
        assert state["owner"] is None
        running = await bench.rows("SELECT id FROM job_runs WHERE status = 'running'")
        assert running == [], (at, how)
        if not reached:
            break
    assert at > 15


async def test_frame_that_crashes_inside_any_batch_does_the_work_once() -> None:
    for write, moment in itertools.product(range(1, 10), ("before", "after")):
        for statement in itertools.count():
            bench = Bench()
            await prepare(bench, 8)
            sound = bench.sql
            point = CrashPoint(statement, moment, write)  # type: ignore[arg-type]
            faults = Faults(crash=point)
            bench.sql = FaultyStore(sound, faults)
            try:
                await run(bench.app, copying_job(Copying()), NAMESPACE, trigger="cron")
            except StoreUnavailable:
                pass
            bench.sql = sound
            await settle(bench, copying_job(Copying()))
            assert await copies(bench) == await message_ids(bench), point
            if not faults.has_crashed:
                break


async def test_process_beside_one_that_is_killed_does_the_rest() -> None:
    for at in range(1, 12):
        bench = Bench()
        await prepare(bench, 8)
        job = copying_job(Copying())
        await disturbed(bench, job, at, "killed after")
        beside = await run(bench.app, job, NAMESPACE, trigger="queue")
        assert beside["status"] in ("busy", "done")
        await settle(bench, job)
        assert await copies(bench) == await message_ids(bench)


@pytest.mark.parametrize("order", [*itertools.permutations(("one", "more", "twice"))])
async def test_words_late_twice_and_out_of_order_give_the_same(order: tuple[str, ...]) -> None:
    bench, queue = Bench(), RecordingQueue()
    await prepare(bench, 20)
    app = replace(bench.app, queue=queue)
    job = copying_job(Copying())

    async def deliver() -> None:
        await run(app, job, NAMESPACE, asked=Asked(pieces_max=1), trigger="queue")

    late = 0
    for name in order:
        if name == "more":
            await add_messages(bench, 5)
            late += 4
            continue
        await deliver()
        if name == "twice":
            await deliver()
    for _ in range(late):
        await deliver()
    assert await copies(bench) == await message_ids(bench)
