"""Taking a night back when time has gone on, and moving what was distilled to another store."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.candidates.test_queue import decided
from tests.app.distill.nightly import Distiller, counted, visible
from tests.app.distill.test_dream import digest, dreaming, pages, remember, slept
from tests.app.distill.test_dream_faults import seeded
from tests.app.transfers import export, load

from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import set_item_state
from remembrancer.app.library.digest import set_digest
from remembrancer.app.undo import undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import Conflict


async def night(bench: Distiller, said: str) -> str:
    await bench.say(said)
    done = await slept(bench)
    return str(done["run_id"])


async def test_candidate_that_was_decided_since_stays_and_memories_come_back() -> None:
    bench = await seeded()
    done: Any = await bench.run("dream", force=False)
    [waiting] = await bench.candidates()
    bench.actor = "user"
    await decided(bench, str(waiting["id"]), "discard")
    answer: Any = await undo(bench.app, bench.caller(), cause=str(done["run_id"]))
    assert answer["kept"] == [f"candidate/{waiting['id']!s}"]
    assert len(await bench.candidates("discarded")) == 1
    assert await bench.texts("archived") == []
    assert (await verify(bench.app))["ok"]


async def test_summaries_that_were_renewed_since_stay() -> None:
    bench = Distiller(actor="agent:claude", script=dreaming())
    old, new = await remember(bench, "My port is 2222", "My port is 2223")
    bench.teach(dreaming(retire=[{"id": old, "by": new}]))
    first = await night(bench, "今天跑了10公里。")
    bench.teach(dreaming())
    await night(bench, "今天跑了12公里。")
    answer: Any = await undo(bench.app, bench.caller(actor="user"), cause=first)
    assert answer["kept"] == ["digest"]
    assert "12公里" in await digest(bench)
    assert sorted(await bench.texts()) == ["My port is 2222", "My port is 2223"]
    assert "2026-03-01" not in await pages(bench)


async def test_what_was_taken_back_is_not_done_again_the_next_night() -> None:
    bench = Distiller(actor="agent:claude")
    old, new = await remember(bench, "My port is 2222", "My port is 2223")
    bench.teach(dreaming(retire=[{"id": old, "by": new}]))
    first = await night(bench, "今天跑了10公里。")
    await undo(bench.app, bench.caller(actor="user"), cause=first)
    await bench.say("今天跑了12公里。")
    done = await slept(bench)
    assert counted(done, "refused_protected") == 1
    assert sorted(await bench.texts()) == ["My port is 2222", "My port is 2223"]


async def test_memory_that_was_changed_since_still_stands_in_the_way() -> None:
    bench = Distiller(actor="agent:claude")
    old, new = await remember(bench, "My port is 2222", "My port is 2223")
    bench.teach(dreaming(retire=[{"id": old, "by": new}]))
    first = await night(bench, "今天跑了10公里。")
    await set_item_state(bench.app, bench.caller(), old, "active")
    with pytest.raises(Conflict):
        await undo(bench.app, bench.caller(actor="user"), cause=first)


async def test_persons_own_digest_is_undone_as_ever() -> None:
    bench = Distiller()
    caller = bench.caller()
    await set_digest(bench.app, caller, "一")
    await set_digest(bench.app, bench.caller(), "二")
    with pytest.raises(Conflict):
        await undo(bench.app, bench.caller(), cause=caller.cause)


async def test_forgotten_candidate_does_not_keep_a_night_from_being_undone() -> None:
    bench = await seeded()
    done: Any = await bench.run("dream", force=False)
    [boat] = [row for row in await bench.memories() if row["title"] == "owns a boat"]
    await forget_item(bench.app, bench.caller(), str(boat["id"]))
    assert await bench.candidates() == []
    await undo(bench.app, bench.caller(actor="user"), cause=str(done["run_id"]))
    assert await bench.texts("archived") == []


async def test_what_was_distilled_travels_with_an_export() -> None:
    bench = await seeded()
    await bench.run("dream", force=False)
    lines = await export(bench)
    other = await load(lines)
    assert await export(other) == lines
    before, after = await bench.tables(), await other.tables()
    for table in ("candidates", "pages", "digests", "items", "relations"):
        assert after[table] == before[table] != []
    moved = Distiller(sql=other.sql)
    assert (await visible(moved))["candidates"] == (await visible(bench))["candidates"]
