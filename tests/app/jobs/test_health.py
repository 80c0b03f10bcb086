"""Health of the jobs: what counts as behind, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.app.jobs.benches import Copying, add_messages, copying_job, message_ids, prepare
from tests.builders import NAMESPACE, Bench

from remembrancer.app.health import check_health
from remembrancer.app.jobs import health as limits
from remembrancer.app.jobs.running import run
from remembrancer.app.settings import load_settings
from remembrancer.core.jobs.backoff import ATTEMPTS_MAX, WAIT_MS_MAX
from remembrancer.core.values import DAY_MS, JSON, MINUTE_MS
from remembrancer.ports.sql import Statement


async def reasons(bench: Bench, **settings: str) -> list[str]:
    app = replace(bench.app, settings=load_settings(settings))
    return [*(await check_health(app)).reasons]


async def details(bench: Bench) -> dict[str, JSON]:
    found = (await check_health(bench.app)).details["jobs"]
    assert isinstance(found, dict)
    return found


async def passed(bench: Bench, id_: str, at_ms: int, job: str = "extract") -> None:
    sql = "INSERT OR REPLACE INTO job_cursors VALUES (?, ?, ?, ?, 1)"
    await bench.sql.write([Statement(sql, (NAMESPACE, job, at_ms, id_))])


async def test_message_that_waits_too_long_for_extraction_is_a_reason() -> None:
    bench = Bench()
    await add_messages(bench, 2)
    at_ms = bench.runtime.now_ms()
    bench.runtime.advance(limits.UNEXTRACTED_MS_MAX)
    assert await reasons(bench) == []
    bench.runtime.advance(1)

    assert await reasons(bench) == ["extraction is behind: a message waits for 9 hours"]
    assert await reasons(bench, ENABLE_AUTO_MEMORY="false") == []
    first, second = await message_ids(bench)
    await passed(bench, first, at_ms)
    assert len(await reasons(bench)) == 1
    await passed(bench, second, at_ms)
    assert await reasons(bench) == []
    assert (await details(bench))["oldest_unextracted_s"] == 0


async def test_message_that_stays_beyond_its_period_is_a_reason() -> None:
    bench = Bench()
    await add_messages(bench, 1)
    [id_] = await message_ids(bench)
    await passed(bench, id_, bench.runtime.now_ms())
    bench.runtime.advance(14 * DAY_MS + limits.UNKEPT_MS_MAX)
    assert await reasons(bench) == []
    bench.runtime.advance(1)
    assert await reasons(bench) == ["retention is behind: a message is kept for 384 hours"]


async def test_message_since_the_last_good_night_is_a_reason_after_two_more() -> None:
    bench = Bench()
    await prepare(bench, 0)
    await add_messages(bench, 1)
    assert (await run(bench.app, replace(copying_job(Copying()), name="dream"), NAMESPACE))[
        "status"
    ] == "done"
    bench.runtime.advance(1)
    await passed(bench, "", bench.runtime.now_ms(), "dream")
    await add_messages(bench, 1)
    last = (await message_ids(bench))[-1]
    await passed(bench, last, bench.runtime.now_ms())
    bench.runtime.advance(limits.UNDREAMT_MS_MAX)
    assert await reasons(bench) == []
    bench.runtime.advance(1)
    assert await reasons(bench) == ["the nights are behind: a message waits for 50 hours"]
    await passed(bench, "", bench.runtime.now_ms(), "dream")
    assert await reasons(bench) == []


async def test_job_that_fails_for_long_is_a_reason_and_a_dead_one_at_once() -> None:
    bench = Bench()
    await prepare(bench)
    job = copying_job(Copying(failing=True))
    await run(bench.app, job, NAMESPACE, trigger="cron")
    assert await reasons(bench, ENABLE_AUTO_MEMORY="false") == []
    assert (await details(bench))["failing"] == 1
    bench.runtime.advance(limits.FAILING_MS_MAX + 1)
    [reason] = await reasons(bench, ENABLE_AUTO_MEMORY="false")
    assert reason == f"the job 'copy' has failed for {limits.FAILING_MS_MAX // MINUTE_MS} minutes"
    for _ in range(ATTEMPTS_MAX):
        await run(bench.app, job, NAMESPACE, trigger="retry")
        bench.runtime.advance(WAIT_MS_MAX)
    found = await reasons(bench, ENABLE_AUTO_MEMORY="false")
    assert "the job 'copy' is dead after many failures; see its runs, then resume it" in found
    assert (await details(bench))["dead"] == 1


@pytest.mark.parametrize("messages", [0, 3])
async def test_job_that_does_its_work_is_no_reason(messages: int) -> None:
    bench = Bench()
    await prepare(bench, messages)
    await run(bench.app, copying_job(Copying()), NAMESPACE)
    assert await reasons(bench) == []
    found = await details(bench)
    assert ("copy_last_success_at" in found) == bool(messages)
