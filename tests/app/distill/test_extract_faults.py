"""Extraction under faults: killed anywhere, a failing model, messages twice, a flood, an echo.

After recovery the result is that of the undisturbed run.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.app.distill.nightly import Distiller, Script, counted, echoing, fact, facts, lines_of
from tests.builders import NAMESPACE

from remembrancer.app.jobs.running import handle_message
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.rebuild import rebuild
from remembrancer.app.verify import verify
from remembrancer.core.chat.wrapping import append_block, wrap
from remembrancer.core.errors import RemembrancerError
from remembrancer.ports.models import Completion, Prompt
from remembrancer.ports.queue import JobMessage
from remembrancer.ports.sql import Statement
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.stores import memory_store

SAID = [
    "I moved to Lisbon in March",
    "我对花生过敏",
    "I might switch to tea",
    "I prefer dark mode at night",
    "我最喜欢的颜色是蓝色",
]
GIVEN = {"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "9"}


def mixed(prompt: Prompt) -> str:
    """Facts under keys and without, one that waits, one that takes an older one's place."""
    entries = []
    for id_, role, text in lines_of(prompt):
        if role == "user":
            key = "profile:city" if "Lisbon" in text else None
            unsure = {"confidence": 0.4} if "might" in text else {}
            entries.append(fact(text, id_, fact_key=key, **unsure))
    return facts(*entries)


async def seeded(faults: Faults | None = None, script: Script = mixed) -> Distiller:
    store = memory_store()
    bench = Distiller(script=script, given=GIVEN, actor="agent:claude", sql=store)
    old = NewMemory("Lives in Porto", {"fact_key": "profile:city"})
    await save_memory(bench.app, bench.caller(), old)
    await bench.say(*SAID)
    bench.runtime.advance(1_000)
    if faults is not None:
        bench.sql = FaultyStore(store, faults)
    return bench


async def outcome(bench: Distiller) -> dict[str, list[str]]:
    """What is there in the end, whatever ids and times are."""
    waiting = [str(row["content"]) for row in await bench.candidates()]
    cursors = await bench.rows("SELECT at_ms, id FROM job_cursors")
    return {
        "active": sorted(await bench.texts()),
        "superseded": sorted(await bench.texts("superseded")),
        "waiting": waiting,
        "cursor": [str(cursors)],
    }


async def recovered(bench: Distiller) -> dict[str, list[str]]:
    """Run again, as a scheduler would, until nothing waits; leases of the dead have run out."""
    if isinstance(bench.sql, FaultyStore):
        bench.sql = bench.sql.inner
    for _ in range(20):
        bench.runtime.advance(4 * 3_600_000)
        if (await bench.run())["status"] == "nothing":
            break
    assert (await verify(bench.app))["ok"]
    return await outcome(bench)


async def undisturbed() -> dict[str, list[str]]:
    return await recovered(await seeded())


async def attempt(bench: Distiller) -> None:
    try:
        await bench.run()
    except RemembrancerError:
        pass


async def test_undisturbed_run_does_what_the_others_are_compared_with() -> None:
    found = await undisturbed()
    assert found["superseded"] == ["Lives in Porto"]
    assert found["waiting"] == ["I might switch to tea"]
    assert len(found["active"]) == 4


@pytest.mark.parametrize("call", range(1, 26))
async def test_killed_at_any_call_of_the_store_it_recovers(call: int) -> None:
    faults = Faults()
    bench = await seeded(faults)
    faults.fail_every, faults.calls = call, 0
    await attempt(bench)
    faults.fail_every = 0
    assert await recovered(bench) == await undisturbed()


@pytest.mark.parametrize("write", [2, 3, 4])
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_killed_at_any_statement_of_a_batch_it_recovers(moment: str, write: int) -> None:
    expected = await undisturbed()
    statement = 0
    while True:
        faults = Faults()
        bench = await seeded(faults)
        faults.crash = CrashPoint(statement, moment, write)  # type: ignore[arg-type]  # a text
        await attempt(bench)
        if not faults.has_crashed:
            break
        assert await recovered(bench) == expected
        statement += 1
    assert statement > 1


@pytest.mark.parametrize("every", [1, 2, 3])
async def test_answers_that_get_lost_lose_and_double_nothing(every: int) -> None:
    faults = Faults()
    bench = await seeded(faults)
    faults.lose_answer_every = every
    for _ in range(4):
        await attempt(bench)
        bench.runtime.advance(4 * 3_600_000)
    assert await recovered(bench) == await undisturbed()


@pytest.mark.parametrize("call", range(1, 4))
async def test_model_that_fails_at_a_call_changes_nothing_in_the_end(call: int) -> None:
    bench = await seeded()
    assert bench.model is not None
    bench.model.fail_every = call
    await attempt(bench)
    bench.model.fail_every = 0
    assert await recovered(bench) == await undisturbed()


async def test_cancelled_while_the_model_answers_it_recovers() -> None:
    bench = await seeded()

    def cancelled(_: Prompt) -> str | Completion:
        raise asyncio.CancelledError

    bench.teach(cancelled)
    with pytest.raises(asyncio.CancelledError):
        await bench.run()
    bench.teach(mixed)
    assert await recovered(bench) == await undisturbed()


async def test_words_of_the_queue_twice_and_out_of_order_do_no_harm() -> None:
    bench = await seeded()
    bench.runtime.advance(4 * 3_600_000)
    word = JobMessage("extract", NAMESPACE)
    for _ in range(8):
        await handle_message(bench.app, word)
    await asyncio.gather(*(handle_message(bench.app, word) for _ in range(4)))
    assert await recovered(bench) == await undisturbed()


async def test_batch_that_is_processed_twice_makes_no_fact_twice() -> None:
    bench = await seeded()
    await bench.run()
    before = await outcome(bench)
    await bench.sql.write([Statement("UPDATE job_cursors SET at_ms = 0, id = ''")])
    again = await bench.run()
    assert counted(again, "created") + counted(again, "superseded") == 0
    assert counted(again, "seen") == 4
    assert await outcome(bench) == before


async def test_memories_of_a_job_survive_a_rebuild() -> None:
    bench = await seeded()
    await bench.run()
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before


async def test_ten_thousand_messages_of_a_day_are_distilled_completely() -> None:
    asked: list[str] = []

    def counting(prompt: Prompt) -> str:
        ids = [id_ for id_, _, _ in lines_of(prompt)]
        asked.extend(ids)
        marked = [(id_, text) for id_, _, text in lines_of(prompt) if "keep" in text]
        return facts(*(fact(text, id_) for id_, text in marked))

    given = {"EXTRACT_MAX_MESSAGES": "200", "EXTRACT_MAX_RUNS": "10"}
    bench = Distiller(script=counting, given=given)
    said = [
        f"please keep code {n}" if n % 500 == 0 else f"small talk number {n}" for n in range(10_000)
    ]
    for start in range(0, 10_000, 400):
        await bench.say(*said[start : start + 400], step_ms=0)
        bench.runtime.advance(1)
    runs = 0
    while (await bench.run())["status"] != "nothing":
        runs += 1
    assert runs == 5
    assert len(asked) == len(set(asked)) == 10_000
    assert await bench.texts() == [text for text in said if "keep" in text]


async def test_echo_of_injected_memories_leads_to_no_new_memory() -> None:
    bench = Distiller(script=echoing, actor="agent:claude")
    known = [f"User likes tea number {n} from the region of Yunnan" for n in range(10)]
    for text in known:
        await save_memory(bench.app, bench.caller(), NewMemory(text))
    bench.runtime.advance(1_000)
    for turn in range(50):
        text = known[turn % 10]
        block = wrap("memory", f"- {text}, he says, ever since {1990 + turn}")
        quoted = "\n".join(f"> {line}" for line in block.splitlines())
        await bench.say(block, f"[memory] {text}", role="system")
        await bench.say(append_block("thanks", block), f"{quoted}\nthanks", text)
        await bench.say(json.dumps({"result": block}), f"> {text}\nthanks")
        await bench.say(f"You told me: {text}", role="assistant")
        await bench.say(text, block, role="tool")
    while (await bench.run())["status"] != "nothing":
        pass
    left = [text for text in await bench.texts() if text not in ("thanks", '{"result": ""}')]
    assert sorted(left) == sorted(known)
