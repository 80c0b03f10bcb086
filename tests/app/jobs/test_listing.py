"""How jobs and runs are shown: states, leases, progress, what a preview refuses."""

from __future__ import annotations

import pytest
from tests.app.jobs.benches import Copying, copying_job, prepare
from tests.builders import NAMESPACE, Bench

from remembrancer.app.jobs import catalogue, listing
from remembrancer.app.jobs.frame import Job, JobContext, JobReport
from remembrancer.app.jobs.listing import get_run, list_jobs, list_runs, undo_run
from remembrancer.app.jobs.preview import preview_retention
from remembrancer.app.jobs.running import run
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.jobs.backoff import ATTEMPTS_MAX, WAIT_MS_MAX
from remembrancer.core.values import JSON


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Job:
    """A catalogue of one job, which counts its messages and fails when it is told to."""
    job = copying_job(Copying())
    for module in (catalogue, listing):
        monkeypatch.setattr(module, "JOBS", {"copy": job})
    return job


async def shown(bench: Bench) -> dict[str, JSON]:
    jobs = (await list_jobs(bench.app, bench.caller()))["jobs"]
    assert isinstance(jobs, list) and isinstance(jobs[0], dict)
    return jobs[0]


async def test_running_job_shows_its_lease_and_progress(only: Job) -> None:
    bench = Bench()
    await prepare(bench, 2)
    seen: list[dict[str, JSON]] = []

    class Watched(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            ctx.progress(1, 4)
            await ctx.still_mine()
            seen.append(await shown(bench))
            seen.append(await get_run(bench.app, bench.caller(), ctx.run_id))
            with pytest.raises(Conflict, match="has not ended"):
                await undo_run(bench.app, bench.caller(), ctx.run_id)
            return JobReport()

    answer = await run(bench.app, copying_job(Watched()), NAMESPACE)
    job, one = seen
    assert job["status"] == "running"
    assert job["lease"] == {"run_id": answer["run_id"], "until": "2026-03-01T12:12:00Z"}
    assert one["run"]["progress"] == {"done": 1, "total": 4}  # type: ignore[index,call-overload]
    assert (await shown(bench))["status"] == "idle" and only.name == "copy"


async def test_failing_job_waits_and_then_is_dead(only: Job) -> None:
    bench = Bench()
    await prepare(bench)
    failing = copying_job(Copying(failing=True))
    await run(bench.app, failing, NAMESPACE, trigger="retry")
    waiting = await shown(bench)
    assert (waiting["status"], waiting["attempts"]) == ("waiting", 1)
    assert waiting["next_try_at"] == "2026-03-01T12:02:00Z"
    assert waiting["backlog"] == {"messages": 7}
    for _ in range(ATTEMPTS_MAX):
        bench.runtime.advance(WAIT_MS_MAX)
        await run(bench.app, failing, NAMESPACE, trigger="retry")
    assert (await shown(bench))["status"] == "dead" and only.cron is not None


@pytest.mark.parametrize("limit", [0, 101])
async def test_page_of_a_wrong_size_is_refused(limit: int) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput):
        await list_runs(bench.app, bench.caller(), limit=limit)


@pytest.mark.parametrize(("days", "limit"), [(-1, 1), (367, 1), (1, 0), (1, 101)])
async def test_preview_of_a_wrong_size_is_refused(days: int, limit: int) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput):
        await preview_retention(bench.app, bench.caller(), days=days, limit=limit)
