"""A project's timeline: what happened in it, newest first."""

from __future__ import annotations

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.commit import Answer
from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import (
    delete_items,
    restore_item,
    set_item_state,
    update_task_state,
)
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import (
    create_project,
    delete_project,
    get_project_timeline,
    upsert_project,
)
from remembrancer.app.relations import supersede_items
from remembrancer.app.undo import redo, undo
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import Event
from remembrancer.core.projects.timeline import summarise
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement
from remembrancer.store.timeline import timeline_statements
from remembrancer.testing.stores import CountingStore, memory_store


def events_of(answer: Answer) -> list[dict[str, JSON]]:
    events = answer["events"]
    assert isinstance(events, list)
    return [event for event in events if isinstance(event, dict)]


async def lines(bench: Bench, slug: str = "p") -> list[JSON]:
    answer = await get_project_timeline(bench.app, bench.caller(), slug, limit=100)
    assert answer["next_cursor"] is None
    return [event["summary"] for event in events_of(answer)]


async def task(bench: Bench, title: str, **given: object) -> str:
    fields = {"title": title, "project": "p", **given}
    return id_of(await create_item(bench.app, bench.caller(), fields))  # type: ignore[arg-type]


async def test_every_kind_of_change_is_one_plain_line() -> None:
    bench = Bench()
    app = bench.app
    await create_project(app, bench.caller(), name="P")
    a = await task(bench, "浇花", due="2026-03-02T09:00", recurrence_kind="daily")
    note = await task(bench, "note", kind="memory")
    await update_item(app, bench.caller(), a, {"priority": 3, "tags": ["家"], "topic_name": "T"})
    await update_task_state(app, bench.caller(), a, "snooze", until="2026-03-02T12:00:00Z")
    await update_task_state(app, bench.caller(), a, "ignore")
    await update_task_state(app, bench.caller(), a, "reactivate")
    await update_task_state(app, bench.caller(), a, "complete")
    await set_item_state(app, bench.caller(), a, "dormant")
    await set_item_state(app, bench.caller(), a, "completed")
    await update_task_state(app, bench.caller(), note, "archive")
    await delete_items(app, bench.caller(), [note])
    await restore_item(app, bench.caller(), note)
    await upsert_project(app, bench.caller(), slug="p", name="Q", description="d")
    goal = id_of(await set_active_objective(app, bench.caller(), project="p", title="Ziel"))
    await supersede_items(
        app, bench.caller(), source_item_id=a, target_item_ids=[goal], reason="besser"
    )
    await undo(app, bench.caller(), item_id=goal)
    await redo(app, bench.caller(), item_id=goal)
    assert await lines(bench) == [
        "brought back a change of the project",
        'brought back a change of "Ziel"',
        "took back a change of the project",
        'took back a change of "Ziel"',
        "ended the objective",
        'superseded "Ziel": besser',
        'made "Ziel" the objective',
        'created the task "Ziel"',
        "changed description, name of the project",
        'restored "note"',
        'deleted "note"',
        'archived "note"',
        'completed "浇花"',
        'set "浇花" to dormant',
        'completed "浇花"; due again 2026-03-03T01:00:00Z',
        'reactivated "浇花"',
        'put aside "浇花" until 2026-03-03T12:00:00Z',
        'snoozed "浇花" until 2026-03-02T12:00:00Z',
        'changed priority, tags, topic of "浇花"',
        'created the memory "note"',
        'created the task "浇花"',
        "created the project",
    ]


async def test_an_event_says_when_who_and_what() -> None:
    bench = Bench(actor="agent:claude")
    await create_project(bench.app, bench.caller(), name="P")
    item_id = await task(bench, "t")
    newest, oldest = events_of(await get_project_timeline(bench.app, bench.caller(), "P"))
    assert newest == {
        "position": 2,
        "at": "2026-03-01T12:00:00Z",
        "kind": "ItemCreated",
        "actor": "agent:claude",
        "item_id": item_id,
        "title": "t",
        "summary": 'created the task "t"',
    }
    assert (oldest["position"], oldest["item_id"], oldest["title"]) == (1, None, None)


async def test_titles_are_those_of_their_time() -> None:
    bench = Bench()
    await create_project(bench.app, bench.caller(), name="P")
    item_id = await task(bench, "旧")
    await update_item(bench.app, bench.caller(), item_id, {"title": "新"})
    assert await lines(bench) == [
        'changed title of "新"',
        'created the task "旧"',
        "created the project",
    ]


async def test_an_item_counts_while_it_is_in_the_project() -> None:
    bench = Bench()
    app = bench.app
    for name in ("P", "Q"):
        await create_project(app, bench.caller(), name=name)
    item_id = await task(bench, "t", project="q")
    await update_item(app, bench.caller(), item_id, {"project": "p"})
    await update_item(app, bench.caller(), item_id, {"priority": 1})
    await update_item(app, bench.caller(), item_id, {"project": "q"})
    await update_item(app, bench.caller(), item_id, {"priority": 2})
    assert await lines(bench, "p") == [
        'changed priority of "t"',
        'changed project of "t"',
        "created the project",
    ]
    assert await lines(bench, "q") == [
        'changed priority of "t"',
        'changed project of "t"',
        'created the task "t"',
        "created the project",
    ]


async def test_pages_join_without_a_gap_or_a_double() -> None:
    bench = Bench()
    await create_project(bench.app, bench.caller(), name="P")
    for number in range(7):
        await task(bench, str(number))
        await upsert_project(bench.app, bench.caller(), slug="p", description=str(number))
    whole = await get_project_timeline(bench.app, bench.caller(), "p", limit=100)
    found: list[dict[str, JSON]] = []
    cursor: str | None = None
    pages = 0
    while pages == 0 or cursor is not None:
        answer = await get_project_timeline(bench.app, bench.caller(), "p", limit=4, cursor=cursor)
        found += events_of(answer)
        pages += 1
        following = answer["next_cursor"]
        cursor = None if following is None else str(following)
    assert found == events_of(whole) and len(found) == 15 and pages == 4
    positions = [event["position"] for event in found]
    assert positions == sorted(positions, key=lambda p: -int(str(p)))


async def test_a_forgotten_item_leaves_the_timeline() -> None:
    bench = Bench()
    await create_project(bench.app, bench.caller(), name="P")
    item_id = await task(bench, "secret")
    await task(bench, "kept")
    await forget_item(bench.app, bench.caller(), item_id)
    shown = await lines(bench)
    assert not [line for line in shown if "secret" in str(line)]
    assert 'created the task "kept"' in shown


async def test_a_timeline_needs_a_project_a_limit_and_a_cursor_of_its_own() -> None:
    bench = Bench()
    await create_project(bench.app, bench.caller(), name="P")
    await delete_project(bench.app, bench.caller(), "p")
    for slug in ("p", "nobody"):
        with pytest.raises(NotFound):
            await get_project_timeline(bench.app, bench.caller(), slug)
    await create_project(bench.app, bench.caller(), name="P")
    assert await lines(bench) == ["created the project"]
    for given in ({"limit": 0}, {"limit": 101}, {"cursor": "xx"}):
        with pytest.raises(InvalidInput):
            await get_project_timeline(bench.app, bench.caller(), "p", **given)


async def test_a_timeline_reads_by_its_indexes_and_writes_nothing() -> None:
    inner = memory_store()
    store = CountingStore(inner)
    bench = Bench(sql=store)
    await create_project(bench.app, bench.caller(), name="P")
    await task(bench, "t")
    store.counts.reset()
    await lines(bench)
    assert (store.counts.reads, store.counts.writes) == (2, 0)
    for statement in timeline_statements(Namespace("default"), "prj_x", before=9, limit=3):
        [plan] = await inner.read(
            [Statement(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params)]
        )
        steps = [str(row["detail"]) for row in plan.rows]
        assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]


@pytest.mark.parametrize(
    ("kind", "is_item", "expected"),
    [
        ("ItemChosenAsObjective", True, 'chose "T" as the objective'),
        ("ItemMarkedStale", True, 'marked as stale "T"'),
        ("ItemPurged", True, 'changed details of "T"'),
        ("ProjectDeleted", False, "deleted the project"),
        ("SomethingNew", False, "changed details of the project"),
    ],
)
def test_other_kinds_have_a_line_as_well(kind: str, is_item: bool, expected: str) -> None:
    event = Event(Namespace("n"), Stream("item/x"), 1, kind, "user", 0, "c", changes={}, note={})
    assert summarise(event, is_item=is_item, title="T") == expected


def test_an_item_without_a_title_is_still_an_item() -> None:
    event = Event(
        Namespace("n"), Stream("item/x"), 1, "ItemCreated", "user", 0, "c", changes={}, note={}
    )
    assert summarise(event, is_item=True, title=None) == "created an item"
