"""A run in pieces, as on Cloudflare: one run from word to word, within its bounds, undone whole."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, echoing
from tests.app.distill.test_dream import dreaming, remember
from tests.builders import NAMESPACE

from remembrancer.app.jobs.frame import Asked
from remembrancer.app.jobs.listing import get_run, list_jobs, undo_run
from remembrancer.app.jobs.running import handle_message, run_job
from remembrancer.app.jobs.schedule import run_line
from remembrancer.app.state import App
from remembrancer.app.verify import verify
from remembrancer.core.errors import UpstreamFailed
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.ports.models import Completion
from remembrancer.ports.queue import JobMessage
from remembrancer.ports.sql import Row
from remembrancer.testing.queue import RecordingQueue

SUNDAY = int(datetime(2027, 1, 31, 6, tzinfo=UTC).timestamp() * 1_000)
"""The last day of a week and of a month."""


def platform(bench: Distiller) -> tuple[App, RecordingQueue]:
    """The app as it is on the platform: a piece a word, and a queue for the rest."""
    queue = RecordingQueue()
    return replace(bench.app, queue=queue, request_pieces=1), queue


async def emptied(app: App, queue: RecordingQueue, *, times: int = 1) -> list[dict[str, Any]]:
    """Deliver every word of the queue, each so often, until it is empty."""
    answers: list[dict[str, Any]] = []
    for _ in range(100):
        if not queue.messages:
            return answers
        words, queue.messages = queue.messages, []
        for word in words:
            answers += [dict(await handle_message(app, word)) for _ in range(times)]
    raise AssertionError("the queue never empties")


async def runs_of(bench: Distiller, job: str) -> list[Row]:
    return await bench.rows("SELECT * FROM job_runs WHERE job = ? ORDER BY started_at, id", job)


async def state(bench: Distiller) -> dict[str, list[Row]]:
    """All that a night touches, without versions and times."""
    return {
        "memories": await bench.rows(
            "SELECT id, content, title, state FROM items WHERE state <> 'deleted' ORDER BY id"
        ),
        "pages": await bench.rows("SELECT label, kind, content FROM pages ORDER BY label"),
        "digest": await bench.rows("SELECT content FROM digests"),
        "candidates": await bench.rows("SELECT content, status FROM candidates ORDER BY content"),
        "relations": await bench.rows("SELECT source_id, type, target_id FROM relations"),
    }


async def sunday(**given: str) -> Distiller:
    bench = Distiller(actor="agent:claude", given={"DREAM_MAX_MESSAGES": "1", **given})
    bench.runtime.advance(SUNDAY - bench.runtime.now_ms())
    old, new = await remember(bench, "My port is 2222", "My port is 2223")
    bench.teach(dreaming(retire=[{"id": old, "by": new}], quotes=["和小美吃了火锅"]))
    await bench.say("今天去了西湖边跑步。", "晚上和小美吃了火锅。", "My port is 2223 now.")
    bench.runtime.advance(DAY_MS)
    return bench


@pytest.mark.parametrize("times", [1, 2], ids=["once", "each word twice"])
async def test_night_in_pieces_is_one_run_and_undo_takes_back_all_of_it(times: int) -> None:
    bench = await sunday()
    app, queue = platform(bench)
    before = await state(bench)
    await run_line(app, "10 20 * * *")
    await emptied(app, queue, times=times)
    [run] = await runs_of(bench, "dream")
    labels = {row["label"] for row in await bench.rows("SELECT label FROM pages")}
    assert labels == {"2027-01-31", "2027-W04", "2027-01"}
    causes = await bench.rows("SELECT DISTINCT cause FROM events WHERE actor = 'job:dream'")
    assert causes == [{"cause": run["id"]}]
    shown: Any = await get_run(bench.app, bench.caller(), str(run["id"]))
    assert shown["run"]["counts"]["batches"] == 3
    assert shown["run"]["counts"]["days"] == 1
    assert await state(bench) != before
    undone: Any = await undo_run(bench.app, bench.caller(actor="user"), str(run["id"]))
    assert undone["kept"] == []
    assert await state(bench) == before
    assert (await verify(bench.app))["ok"]


async def test_run_by_hand_goes_on_as_itself_with_what_was_insisted_on() -> None:
    bench = Distiller(actor="agent:claude", given={"DREAM_MAX_MESSAGES": "1"})
    bench.teach(dreaming())
    before = await state(bench)
    await bench.say("今天去了西湖。", "晚上吃了火锅。")
    app, queue = platform(bench)
    answer = await run_job(app, "dream", NAMESPACE, asked=Asked(force=True))
    assert answer["more"] is True
    later = await emptied(app, queue)
    # The present day is not over, and was asked for all the same.
    [page] = await bench.rows("SELECT content FROM pages")
    assert "西湖" in str(page["content"]) and "火锅" in str(page["content"])
    assert {one["run_id"] for one in later if one["run_id"]} == {answer["run_id"]}
    await undo_run(bench.app, bench.caller(actor="user"), str(answer["run_id"]))
    assert await state(bench) == before


async def test_run_in_pieces_keeps_to_its_bounds() -> None:
    given = {"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "3"}
    bench = Distiller(script=echoing, actor="agent:claude", given=given)
    await bench.say(*(f"I have visited city number {n} already" for n in range(10)))
    bench.runtime.advance(HOUR_MS)
    app, queue = platform(bench)
    await run_line(app, "0 */4 * * *")
    await emptied(app, queue, times=2)
    [run] = await runs_of(bench, "extract")
    assert len(await bench.texts()) == 6
    await undo_run(bench.app, bench.caller(actor="user"), str(run["id"]))
    assert await bench.texts() == []
    # The next run goes on behind it.
    bench.runtime.advance(4 * HOUR_MS)
    await run_line(app, "0 */4 * * *")
    await emptied(app, queue)
    assert len(await runs_of(bench, "extract")) == 2
    assert len(await bench.texts()) == 4


async def test_words_that_go_on_with_one_run_do_not_work_beside_each_other() -> None:
    bench = Distiller(script=echoing, actor="agent:claude", given={"EXTRACT_MAX_MESSAGES": "2"})
    said = [f"I have visited city number {n} already" for n in range(8)]
    await bench.say(*said)
    bench.runtime.advance(HOUR_MS)
    app, queue = platform(bench)

    class Slow:
        async def complete(self, prompt: Any) -> Any:
            for _ in range(50):
                await asyncio.sleep(0)
            return Completion(echoing(prompt))

    app = replace(app, chat=Slow())
    await run_line(app, "0 */4 * * *")
    statuses: set[str] = set()
    while queue.messages:
        word = queue.messages.pop()
        queue.messages.clear()
        answers = await asyncio.gather(*(handle_message(app, word) for _ in range(4)))
        statuses |= {str(one["status"]) for one in answers}
    assert statuses == {"done", "busy"}
    assert await bench.texts() == said
    assert len(await runs_of(bench, "extract")) == 1


@pytest.mark.parametrize("why", ["undone", "failed", "forgotten", "another job's", "no run"])
async def test_rest_of_a_run_that_is_no_more_is_a_run_of_its_own(why: str) -> None:
    bench = Distiller(script=echoing, actor="agent:claude", given={"EXTRACT_MAX_MESSAGES": "2"})
    await bench.say(*(f"I have visited city number {n} already" for n in range(4)))
    bench.runtime.advance(HOUR_MS)
    app, queue = platform(bench)
    first = await run_job(app, "extract", NAMESPACE)
    [word] = queue.messages
    run_id = str(first["run_id"])
    if why == "undone":
        await undo_run(bench.app, bench.caller(actor="user"), run_id)
    elif why == "failed":
        bench.teach(lambda _: fail())
        await handle_message(replace(app, chat=bench.model), word)
        bench.teach(echoing)
        bench.runtime.advance(HOUR_MS)
    elif why == "another job's":
        bench.teach(dreaming())
        bench.runtime.advance(DAY_MS)
        dreamt = await bench.run("dream", force=False)
        bench.teach(echoing)
        word = JobMessage("extract", NAMESPACE, {"run": dreamt["run_id"], "force": True})
    else:
        word = JobMessage("extract", NAMESPACE, {"run": "run_none" if why == "forgotten" else 7})
    app = replace(app, chat=bench.model)
    answer = await handle_message(app, word)
    assert answer["status"] == "done"
    assert answer["run_id"] not in (run_id, None, "run_none")
    assert len(await bench.texts()) == (2 if why == "undone" else 4)


def fail() -> str:
    raise UpstreamFailed("away")


async def test_job_that_goes_on_is_shown_as_its_run() -> None:
    bench = Distiller(actor="agent:claude", given={"EXTRACT_MAX_MESSAGES": "1"})
    await bench.say("I moved to Lisbon", "I like green tea")
    bench.runtime.advance(HOUR_MS)
    app, queue = platform(bench)
    shown: list[Any] = []

    class Looking:
        async def complete(self, prompt: Any) -> Any:
            answer: Any = await list_jobs(bench.app, bench.caller())
            shown.append(answer["jobs"][0]["lease"]["run_id"])
            return Completion(echoing(prompt))

    app = replace(app, chat=Looking())
    first = await run_job(app, "extract", NAMESPACE)
    await emptied(app, queue)
    assert shown == [first["run_id"]] * 2
