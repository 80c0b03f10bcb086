"""The frame: leases, runs and their record, failures, what is refused."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from tests.app.jobs.benches import (
    Copying,
    add_messages,
    copies,
    copying_job,
    job_tables,
    message_ids,
    prepare,
)
from tests.builders import NAMESPACE, Bench

from remembrancer.app.jobs.frame import LEASE_MS, Asked, JobContext, JobReport, LeaseLost
from remembrancer.app.jobs.running import run
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.errors import Conflict, UpstreamFailed
from remembrancer.core.jobs.backoff import ATTEMPTS_MAX, WAIT_MS_MAX, wait_ms
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Statement
from remembrancer.store import job_cursors
from remembrancer.store import jobs as store
from remembrancer.store.jobs import Lease
from remembrancer.testing.queue import RecordingQueue


async def test_run_with_work_does_it_once_and_writes_the_run_down() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)

    answer = await run(bench.app, copying_job(code), NAMESPACE, trigger="cron")

    assert answer["status"] == "done" and answer["counts"] == {"messages": 7}
    assert await copies(bench) == await message_ids(bench)
    [row] = await bench.rows("SELECT * FROM job_runs")
    assert (row["id"], row["status"], row["started_by"]) == (answer["run_id"], "done", "cron")
    assert json.loads(str(row["counts"])) == {"messages": 7}
    [state] = await bench.rows("SELECT owner, attempts, last_success_at FROM job_states")
    assert state == {"owner": None, "attempts": 0, "last_success_at": bench.runtime.now_ms()}


@pytest.mark.parametrize("force", [False, True])
async def test_second_run_with_nothing_new_asks_no_model_and_writes_nothing(force: bool) -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    await run(bench.app, copying_job(code), NAMESPACE)
    before, calls = await job_tables(bench), code.model_calls
    bench.runtime.advance(LEASE_MS)

    answer = await run(bench.app, copying_job(code), NAMESPACE, asked=Asked(force=force))

    assert (answer["status"], answer["run_id"], answer["counts"]) == ("nothing", None, {})
    assert code.model_calls == calls
    assert await job_tables(bench) == before


async def test_run_of_a_namespace_leaves_another_alone() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)

    answer = await run(bench.app, copying_job(code), type(NAMESPACE)("other"))

    assert answer["status"] == "nothing" and await copies(bench) == []


async def test_two_runs_at_once_share_no_work() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)

    answers = await asyncio.gather(
        *(run(bench.app, copying_job(code), NAMESPACE, trigger="queue") for _ in range(4))
    )

    assert sorted(str(answer["status"]) for answer in answers).count("done") == 1
    assert await copies(bench) == await message_ids(bench)


async def test_lease_held_by_another_refuses_until_it_has_expired() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    now_ms = bench.runtime.now_ms()
    other = Lease(NAMESPACE, "copy", "run_other")
    await bench.sql.write(
        store.take_statements(
            other, started_by="cron", attempt=1, now_ms=now_ms, until_ms=now_ms + LEASE_MS
        )
    )

    assert (await run(bench.app, copying_job(code), NAMESPACE))["status"] == "busy"
    bench.runtime.advance(LEASE_MS)
    assert (await run(bench.app, copying_job(code), NAMESPACE))["status"] == "done"
    rows = await bench.rows("SELECT id, status FROM job_runs WHERE id = 'run_other'")
    assert rows == [{"id": "run_other", "status": "lost"}]


async def test_run_that_lost_its_lease_writes_nothing_more() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)

    class Thief(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            bench.runtime.advance(LEASE_MS)
            now_ms = bench.runtime.now_ms()
            await bench.sql.write(
                store.take_statements(
                    Lease(NAMESPACE, "copy", "run_thief"),
                    started_by="cron",
                    attempt=1,
                    now_ms=now_ms,
                    until_ms=now_ms + LEASE_MS,
                )
            )
            with pytest.raises(LeaseLost):
                await ctx.still_mine()
            return await super().run(replace_still_mine(ctx))

    answer = await run(bench.app, copying_job(Thief()), NAMESPACE)

    assert answer["status"] == "lost" and await copies(bench) == []
    assert code.model_calls == 0
    rows = await bench.rows("SELECT id, status FROM job_runs ORDER BY id")
    assert {"id": "run_thief", "status": "running"} in rows


def replace_still_mine(ctx: JobContext) -> JobContext:
    """A context whose job does not ask whether the lease is its own: the batch must refuse."""

    class Careless(JobContext):
        async def still_mine(self) -> None:
            return None

    return Careless(
        ctx.app, ctx.caller, ctx.job, ctx.namespace, ctx.run_id, ctx.now_ms, ctx.asked, ctx.budget
    )


async def test_guard_refuses_the_batch_of_a_run_without_its_lease() -> None:
    bench = Bench()
    await prepare(bench, 0)
    lease = Lease(NAMESPACE, "copy", "run_gone")

    for statements in (
        store.guard_statements(lease),
        [job_cursors.cursor_statement(lease, "copy", Cursor(1))],
    ):
        with pytest.raises(Conflict):
            await bench.sql.write(statements)
    assert await bench.rows("SELECT * FROM job_cursors") == []


async def test_model_error_leaves_the_cursor_and_waits_longer_each_time() -> None:
    bench, code = Bench(), Copying(failing=True)
    await prepare(bench)
    waits = []
    for _ in range(3):
        answer = await run(bench.app, copying_job(code), NAMESPACE, trigger="retry")
        assert answer["status"] == "failed"
        [state] = await bench.rows("SELECT next_at FROM job_states")
        waits.append(int(str(state["next_at"])) - bench.runtime.now_ms())
        waiting = await run(bench.app, copying_job(code), NAMESPACE, trigger="retry")
        assert waiting["status"] == "waiting"
        bench.runtime.advance(waits[-1])

    assert waits == [wait_ms(1), wait_ms(2), wait_ms(3)] and waits[1] == 2 * waits[0]
    assert await copies(bench) == [] and await bench.rows("SELECT * FROM job_cursors") == []
    code.failing = False
    assert (await run(bench.app, copying_job(code), NAMESPACE, trigger="retry"))["status"] == "done"
    [state] = await bench.rows("SELECT attempts, next_at, failing_since FROM job_states")
    assert state == {"attempts": 0, "next_at": None, "failing_since": None}
    assert await copies(bench) == await message_ids(bench)


async def test_failure_by_hand_is_raised_and_kept_without_text() -> None:
    bench, code = Bench(), Copying(failing=True)
    await prepare(bench)

    with pytest.raises(UpstreamFailed):
        await run(bench.app, copying_job(code), NAMESPACE)

    [row] = await bench.rows("SELECT status, error FROM job_runs")
    assert row == {"status": "failed", "error": "upstream_failed: a model or service failed"}


async def test_job_that_always_fails_is_dead_but_its_schedule_still_tries() -> None:
    bench, code = Bench(), Copying(failing=True)
    await prepare(bench)
    job = copying_job(code)
    for _ in range(ATTEMPTS_MAX):
        await run(bench.app, job, NAMESPACE, trigger="retry")
        bench.runtime.advance(WAIT_MS_MAX)

    assert (await run(bench.app, job, NAMESPACE, trigger="retry"))["status"] == "dead"
    assert (await run(bench.app, job, NAMESPACE, trigger="queue"))["status"] == "dead"
    [state] = await bench.rows("SELECT dead_at FROM job_states")
    assert state["dead_at"] is not None
    code.failing = False
    assert (await run(bench.app, job, NAMESPACE, trigger="cron"))["status"] == "done"
    [state] = await bench.rows("SELECT dead_at FROM job_states")
    assert state["dead_at"] is None


async def test_failures_whose_work_is_gone_are_forgotten() -> None:
    bench, code = Bench(), Copying(failing=True)
    await prepare(bench)
    await run(bench.app, copying_job(code), NAMESPACE, trigger="retry")
    await bench.sql.write([Statement("DELETE FROM messages")])
    bench.runtime.advance(WAIT_MS_MAX)

    assert (await run(bench.app, copying_job(code), NAMESPACE, trigger="cron"))["status"] == (
        "nothing"
    )
    [state] = await bench.rows("SELECT attempts, failing_since FROM job_states")
    assert state == {"attempts": 0, "failing_since": None}


async def test_defect_ends_the_run_as_failed_and_is_raised() -> None:
    bench = Bench()
    await prepare(bench)

    class Broken(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            raise ZeroDivisionError(ctx.job)

    with pytest.raises(ZeroDivisionError):
        await run(bench.app, copying_job(Broken()), NAMESPACE, trigger="cron")

    [row] = await bench.rows("SELECT status, error FROM job_runs")
    assert row["status"] == "failed" and str(row["error"]).startswith("internal_error")
    [state] = await bench.rows("SELECT owner FROM job_states")
    assert state["owner"] is None


async def test_paused_job_runs_only_when_forced() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    await bench.sql.write([store.pause_statement(NAMESPACE, "copy", 1)])

    assert (await run(bench.app, copying_job(code), NAMESPACE))["status"] == "paused"
    forced = await run(bench.app, copying_job(code), NAMESPACE, asked=Asked(force=True))
    assert forced["status"] == "done"
    [state] = await bench.rows("SELECT paused_at FROM job_states")
    assert state["paused_at"] == 1
    await add_messages(bench, 1)
    await bench.sql.write([store.resume_statement(NAMESPACE, "copy", 2)])
    assert (await run(bench.app, copying_job(code), NAMESPACE))["status"] == "done"


async def test_bounded_run_leaves_the_rest_to_the_queue() -> None:
    bench, code, queue = Bench(), Copying(), RecordingQueue()
    await prepare(bench, 30)
    app: App = replace(bench.app, queue=queue)
    job = copying_job(code)

    answer = await run(app, job, NAMESPACE, asked=Asked(pieces_max=1), trigger="queue")

    assert answer["more"] is True and answer["status"] == "done"
    [message] = queue.messages
    assert (message.kind, message.namespace) == ("copy", NAMESPACE)
    assert 0 < len(await copies(bench)) < 30
    rest = await run(app, job, NAMESPACE, trigger="queue")
    assert "more" not in rest and await copies(bench) == await message_ids(bench)


async def test_run_by_hand_can_be_bounded_by_a_setting() -> None:
    bench, code, queue = Bench(), Copying(), RecordingQueue()
    await prepare(bench, 30)
    settings = load_settings({"JOB_PIECES_MAX": "1"})
    app = replace(bench.app, queue=queue, settings=settings)

    assert (await run(app, copying_job(code), NAMESPACE))["more"] is True
    assert len(queue.messages) == 1 and len(await copies(bench)) < 30
    whole = await run(bench.app, copying_job(code), NAMESPACE)
    assert "more" not in whole and await copies(bench) == await message_ids(bench)


async def test_renewal_shows_counts_and_progress() -> None:
    bench = Bench()
    await prepare(bench, 2)
    seen = []

    class Showing(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            ctx.count(batches=1)
            ctx.progress(1, 3)
            await ctx.still_mine()
            seen.extend(await bench.rows("SELECT counts, done, total FROM job_runs"))
            return await super().run(ctx)

    await run(bench.app, copying_job(Showing()), NAMESPACE)
    assert seen == [{"counts": '{"batches":1}', "done": 1, "total": 3}]


async def test_run_acts_as_the_job_under_its_own_cause() -> None:
    bench = Bench()
    await prepare(bench, 2)
    callers: list[Caller] = []

    class Looking(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            callers.append(ctx.caller)
            return await super().run(ctx)

    answer = await run(bench.app, copying_job(Looking()), NAMESPACE)
    assert [(caller.actor, caller.cause) for caller in callers] == [("job:copy", answer["run_id"])]
    assert callers[0].authored_by == "job"


async def test_run_that_is_told_to_end_gives_its_lease_back_and_is_taken_up_again() -> None:
    bench, reached = Bench(), asyncio.Event()
    await prepare(bench)

    class Endless(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            ctx.count(batches=1)
            reached.set()
            await asyncio.Event().wait()
            return await super().run(ctx)

    task = asyncio.create_task(run(bench.app, copying_job(Endless()), NAMESPACE, trigger="cron"))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    [row] = await bench.rows("SELECT status, counts, error FROM job_runs")
    assert row == {"status": "lost", "counts": '{"batches":1}', "error": None}
    again = await run(bench.app, copying_job(Copying()), NAMESPACE, trigger="retry")
    assert again["status"] == "done" and await copies(bench) == await message_ids(bench)


async def test_light_job_of_the_queue_leaves_no_run() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    light = replace(copying_job(code), is_light=True)

    class Unguarded(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            await ctx.still_mine()
            ctx.count(seen=7)
            return JobReport()

    other = replace(copying_job(Unguarded()), is_light=True)
    answer = await run(bench.app, other, NAMESPACE, trigger="queue")
    assert (answer["status"], answer["run_id"], answer["counts"]) == ("done", None, {"seen": 7})
    assert await bench.rows("SELECT * FROM job_runs") == []
    assert (await run(bench.app, light, NAMESPACE, trigger="cron"))["run_id"] is not None


async def test_run_that_comes_no_further_ends() -> None:
    bench = Bench()
    await prepare(bench)
    calls = []

    class Stuck(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            calls.append(ctx.run_id)
            return JobReport(is_done=False)

    answer = await run(bench.app, copying_job(Stuck()), NAMESPACE)
    assert answer["more"] is True and len(calls) == 3
