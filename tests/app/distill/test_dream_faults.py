"""A night under faults, a model that wants to delete everything, and taking a night back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, counted, lines_of
from tests.app.distill.test_dream import dreaming, memories_of, remember
from tests.builders import NAMESPACE

from remembrancer.app.jobs.running import handle_message
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import RemembrancerError, UpstreamFailed
from remembrancer.core.values import DAY_MS
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.queue import JobMessage
from remembrancer.ports.sql import Row
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.stores import memory_store

SAID = ["今天去了西湖边跑步，跑了10公里。", "My port is 2223 now.", "晚上和小美吃了火锅。"]
KNOWN = ["My port is 2222", "用户喜欢喝咖啡", "用户不喜欢喝咖啡", "likes tea", "owns a boat"]


def tidying(prompt: Prompt) -> str:
    """One of everything: a replacement, a retirement, a candidate, a quote, page and digest."""
    lines = lines_of(prompt)
    by_text = {text.split(") ")[-1]: id_ for id_, role, text in lines if role == "memory"}
    given: dict[str, Any] = {"quotes": ["和小美吃了火锅"], "retire": []}
    for id_, role, text in lines:
        if role == "user" and "2223" in text and KNOWN[0] in by_text:
            change = {"id": by_text[KNOWN[0]], "content": "Port is 2223 now"}
            given["replace"] = [{**change, "source_message_ids": [id_]}]
    if KNOWN[1] in by_text and KNOWN[2] in by_text:
        given["retire"] = [{"id": by_text[KNOWN[1]], "by": by_text[KNOWN[2]]}]
    if KNOWN[4] in by_text:
        given["retire"] += [{"id": by_text[KNOWN[4]]}]
    return dreaming(**given)(prompt)


async def seeded(faults: Faults | None = None) -> Distiller:
    store = memory_store()
    bench = Distiller(
        actor="agent:claude", script=tidying, given={"DREAM_MAX_MESSAGES": "1"}, sql=store
    )
    await remember(bench, *KNOWN)
    await bench.say(*SAID)
    bench.runtime.advance(DAY_MS)
    if faults is not None:
        bench.sql = FaultyStore(store, faults)
    return bench


async def visible(bench: Distiller) -> dict[str, list[Row]]:
    """What a person sees, without ids and times, which differ from run to run."""
    return {
        "items": await bench.rows(
            "SELECT title, content, type, state, fact_key, tags, importance, authored_by, pinned"
            " FROM items WHERE state <> 'deleted' ORDER BY title, content, state"
        ),
        "candidates": await bench.rows(
            "SELECT kind, status, content FROM candidates ORDER BY content"
        ),
        "pages": await bench.rows("SELECT label, version, content FROM pages ORDER BY label"),
        "digest": await bench.rows("SELECT content, version FROM digests"),
        "parts": await bench.rows("SELECT date, part FROM dream_parts"),
        "relations": await bench.rows("SELECT type FROM relations"),
    }


async def recovered(bench: Distiller) -> dict[str, list[Row]]:
    if isinstance(bench.sql, FaultyStore):
        bench.sql = bench.sql.inner
    for _ in range(10):
        bench.runtime.advance(3_600_000)
        if (await bench.run("dream", force=False))["status"] == "nothing":
            break
    assert (await verify(bench.app))["ok"]
    return await visible(bench)


async def attempt(bench: Distiller) -> None:
    try:
        await bench.run("dream", force=False)
    except RemembrancerError:
        pass


async def undisturbed() -> dict[str, list[Row]]:
    return await recovered(await seeded())


async def test_undisturbed_night_does_one_of_everything() -> None:
    found = await undisturbed()
    states = [str(row["state"]) for row in found["items"]]
    assert [states.count(name) for name in ("active", "superseded", "archived")] == [5, 1, 1]
    assert [row["kind"] for row in found["candidates"]] == ["retire"]
    assert [row["version"] for row in found["pages"]] == [1, 1]
    assert [row["version"] for row in found["digest"]] == [1]


@pytest.mark.parametrize("call", range(1, 46, 2))
async def test_killed_at_any_call_of_the_store_it_recovers(call: int) -> None:
    faults = Faults()
    bench = await seeded(faults)
    faults.fail_every, faults.calls = call, 0
    await attempt(bench)
    faults.fail_every = 0
    assert await recovered(bench) == await undisturbed()


@pytest.mark.parametrize("write", [3, 10, 11, 12, 13])
async def test_killed_at_any_statement_of_a_batch_it_recovers(write: int) -> None:
    expected = await undisturbed()
    statement = 0
    while True:
        faults = Faults()
        bench = await seeded(faults)
        faults.crash = CrashPoint(statement, "after", write)
        await attempt(bench)
        if not faults.has_crashed:
            break
        assert await recovered(bench) == expected
        statement += 3
    assert statement > 0


@pytest.mark.parametrize("every", [1, 2, 3])
async def test_answers_that_get_lost_lose_and_double_nothing(every: int) -> None:
    faults = Faults()
    bench = await seeded(faults)
    faults.lose_answer_every = every
    for _ in range(4):
        await attempt(bench)
        bench.runtime.advance(3_600_000)
    assert await recovered(bench) == await undisturbed()


@pytest.mark.parametrize("call", range(1, 6))
async def test_model_that_fails_at_a_call_changes_nothing_in_the_end(call: int) -> None:
    bench = await seeded()
    assert bench.model is not None
    bench.model.fail_every = call
    await attempt(bench)
    bench.model.fail_every = 0
    assert await recovered(bench) == await undisturbed()


@pytest.mark.parametrize("answer", ["I cannot do that.", "{}", "[1, 2]"])
async def test_refusal_leaves_everything_for_the_next_night(answer: str) -> None:
    bench = await seeded()
    bench.teach(answer)
    before = await bench.tables()
    with pytest.raises(UpstreamFailed):
        await bench.run("dream")
    assert await bench.tables() == before
    bench.teach(tidying)
    assert await recovered(bench) == await undisturbed()


async def test_cancelled_while_the_model_answers_it_recovers() -> None:
    bench = await seeded()

    def cancelled(_: Prompt) -> str | Completion:
        raise asyncio.CancelledError

    bench.teach(cancelled)
    with pytest.raises(asyncio.CancelledError):
        await bench.run("dream")
    bench.teach(tidying)
    assert await recovered(bench) == await undisturbed()


async def test_words_of_the_queue_twice_and_out_of_order_do_no_harm() -> None:
    bench = await seeded()
    word = JobMessage("dream", NAMESPACE)
    await asyncio.gather(*(handle_message(bench.app, word) for _ in range(3)))
    for _ in range(12):
        await handle_message(bench.app, word)
    assert await recovered(bench) == await undisturbed()


def deleting(prompt: Prompt) -> str:
    """A model that proposes to delete everything, each because of any other."""
    ids = memories_of(prompt)
    retire = [{"id": id_, "by": ids[n - 1], "reason": "old"} for n, id_ in enumerate(ids)]
    return json.dumps({"summary": "", "retire": [*retire, *ids], "memories_to_delete": ids})


@pytest.mark.parametrize(("count", "bound"), [(30, 5), (140, 7)])
async def test_model_that_deletes_everything_is_bounded_and_undone_exactly(
    count: int, bound: int
) -> None:
    bench = Distiller(
        actor="agent:claude", script=deleting, given={"DREAM_MEMORY_CONTEXT_LIMIT": "200"}
    )
    await remember(bench, *(f"My port number is {n + 1000}" for n in range(count)))
    await bench.say("my port number changed")
    before = await visible(bench)
    done = await bench.run("dream")
    assert counted(done, "retired") == bound
    assert len(await bench.texts()) == count - bound
    assert len(await bench.texts("archived")) == bound
    assert len(await bench.candidates()) == 24
    cause = str(done["run_id"])
    assert await bench.rows("SELECT DISTINCT cause FROM events WHERE actor = 'job:dream'") == [
        {"cause": cause}
    ]
    after = await visible(bench)
    taking = bench.caller(actor="user")
    await undo(bench.app, taking, cause=cause)
    undone = await visible(bench)
    for name in ("items", "candidates", "pages", "digest", "relations"):
        assert undone[name] == before[name], name
    assert (await verify(bench.app))["ok"]
    await redo(bench.app, bench.caller(actor="user"), cause=taking.cause)
    again = await visible(bench)
    assert again["items"] == after["items"]
    assert again["candidates"] == after["candidates"]


async def test_night_with_everything_is_taken_back_and_brought_again() -> None:
    bench = await seeded()
    before = await visible(bench)
    done = await bench.run("dream", force=False)
    taking = bench.caller(actor="user")
    await undo(bench.app, taking, cause=str(done["run_id"]))
    undone = await visible(bench)
    assert undone == before
    tables = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == tables
    assert (await verify(bench.app))["ok"]


async def test_bound_holds_for_all_days_of_one_run_together() -> None:
    bench = Distiller(
        actor="agent:claude", script=deleting, given={"DREAM_MEMORY_CONTEXT_LIMIT": "100"}
    )
    await remember(bench, *(f"My port number is {n + 1000}" for n in range(40)))
    for _ in range(3):
        await bench.say("my port number changed")
        bench.runtime.advance(DAY_MS)
    done = await bench.run("dream", force=False)
    assert (counted(done, "days"), counted(done, "retired")) == (3, 5)
