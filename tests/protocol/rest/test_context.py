"""REST of context and focus: four levels, the cache's mark, budgets, the next step, stale tasks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.rest.talk import settle, talk

DAY_MS = 86_400_000


async def test_startup_is_cached_until_the_next_write() -> None:
    async with talk() as one:
        world = await settle(one)
        await one.make("我叫小王", kind="memory", startup_priority=10, topic="profile")
        before = await one.tables()
        first = await one.ask("GET", "/v1/context/startup")
        second = await one.ask("GET", "/v1/context/startup")
        fresh = await one.ask("GET", "/v1/context/startup?use_cache=false")
        assert await one.tables() == before
        await one.ask("PATCH", f"/v1/items/{world.goal}", {"title": "更整洁的家"})
        third = await one.ask("GET", "/v1/context/startup")
    assert [bundle["source"] for bundle in (first, second, fresh, third)] == [
        "d1",
        "kv_cache",
        "d1",
        "d1",
    ]
    assert {**second, "source": "d1"} == first == fresh
    assert first["profile"]["title"] == "我叫小王"
    assert [goal["title"] for goal in first["active_goals"]] == ["整洁的家"]
    assert [project["slug"] for project in first["active_projects"]] == ["家"]
    assert [topic["scope"] for topic in first["topic_summaries"]] == ["厨房"]
    assert third["active_goals"][0]["title"] == "更整洁的家"


@pytest.mark.parametrize("name", ["厨房", "家务"], ids=["topic", "tag"])
async def test_topic_and_tag_are_summarised(name: str) -> None:
    async with talk() as one:
        await settle(one)
        shown = await one.ask("GET", f"/v1/context/topics/{name}")
        asked = await one.ask(
            "POST", "/v1/context", {"level": "topic_summary", "topic": name, "use_cache": False}
        )
    assert shown == asked
    assert shown["scope"] == name
    assert shown["summary"]["total"] >= 1


async def test_project_is_shown_with_its_goal_and_its_history() -> None:
    async with talk() as one:
        world = await settle(one)
        await one.ask("POST", f"/v1/items/{world.milk}/state", {"action": "complete"})
        shown = await one.ask("GET", "/v1/context/projects/家?include_history&limit=5")
        plain = await one.ask("POST", "/v1/context", {"level": "project", "project_slug": "家"})
    assert shown["active_objective"]["id"] == world.goal
    assert [item["id"] for item in shown["history"]] == [world.milk]
    assert "history" not in plain


async def test_raw_memories_are_filtered_and_paged() -> None:
    async with talk() as one:
        world = await settle(one)
        body: dict[str, Any] = {"tags": ["家务"], "limit": 1}
        first = await one.ask("POST", "/v1/context", body)
        second = await one.ask("POST", "/v1/context", {**body, "cursor": first["next_cursor"]})
        pinned = await one.ask("POST", "/v1/context", {"pinned": True, "kinds": ["task"]})
    ids = [bundle["items"][0]["id"] for bundle in (first, second)]
    assert set(ids) == {world.milk, world.bread}
    assert [item["id"] for item in pinned["items"]] == [world.goal]


async def test_bundle_is_trimmed_to_its_budget() -> None:
    async with talk() as one:
        for number in range(12):
            await one.make(f"规则 {number}", content="长" * 500, startup_priority=10)
        whole = await one.ask("GET", "/v1/context/startup")
        trimmed = await one.ask("GET", "/v1/context/startup?max_tokens=600")
        await one.refuse("GET", "/v1/context/startup?max_tokens=3", code="invalid_input")
    assert trimmed["left_out"]["always_load"] > 0
    assert trimmed["tokens"] <= 600
    assert len(whole["always_load"]) == 10


@pytest.mark.parametrize(
    ("method", "url", "body", "status", "code"),
    [
        ("GET", "/v1/context/topics/none", None, 404, "not_found"),
        ("GET", "/v1/context/projects/none", None, 404, "not_found"),
        ("POST", "/v1/context", {"level": "project"}, 400, "invalid_input"),
        ("POST", "/v1/context", {"level": "topic_summary"}, 400, "invalid_input"),
        ("POST", "/v1/context", {"level": "everything"}, 400, "invalid_input"),
        ("POST", "/v1/context", {"projects": ["none"]}, 404, "not_found"),
        ("POST", "/v1/context", {"limit": 0}, 400, "invalid_input"),
        ("POST", "/v1/context", {"cursor": "abc"}, 400, "invalid_input"),
        ("GET", "/v1/focus?project=none", None, 404, "not_found"),
        ("GET", "/v1/focus/task?project=none", None, 404, "not_found"),
        ("GET", "/v1/stale?limit=0", None, 400, "invalid_input"),
        ("POST", "/v1/stale", {"limit": 101}, 400, "invalid_input"),
    ],
)
async def test_context_of_nothing_is_refused(
    method: str, url: str, body: Any, status: int, code: str
) -> None:
    async with talk() as one:
        await one.refuse(method, url, body, status=status, code=code)


async def test_focus_shows_the_next_step_and_what_is_blocked() -> None:
    async with talk() as one:
        empty = await one.ask("GET", "/v1/focus/task")
        world = await settle(one)
        await one.ask("PATCH", f"/v1/items/{world.bread}", {"project": "家"})
        task = await one.ask("GET", "/v1/focus/task")
        focus = await one.ask("GET", "/v1/focus?project=家")
        await one.ask("GET", "/v1/focus")
    assert empty["item"] is None
    assert task["item"]["id"] == world.milk
    assert focus["tactical_next_step"]["id"] == world.milk
    assert focus["strategic_focus"]["id"] == world.goal
    assert focus["blockers"][0]["item"]["id"] == world.bread
    assert focus["blockers"][0]["blocked_by"][0]["id"] == world.milk


async def test_tasks_left_lying_are_listed_and_marked() -> None:
    async with talk() as one:
        lying = await one.make("很久以前")
        one.served.runtime.advance(22 * DAY_MS)
        await one.make("今天")
        stale = await one.ask("GET", "/v1/stale")
        marked = await one.ask("POST", "/v1/stale", {})
        item = (await one.ask("GET", f"/v1/items/{lying}"))["item"]
    assert [entry["id"] for entry in stale["items"]] == [lying]
    assert marked["marked"] == [lying]
    assert item["state"] == "stale"
