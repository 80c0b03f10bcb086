"""Extraction of what is repeated: a batch twice, a flood, an echo. Faults: `test_matrix`."""

from __future__ import annotations

import json

from tests.app.distill.nightly import Distiller, counted, echoing, fact, facts, lines_of
from tests.app.jobs.scenarios import SAID, mixed

from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.core.chat.wrapping import append_block, wrap
from remembrancer.ports.models import Prompt
from remembrancer.ports.sql import Statement

GIVEN = {"EXTRACT_MAX_MESSAGES": "2", "EXTRACT_MAX_RUNS": "9"}


async def seeded() -> Distiller:
    bench = Distiller(script=mixed, given=GIVEN, actor="agent:claude")
    old = NewMemory("Lives in Porto", {"fact_key": "profile:city"})
    await save_memory(bench.app, bench.caller(), old)
    await bench.say(*SAID)
    bench.runtime.advance(1_000)
    return bench


async def outcome(bench: Distiller) -> dict[str, list[str]]:
    """What is there in the end, whatever ids and times are."""
    return {
        "active": sorted(await bench.texts()),
        "superseded": sorted(await bench.texts("superseded")),
        "waiting": [str(row["content"]) for row in await bench.candidates()],
    }


async def test_run_makes_supersedes_and_files() -> None:
    bench = await seeded()
    await bench.run()
    found = await outcome(bench)
    assert found["superseded"] == ["Lives in Porto"]
    assert found["waiting"] == ["I might switch to tea"]
    assert len(found["active"]) == 4


async def test_batch_that_is_processed_twice_makes_no_fact_twice() -> None:
    bench = await seeded()
    await bench.run()
    before = await outcome(bench)
    await bench.sql.write([Statement("UPDATE job_cursors SET at_ms = 0, id = ''")])
    again = await bench.run()
    assert counted(again, "created") + counted(again, "superseded") == 0
    assert counted(again, "seen") == 4
    assert await outcome(bench) == before


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
