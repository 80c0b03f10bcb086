"""Jobs are killed, refused and left without an answer at every call: the result is the same."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from tests.app.jobs.benches import Copying, add_messages, copies, copying_job, message_ids, prepare
from tests.app.jobs.mortal import HOWS, How, disturbed
from tests.builders import NAMESPACE, Bench, id_of

from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs import retention
from remembrancer.app.jobs.frame import LEASE_MS, Asked, Job
from remembrancer.app.jobs.running import run
from remembrancer.app.rebuild import rebuild
from remembrancer.app.relations import add_relation
from remembrancer.app.verify import verify
from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.values import DAY_MS
from remembrancer.ports.sql import Statement
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.queue import RecordingQueue

RETENTION = Job("retention", "Retention", None, code=retention.CODE)


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


async def fill(bench: Bench) -> dict[str, str]:
    """A store with everything that retention takes, and what it must leave."""
    bench.actor = "agent:claude"
    names: dict[str, str] = {}

    async def memory(name: str, **given: object) -> None:
        whole = {"title": f"{name} 的事", "kind": "memory", "tags": ["茶"], **given}
        answer = await create_item(bench.app, bench.caller(), whole)  # type: ignore[arg-type]
        names[name] = id_of(answer)

    for number in range(3):
        await memory(f"unused{number}")
    await memory("pinned", pinned=True)
    for number in range(3):
        await memory(f"gone{number}")
    gone = [names[f"gone{number}"] for number in range(3)]
    await add_relation(
        bench.app, bench.caller(), source_id=gone[0], type="supports", target_id=names["pinned"]
    )
    await delete_items(bench.app, bench.caller(), gone)
    await add_messages(bench, 4)
    last = (await message_ids(bench))[2]
    cursor = "INSERT INTO job_cursors VALUES (?, 'extract', ?, ?, 1)"
    await bench.sql.write([Statement(cursor, (NAMESPACE, bench.runtime.now_ms(), last))])
    bench.runtime.advance(200 * DAY_MS)
    return names


async def outcome(bench: Bench) -> list[object]:
    """What retention left, without times."""
    tags = "SELECT tag, item_id FROM item_tags ORDER BY 1, 2"
    counters = "SELECT name, value FROM counters WHERE value <> 0 ORDER BY 1"
    kinds = "SELECT stream, kind, count(*) AS n FROM events GROUP BY 1, 2 ORDER BY 1, 2"
    bodies = "SELECT stream, version FROM events WHERE body IS NULL ORDER BY 1, 2"
    return [
        await bench.rows("SELECT id, state FROM items ORDER BY id"),
        await bench.rows("SELECT * FROM relations"),
        await message_ids(bench),
        await bench.rows(tags),
        await bench.rows(counters),
        await bench.rows(kinds),
        await bench.rows(bodies),
    ]


async def undisturbed() -> list[object]:
    bench = Bench()
    await fill(bench)
    await run(bench.app, RETENTION, NAMESPACE)
    return await outcome(bench)


@pytest.mark.parametrize("how", [*HOWS, "delivered twice"])
async def test_retention_with_a_fault_at_any_call_takes_the_same(how: How) -> None:
    expected = await undisturbed()
    for at in itertools.count(1):
        bench = Bench()
        await fill(bench)
        reached = await disturbed(bench, RETENTION, at, how)
        await settle(bench, RETENTION)
        assert await outcome(bench) == expected, (at, how)
        assert (await verify(bench.app))["ok"]
        if not reached:
            break
    assert at > 15
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_retention_that_crashes_inside_any_batch_takes_the_same(moment: str) -> None:
    expected = await undisturbed()
    points = 0
    for write in itertools.count(1):
        for statement in itertools.count():
            bench = Bench()
            await fill(bench)
            sound = bench.sql
            faults = Faults(crash=CrashPoint(statement, moment, write))  # type: ignore[arg-type]
            bench.sql = FaultyStore(sound, faults)
            try:
                await run(bench.app, RETENTION, NAMESPACE, trigger="cron")
            except StoreUnavailable:
                pass
            bench.sql = sound
            if not faults.has_crashed:
                break
            points += 1
            await settle(bench, RETENTION)
            assert await outcome(bench) == expected, (write, statement, moment)
        if statement == 0:
            break
    assert points > 40
