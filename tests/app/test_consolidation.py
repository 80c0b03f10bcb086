"""Consolidation: candidates without repetition, true counts, the direction of relations."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.test_list_items import make
from tests.builders import Bench

from remembrancer.app.consolidation import consolidate_memories, find_consolidation_candidates
from remembrancer.app.items.read import get_item
from remembrancer.app.items.states import delete_items, set_item_state
from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import undo
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.values import DAY_MS
from remembrancer.testing.stores import CountingStore


# Any: tests look into answers by key.
async def candidates(bench: Bench, **given: Any) -> list[dict[str, Any]]:
    answer: Any = await find_consolidation_candidates(bench.app, bench.caller(), **given)
    assert answer["count"] == len(answer["groups"])
    groups: list[dict[str, Any]] = answer["groups"]
    return groups


async def consolidate(bench: Bench, **given: Any) -> dict[str, Any]:
    answer: Any = await consolidate_memories(bench.app, bench.caller(), **given)
    result: dict[str, Any] = answer
    return result


async def note(bench: Bench, title: str, tags: list[str], **given: Any) -> str:
    return await make(bench, title=title, kind="memory", tags=tags, **given)


async def edges(bench: Bench) -> set[tuple[str, str, str]]:
    rows = await bench.rows("SELECT source_id, type, target_id FROM relations")
    return {(str(row["source_id"]), str(row["type"]), str(row["target_id"])) for row in rows}


async def state_of(bench: Bench, id_: str) -> tuple[str, str | None]:
    answer: Any = await get_item(bench.app, bench.caller(), id_)
    return answer["item"]["state"], answer["item"].get("superseded_by")


async def test_pair_that_shares_three_tags_is_reported_once_with_all_of_them() -> None:
    bench = Bench()
    old = await note(bench, "SSH port 2222", ["ssh", "Home Server", "端口"], content="x" * 900)
    new = await note(bench, "SSH port 2223", ["端口", "SSH", "home server", "other"])
    [group] = await candidates(bench)
    assert group["tags"] == ["home server", "SSH", "端口"]
    assert [item["title"] for item in group["items"]] == ["SSH port 2223", "SSH port 2222"]
    assert (group["source_item_id"], group["target_item_ids"]) == (new, [old])
    assert group["suggested_relationship"] == "supersedes"
    assert len(group["items"][1]["excerpt"]) <= 200
    assert group["items"][0]["excerpt"] == ""


async def test_candidates_are_current_items_of_one_kind() -> None:
    bench = Bench()
    await note(bench, "one", ["x"])
    await note(bench, "expired", ["x"], expires_at="tomorrow")
    await make(bench, title="task", tags=["x", "t"])
    await make(bench, title="task two", tags=["t"])
    for state in ("archived", "superseded", "stale"):
        await set_item_state(bench.app, bench.caller(), await note(bench, state, ["x"]), state)
    bench.runtime.advance(2 * DAY_MS)
    assert await candidates(bench) == []
    dormant = await note(bench, "zwei", ["x"])
    await set_item_state(bench.app, bench.caller(), dormant, "dormant")
    [group] = await candidates(bench)
    assert {item["title"] for item in group["items"]} == {"one", "zwei"}
    [group] = await candidates(bench, kind="task")
    assert group["tags"] == ["t"]


async def test_candidates_of_one_tag_are_found_by_its_folded_form() -> None:
    bench = Bench()
    for title in ("a", "b"):
        await note(bench, title, ["Home Server", "other"])
    await note(bench, "c", ["other"])
    [group] = await candidates(bench, tag="#home_server")
    assert {item["title"] for item in group["items"]} == {"a", "b"}
    assert group["tags"] == ["Home Server", "other"]
    assert await candidates(bench, tag="none") == []
    assert await candidates(bench, min_group_size=4) == []
    [group] = await candidates(bench, min_group_size=3, limit=1)
    assert group["count"] == 3


async def test_candidates_with_one_title_are_duplicates_and_ready_to_consolidate() -> None:
    bench = Bench()
    for title in ("Dark mode.", "dark mode", "DARK MODE"):
        await note(bench, title, ["ui"])
    [group] = await candidates(bench)
    assert group["suggested_relationship"] == "duplicate_of"
    answer = await consolidate(
        bench,
        source_item_id=group["source_item_id"],
        target_item_ids=group["target_item_ids"],
        relationship_type=group["suggested_relationship"],
    )
    assert answer["created"] == 2
    assert await candidates(bench) == []


async def test_candidates_are_read_in_two_round_trips_without_a_write() -> None:
    counting = CountingStore(Bench().sql)
    bench = Bench(sql=counting)
    await note(bench, "a", ["x"])
    counting.counts.reset()
    await candidates(bench)
    assert (counting.counts.reads, counting.counts.writes) == (2, 0)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "note"}, "kind"),
        ({"min_group_size": 1}, "min_group_size"),
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"tag": "#"}, "tags"),
    ],
    ids=str,
)
async def test_candidates_that_cannot_be_asked_for_are_refused(
    given: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await candidates(Bench(), **given)
    assert caught.value.field == field


@pytest.mark.parametrize("type_", ["supersedes", "replaces", "duplicate_of"])
async def test_consolidation_relates_and_supersedes_in_one_batch(type_: str) -> None:
    counting = CountingStore(Bench().sql)
    bench = Bench(sql=counting)
    keeper = await note(bench, "keeper", [])
    others = [await note(bench, title, []) for title in ("one", "二")]
    counting.counts.reset()
    answer = await consolidate(
        bench,
        source_item_id=keeper,
        target_item_ids=others,
        relationship_type=type_,
        reason="the same",
    )
    assert counting.counts.writes == 1
    assert answer["source"]["title"] == "keeper"
    assert (answer["relationship_type"], answer["created"]) == (type_, 2)
    assert (answer["superseded"], answer["already"]) == (others, [])
    for other in others:
        assert await state_of(bench, other) == ("superseded", keeper)
    assert await state_of(bench, keeper) == ("active", None)
    # A duplicate leads to what is kept; what is kept supersedes or replaces.
    expected = {(other, keeper) for other in others}
    if type_ != "duplicate_of":
        expected = {(keeper, other) for other in others}
    assert await edges(bench) == {(one, type_, two) for one, two in expected}


async def test_consolidation_repeated_creates_nothing_and_says_so() -> None:
    bench = Bench()
    keeper = await note(bench, "keeper", [])
    one, two = await note(bench, "one", []), await note(bench, "two", [])
    given: dict[str, Any] = {"source_item_id": keeper, "relationship_type": "duplicate_of"}
    await consolidate(bench, target_item_ids=[one], **given)
    [before] = await bench.rows("SELECT count(*) AS events FROM events")
    again = await consolidate(bench, target_item_ids=[one], **given)
    assert (again["created"], again["superseded"], again["already"]) == (0, [], [one])
    assert await bench.rows("SELECT count(*) AS events FROM events") == [before]
    both = await consolidate(bench, target_item_ids=[one, two, one], **given)
    assert (both["created"], both["superseded"], both["already"]) == (1, [two], [one])


@pytest.mark.parametrize(
    ("marks", "state"), [(None, "active"), (False, "active"), (True, "superseded")]
)
async def test_consolidation_leaves_what_something_was_derived_from_unless_asked(
    marks: bool | None, state: str
) -> None:
    bench = Bench()
    summary, source = await note(bench, "summary", []), await note(bench, "source", [])
    answer = await consolidate(
        bench,
        source_item_id=summary,
        target_item_ids=[source],
        relationship_type="derived_from",
        mark_superseded=marks,
    )
    assert answer["created"] == 1
    assert (await state_of(bench, source))[0] == state
    assert await edges(bench) == {(summary, "derived_from", source)}


async def test_consolidation_without_marking_only_relates() -> None:
    bench = Bench()
    keeper, other = await note(bench, "keeper", []), await note(bench, "other", [])
    await consolidate(
        bench,
        source_item_id=keeper,
        target_item_ids=[other],
        relationship_type="supersedes",
        mark_superseded=False,
    )
    assert await state_of(bench, other) == ("active", None)


async def test_consolidation_is_dated_and_can_be_undone() -> None:
    bench = Bench()
    keeper, other = await note(bench, "keeper", []), await note(bench, "other", [])
    caller = bench.caller()
    await consolidate_memories(
        bench.app,
        caller,
        source_item_id=keeper,
        target_item_ids=[other],
        relationship_type="replaces",
    )
    [row] = await bench.rows("SELECT value FROM counters WHERE name = 'consolidated_at'")
    assert row["value"] == bench.runtime.now_ms()
    await undo(bench.app, bench.caller(), cause=caller.cause)
    assert await state_of(bench, other) == ("active", None)
    assert await edges(bench) == set()


async def test_consolidation_that_cannot_be_done_is_refused_whole() -> None:
    bench = Bench()
    keeper, other = await note(bench, "keeper", []), await note(bench, "other", [])
    deleted = await note(bench, "deleted", [])
    await delete_items(bench.app, bench.caller(), [deleted])
    given: dict[str, Any] = {"source_item_id": keeper, "relationship_type": "supersedes"}
    for targets, error in (
        ([other, "itm_x"], NotFound),
        ([other, deleted], Conflict),
        ([other, keeper], InvalidInput),
        ([], InvalidInput),
        ([f"itm_{number}" for number in range(101)], LimitExceeded),
    ):
        with pytest.raises(error):
            await consolidate(bench, target_item_ids=targets, **given)
    with pytest.raises(InvalidInput, match="'blocks' does not consolidate"):
        await consolidate(
            bench, source_item_id=keeper, target_item_ids=[other], relationship_type="blocks"
        )
    await consolidate(bench, target_item_ids=[other], **given)
    with pytest.raises(Conflict) as caught:
        await consolidate(
            bench, source_item_id=other, target_item_ids=[keeper], relationship_type="supersedes"
        )
    assert caught.value.code == "cycle"
    assert await edges(bench) == {(keeper, "supersedes", other)}


async def test_last_consolidation_is_the_same_after_a_rebuild_whatever_the_clock_did() -> None:
    bench = Bench()
    a, b, c = [await note(bench, title, ["x"]) for title in ("one", "two", "three")]
    latest = bench.runtime.now_ms()
    for target in (b, c):
        await consolidate(
            bench, source_item_id=a, target_item_ids=[target], relationship_type="supersedes"
        )
        bench.runtime.advance(-DAY_MS)  # the clock is set back
    before = await bench.tables()
    assert ("default", "consolidated_at", latest) in before["counters"]
    await rebuild(bench.app)
    assert await bench.tables() == before
