"""Taking a night back when time has gone on, and moving what was distilled to another store."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.candidates.test_queue import decided
from tests.app.distill.nightly import Distiller, counted, visible
from tests.app.distill.test_dream import digest, dreaming, pages, remember, slept
from tests.app.distill.test_dream_faults import seeded
from tests.app.transfers import export, load

from remembrancer.app.context.startup import get_startup_context
from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import set_item_state
from remembrancer.app.library.digest import set_digest
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import Conflict
from remembrancer.core.values import DAY_MS


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


WEEK = ["今天跑了10公里。", "我和小美吃了火锅。", "My port is 2223 now.", "今天下了大雪。"]
"""Of Thursday to Sunday; Saturday is the last of its month."""


async def week(bench: Distiller) -> list[str]:
    """The runs of four nights, the last of which closes a week, the third a month."""
    bench.runtime.advance(-3 * DAY_MS)  # from Sunday 1 March
    return [await night(bench, said) for said in WEEK]


def week_bench() -> Distiller:
    return Distiller(actor="agent:claude", script=dreaming())


async def test_week_and_month_say_nothing_of_a_night_that_was_taken_back() -> None:
    bench = week_bench()
    runs = await week(bench)
    before = await pages(bench)
    assert {"2026-02", "2026-W09"} <= set(before)
    assert all("火锅" in before[label] for label in ("2026-02", "2026-W09"))
    caller = bench.caller(actor="user")
    answer: Any = await undo(bench.app, caller, cause=runs[1])
    assert "page/2026-02-27" in {one["stream"] for one in answer["undone"]}
    after = await pages(bench)
    assert "2026-02-27" not in after
    for label in ("2026-02", "2026-W09"):
        assert "火锅" not in after[label] and "2026-02-27" not in after[label]
        assert "10公里" in after[label] and "2223" in after[label]
    assert after["2026-W09"].count("- 2026-0") == 3
    started: Any = await get_startup_context(bench.app, bench.caller())
    # Taking a night back is none.
    assert started["last_consolidated"] == "2026-03-02T12:00:04Z"
    assert (await verify(bench.app))["ok"]
    tables = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == tables

    await redo(bench.app, bench.caller(actor="user"), cause=caller.cause)
    again = await pages(bench)
    assert again["2026-02-27"] == before["2026-02-27"]
    assert all("火锅" in again[label] for label in ("2026-02", "2026-W09"))
    # What is taken back once more is the night, not the pages over it.
    with pytest.raises(Conflict, match="undone already"):
        await undo(bench.app, bench.caller(actor="user"), cause=caller.cause)


async def test_week_of_which_every_night_was_taken_back_is_gone() -> None:
    bench = week_bench()
    for run in reversed(await week(bench)):
        await undo(bench.app, bench.caller(actor="user"), cause=run)
    assert await pages(bench) == {}
    await bench.say("今天去了西湖。")
    await slept(bench)
    assert "西湖" in (await pages(bench))["2026-03-02"]
    assert (await verify(bench.app))["ok"]


async def test_night_that_closed_a_week_is_taken_back_with_its_page() -> None:
    bench = week_bench()
    runs = await week(bench)
    await undo(bench.app, bench.caller(actor="user"), cause=runs[3])
    after = await pages(bench)
    assert "2026-W09" not in after and "2026-03-01" not in after
    await bench.say("今天去了西湖。")
    await slept(bench)
    after = await pages(bench)
    assert "大雪" not in after["2026-W09"] and "10公里" in after["2026-W09"]


async def test_night_that_is_dreamt_again_is_in_its_week_and_month_as_it_is_now() -> None:
    bench = week_bench()
    runs = await week(bench)
    await undo(bench.app, bench.caller(actor="user"), cause=runs[1])
    bench.teach(dreaming(summary="我和小美吃了火锅。", title="火锅"))
    done: Any = await bench.run("dream", dates=("2026-02-27",))
    after = await pages(bench)
    assert "火锅" in after["2026-02-27"]
    for label in ("2026-02", "2026-W09"):
        assert "火锅" in after[label] and after[label].count("2026-02-27") == 1
    assert "2026-03" not in after
    await undo(bench.app, bench.caller(actor="user"), cause=str(done["run_id"]))
    after = await pages(bench)
    assert "2026-02-27" not in after and "火锅" not in after["2026-W09"]
