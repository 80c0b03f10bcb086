"""Superseding: the relation and the state together, all or none."""

from __future__ import annotations

import itertools

import pytest
from tests.builders import Bench, id_of, item_of

from remembrancer.app.items.states import delete_items, set_item_state, update_task_state
from remembrancer.app.items.write import create_item
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import create_project, get_project
from remembrancer.app.relations import (
    Link,
    add_relation,
    list_relations,
    plan_link,
    remove_relation,
    supersede_items,
    supersede_task,
)
from remembrancer.app.undo import redo, undo
from remembrancer.core import limits
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.testing.stores import CountingStore, memory_store


async def items(bench: Bench, count: int, **given: object) -> list[str]:
    app = bench.app
    made = []
    for number in range(count):
        fields = {"title": f"记忆 {number}", **given}
        made.append(id_of(await create_item(app, bench.caller(), fields)))  # type: ignore[arg-type]
    return made


async def states(bench: Bench) -> dict[str, tuple[object, object]]:
    rows = await bench.rows("SELECT id, state, superseded_by FROM items")
    return {str(row["id"]): (str(row["state"]), row["superseded_by"]) for row in rows}


async def events(bench: Bench) -> int:
    [row] = await bench.rows("SELECT count(*) AS n FROM events")
    return int(str(row["n"]))


async def test_superseding_keeps_the_chain_and_says_why() -> None:
    bench = Bench()
    new, old, older = await items(bench, 3)
    answer = await supersede_items(
        bench.app,
        bench.caller(),
        source_item_id=new,
        target_item_ids=[old, older, old],
        reason="合并",
    )
    assert answer["superseded"] == [old, older] and answer["already"] == []
    assert isinstance(answer["source"], dict) and answer["source"]["id"] == new
    assert await states(bench) == {
        new: ("active", None),
        old: ("superseded", new),
        older: ("superseded", new),
    }
    shown = await list_relations(bench.app, bench.caller(), old)
    assert shown["relations"] == [
        {
            "type": "supersedes",
            "direction": "in",
            "item_id": new,
            "title": "记忆 0",
            "state": "active",
            "confidence": 1.0,
            "reason": "合并",
        }
    ]
    kinds = await bench.rows("SELECT kind, body FROM events WHERE kind = 'ItemSuperseded'")
    assert len(kinds) == 2 and all('"reason":"合并"' in str(row["body"]) for row in kinds)


async def test_superseding_again_writes_nothing_and_says_already() -> None:
    bench = Bench()
    new, old, fresh = await items(bench, 3)
    call = {"source_item_id": new, "target_item_ids": [old]}
    await supersede_items(bench.app, bench.caller(), **call)  # type: ignore[arg-type]
    before = await events(bench)
    again = await supersede_items(bench.app, bench.caller(), **call)  # type: ignore[arg-type]
    assert (again["superseded"], again["already"]) == ([], [old])
    assert await events(bench) == before
    both = await supersede_items(
        bench.app, bench.caller(), source_item_id=new, target_item_ids=[old, fresh]
    )
    assert (both["superseded"], both["already"]) == ([fresh], [old])


async def test_an_item_that_came_back_is_superseded_anew() -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    await supersede_items(bench.app, bench.caller(), source_item_id=new, target_item_ids=[old])
    await set_item_state(bench.app, bench.caller(), old, "active")
    answer = await supersede_items(
        bench.app, bench.caller(), source_item_id=new, target_item_ids=[old]
    )
    assert answer["superseded"] == [old]
    assert (await states(bench))[old] == ("superseded", new)


async def test_a_later_source_takes_over_and_both_relations_stay() -> None:
    bench = Bench()
    first, second, old = await items(bench, 3)
    for source in (first, second):
        answer = await supersede_items(
            bench.app, bench.caller(), source_item_id=source, target_item_ids=[old]
        )
        assert answer["superseded"] == [old]
    assert (await states(bench))[old] == ("superseded", second)
    shown = await list_relations(bench.app, bench.caller(), old)
    assert shown["count"] == 2


async def test_a_removed_relation_is_made_again() -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    call = {"source_item_id": new, "target_item_ids": [old]}
    await supersede_items(bench.app, bench.caller(), **call)  # type: ignore[arg-type]
    await remove_relation(
        bench.app, bench.caller(), source_id=new, type="supersedes", target_id=old
    )
    again = await supersede_items(bench.app, bench.caller(), **call)  # type: ignore[arg-type]
    assert again["superseded"] == [old]


@pytest.mark.parametrize("unknown", ["source", "target"])
async def test_an_unknown_id_undoes_the_whole_call(unknown: str) -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    before = await events(bench)
    with pytest.raises(NotFound, match="itm_nobody"):
        await supersede_items(
            bench.app,
            bench.caller(),
            source_item_id="itm_nobody" if unknown == "source" else new,
            target_item_ids=[old, "itm_nobody"] if unknown == "target" else [old],
        )
    assert await events(bench) == before


async def test_self_nothing_and_too_many_are_refused() -> None:
    bench = Bench()
    [new] = await items(bench, 1)
    refused: list[tuple[list[str], type[Exception]]] = [
        ([new], InvalidInput),
        ([], InvalidInput),
        ([f"itm_{n}" for n in range(limits.BULK_ITEMS_MAX + 1)], LimitExceeded),
    ]
    for targets, error in refused:
        with pytest.raises(error):
            await supersede_items(
                bench.app, bench.caller(), source_item_id=new, target_item_ids=targets
            )


async def test_a_deleted_target_or_source_is_a_conflict_that_names_it() -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    await delete_items(bench.app, bench.caller(), [old])
    for source, target in ((new, old), (old, new)):
        with pytest.raises(Conflict, match=old):
            await supersede_items(
                bench.app, bench.caller(), source_item_id=source, target_item_ids=[target]
            )


@pytest.mark.parametrize("length", [2, 4])
async def test_a_circle_of_supersessions_is_refused(length: int) -> None:
    bench = Bench()
    chain = await items(bench, length)
    for source, target in itertools.pairwise(chain):
        await supersede_items(
            bench.app, bench.caller(), source_item_id=source, target_item_ids=[target]
        )
    before = await states(bench)
    with pytest.raises(Conflict) as caught:
        await supersede_items(
            bench.app, bench.caller(), source_item_id=chain[-1], target_item_ids=[chain[0]]
        )
    assert caught.value.code == "cycle"
    assert await states(bench) == before


@pytest.mark.parametrize("state", ["dormant", "stale", "archived", "completed", "expired"])
async def test_items_of_every_state_can_be_superseded(state: str) -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    await set_item_state(bench.app, bench.caller(), old, state)
    answer = await supersede_items(
        bench.app, bench.caller(), source_item_id=new, target_item_ids=[old]
    )
    assert answer["superseded"] == [old]
    assert (await states(bench))[old] == ("superseded", new)


async def test_superseding_an_objective_ends_it_in_its_project() -> None:
    bench = Bench()
    await create_project(bench.app, bench.caller(), name="花园")
    goal = id_of(
        await set_active_objective(bench.app, bench.caller(), project="花园", title="目标")
    )
    [new] = await items(bench, 1)
    await supersede_items(bench.app, bench.caller(), source_item_id=new, target_item_ids=[goal])
    shown = await get_project(bench.app, bench.caller(), "花园")
    assert isinstance(shown["project"], dict) and shown["project"]["active_objective"] is None
    [row] = await bench.rows("SELECT active_objective_id FROM projects")
    assert row["active_objective_id"] is None


async def test_a_hundred_targets_of_all_kinds_are_one_small_batch() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    app = bench.app
    targets = await items(bench, 40, kind="memory", tags=["a", "b"], topic_name="T")
    targets += await items(bench, 30, project_name="P")
    targets += await items(bench, 29)
    for number, state in enumerate(("completed", "archived", "stale", "dormant", "expired")):
        await set_item_state(app, bench.caller(), targets[-1 - number], state)
    await create_project(app, bench.caller(), name="Q")
    targets.append(id_of(await set_active_objective(app, bench.caller(), project="q", title="G")))
    [new] = await items(bench, 1)
    store.counts.reset()
    answer = await supersede_items(app, bench.caller(), source_item_id=new, target_item_ids=targets)
    assert answer["superseded"] == targets
    assert store.counts.writes == 1 and store.counts.reads == 2
    assert store.counts.statements < SQL_BATCH_STATEMENTS_MAX
    counts = await bench.rows(
        "SELECT name, value FROM counters WHERE name LIKE 'items/%' AND value > 0 ORDER BY name"
    )
    assert [tuple(row.values()) for row in counts] == [
        ("items/memory/superseded", 40),
        ("items/task/active", 1),
        ("items/task/superseded", 60),
    ]


async def test_superseding_as_a_verb_answers_the_superseded_item() -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    answer = await supersede_task(bench.app, bench.caller(), old, by_item_id=new, reason="r")
    assert answer["changed"] is True
    item = item_of(answer)
    assert (item["id"], item["state"], item["superseded_by"]) == (old, "superseded", new)
    assert item["version"] == 2
    again = await supersede_task(bench.app, bench.caller(), old, by_item_id=new)
    assert (again["changed"], item_of(again)["version"]) == (False, 2)
    await update_task_state(bench.app, bench.caller(), old, "reactivate")
    assert (await states(bench))[old] == ("active", None)


async def test_an_edge_without_the_state_is_completed_by_superseding() -> None:
    bench = Bench()
    new, old = await items(bench, 2)
    await add_relation(bench.app, bench.caller(), source_id=new, type="supersedes", target_id=old)
    answer = await supersede_task(bench.app, bench.caller(), old, by_item_id=new)
    assert answer["changed"] is True
    assert (await states(bench))[old] == ("superseded", new)


async def test_links_of_another_type_can_supersede_as_well() -> None:
    bench = Bench()
    keeper, double, other = await items(bench, 3)
    link = Link(keeper, [double, other], type="duplicate_of", is_superseding=True)
    linked = await plan_link(bench.app, bench.caller(), link)
    assert linked.added == linked.superseded == [double, other]
    assert set(linked.known) == {
        f"{keeper}|duplicate_of|{double}",
        f"{keeper}|duplicate_of|{other}",
    }
    kinds = [draft.kind for edit in linked.plan.edits for draft in edit.drafts]
    assert kinds == ["ItemSuperseded", "ItemSuperseded", "RelationsAdded"]


async def test_making_of_what_supersedes_another_by_now_is_not_undone() -> None:
    bench = Bench()
    old = id_of(await create_item(bench.app, bench.caller(), {"title": "周会在周三"}))
    new = id_of(await create_item(bench.app, bench.caller(), {"title": "周会在周四"}))
    taken = bench.caller()
    await supersede_items(bench.app, taken, source_item_id=new, target_item_ids=[old])
    with pytest.raises(Conflict, match=f"{new} supersedes {old} by now") as refused:
        await undo(bench.app, bench.caller(), item_id=new)
    assert refused.value.details["item_id"] == old
    assert (await states(bench))[new] == ("active", None)
    await undo(bench.app, bench.caller(), cause=taken.cause)
    await undo(bench.app, bench.caller(), item_id=new)
    assert await states(bench) == {old: ("active", None), new: ("deleted", None)}


async def test_memory_that_took_another_place_in_one_command_is_undone_whole() -> None:
    bench = Bench()
    for content in ("城市 上海", "城市 杭州"):
        saved = await save_memory(
            bench.app, bench.caller(), NewMemory(content, {"fact_key": "profile:city"})
        )
    await undo(bench.app, bench.caller(), item_id=str(saved["memory"]["id"]))  # type: ignore[index,call-overload]
    assert sorted(str(state) for state, _ in (await states(bench)).values()) == [
        "active",
        "deleted",
    ]


async def test_command_that_was_undone_is_not_said_to_be_edited_since() -> None:
    bench = Bench()
    old = id_of(await create_item(bench.app, bench.caller(), {"title": "old"}))
    new = id_of(await create_item(bench.app, bench.caller(), {"title": "new"}))
    taken, back = bench.caller(), bench.caller()
    await supersede_items(bench.app, taken, source_item_id=new, target_item_ids=[old])
    await undo(bench.app, back, cause=taken.cause)
    with pytest.raises(Conflict, match="undone already"):
        await undo(bench.app, bench.caller(), cause=taken.cause)
    await redo(bench.app, bench.caller(), cause=back.cause)
    with pytest.raises(Conflict, match="redone already"):
        await redo(bench.app, bench.caller(), cause=back.cause)
    assert (await states(bench))[old] == ("superseded", new)
