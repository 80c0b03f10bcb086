"""The focus: the next step of a project and of all, blocks, put-off tasks, no write on reading."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.test_list_items import make
from tests.builders import NAMESPACE, Bench
from tests.examples import examples

from remembrancer.app.app_settings import update_app_settings
from remembrancer.app.focus import focus_statements, get_focus_context, get_focus_task
from remembrancer.app.items.states import update_task_state
from remembrancer.app.items.write import update_item
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.relations import add_relation, supersede_items
from remembrancer.core.errors import NotFound
from remembrancer.core.focus.ranking import first_anywhere, first_in_project, horizon_at
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.ports.sql import Statement
from remembrancer.store import items as item_store
from remembrancer.testing.stores import CountingStore


# Any: tests look into answers by key.
async def context(bench: Bench, project: str | None = None) -> dict[str, Any]:
    return await get_focus_context(bench.app, bench.caller(), project=project)


async def step(bench: Bench, project: str | None = None) -> str | None:
    answer: Any = await get_focus_task(bench.app, bench.caller(), project=project)
    return None if answer["item"] is None else answer["item"]["title"]


async def goal(bench: Bench, project: str, title: str) -> str:
    answer: Any = await set_active_objective(
        bench.app, bench.caller(), project=project, title=title
    )
    return str(answer["item"]["id"])


async def relate(bench: Bench, source: str, type_: str, target: str) -> None:
    await add_relation(bench.app, bench.caller(), source_id=source, type=type_, target_id=target)


async def test_focus_without_tasks_has_no_step_and_says_so() -> None:
    bench = Bench()
    answer = await get_focus_task(bench.app, bench.caller())
    assert answer == {"item": None, "reason": "no task is open"}
    shown = await context(bench)
    assert shown["project"] is None
    assert shown["tactical_next_step"] is None
    assert shown["focus_version"] == 0


async def test_focus_of_an_unknown_project_is_not_found() -> None:
    bench = Bench()
    for call in (get_focus_task, get_focus_context):
        with pytest.raises(NotFound, match="no project 'ゴ'"):
            await call(bench.app, bench.caller(), project="ゴ")


async def test_focus_of_a_project_does_not_change_the_focus_of_all() -> None:
    bench = Bench()
    await make(bench, title="urgent", due="2026-02-27")
    await make(bench, title="mine", project="p", project_name="P")
    assert await step(bench) == "urgent"
    assert await step(bench, "p") == "mine"
    assert await step(bench) == "urgent"


async def test_focus_serves_the_objective_first_even_from_outside_the_project() -> None:
    bench = Bench()
    await make(bench, title="pinned", project="p", project_name="P", pinned=True, priority=3)
    goal_id = await goal(bench, "p", "Ship it")
    await make(bench, title="outside", objective_id=goal_id, priority=1)
    await make(bench, title="other project", project="q", project_name="Q", pinned=True)
    assert await step(bench, "p") == "outside"
    shown = await context(bench)
    assert shown["project"]["slug"] == "p"
    assert shown["objective"]["item_id"] == goal_id
    assert shown["strategic_focus"]["title"] == "Ship it"
    assert shown["tactical_next_step"]["title"] == "outside"
    assert shown["reason"] == "serves the active objective; low priority"


async def test_focus_honours_snooze_and_ignore_in_both_orders() -> None:
    bench = Bench()
    one = await make(bench, title="snoozed", project="p", project_name="P", priority=3)
    two = await make(bench, title="ignored", project="p", priority=3)
    await make(bench, title="left", project="p", priority=1)
    await update_task_state(bench.app, bench.caller(), one, "snooze", until="in 3 days")
    await update_task_state(bench.app, bench.caller(), two, "ignore")
    assert await step(bench) == "left"
    assert await step(bench, "p") == "left"
    bench.runtime.advance(49 * HOUR_MS)
    assert await step(bench, "p") == "ignored"
    bench.runtime.advance(2 * DAY_MS)
    assert {await step(bench), await step(bench, "p")} <= {"snoozed", "ignored"}


async def test_focus_leaves_blocked_tasks_out_and_lists_them_with_what_they_wait_for() -> None:
    bench = Bench()
    first = await make(bench, title="first", project="p", project_name="P", priority=1)
    second = await make(bench, title="second", project="p", priority=3)
    third = await make(bench, title="第三", project="p", priority=3)
    await relate(bench, first, "blocks", second)
    await relate(bench, third, "depends_on", second)
    for project in (None, "p"):
        assert await step(bench, project) == "first"
    shown = await context(bench, "p")
    assert [
        (entry["item"]["title"], [other["title"] for other in entry["blocked_by"]])
        for entry in shown["blockers"]
    ] == [("second", ["first"]), ("第三", ["second"])]
    await update_task_state(bench.app, bench.caller(), first, "complete")
    assert await step(bench, "p") == "second"
    await update_task_state(bench.app, bench.caller(), second, "archive")
    assert await step(bench, "p") == "第三"


async def test_focus_says_when_all_open_tasks_are_blocked() -> None:
    bench = Bench()
    memory = await make(bench, title="waiting for an answer", kind="memory")
    task = await make(bench, title="task")
    await relate(bench, memory, "blocks", task)
    answer = await get_focus_task(bench.app, bench.caller())
    assert answer["item"] is None
    assert answer["reason"] == "every task that is open and not put off is blocked"


async def test_focus_finds_the_free_end_of_a_long_chain() -> None:
    bench = Bench()
    chain = [
        await make(
            bench, title=f"step {number}", project="p", project_name="P", due="2026-03-01T23:00"
        )
        for number in range(20)
    ]
    for one, two in pairwise(chain):
        await relate(bench, two, "depends_on", one)
    for project in (None, "p"):
        assert await step(bench, project) == "step 0"
    bench.runtime.advance(DAY_MS)
    for project in (None, "p"):
        assert await step(bench, project) == "step 0"


async def test_focus_shows_recurring_systems_and_what_was_replaced() -> None:
    bench = Bench()
    await make(
        bench, title="weekly", project="p", project_name="P", recurrence_kind="weekly", due="monday"
    )
    await make(bench, title="daily elsewhere", recurrence_kind="daily", due="tomorrow")
    old = await make(bench, title="old plan", project="p")
    new = await make(bench, title="new plan", project="p")
    await supersede_items(
        bench.app, bench.caller(), source_item_id=new, target_item_ids=[old], reason="better"
    )
    first_goal = await goal(bench, "p", "Goal one")
    await goal(bench, "p", "Goal two")
    shown = await context(bench)
    assert [item["title"] for item in shown["recurring_systems"]] == ["weekly"]
    replaced = {item["title"]: item["superseded_by"] for item in shown["replaced_items"]}
    assert replaced["old plan"] == new
    assert first_goal not in replaced.values()
    assert "Goal one" in replaced
    assert shown["tactical_next_step"]["title"] == "new plan"
    everywhere = await context(Bench())
    assert everywhere["recurring_systems"] == []


async def test_focus_without_an_objective_anywhere_looks_at_all_tasks() -> None:
    bench = Bench()
    await make(bench, title="one", project="p", project_name="P", topic="t", topic_name="T")
    await make(bench, title="daily", recurrence_kind="daily", due="tomorrow")
    shown = await context(bench)
    assert shown["project"] is None
    assert shown["objective"] is None
    assert shown["tactical_next_step"]["title"] == "one"
    assert shown["tactical_next_step"]["project"]["slug"] == "p"
    assert shown["tactical_next_step"]["topic"]["slug"] == "t"
    assert [item["title"] for item in shown["recurring_systems"]] == ["daily"]
    assert shown["replaced_items"] == []


async def test_focus_takes_the_project_of_the_newest_objective() -> None:
    bench = Bench()
    for slug in ("p", "q"):
        await make(bench, title=f"task {slug}", project=slug, project_name=slug.upper())
        bench.runtime.advance(1_000)
        await goal(bench, slug, f"Goal {slug}")
    assert (await context(bench))["project"]["slug"] == "q"
    bench.runtime.advance(1_000)
    objective = (await context(bench))["objective"]
    await update_task_state(bench.app, bench.caller(), objective["item_id"], "complete")
    assert (await context(bench))["project"]["slug"] == "p"
    named = await context(bench, "Q")
    assert (named["project"]["slug"], named["objective"]) == ("q", None)
    assert named["tactical_next_step"]["title"] == "task q"


async def test_focus_version_grows_with_every_change_of_what_is_shown() -> None:
    bench = Bench()
    task = await make(bench, title="one", project="p", project_name="P")
    before = (await context(bench, "p"))["focus_version"]
    assert (await context(bench, "p"))["focus_version"] == before
    await update_item(bench.app, bench.caller(), task, {"priority": 3})
    assert (await context(bench, "p"))["focus_version"] > before


async def test_focus_counts_days_by_the_settings() -> None:
    bench = Bench()
    await make(bench, title="in five days", due="in 5 days", priority=1)
    await make(bench, title="undated", priority=3)
    assert await step(bench) == "in five days"
    await update_app_settings(bench.app, bench.caller(), {"default_upcoming_days": 2})
    assert await step(bench) == "undated"


async def test_focus_reads_in_three_round_trips_and_writes_nothing() -> None:
    counting = CountingStore(Bench().sql)
    bench = Bench(sql=counting)
    await make(bench, title="one", project="p", project_name="P")
    await goal(bench, "p", "Goal")
    [before] = await bench.rows("SELECT count(*) AS events FROM events")
    counting.counts.reset()
    await context(bench)
    assert (counting.counts.reads, counting.counts.writes) == (3, 0)
    counting.counts.reset()
    await step(bench, "p")
    assert (counting.counts.reads, counting.counts.writes) == (3, 0)
    assert await bench.rows("SELECT count(*) AS events FROM events") == [before]


async def test_focus_plans_read_along_their_indexes() -> None:
    bench = Bench()
    now_ms = bench.runtime.now_ms()
    plans: list[str] = []
    for project in (None, "p"):
        for statement in focus_statements(
            NAMESPACE, now_ms, ZoneInfo("UTC"), SETTINGS, project=project
        ):
            explained = Statement(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params)
            [outcome] = await bench.sql.read([explained])
            plans += [str(row["detail"]) for row in outcome.rows]
    of_class = "pinned=? AND priority=?"
    for index in (
        f"INDEX items_next (namespace=? AND {of_class} AND updated_at>?)",
        f"INDEX items_next (namespace=? AND {of_class} AND updated_at<?)",
        f"INDEX items_next_project (namespace=? AND project_id=? AND {of_class})",
        "INDEX items_next_project (namespace=? AND project_id=?)",
        f"INDEX items_next_objective (namespace=? AND objective_id=? AND {of_class})",
        "COVERING INDEX items_next_due (namespace=? AND due_at>? AND due_at<?)",
        "COVERING INDEX items_next_due (namespace=? AND due_at>?)",
    ):
        assert f"SEARCH y USING {index}" in plans
    for plan in (
        "SEARCH i USING INDEX items_replaced (namespace=? AND project_id=?)",
        "SEARCH projects USING INDEX projects_focus (namespace=? AND objective_since>?)",
    ):
        assert plan in plans
    assert not [plan for plan in plans if plan.startswith(("SCAN items", "SCAN i ", "SCAN y U"))]


FIELDS = st.fixed_dictionaries(
    {
        "priority": st.integers(1, 3),
        "pinned": st.booleans(),
        "due": st.sampled_from(
            [None, "2026-02-20", "2026-02-27", "2026-03-01T23:00", "in 3 days", "in 60 days"]
        ),
        "project": st.sampled_from(["p", None]),
        "serves": st.booleans(),
        "pause_h": st.sampled_from([0, 1, 30]),
    }
)


@examples(25)
@given(
    tasks=st.lists(FIELDS, min_size=1, max_size=9),
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=5),
    put_off=st.sets(st.integers(0, 8), max_size=2),
)
async def test_focus_of_few_rows_is_the_focus_of_all(
    tasks: list[dict[str, Any]], edges: list[tuple[int, int]], put_off: set[int]
) -> None:
    bench = Bench()
    await make(bench, title="seed", kind="memory", project="p", project_name="P")
    goal_id = await goal(bench, "p", "Goal")
    ids = []
    for number, given_ in enumerate(tasks):
        fields = {key: value for key, value in given_.items() if key not in ("serves", "pause_h")}
        fields["objective_id"] = goal_id if given_["serves"] else None
        bench.runtime.advance(given_["pause_h"] * HOUR_MS)
        ids.append(await make(bench, title=str(number), **fields))
    waiting = set()
    for one, two in edges:
        if one < two < len(ids):
            await relate(bench, ids[one], "blocks", ids[two])
            waiting.add(ids[two])
    for number in put_off & set(range(len(ids))):
        await update_task_state(bench.app, bench.caller(), ids[number], "ignore")
    rows = await bench.rows("SELECT * FROM items")
    records = [item_store.item_of(row) for row in rows if row["id"] not in waiting]
    horizon = horizon_at(bench.runtime.now_ms(), ZoneInfo("Asia/Singapore"), upcoming_days=7)
    anywhere = first_anywhere(records, horizon)
    assert await step(bench) == (None if anywhere is None else anywhere.fields["title"])
    [project] = await bench.rows("SELECT id FROM projects")
    mine = [
        record
        for record in records
        if record.fields.get("project_id") == project["id"]
        or record.fields.get("objective_id") == goal_id
    ]
    first = first_in_project(mine, horizon, objective_id=goal_id)
    assert await step(bench, "p") == (None if first is None else first.fields["title"])
