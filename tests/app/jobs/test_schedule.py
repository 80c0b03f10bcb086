"""When jobs run: cron lines, catching up after a sleep or a restart, repetitions, the queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st
from tests.app.jobs.benches import Copying, add_messages, copies, copying_job, message_ids, prepare
from tests.builders import NAMESPACE, Bench

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs import schedule
from remembrancer.app.jobs.catalogue import JOBS, require_job
from remembrancer.app.jobs.frame import LEASE_MS, Asked, Job, JobContext, JobReport
from remembrancer.app.jobs.running import handle_message, message_of
from remembrancer.app.jobs.schedule import (
    Timetable,
    last_moment,
    next_moment,
    run_line,
    sweep,
)
from remembrancer.app.jobs.works import works_of
from remembrancer.app.messages import ingest_messages
from remembrancer.app.settings import load_settings
from remembrancer.core.errors import LimitExceeded, NotFound, StoreUnavailable
from remembrancer.core.ids import Namespace
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.core.messages import Message
from remembrancer.core.values import DAY_MS, HOUR_MS, JSON, MINUTE_MS
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.queue import JobMessage
from remembrancer.store import jobs as store
from remembrancer.testing.blobs import MemoryBlobs
from remembrancer.testing.faults import Faults, FaultyStore
from remembrancer.testing.models import HashingEmbedder
from remembrancer.testing.queue import RecordingQueue
from remembrancer.testing.stores import CountingStore

DAILY = "10 20 * * *"


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * 1_000


@pytest.mark.parametrize(
    ("cron", "now", "last", "following"),
    [
        ("0 */4 * * *", "2026-03-01T12:00:30Z", "2026-03-01T12:00Z", "2026-03-01T16:00Z"),
        ("0 */4 * * *", "2026-03-01T12:00:00Z", "2026-03-01T12:00Z", "2026-03-01T16:00Z"),
        ("0 */4 * * *", "2026-03-01T11:59:59Z", "2026-03-01T08:00Z", "2026-03-01T12:00Z"),
        (DAILY, "2026-03-01T20:09:59Z", "2026-02-28T20:10Z", "2026-03-01T20:10Z"),
        (DAILY, "2026-01-01T00:00:00Z", "2025-12-31T20:10Z", "2026-01-01T20:10Z"),
    ],
)
def test_moments_of_a_line_are_those_around_now(
    cron: str, now: str, last: str, following: str
) -> None:
    assert last_moment(cron, at(now)) == at(last)
    assert next_moment(cron, at(now)) == at(following)


@given(
    minutes=st.integers(min_value=0, max_value=2_000_000), cron=st.sampled_from(["*/15 * * * *"])
)
def test_now_is_never_before_the_last_or_after_the_next_moment(minutes: int, cron: str) -> None:
    now_ms = at("2026-01-01T00:00Z") + minutes * MINUTE_MS + 7
    last, following = last_moment(cron, now_ms), next_moment(cron, now_ms)
    assert last <= now_ms < following and following - last == 15 * MINUTE_MS


@pytest.mark.parametrize("job", JOBS.values(), ids=str)
def test_every_line_of_the_catalogue_is_a_cron_line(job: Job) -> None:
    if job.cron is not None:
        assert next(CronSim(job.cron, datetime(2026, 1, 1, tzinfo=UTC))) is not None


def test_unknown_job_is_refused_with_those_there_are() -> None:
    with pytest.raises(NotFound, match="there is no job 'sleep'") as refusal:
        require_job("sleep")
    assert "extract" in str(refusal.value.hint)


def statuses(answers: list[JSON]) -> list[tuple[object, object]]:
    return [(one["job"], one["status"]) for one in answers if isinstance(one, dict)]


async def triggers(bench: Bench) -> list[str]:
    rows = await bench.rows("SELECT started_by FROM job_runs ORDER BY started_at, id")
    return [str(row["started_by"]) for row in rows]


async def test_ticks_between_two_moments_run_once() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    table = Timetable(bench.app, [copying_job(code)])  # noon is a moment of the line

    first = await table.tick()
    await add_messages(bench, 2)
    bench.runtime.advance(3 * HOUR_MS)
    assert statuses(first) == [("copy", "done")] and await table.tick() == []
    bench.runtime.advance(HOUR_MS)
    assert statuses(await table.tick()) == [("copy", "done")]
    assert await triggers(bench) == ["cron", "cron"]
    assert await copies(bench) == await message_ids(bench)


async def test_moments_missed_in_a_sleep_are_caught_up_once() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    table = Timetable(bench.app, [copying_job(code)])
    await table.tick()
    await add_messages(bench, 1)
    bench.runtime.advance(3 * DAY_MS + HOUR_MS)

    assert statuses(await table.tick()) == [("copy", "done")]
    assert await table.tick() == []
    assert await triggers(bench) == ["cron", "catch-up"]


async def test_restart_catches_up_what_was_missed_and_not_what_ran() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    job = copying_job(code)
    await Timetable(bench.app, [job]).tick()
    bench.runtime.advance(HOUR_MS)
    await add_messages(bench, 1)

    assert await Timetable(bench.app, [job]).tick() == []
    bench.runtime.advance(4 * HOUR_MS)
    assert statuses(await Timetable(bench.app, [job]).tick()) == [("copy", "done")]
    assert await triggers(bench) == ["cron", "catch-up"]


async def test_tick_without_work_writes_nothing() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    job = copying_job(code)
    await Timetable(bench.app, [job]).tick()
    before = await bench.rows("SELECT * FROM job_states")
    bench.runtime.advance(DAY_MS)

    assert statuses(await Timetable(bench.app, [job]).tick()) == [("copy", "nothing")]
    assert await bench.rows("SELECT * FROM job_states") == before and code.model_calls == 3


async def test_failed_run_is_tried_again_when_its_wait_is_over() -> None:
    bench, code = Bench(), Copying(failing=True)
    await prepare(bench)
    table = Timetable(bench.app, [copying_job(code)])
    await table.tick()
    code.failing = False

    assert await table.tick() == []
    bench.runtime.advance(2 * MINUTE_MS)
    assert statuses(await table.tick()) == [("copy", "done")]
    assert await triggers(bench) == ["cron", "retry"]


async def test_resumed_job_is_tried_at_the_next_tick_and_then_left_alone() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    table = Timetable(bench.app, [copying_job(code)])
    await bench.sql.write([store.pause_statement(NAMESPACE, "copy", 1)])
    assert statuses(await table.tick()) == [("copy", "paused")]
    for expected in ([("copy", "done")], [("copy", "nothing")]):
        await bench.sql.write(
            [
                store.pause_statement(NAMESPACE, "copy", 1),
                store.resume_statement(NAMESPACE, "copy", bench.runtime.now_ms()),
            ]
        )
        assert statuses(await table.tick()) == expected
        assert await table.tick() == []


async def test_run_that_vanished_with_its_process_is_taken_up_again() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    table = Timetable(bench.app, [copying_job(code)])
    await bench.sql.write(
        store.take_statements(
            store.Lease(NAMESPACE, "copy", "run_gone"),
            started_by="cron",
            attempt=1,
            now_ms=bench.runtime.now_ms(),
            until_ms=bench.runtime.now_ms() + LEASE_MS,
        )
    )

    assert await table.tick() == []
    bench.runtime.advance(LEASE_MS)
    assert statuses(await table.tick()) == [("copy", "done")]
    rows = await bench.rows("SELECT status FROM job_runs WHERE id = 'run_gone'")
    assert rows == [{"status": "lost"}]


async def test_job_held_by_another_process_is_tried_at_the_next_tick() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    table = Timetable(bench.app, [copying_job(code)])
    now_ms = bench.runtime.now_ms() - HOUR_MS
    await bench.sql.write(
        store.take_statements(
            store.Lease(NAMESPACE, "copy", "run_other"),
            started_by="hand",
            attempt=1,
            now_ms=now_ms,
            until_ms=now_ms + 2 * HOUR_MS,
        )
    )

    assert statuses(await table.tick()) == [("copy", "busy")]
    await bench.sql.write(
        store.finish_statements(
            store.Lease(NAMESPACE, "copy", "run_other"), counts={}, now_ms=now_ms
        )
    )
    assert statuses(await table.tick()) == [("copy", "done")]


async def test_job_with_a_defect_does_not_keep_the_others_from_theirs() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)

    class Broken(Copying):
        async def run(self, ctx: JobContext) -> JobReport:
            raise ZeroDivisionError(ctx.job)

    broken = replace(copying_job(Broken()), name="broken")
    table = Timetable(bench.app, [broken, copying_job(code)])
    with pytest.raises(ZeroDivisionError):
        await table.tick()
    assert statuses(await table.tick()) == [("copy", "done")]


async def test_moment_is_not_seen_to_while_the_database_is_away() -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    sound = bench.sql
    faults = Faults()
    bench.sql = FaultyStore(sound, faults)
    table = Timetable(bench.app, [copying_job(code)])
    faults.fail_every = 4
    with pytest.raises(StoreUnavailable):
        await table.tick()
    faults.fail_every = 0
    assert ("copy", "done") in statuses(await table.tick())


async def test_line_of_the_platform_leaves_a_word_for_each_namespace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, code, queue = Bench(), Copying(), RecordingQueue()
    await prepare(bench)
    job = copying_job(code, cron="0 */4 * * *")
    monkeypatch.setattr(schedule, "JOBS", {"copy": job})
    monkeypatch.setattr("remembrancer.app.jobs.running.require_job", lambda _: job)
    app = replace(bench.app, queue=queue)

    assert await run_line(app, "0 */4 * * *") == []
    [word] = queue.messages
    assert (word.kind, word.namespace, word.body["by"]) == ("copy", NAMESPACE, "cron")
    # Its run has its id already, so that the word may come twice.
    assert (await handle_message(app, word))["run_id"] == word.body["run"]
    assert await run_line(app, "1 1 1 1 *") == [] and len(queue.messages) == 1


async def test_line_without_a_queue_runs_its_jobs_now(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    job = copying_job(code, cron="0 */4 * * *")
    monkeypatch.setattr(schedule, "JOBS", {"copy": job})

    assert statuses(await run_line(bench.app, "0 */4 * * *")) == [("copy", "done")]


async def test_sweep_leaves_words_for_vectors_and_for_what_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, code, queue = Bench(), Copying(failing=True), RecordingQueue()
    await prepare(bench)
    job = copying_job(code)
    index = replace(copying_job(code), name="index", cron="*/15 * * * *")
    monkeypatch.setattr(schedule, "JOBS", {"copy": job, "index": index})
    await Timetable(bench.app, [job]).tick()
    bench.runtime.advance(2 * MINUTE_MS)

    await sweep(replace(bench.app, queue=queue))
    assert [(one.kind, one.body["by"]) for one in queue.messages] == [
        ("copy", "retry"),
        ("index", "cron"),
    ]
    await run_line(replace(bench.app, queue=queue), "*/15 * * * *")
    assert len(queue.messages) == 4


async def test_message_twice_and_out_of_order_does_the_work_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, code, queue = Bench(), Copying(), RecordingQueue()
    await prepare(bench, 30)
    monkeypatch.setattr("remembrancer.app.jobs.running.require_job", lambda _: copying_job(code))
    app = replace(bench.app, queue=queue)
    word = message_of("copy", NAMESPACE, Asked(dates=("2026-03-01",)))
    assert word.body == {"dates": ["2026-03-01"]}

    waiting = [word, word]
    while waiting:
        await handle_message(app, waiting.pop())
        waiting += queue.messages * 2
        queue.messages = []
    assert await copies(bench) == await message_ids(bench)


async def test_server_does_the_words_of_its_queue_and_what_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench, code = Bench(), Copying()
    await prepare(bench)
    job = copying_job(code)
    monkeypatch.setattr("remembrancer.app.jobs.running.require_job", lambda _: job)
    monkeypatch.setattr(schedule, "JOBS", {"copy": job})

    async def consume(handle: Callable[[JobMessage], Awaitable[object]]) -> None:
        await handle(JobMessage("copy", NAMESPACE))

    async def tick_on(tick: Callable[[], Awaitable[object]]) -> None:
        await tick()
        await tick()

    words, ticks = works_of(bench.app, consume, tick_on)
    await words
    assert await triggers(bench) == ["queue"]
    await add_messages(bench, 1)
    bench.runtime.advance(4 * HOUR_MS)
    await ticks
    assert await triggers(bench) == ["queue", "cron"]
    assert await copies(bench) == await message_ids(bench)


async def test_schedule_of_a_server_can_be_switched_off() -> None:
    bench = Bench()
    app = replace(bench.app, settings=load_settings({"SCHEDULER_ENABLED": "false"}))

    async def endless(_: object) -> None:
        return None

    [words] = works_of(app, endless, endless)
    words.close()


async def test_namespaces_are_those_with_events_or_messages() -> None:
    bench, code = Bench(), Copying()
    assert await schedule.namespaces(bench.app) == []
    await prepare(bench, 1)
    assert await schedule.namespaces(bench.app) == [NAMESPACE]
    assert code.model_calls == 0


def test_a_day_has_one_moment_of_a_daily_line() -> None:
    moment = at("2026-03-01T20:10Z")
    for hours in range(24):
        later = moment + int(timedelta(hours=hours).total_seconds() * 1_000)
        assert last_moment(DAILY, later) == moment


async def households(bench: Bench) -> list[Namespace]:
    """Namespaces in which extraction, retention and the sweep have work for several pieces."""
    names = [Namespace(f"家-{number}") for number in range(4)]
    for name in names:
        for first in range(0, 40, 20):
            said = [
                Message("user", f"我喜欢 {name} 的 {n} 号绿茶，住在第 {n} 个城市")
                for n in range(first, first + 20)
            ]
            await ingest_messages(bench.app, bench.caller(namespace=name), said)
            bench.runtime.advance(MINUTE_MS)
        given: ItemInput = {"title": f"{name} 的长文", "content": "字" * 20_000}
        await create_item(bench.app, bench.caller(namespace=name), given)
    bench.runtime.advance(2 * HOUR_MS)
    return names


async def test_line_without_a_queue_does_what_one_event_affords_and_leaves_none_out() -> None:
    bench = Bench(blobs=MemoryBlobs())
    names = await households(bench)
    embedder = HashingEmbedder()
    vectors = LocalVectors(MEMORY, embedder.model, threads=0)
    counting = CountingStore(bench.sql)
    app = replace(bench.app, sql=counting, embedder=embedder, vectors=vectors, request_pieces=1)
    lines = [*dict.fromkeys(job.cron for job in JOBS.values())]
    done: set[tuple[str, str]] = set()
    for event in range(160):
        counting.counts.reset()
        bench.runtime.advance(15 * MINUTE_MS)
        line = lines[event % len(lines)]
        assert line is not None
        answers: list[Any] = await run_line(app.serving(None), line)
        assert 0 < counting.counts.statements <= SQL_BATCH_STATEMENTS_MAX
        assert answers
        done |= {(str(one["job"]), line) for one in answers if one["status"] == "done"}
    assert {job for job, _ in done} >= {"extract", "index", "artifacts"}
    for name in names:
        learned = "SELECT 1 FROM items WHERE namespace = ? AND kind = 'memory'"
        assert await bench.rows(learned, name), name
        waiting = "SELECT 1 FROM artifact_chunks WHERE namespace = ?"
        assert await bench.rows(waiting, name) == []


async def test_line_without_a_queue_runs_everything_where_nothing_is_bounded() -> None:
    bench = Bench()
    names = await households(bench)
    answers = await run_line(bench.app, "0 */4 * * *")
    assert len(answers) == len(names)
    assert {status for _, status in statuses(answers)} == {"done"}


async def test_messages_of_one_event_share_what_it_may_send() -> None:
    bench, queue = Bench(), RecordingQueue()
    await households(bench)
    counting = CountingStore(bench.sql)
    app = replace(bench.app, sql=counting, request_pieces=1, queue=queue)
    await run_line(app.serving(None), "0 */4 * * *")
    words, queue.messages = queue.messages, []
    counting.counts.reset()
    event, refused = app.serving(None), 0
    for word in words:
        try:
            await handle_message(event, word)
        except LimitExceeded:
            refused += 1  # it comes again
    assert counting.counts.statements <= SQL_BATCH_STATEMENTS_MAX
    assert 0 < refused < len(words)
    bench.runtime.advance(LEASE_MS)
    for word in words:
        await handle_message(app.serving(None), word)
    for word in [*words, *queue.messages]:
        assert await bench.rows("SELECT 1 FROM items WHERE namespace = ?", word.namespace)
