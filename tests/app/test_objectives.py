"""Setting a project's active objective."""

from __future__ import annotations

import pytest
from tests.builders import Bench, id_of, item_of

from remembrancer.app.items.states import (
    delete_items,
    set_item_state,
    update_task_state,
)
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.objectives import get_active_objectives, set_active_objective
from remembrancer.app.projects import create_project, delete_project, get_project, upsert_project
from remembrancer.app.relations import add_relation, list_relations
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.limits import CONTENT_CHARS_MAX, SQL_BATCH_STATEMENTS_MAX
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement
from remembrancer.testing.stores import CountingStore, memory_store


async def garden(bench: Bench) -> None:
    await create_project(bench.app, bench.caller(), name="花园")


async def goal(bench: Bench, title: str, project: str = "花园") -> str:
    return id_of(
        await set_active_objective(bench.app, bench.caller(), project=project, title=title)
    )


async def fields(bench: Bench, item_id: str) -> dict[str, JSON]:
    [row] = await bench.rows("SELECT * FROM items WHERE id = ?", item_id)
    return dict(row)  # type: ignore[arg-type]


async def objective(bench: Bench, slug: str = "花园") -> JSON:
    shown = (await get_project(bench.app, bench.caller(), slug))["project"]
    assert isinstance(shown, dict)
    active = shown["active_objective"]
    return active["id"] if isinstance(active, dict) else None


async def test_a_title_makes_a_goal_that_startup_loads() -> None:
    bench = Bench(actor="agent:claude")
    await garden(bench)
    answer = await set_active_objective(
        bench.app, bench.caller(), project="花园", title=" 种树 ", description="三棵"
    )
    item = item_of(answer)
    expected = {
        "title": "种树",
        "content": "三棵",
        "kind": "task",
        "type": "strategic_goal",
        "state": "active",
        "priority": 3,
        "startup_priority": 8,
        "pinned": True,
        "authored_by": "agent",
        "project": {"slug": "花园", "name": "花园"},
    }
    assert {name: item[name] for name in expected} == expected
    assert answer["previous_item_id"] is None
    project = answer["project"]
    assert isinstance(project, dict) and isinstance(project["active_objective"], dict)
    assert project["active_objective"]["id"] == item["id"]
    assert project["counts"] == {"active": 1}
    shown = await get_project(bench.app, bench.caller(), "花园")
    assert shown["project"] == project


async def test_a_goal_that_follows_supersedes_the_one_before() -> None:
    bench = Bench()
    await garden(bench)
    first = await goal(bench, "一")
    answer = await set_active_objective(bench.app, bench.caller(), project="花园", title="二")
    second = id_of(answer)
    assert answer["previous_item_id"] == first
    old = await fields(bench, first)
    assert (old["state"], old["superseded_by"]) == ("superseded", second)
    shown = await list_relations(bench.app, bench.caller(), second)
    relations = shown["relations"]
    assert isinstance(relations, list) and len(relations) == 1
    assert isinstance(relations[0], dict)
    assert (relations[0]["type"], relations[0]["direction"]) == ("supersedes", "out")
    assert relations[0]["item_id"] == first
    project = answer["project"]
    assert isinstance(project, dict) and project["counts"] == {"active": 1, "superseded": 1}
    assert (await get_project(bench.app, bench.caller(), "花园"))["project"] == project


async def test_going_back_to_an_earlier_goal_turns_the_chain_round() -> None:
    bench = Bench()
    await garden(bench)
    a, b, c = await goal(bench, "A"), await goal(bench, "B"), await goal(bench, "C")
    answer = await set_active_objective(bench.app, bench.caller(), project="花园", item_id=a)
    assert answer["previous_item_id"] == c
    rows = await bench.rows("SELECT source_id, target_id FROM relations ORDER BY source_id")
    assert [tuple(row.values()) for row in rows] == [(a, c), (c, b)]
    states = {id_: (await fields(bench, id_))["state"] for id_ in (a, b, c)}
    assert states == {a: "active", b: "superseded", c: "superseded"}
    assert (await fields(bench, a))["superseded_by"] is None
    assert await objective(bench) == a
    for _ in range(2):
        for item_id in (c, a):
            await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    assert await objective(bench) == a


@pytest.mark.parametrize(
    ("startup", "expected"), [(0, 0), (5, 8), (8, 8), (9, 9), (10, 10)], ids=str
)
async def test_an_existing_task_becomes_a_goal(startup: int, expected: int) -> None:
    bench = Bench()
    await garden(bench)
    item_id = id_of(
        await create_item(
            bench.app, bench.caller(), {"title": "t", "startup_priority": startup, "priority": 1}
        )
    )
    await update_task_state(bench.app, bench.caller(), item_id, "snooze")
    await update_task_state(bench.app, bench.caller(), item_id, "complete")
    answer = await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    item = item_of(answer)
    assert (item["type"], item["state"], item["pinned"]) == ("strategic_goal", "active", True)
    assert (item["startup_priority"], item["priority"]) == (expected, 1)
    assert item["project"] == {"slug": "花园", "name": "花园"}
    assert "snoozed_until" not in item
    stored = await fields(bench, item_id)
    assert (stored["state"], stored["progress"], stored["type_by_hand"]) == ("active", None, 1)
    assert item["version"] == stored["version"]


async def test_words_given_with_an_item_edit_it() -> None:
    bench = Bench()
    await garden(bench)
    item_id = id_of(await create_item(bench.app, bench.caller(), {"title": "t"}))
    call = {"project": "花园", "item_id": item_id, "title": "新", "description": "d"}
    for _ in range(2):
        item = item_of(await set_active_objective(bench.app, bench.caller(), **call))
        assert (item["title"], item["content"]) == ("新", "d")
    again = await set_active_objective(
        bench.app, bench.caller(), project="花园", item_id=item_id, description="e"
    )
    assert (item_of(again)["title"], item_of(again)["content"]) == ("新", "e")
    assert await objective(bench) == item_id


async def test_setting_the_same_objective_again_writes_nothing() -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "g")
    before = await bench.rows("SELECT count(*) AS n FROM events")
    answer = await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    assert answer["previous_item_id"] is None
    assert await bench.rows("SELECT count(*) AS n FROM events") == before


async def test_unknown_projects_and_items_are_not_found() -> None:
    bench = Bench()
    with pytest.raises(NotFound, match="'花园'"):
        await goal(bench, "g")
    await garden(bench)
    with pytest.raises(NotFound, match="itm_nobody"):
        await set_active_objective(
            bench.app, bench.caller(), project="花园", item_id="itm_nobody", title="t"
        )
    assert await bench.rows("SELECT id FROM items") == []


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, InvalidInput),
        ({"description": "d"}, InvalidInput),
        ({"title": "  "}, InvalidInput),
        ({"title": "字" * 201}, LimitExceeded),
        ({"title": "t", "description": "字" * (CONTENT_CHARS_MAX + 1)}, LimitExceeded),
    ],
    ids=["nothing", "no title", "empty title", "long title", "long description"],
)
async def test_an_unsound_goal_is_refused(given: dict[str, str], error: type[Exception]) -> None:
    bench = Bench()
    await garden(bench)
    with pytest.raises(error):
        await set_active_objective(bench.app, bench.caller(), project="花园", **given)
    assert await objective(bench) is None


async def test_an_item_of_another_project_is_a_conflict() -> None:
    bench = Bench()
    await garden(bench)
    item_id = id_of(
        await create_item(bench.app, bench.caller(), {"title": "t", "project_name": "Other"})
    )
    with pytest.raises(Conflict) as caught:
        await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    assert caught.value.details == {"project": "other"}
    await delete_project(bench.app, bench.caller(), "other")
    await set_active_objective(bench.app, bench.caller(), project="花园", item_id=item_id)
    assert await objective(bench) == item_id


async def test_a_memory_and_a_deleted_item_are_no_goals() -> None:
    bench = Bench()
    await garden(bench)
    memory = id_of(await create_item(bench.app, bench.caller(), {"title": "m", "kind": "memory"}))
    with pytest.raises(InvalidInput, match="is a memory"):
        await set_active_objective(bench.app, bench.caller(), project="花园", item_id=memory)
    task = id_of(await create_item(bench.app, bench.caller(), {"title": "t"}))
    await delete_items(bench.app, bench.caller(), [task])
    with pytest.raises(Conflict, match="deleted"):
        await set_active_objective(bench.app, bench.caller(), project="花园", item_id=task)


async def test_a_relation_that_is_there_already_is_kept() -> None:
    bench = Bench()
    await garden(bench)
    first = await goal(bench, "一")
    second = id_of(await create_item(bench.app, bench.caller(), {"title": "二"}))
    await add_relation(
        bench.app, bench.caller(), source_id=second, type="supersedes", target_id=first, reason="r"
    )
    await set_active_objective(bench.app, bench.caller(), project="花园", item_id=second)
    rows = await bench.rows("SELECT source_id, target_id, reason FROM relations")
    assert [tuple(row.values()) for row in rows] == [(second, first, "r")]


async def test_a_goal_that_was_finished_is_not_superseded_by_the_next() -> None:
    bench = Bench()
    await garden(bench)
    first = await goal(bench, "一")
    await update_task_state(bench.app, bench.caller(), first, "complete")
    answer = await set_active_objective(bench.app, bench.caller(), project="花园", title="二")
    assert answer["previous_item_id"] is None
    assert (await fields(bench, first))["state"] == "completed"
    assert await bench.rows("SELECT * FROM relations") == []


async def test_a_dormant_goal_is_still_the_objective_and_is_superseded() -> None:
    bench = Bench()
    await garden(bench)
    first = await goal(bench, "一")
    await set_item_state(bench.app, bench.caller(), first, "dormant")
    assert await objective(bench) == first
    second = await goal(bench, "二")
    assert (await fields(bench, first))["superseded_by"] == second


async def test_the_objectives_of_all_projects_are_listed_newest_first() -> None:
    bench = Bench()
    ids = []
    for name in ("A", "乙", "C"):
        await create_project(bench.app, bench.caller(), name=name)
        bench.runtime.advance(1_000)
        ids.append(await goal(bench, f"goal {name}", name))
    await create_project(bench.app, bench.caller(), name="none")
    await update_task_state(bench.app, bench.caller(), ids[0], "complete")
    answer = await get_active_objectives(bench.app, bench.caller())
    found = answer["objectives"]
    assert isinstance(found, list) and answer["count"] == 2
    shown = [(one["project"], one["item"]["id"], one["since"]) for one in found]  # type: ignore[index,call-overload]
    assert shown == [
        ({"slug": "c", "name": "C"}, ids[2], "2026-03-01T12:00:03Z"),
        ({"slug": "乙", "name": "乙"}, ids[1], "2026-03-01T12:00:02Z"),
    ]


async def test_an_objective_that_is_no_longer_current_is_not_shown() -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "g")
    await bench.sql.write(
        [Statement("UPDATE items SET state = 'expired' WHERE id = ?", (item_id,))]
    )
    assert await get_active_objectives(bench.app, bench.caller()) == {"objectives": [], "count": 0}
    assert await objective(bench) is None


async def test_the_project_may_be_named_by_its_new_name() -> None:
    bench = Bench()
    await garden(bench)
    await upsert_project(bench.app, bench.caller(), slug="花园", name="Garden")
    assert await goal(bench, "g", "garden")
    assert await objective(bench) is not None


async def test_setting_an_objective_is_one_batch_after_one_read() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await garden(bench)
    await goal(bench, "一")
    store.counts.reset()
    await goal(bench, "二")
    assert (store.counts.reads, store.counts.writes) == (1, 1)
    assert store.counts.statements < SQL_BATCH_STATEMENTS_MAX
    streams = await bench.rows(
        "SELECT DISTINCT substr(stream, 1, instr(stream || '/', '/') - 1) AS area FROM events"
        " WHERE cause = (SELECT cause FROM events ORDER BY position DESC LIMIT 1) ORDER BY area"
    )
    assert [row["area"] for row in streams] == ["item", "project", "relations"]


async def test_an_edit_that_names_the_same_project_keeps_the_objective() -> None:
    bench = Bench()
    await garden(bench)
    item_id = await goal(bench, "g")
    await update_item(bench.app, bench.caller(), item_id, {"project": "花园"})
    assert await objective(bench) == item_id
