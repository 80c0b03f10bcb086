"""A day of one person's agent, in English and in Chinese, in both eras, every answer checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.protocol.mcp.tools.agent import Agent, ids_of, legacy_agent

from remembrancer.core.values import HOUR_MS


@dataclass(frozen=True, slots=True)
class Script:
    """One language's words."""

    project: str
    topic: str
    goal: str
    capture: str
    capture_title: str
    task: str
    step: str
    habit: str
    due: str
    fact: str
    newer_fact: str
    question: str
    note: str
    tag: str


SCRIPTS = {
    "english": Script(
        project="Kitchen",
        topic="Health",
        goal="Kitchen finished by May",
        capture="buy tiles #shop +Kitchen due:tomorrow 3pm",
        capture_title="buy tiles",
        task="call the plumber !high",
        step="measure the wall",
        habit="water the plants",
        due="tomorrow 9am",
        fact="Allergic to penicillin",
        newer_fact="Not allergic to penicillin, tested in 2026",
        question="penicillin allergy",
        note="He comes on Friday",
        tag="shop",
    ),
    "chinese": Script(
        project="厨房",
        topic="健康",
        goal="五月前装好厨房",
        capture="买瓷砖 #购物 +厨房 due:明天下午三点",
        capture_title="买瓷砖",
        task="打电话给水管工 !high",
        step="量墙面",
        habit="浇花",
        due="明天上午九点",
        fact="对青霉素过敏",
        newer_fact="对青霉素不过敏，2026年测过",
        question="青霉素过敏",
        note="他周五来",
        tag="购物",
    ),
}


@pytest.mark.parametrize("make_agent", [Agent, legacy_agent], ids=["modern", "legacy"])
@pytest.mark.parametrize("language", SCRIPTS)
async def test_day_of_one_agent(language: str, make_agent: Callable[[], Agent]) -> None:
    agent, words = make_agent(), SCRIPTS[language]
    await agent.call("update_app_settings", time_zone="Asia/Shanghai")
    empty = await agent.call("get_startup_context")
    assert empty["active_goals"] == [] and empty["profile"] is None

    # Capture: a project with its goal, a line with markers, a task, a habit, a fact.
    project = (await agent.call("create_project", name=words.project))["project"]["slug"]
    await agent.call("upsert_group", name=words.topic, retrieval_priority=5)
    goal = (await agent.call("set_active_objective", project_slug=project, title=words.goal))[
        "item"
    ]["id"]
    captured = (await agent.call("quick_capture", input=words.capture))["item"]
    assert captured["title"] == words.capture_title
    assert captured["due_at"] == "2026-03-02T07:00:00Z"
    assert captured["tags"] == [words.tag] and captured["project"]["slug"] == project
    task = (await agent.call("quick_add_task", title=words.task, project_slug=project))["item"]
    assert task["priority"] == 3
    habit = await agent.make(
        words.habit, due=words.due, recurrence_kind="daily", recurrence_interval=1
    )
    conflicts = await agent.call("find_semantic_conflicts", query=words.fact)
    assert conflicts["matches"] == []
    fact = (await agent.call("capture_context", input=words.fact, group_name=words.topic))["item"]

    # List and update.
    by_tag = await agent.call("list_items", tags=[words.tag])
    assert ids_of(by_tag) == [captured["id"]]
    edited = await agent.call(
        "update_item",
        id=task["id"],
        steps=[words.step],
        objective_id=goal,
        add_note=words.note,
        due=words.due,
    )
    assert edited["item"]["due_at"] == "2026-03-02T01:00:00Z"
    assert (await agent.call("get_focus_task", project_slug=project))["item"]["id"] == task["id"]

    # Complete a recurring task, two days late; and the other one for good.
    agent.wait(48)
    done = (await agent.call("update_task_state", id=habit, action="complete"))["item"]
    assert (done["lifecycle_state"], done["due_at"]) == ("active", "2026-03-04T01:00:00Z")
    finished = await agent.call("update_task_state", id=task["id"], action="complete")
    assert finished["item"]["completed"] is True
    before_change = agent.bench.runtime.now_ms()

    # All four levels.
    startup = await agent.call("get_startup_context")
    assert ids_of(startup, "active_goals") == [goal]
    assert [one["slug"] for one in startup["active_projects"]] == [project]
    topic = await agent.call("load_context", level="topic_summary", topic=words.topic)
    assert topic["canonical_item"]["id"] == fact["id"]
    level = await agent.call("load_context", level="project", project_slug=project)
    assert level["active_objective"]["id"] == goal
    assert captured["id"] in ids_of(level, "active_items")
    raw = await agent.call("load_context", kinds=["memory"])
    assert ids_of(raw) == [fact["id"]]

    # Supersede, and find only what is true now.
    agent.wait(1)
    newer = (await agent.call("capture_context", input=words.newer_fact, topic=words.topic))["item"]
    await agent.call(
        "supersede_items", source_item_id=newer["id"], target_item_ids=[fact["id"]], reason="test"
    )
    found = await agent.call("semantic_search", query=words.question)
    assert [match["item"]["id"] for match in found["matches"]] == [newer["id"]]
    both = await agent.call("semantic_search", query=words.question, include_obsolete=True)
    assert {match["item"]["id"] for match in both["matches"]} == {fact["id"], newer["id"]}

    # Time travel: what was then is what it was.
    then = await agent.call("list_items", kinds=["memory"], as_of=_iso(before_change))
    assert [(item["id"], item["lifecycle_state"]) for item in then["items"]] == [
        (fact["id"], "active")
    ]
    now = await agent.call("list_items", kinds=["memory"], current_only=True)
    assert ids_of(now) == [newer["id"]]

    # Undo, and redo.
    taken_back = await agent.call("undo", id=fact["id"])
    assert taken_back["item"]["lifecycle_state"] == "active"
    again = await agent.call("redo", id=fact["id"])
    assert again["item"]["lifecycle_state"] == "superseded"
    history = await agent.call("item_history", id=fact["id"])
    kinds = [event["kind"] for event in history["events"]]
    assert len(kinds) == 4 and kinds[-1] == "ItemCreated"


def _iso(at_ms: int) -> str:
    assert at_ms % HOUR_MS == 0
    return f"2026-03-03T{at_ms // HOUR_MS % 24:02d}:00:00Z"
