"""What happens to a project's objective when its item changes, comes back or is undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.app.test_objectives import garden, goal, objective
from tests.app.test_relations_races import Interleaved
from tests.builders import NAMESPACE, Bench, id_of

from remembrancer.app.commit import Answer
from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import (
    delete_items,
    restore_item,
    set_item_state,
    update_task_state,
)
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.objectives import get_active_objectives, set_active_objective
from remembrancer.app.projects import create_project, delete_project, get_project_timeline
from remembrancer.app.relations import supersede_items
from remembrancer.app.undo import redo, undo
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.core.values import JSON
from remembrancer.store.projects import load_projects_of_objectives
from remembrancer.testing.stores import CountingStore, memory_store

Change = Callable[[Bench, str], Awaitable[object]]


def update(**given: JSON) -> Change:
    return lambda bench, id_: update_item(bench.app, bench.caller(), id_, given)  # type: ignore[arg-type]


def state(name: str) -> Change:
    return lambda bench, id_: set_item_state(bench.app, bench.caller(), id_, name)


def act(name: str) -> Change:
    return lambda bench, id_: update_task_state(bench.app, bench.caller(), id_, name)  # type: ignore[arg-type]


async def superseded(bench: Bench, id_: str) -> Answer:
    new = id_of(await create_item(bench.app, bench.caller(), {"title": "new"}))
    return await supersede_items(
        bench.app, bench.caller(), source_item_id=new, target_item_ids=[id_]
    )


ENDING: dict[str, Change] = {
    "complete": act("complete"),
    "archive": act("archive"),
    "delete": lambda bench, id_: delete_items(bench.app, bench.caller(), [id_]),
    "forget": lambda bench, id_: forget_item(bench.app, bench.caller(), id_),
    "supersede": superseded,
    **{f"set {name}": state(name) for name in ("completed", "archived", "superseded", "expired")},
    "set deleted": state("deleted"),
    "update state": update(state="completed"),
    "update completed flag": update(completed=True),
    "update archived flag": update(archived=True),
    "update progress": update(progress="done"),
    "move to another project": update(project_name="Other"),
    "move out of projects": update(project=None),
    "another type": update(type="tactical_task"),
    "a memory": update(kind="memory"),
}


@pytest.mark.parametrize("change", list(ENDING.values()), ids=list(ENDING))
async def test_an_objective_that_ends_or_leaves_is_cleared_in_the_same_batch(
    change: Change,
) -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "目标")
    await change(bench, item_id)
    assert await objective(bench) is None
    [row] = await bench.rows("SELECT active_objective_id FROM projects WHERE slug = '花园'")
    assert row["active_objective_id"] is None
    assert (await get_active_objectives(bench.app, bench.caller()))["count"] == 0
    [last] = await bench.rows(
        "SELECT count(DISTINCT cause) AS n FROM events WHERE kind = 'ObjectiveCleared' OR position"
        " = (SELECT max(position) FROM events)"
    )
    assert last["n"] == 1


KEEPING: dict[str, Change] = {
    "dormant": state("dormant"),
    "stale": state("stale"),
    "snooze": act("snooze"),
    "ignore": act("ignore"),
    "title": update(title="anders"),
    "unpin": update(pinned=False),
    "startup 0": update(startup_priority=0),
    "false flags": update(completed=False, archived=False),
    "progress": update(progress="in_progress"),
    "topic": update(topic_name="T"),
}


@pytest.mark.parametrize("change", list(KEEPING.values()), ids=list(KEEPING))
async def test_any_other_change_keeps_the_objective(change: Change) -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "目标")
    await change(bench, item_id)
    assert await objective(bench) == item_id


async def test_a_goal_that_comes_back_is_not_the_objective_by_itself() -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "目标")
    await update_task_state(bench.app, bench.caller(), item_id, "complete")
    await update_task_state(bench.app, bench.caller(), item_id, "reactivate")
    assert await objective(bench) is None
    await delete_items(bench.app, bench.caller(), [item_id])
    await restore_item(bench.app, bench.caller(), item_id)
    assert await objective(bench) is None
    await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    assert await objective(bench) == item_id


async def test_a_goal_that_comes_back_leaves_its_successor_in_place() -> None:
    bench = Bench()
    await garden(bench)
    first, second = await goal(bench, "一"), await goal(bench, "二")
    await update_task_state(bench.app, bench.caller(), first, "reactivate")
    assert await objective(bench) == second
    await update_task_state(bench.app, bench.caller(), first, "complete")
    assert await objective(bench) == second


async def test_undoing_the_end_brings_the_objective_back() -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "目标")
    await update_task_state(bench.app, bench.caller(), item_id, "complete")
    await undo(bench.app, bench.caller(), item_id=item_id)
    assert await objective(bench) == item_id
    await redo(bench.app, bench.caller(), item_id=item_id)
    assert await objective(bench) is None


async def test_undoing_a_change_of_objective_takes_all_of_it_back() -> None:
    bench = Bench()
    await garden(bench)
    first = await goal(bench, "一")
    before = await bench.tables()
    second = await goal(bench, "二")
    await undo(bench.app, bench.caller(), item_id=second)
    assert await objective(bench) == first
    after = await bench.tables()
    assert after["relations"] == before["relations"] == []
    rows = await bench.rows("SELECT id, state FROM items ORDER BY id")
    assert [tuple(row.values()) for row in rows] == [(first, "active"), (second, "deleted")]


async def test_undoing_the_making_of_an_objective_clears_it() -> None:
    bench = Bench()
    await garden(bench)
    made = bench.caller()
    item_id = id_of(await create_item(bench.app, made, {"title": "t"}))
    await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    await undo(bench.app, bench.caller(), cause=made.cause)
    assert await objective(bench) is None
    [row] = await bench.rows("SELECT active_objective_id FROM projects")
    assert row["active_objective_id"] is None


async def test_an_objective_in_a_deleted_project_ends_without_it() -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "目标")
    await delete_project(bench.app, bench.caller(), "花园")
    assert (await get_active_objectives(bench.app, bench.caller()))["count"] == 0
    answer = await update_task_state(bench.app, bench.caller(), item_id, "complete")
    assert answer["changed"] is True


async def test_completing_meanwhile_is_noticed_by_who_sets_the_objective() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    await garden(quick)
    item_id = await goal(quick, "目标")
    await goal(quick, "another")
    await set_item_state(quick.app, quick.caller(), item_id, "active")
    store.meanwhile = [lambda: update_task_state(quick.app, quick.caller(), item_id, "complete")]
    await set_active_objective(slow.app, slow.caller(), project="花园", item_id=item_id)
    assert store.clashes == 1
    assert await objective(quick) == item_id
    [row] = await quick.rows("SELECT state FROM items WHERE id = ?", item_id)
    assert row["state"] == "active"


async def test_setting_the_objective_meanwhile_is_noticed_by_who_completes_it() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    await garden(quick)
    item_id = await goal(quick, "目标")
    await goal(quick, "another")
    await set_item_state(quick.app, quick.caller(), item_id, "active")
    store.meanwhile = [
        lambda: set_active_objective(quick.app, quick.caller(), project="花园", item_id=item_id)
    ]
    await update_task_state(slow.app, slow.caller(), item_id, "complete")
    assert store.clashes == 1
    assert await objective(quick) is None


async def test_a_plain_task_that_ends_costs_no_further_read() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await create_project(bench.app, bench.caller(), name="P")
    plain = id_of(await create_item(bench.app, bench.caller(), {"title": "t", "project": "p"}))
    item_id = await goal(bench, "g", "p")
    for id_, reads in ((plain, 1), (item_id, 2)):
        store.counts.reset()
        await update_task_state(bench.app, bench.caller(), id_, "complete")
        assert (store.counts.reads, store.counts.writes) == (reads, 1)


async def test_the_timeline_tells_the_story() -> None:
    bench = Bench()
    await garden(bench)
    first = await goal(bench, "一")
    await goal(bench, "二")
    await update_task_state(bench.app, bench.caller(), first, "reactivate")
    answer = await get_project_timeline(bench.app, bench.caller(), "花园")
    events = answer["events"]
    assert isinstance(events, list)
    assert [event["summary"] for event in events] == [  # type: ignore[index,call-overload]
        'reactivated "一"',
        'superseded "一"',
        'made "二" the objective',
        'created the task "二"',
        'made "一" the objective',
        'created the task "一"',
        "created the project",
    ]


async def test_end_of_a_goal_looks_at_its_own_project_alone() -> None:
    bench = Bench()
    for number in range(3):
        await create_project(bench.app, bench.caller(), name=f"P{number}")
        await set_active_objective(
            bench.app, bench.caller(), project=f"P{number}", title=f"goal {number}"
        )
    [row] = await bench.rows("SELECT active_objective_id AS id, id AS own FROM projects LIMIT 1")
    store = CountingStore(bench.sql)
    found = await load_projects_of_objectives(store, NAMESPACE, {str(row["id"]): str(row["own"])})
    assert [one.owner.id for one in found] == [row["own"]]
    assert await load_projects_of_objectives(store, NAMESPACE, {str(row["id"]): "prj_x"}) == []
    [call, _] = store.counts.calls
    plan = await bench.rows(f"EXPLAIN QUERY PLAN {call.sql[0]}", NAMESPACE, "itm_x", "prj_x")
    assert any("(namespace=? AND id=?)" in str(step["detail"]) for step in plan)
    assert not any("SCAN o" in str(step["detail"]) for step in plan)


async def test_undo_of_a_command_with_many_projects_asks_once_who_uses_them() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    making = bench.caller()
    for number in range(SQL_BATCH_STATEMENTS_MAX):
        await create_item(bench.app, making, {"title": f"t{number}", "project_name": f"P{number}"})
    await create_item(bench.app, bench.caller(), {"title": "later", "project": "p7"})
    store.counts.reset()
    answer = await undo(bench.app, bench.caller(), cause=making.cause)
    assert isinstance(answer["kept"], list) and len(answer["kept"]) == 1
    assert store.counts.statements <= SQL_BATCH_STATEMENTS_MAX
    rows = await bench.rows("SELECT slug FROM projects WHERE state = 'active'")
    assert rows == [{"slug": "p7"}]
