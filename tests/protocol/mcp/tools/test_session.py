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


@dataclass(slots=True)
class Day:
    """What one day made: ids by what they are."""

    agent: Agent
    words: Script
    project: str = ""
    goal: str = ""
    captured: str = ""
    task: str = ""
    habit: str = ""
    fact: str = ""
    newer: str = ""


@pytest.mark.parametrize("make_agent", [Agent, legacy_agent], ids=["modern", "legacy"])
@pytest.mark.parametrize("language", SCRIPTS)
async def test_day_of_one_agent(language: str, make_agent: Callable[[], Agent]) -> None:
    day = Day(make_agent(), SCRIPTS[language])
    await day.agent.call("update_app_settings", time_zone="Asia/Shanghai")
    await _begin(day)
    await _capture(day)
    await _edit(day)
    day.agent.wait(48)
    await _complete(day)
    await _load_all_levels(day)
    before_change = day.agent.bench.runtime.now_ms()
    day.agent.wait(1)
    await _supersede(day)
    await _travel(day, before_change)
    await _undo_and_redo(day)


async def _begin(day: Day) -> None:
    agent, words = day.agent, day.words
    empty = await agent.call("get_startup_context")
    assert empty["active_goals"] == [] and empty["profile"] is None
    project = await agent.call("create_project", name=words.project)
    day.project = project["project"]["slug"]
    await agent.call("upsert_group", name=words.topic, retrieval_priority=5)
    goal = await agent.call("set_active_objective", project_slug=day.project, title=words.goal)
    day.goal = goal["item"]["id"]


async def _capture(day: Day) -> None:
    agent, words = day.agent, day.words
    captured = (await agent.call("quick_capture", input=words.capture))["item"]
    assert captured["title"] == words.capture_title
    assert captured["due_at"] == "2026-03-02T07:00:00Z"
    assert captured["tags"] == [words.tag] and captured["project"]["slug"] == day.project
    task = await agent.call("quick_add_task", title=words.task, project_slug=day.project)
    assert task["item"]["priority"] == 3
    day.captured, day.task = captured["id"], task["item"]["id"]
    day.habit = await agent.make(
        words.habit, due=words.due, recurrence_kind="daily", recurrence_interval=1
    )
    conflicts = await agent.call("find_semantic_conflicts", query=words.fact)
    assert conflicts["matches"] == []
    fact = await agent.call("capture_context", input=words.fact, group_name=words.topic)
    day.fact = fact["item"]["id"]


async def _edit(day: Day) -> None:
    agent, words = day.agent, day.words
    assert ids_of(await agent.call("list_items", tags=[words.tag])) == [day.captured]
    edited = await agent.call(
        "update_item",
        id=day.task,
        steps=[words.step],
        objective_id=day.goal,
        add_note=words.note,
        due=words.due,
    )
    assert edited["item"]["due_at"] == "2026-03-02T01:00:00Z"
    focus = await agent.call("get_focus_task", project_slug=day.project)
    assert focus["item"]["id"] == day.task


async def _complete(day: Day) -> None:
    """Complete the habit two days late, and the task for good."""
    agent = day.agent
    done = (await agent.call("update_task_state", id=day.habit, action="complete"))["item"]
    assert (done["lifecycle_state"], done["due_at"]) == ("active", "2026-03-04T01:00:00Z")
    finished = await agent.call("update_task_state", id=day.task, action="complete")
    assert finished["item"]["completed"] is True


async def _load_all_levels(day: Day) -> None:
    agent = day.agent
    startup = await agent.call("get_startup_context")
    assert ids_of(startup, "active_goals") == [day.goal]
    assert [one["slug"] for one in startup["active_projects"]] == [day.project]
    topic = await agent.call("load_context", level="topic_summary", topic=day.words.topic)
    assert topic["canonical_item"]["id"] == day.fact
    level = await agent.call("load_context", level="project", project_slug=day.project)
    assert level["active_objective"]["id"] == day.goal
    assert day.captured in ids_of(level, "active_items")
    raw = await agent.call("load_context", kinds=["memory"])
    assert ids_of(raw) == [day.fact]


async def _supersede(day: Day) -> None:
    """Save what is true now, and find only that."""
    agent, words = day.agent, day.words
    newer = await agent.call("capture_context", input=words.newer_fact, topic=words.topic)
    day.newer = newer["item"]["id"]
    await agent.call(
        "supersede_items", source_item_id=day.newer, target_item_ids=[day.fact], reason="test"
    )
    found = await agent.call("semantic_search", query=words.question)
    assert [match["item"]["id"] for match in found["matches"]] == [day.newer]
    both = await agent.call("semantic_search", query=words.question, include_obsolete=True)
    assert {match["item"]["id"] for match in both["matches"]} == {day.fact, day.newer}


async def _travel(day: Day, at_ms: int) -> None:
    """What was then is what it was; now it is otherwise."""
    then = await day.agent.call("list_items", kinds=["memory"], as_of=_iso(at_ms))
    states = [(item["id"], item["lifecycle_state"]) for item in then["items"]]
    assert states == [(day.fact, "active")]
    was = await day.agent.call("get_item", id=day.fact, as_of=_iso(at_ms))
    assert was["item"]["lifecycle_state"] == "active"
    now = await day.agent.call("list_items", kinds=["memory"], current_only=True)
    assert ids_of(now) == [day.newer]


async def _undo_and_redo(day: Day) -> None:
    agent = day.agent
    taken_back = await agent.call("undo", id=day.fact)
    assert taken_back["item"]["lifecycle_state"] == "active"
    again = await agent.call("redo", id=day.fact)
    assert again["item"]["lifecycle_state"] == "superseded"
    events = (await agent.call("item_history", id=day.fact))["events"]
    assert len(events) == 4 and events[-1]["kind"] == "ItemCreated"


def _iso(at_ms: int) -> str:
    assert at_ms % HOUR_MS == 0
    return f"2026-03-03T{at_ms // HOUR_MS % 24:02d}:00:00Z"
