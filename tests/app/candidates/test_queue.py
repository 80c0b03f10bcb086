"""The review queue: the least sure first, decided once, and undone as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, fact, facts
from tests.builders import Bench

from remembrancer.app.candidates.decide import decide_candidate, decide_candidates, preview_merge
from remembrancer.app.candidates.queue import get_candidate, list_candidates
from remembrancer.app.items.states import delete_items, update_task_state
from remembrancer.app.items.write import create_item
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.rebuild import rebuild
from remembrancer.app.relations import supersede_items
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core.candidates.decide import Proposed, file_candidate
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.ledger.events import Head
from remembrancer.core.values import Caller
from remembrancer.store import ledger
from remembrancer.store.candidates import candidate_stream
from remembrancer.store.ledger import StreamEdit

KEY = "profile:city"


async def waiting(bench: Bench, content: str = "用户住在里斯本", **given: Any) -> str:
    """File a candidate, as a job does."""
    id_ = bench.runtime.new_id("cnd")
    draft = file_candidate(Proposed(given.pop("kind", "fact"), content, **given))
    edit = StreamEdit(candidate_stream(id_), Head(), {}, (draft,))
    caller = bench.caller(actor="job:extract")
    sealed, placed = ledger.place(
        [edit], caller=caller, at_ms=bench.runtime.now_ms(), salts=[bytes(16)]
    )
    await bench.sql.write(ledger.append(sealed, placed))
    return id_


async def memory(bench: Bench, content: str, **given: Any) -> str:
    answer = await save_memory(bench.app, bench.caller(), NewMemory(content, given))  # type: ignore[arg-type]  # names of ItemInput
    shown = answer["memory"]
    assert isinstance(shown, dict)
    return str(shown["id"])


async def decided(bench: Bench, id_: str, action: str, **given: Any) -> Any:
    return await decide_candidate(bench.app, bench.caller(), id_, action, given)  # type: ignore[arg-type]  # names of Decision


async def shown(bench: Bench, status: str = "pending") -> list[Any]:
    answer: Any = await list_candidates(bench.app, bench.caller(), status=status)
    return list(answer["candidates"])


async def active(bench: Bench) -> list[str]:
    rows = await bench.rows("SELECT title FROM items WHERE state = 'active' ORDER BY seq")
    return [str(row["title"]) for row in rows]


async def test_queue_pages_the_least_sure_first() -> None:
    bench = Bench()
    for number in range(7):
        await waiting(bench, f"fact {number}", confidence=(7 - number) / 10)
    found: list[Any] = []
    cursor: Any = None
    while True:
        page: Any = await list_candidates(bench.app, bench.caller(), limit=3, cursor=cursor)
        assert page["total"] == 7
        found += page["candidates"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [one["content"] for one in found] == [f"fact {n}" for n in reversed(range(7))]


@pytest.mark.parametrize("given", [{"status": "gone"}, {"limit": 0}, {"limit": 201}], ids=str)
async def test_queue_refuses_what_it_has_not(given: dict[str, Any]) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput):
        await list_candidates(bench.app, bench.caller(), **given)


@pytest.mark.parametrize(
    ("actor", "author"), [("user", "human"), ("agent:claude", "agent")], ids=["person", "agent"]
)
async def test_approved_fact_is_a_memory_of_whoever_approved_it(actor: str, author: str) -> None:
    bench = Bench(actor=actor)
    id_ = await waiting(bench, source_message_ids=("msg_1",), tags=("家",), confidence=0.4)
    answer = await decided(bench, id_, "approve", decision_note="对")
    assert (answer["outcome"], answer["candidate"]["status"]) == ("created", "approved")
    kept = answer["memory"]
    assert (kept["content"], kept["authored_by"], kept["source_message_ids"], kept["tags"]) == (
        "用户住在里斯本",
        author,
        ["msg_1"],
        ["家"],
    )
    assert answer["candidate"]["memory_id"] == kept["id"]
    assert await shown(bench) == []


async def test_edits_come_before_the_approval() -> None:
    bench = Bench()
    id_ = await waiting(bench, "User might live in Lisbon", fact_key=KEY, confidence=0.3)
    edits = {"content": "Lives in Porto", "type": "identity", "confidence": 0.9, "tags": ["home"]}
    answer = await decided(bench, id_, "approve", **edits, fact_key="Profile: Home City")
    kept = answer["memory"]
    assert (kept["content"], kept["type"], kept["confidence"]) == (
        "Lives in Porto",
        "identity",
        0.9,
    )
    assert (kept["fact_key"], kept["tags"]) == ("profile:home_city", ["home"])


async def test_approval_supersedes_the_holder_of_the_key() -> None:
    bench = Bench()
    old = await memory(bench, "Lives in Porto", fact_key=KEY)
    id_ = await waiting(bench, "Lives in Lisbon", fact_key=KEY)
    answer = await decided(bench, id_, "approve")
    assert answer["outcome"] == "superseded"
    assert await active(bench) == ["Lives in Lisbon"]
    [row] = await bench.rows("SELECT state, superseded_by FROM items WHERE id = ?", old)
    assert (row["state"], row["superseded_by"]) == ("superseded", answer["memory"]["id"])


async def test_approval_of_what_is_known_only_sees_it_again() -> None:
    bench = Bench()
    await memory(bench, "用户住在里斯本")
    answer = await decided(bench, await waiting(bench), "approve")
    assert answer["outcome"] == "seen"
    assert await active(bench) == ["用户住在里斯本"]


async def test_decided_candidate_cannot_be_decided_again() -> None:
    bench = Bench()
    for action in ("approve", "discard"):
        id_ = await waiting(bench, f"fact to {action}")
        await decided(bench, id_, action)
        before = await bench.tables()
        for again in ("approve", "discard", "merge", "supersede"):
            with pytest.raises(Conflict):
                await decided(bench, id_, again)
        assert await bench.tables() == before


async def test_merge_is_previewed_and_then_does_what_it_showed() -> None:
    bench = Bench()
    target = await memory(bench, "likes tea", importance=0.9, confidence=0.5, tags=["drink"])
    id_ = await waiting(bench, "likes oolong tea", importance=0.6, confidence=0.7, tags=("tea",))
    before = await bench.tables()
    preview: Any = await preview_merge(bench.app, bench.caller(), id_, {"target_id": target})
    assert await bench.tables() == before
    assert (preview["candidate"]["content"], preview["target"]["content"]) == (
        "likes oolong tea",
        "likes tea",
    )
    answer = await decided(bench, id_, "merge", target_id=target)
    kept = answer["memory"]
    assert (answer["outcome"], answer["candidate"]["status"], kept["id"]) == (
        "merged",
        "merged",
        target,
    )
    result = {name: kept[name] for name in ("content", "tags", "confidence", "importance")}
    assert result == preview["result"]
    assert result == {
        "content": "likes oolong tea",
        "tags": ["drink", "tea"],
        "confidence": 0.7,
        "importance": 0.9,
    }


@pytest.mark.parametrize("action", ["merge", "supersede"])
async def test_action_on_a_target_needs_one_that_is_there(action: str) -> None:
    bench = Bench()
    id_ = await waiting(bench)
    with pytest.raises(InvalidInput):
        await decided(bench, id_, action)
    with pytest.raises(NotFound):
        await decided(bench, id_, action, target_id="itm_none")
    gone = await memory(bench, "old", fact_key=KEY)
    await memory(bench, "new", fact_key=KEY)
    with pytest.raises(Conflict):
        await decided(bench, id_, action, target_id=gone)
    assert len(await shown(bench)) == 1


async def test_supersede_puts_the_fact_in_the_place_of_a_memory() -> None:
    bench = Bench()
    target = await memory(bench, "住在波尔图", fact_key=KEY, tags=["家"])
    answer = await decided(bench, await waiting(bench), "supersede", target_id=target)
    assert (answer["outcome"], answer["candidate"]["status"]) == ("superseded", "superseded")
    assert (answer["memory"]["fact_key"], answer["memory"]["tags"]) == (KEY, ["家"])
    assert await active(bench) == ["用户住在里斯本"]


async def test_unknown_candidate_and_action_are_refused() -> None:
    bench = Bench()
    with pytest.raises(NotFound):
        await decided(bench, "cnd_none", "approve")
    with pytest.raises(NotFound):
        await get_candidate(bench.app, bench.caller(), "cnd_none")
    with pytest.raises(InvalidInput):
        await decided(bench, await waiting(bench), "delete")


async def test_candidate_is_shown_with_what_it_is_about() -> None:
    bench = Bench()
    target = await memory(bench, "likes tea")
    id_ = await waiting(bench, "x", kind="retire", target_ids=(target, "itm_gone"))
    answer: Any = await get_candidate(bench.app, bench.caller(), id_)
    assert answer["candidate"]["target_ids"] == [target, "itm_gone"]
    assert [one["id"] for one in answer["targets"]] == [target]


async def test_approved_changes_of_a_night_are_carried_out() -> None:
    bench = Bench()
    ids = [
        await memory(bench, text) for text in ("likes tea", "likes coffee", "eats meat", "vegan")
    ]
    retire = await waiting(bench, "a", kind="retire", target_ids=(ids[0],))
    clash = await waiting(bench, "b", kind="conflict", target_ids=(ids[3], ids[2]))
    merge = await waiting(bench, "drinks coffee", kind="merge", target_ids=(ids[1], ids[3]))
    assert (await decided(bench, retire, "approve"))["outcome"] == "archived"
    assert (await decided(bench, clash, "approve"))["outcome"] == "superseded"
    assert await active(bench) == ["likes coffee", "vegan"]
    assert (await decided(bench, merge, "approve"))["outcome"] == "superseded"
    assert await active(bench) == ["drinks coffee"]
    other = await waiting(bench, "c", kind="retire", target_ids=(ids[0],))
    with pytest.raises(InvalidInput):
        await decided(bench, other, "merge", target_id=ids[1])


async def _conflict(bench: Bench) -> tuple[str, str, str]:
    """Two memories that contradict each other, and the candidate that says so."""
    newer, older = await memory(bench, "lives in Porto"), await memory(bench, "lives in Lisbon")
    return newer, older, await waiting(bench, "b", kind="conflict", target_ids=(newer, older))


async def test_conflict_is_decided_though_the_relation_stands_from_before() -> None:
    bench = Bench()
    newer, older, clash = await _conflict(bench)
    await supersede_items(bench.app, bench.caller(), source_item_id=newer, target_item_ids=[older])
    await update_task_state(bench.app, bench.caller(), older, "reactivate")
    assert (await decided(bench, clash, "approve"))["outcome"] == "superseded"
    assert await active(bench) == ["lives in Porto"]


async def test_conflict_closes_no_circle_of_what_supersedes() -> None:
    bench = Bench()
    newer, older, clash = await _conflict(bench)
    await supersede_items(bench.app, bench.caller(), source_item_id=older, target_item_ids=[newer])
    await update_task_state(bench.app, bench.caller(), newer, "reactivate")
    with pytest.raises(Conflict) as refused:
        await decided(bench, clash, "approve")
    assert refused.value.code == "cycle"
    assert len(await active(bench)) == 2


async def test_person_says_which_side_of_a_conflict_ends() -> None:
    bench = Bench()
    newer, _, clash = await _conflict(bench)
    stranger = await memory(bench, "likes tea")
    with pytest.raises(InvalidInput) as refused:
        await decided(bench, clash, "approve", target_id=stranger)
    assert refused.value.field == "target_id"
    answer = await decided(bench, clash, "approve", target_id=newer)
    assert answer["memory"]["id"] == newer
    assert await active(bench) == ["lives in Lisbon", "likes tea"]


async def test_conflict_whose_newer_side_has_ended_takes_the_older_one_from_nobody() -> None:
    bench = Bench()
    newer, _, clash = await _conflict(bench)
    await delete_items(bench.app, bench.caller(), [newer])
    with pytest.raises(Conflict):
        await decided(bench, clash, "approve")
    assert await active(bench) == ["lives in Lisbon"]


async def test_stale_task_becomes_stale_when_that_is_approved() -> None:
    bench = Bench()
    answer: Any = await create_item(bench.app, bench.caller(), {"title": "old task"})
    task = answer["item"]["id"]
    id_ = await waiting(bench, "old task", kind="stale_task", target_ids=(task,))
    answer = await decided(bench, id_, "approve")
    assert (answer["outcome"], answer["memory"]) == ("stale", None)
    [row] = await bench.rows("SELECT state FROM items WHERE id = ?", task)
    assert row["state"] == "stale"


async def test_key_of_a_task_stands_in_the_way() -> None:
    bench = Bench()
    answer: Any = await create_item(bench.app, bench.caller(), {"title": "t", "fact_key": KEY})
    id_ = await waiting(bench, "Lives in Porto", fact_key=KEY)
    with pytest.raises(Conflict):
        await decided(bench, id_, "approve")
    await update_task_state(bench.app, bench.caller(), answer["item"]["id"], "complete")
    assert (await decided(bench, id_, "approve"))["outcome"] == "created"


async def test_several_are_decided_each_on_its_own() -> None:
    bench = Bench()
    ids = [await waiting(bench, f"fact {number}") for number in range(3)]
    given: Any = [
        (ids[0], "approve", {}),
        ("cnd_none", "approve", {}),
        (ids[1], "discard", {"decision_note": "no"}),
        (ids[1], "discard", {}),
        (ids[2], "merge", {}),
    ]
    answer: Any = await decide_candidates(bench.app, bench.caller(), given)
    assert (answer["decided"], answer["failed"]) == (2, 3)
    codes = [one["error"]["code"] for one in answer["results"] if "error" in one]
    assert codes == ["not_found", "conflict", "invalid_input"]
    assert [one["content"] for one in await shown(bench)] == ["fact 2"]
    with pytest.raises(LimitExceeded):
        await decide_candidates(bench.app, bench.caller(), given * 11)
    with pytest.raises(InvalidInput):
        await decide_candidates(bench.app, bench.caller(), [])


async def test_undo_takes_decision_and_memory_back_and_redo_brings_them() -> None:
    bench = Bench()
    await memory(bench, "Lives in Porto", fact_key=KEY)
    id_ = await waiting(bench, "Lives in Lisbon", fact_key=KEY)
    caller: Caller = bench.caller()
    await decide_candidate(bench.app, caller, id_, "approve")
    taking = bench.caller()
    await undo(bench.app, taking, cause=caller.cause)
    assert await active(bench) == ["Lives in Porto"]
    assert [one["id"] for one in await shown(bench)] == [id_]
    await redo(bench.app, bench.caller(), cause=taking.cause)
    assert await active(bench) == ["Lives in Lisbon"]
    assert [one["status"] for one in await shown(bench, "approved")] == ["approved"]
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]


async def test_fact_that_was_discarded_twice_is_never_proposed_again() -> None:
    bench = Distiller()
    outcomes = []
    for confidence in (0.4, 0.4, 0.4, 0.95):
        [id_] = await bench.say("I might move to Lisbon")
        bench.teach(facts(fact("User might move to Lisbon", id_, confidence=confidence)))
        await bench.run()
        pending = await bench.candidates()
        outcomes.append(len(pending))
        for row in pending:
            await decide_candidate(bench.app, bench.caller(), str(row["id"]), "discard")
    assert outcomes == [1, 1, 0, 0]
    assert await bench.texts() == []


async def test_secret_in_edits_and_notes_is_redacted() -> None:
    bench = Bench()
    secret = "my password is hunter2secret!!"
    id_ = await waiting(bench)
    answer = await decided(bench, id_, "approve", content=secret, decision_note=secret)
    assert "hunter2" not in str(answer)
