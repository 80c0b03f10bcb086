"""The job of vectors: what it counts as work, and what a run leaves behind."""

from __future__ import annotations

from dataclasses import replace

from tests.app.indexing import Indexed, make_indexed
from tests.builders import NAMESPACE, Bench

from remembrancer.app.items.write import create_item
from remembrancer.app.jobs import index
from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.app.jobs.running import handle_message, run
from remembrancer.core.values import HOUR_MS
from remembrancer.ports.queue import JobMessage

JOB = replace(JOBS["index"], code=index.CODE)


async def remember(indexed: Indexed, count: int = 1) -> None:
    for number in range(count):
        caller = indexed.bench.caller()
        await create_item(indexed.app, caller, {"title": f"第{number}只猫", "kind": "memory"})


async def test_index_embeds_what_waits_and_then_finds_nothing() -> None:
    indexed = make_indexed()
    await remember(indexed, 3)
    done = await run(indexed.app, JOB, NAMESPACE, trigger="cron")
    assert done["status"] == "done"
    assert done["counts"] == {"embedded": 3, "deleted": 0, "retried": 0, "postponed": 0}
    assert await indexed.agrees()
    again = await run(indexed.app, JOB, NAMESPACE, trigger="cron")
    assert again["status"] == "nothing"


async def test_index_does_more_than_one_drain_in_a_run() -> None:
    indexed = make_indexed()
    await remember(indexed, 4)
    small = replace(JOB, code=index.CODE)
    done = await run(indexed.app, small, NAMESPACE)
    assert done["status"] == "done" and await indexed.outbox() == []


async def test_index_without_an_index_has_nothing_to_do() -> None:
    bench = Bench()
    await create_item(bench.app, bench.caller(), {"title": "一只猫", "kind": "memory"})
    assert (await run(bench.app, JOB, NAMESPACE))["status"] == "nothing"


async def test_index_leaves_failed_rows_for_later_and_ends() -> None:
    indexed = make_indexed()
    await remember(indexed, 2)
    indexed.vectors.fail_every = 1
    failed = await run(indexed.app, JOB, NAMESPACE, trigger="cron")
    assert failed["status"] == "done" and (failed["counts"] or {})["retried"]  # type: ignore[index,call-overload]
    assert (await run(indexed.app, JOB, NAMESPACE, trigger="cron"))["status"] == "nothing"
    indexed.vectors.fail_every = 0
    indexed.bench.runtime.advance(HOUR_MS)
    assert (await run(indexed.app, JOB, NAMESPACE, trigger="cron"))["status"] == "done"
    assert await indexed.agrees()


async def test_word_of_the_queue_indexes_without_a_run() -> None:
    indexed = make_indexed()
    await remember(indexed)
    answer = await handle_message(indexed.app, JobMessage("index", NAMESPACE))
    assert (answer["status"], answer["run_id"]) == ("done", None)
    assert await indexed.agrees() and await indexed.bench.rows("SELECT * FROM job_runs") == []
