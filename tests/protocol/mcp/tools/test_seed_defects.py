"""The predecessor's defects that show at the tools: each is a test that we do not have it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.mcp.tools.agent import Agent, ids_of

STATES = ["active", "dormant", "stale", "superseded", "archived", "completed", "expired"]


@pytest.mark.parametrize("state", STATES)
async def test_state_is_set_and_read_back(state: str) -> None:
    agent = Agent()
    item_id = await agent.make("x")
    answer = await agent.call("set_item_lifecycle_state", id=item_id, state=state)
    item = await agent.item(item_id)
    assert answer["item"]["lifecycle_state"] == item["lifecycle_state"] == item["state"] == state
    assert item["completed"] == (state == "completed")
    assert ("archived_at" in item) == (state == "archived")
    assert ids_of(await agent.call("list_items", lifecycle_states=[state])) == [item_id]


async def test_state_given_to_update_item_leaves_no_second_truth() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    item = (await agent.call("update_item", id=item_id, lifecycle_state="completed"))["item"]
    assert item["completed"] is True and item["progress"] == "done"
    item = (await agent.call("update_item", id=item_id, archived=True))["item"]
    assert (item["lifecycle_state"], item["completed"]) == ("archived", False)


async def test_archived_beside_another_state_is_refused() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    error = await agent.refused("update_item", id=item_id, archived=True, state="dormant")
    assert error["code"] == "invalid_input"


@pytest.mark.parametrize("value", [0, 1, 10])
async def test_startup_priority_stays_as_set(value: int) -> None:
    agent = Agent()
    item_id = await agent.make("x")
    await agent.call("set_item_startup_priority", id=item_id, startup_priority=value)
    await agent.call("update_item", id=item_id, title="y")
    assert (await agent.item(item_id))["startup_priority"] == value


async def test_startup_priority_null_resets_nothing() -> None:
    agent = Agent()
    item_id = await agent.make("x", startup_priority=0)
    await agent.call("update_item", id=item_id, startup_priority=None)
    assert (await agent.item(item_id))["startup_priority"] == 0


async def test_new_goal_appears_at_startup() -> None:
    agent = Agent()
    await agent.call("create_project", name="家装")
    goal = await agent.call("set_active_objective", project_slug="家装", title="装修完成")
    assert goal["item"]["startup_priority"] == 8
    bundle = await agent.call("get_startup_context")
    assert ids_of(bundle, "active_goals") == [goal["item"]["id"]]


async def test_former_goal_is_superseded_by_the_next() -> None:
    agent = Agent()
    await agent.call("create_project", name="book")
    first = await agent.call("set_active_objective", project_slug="book", title="outline")
    second = await agent.call("set_active_objective", project_slug="book", title="draft")
    assert second["previous_item_id"] == first["item"]["id"]
    assert (await agent.item(first["item"]["id"]))["lifecycle_state"] == "superseded"


async def test_unknown_item_with_a_title_makes_no_goal() -> None:
    agent = Agent()
    await agent.call("create_project", name="book")
    error = await agent.refused(
        "set_active_objective", project_slug="book", item_id="itm_unknown", title="x"
    )
    assert error["code"] == "not_found"
    assert (await agent.call("list_items"))["total"] == 0


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("update_task_state", {"action": "complete"}),
        ("delete_item", {}),
        ("set_item_lifecycle_state", {"state": "archived"}),
    ],
)
async def test_project_loses_an_objective_that_ended(tool: str, arguments: dict[str, str]) -> None:
    agent = Agent()
    await agent.call("create_project", name="book")
    goal = await agent.call("set_active_objective", project_slug="book", title="draft")
    await agent.call(tool, id=goal["item"]["id"], **arguments)
    assert (await agent.call("get_project", slug="book"))["project"]["active_objective"] is None
    assert (await agent.call("get_active_objectives"))["count"] == 0


async def test_chinese_projects_topics_and_tags_stay_apart_and_round_trip() -> None:
    agent = Agent()
    for name in ("家装", "读书", "旅行 计划"):
        await agent.call("upsert_project", name=name)
        await agent.call("upsert_group", name=name)
        await agent.make(name, project_name=name, group_name=name, tags=[name])
    projects = (await agent.call("list_projects"))["projects"]
    assert {one["slug"] for one in projects} == {"家装", "读书", "旅行-计划"}
    for slug, tag in (("家装", "家装"), ("旅行-计划", "旅行 计划")):
        by_project = await agent.call("list_items", project_slugs=[slug])
        by_topic = await agent.call("list_items", group_slugs=[slug])
        by_tag = await agent.call("list_items", tags=[tag])
        assert ids_of(by_project) == ids_of(by_topic) == ids_of(by_tag)
        assert by_tag["total"] == 1


@pytest.mark.parametrize("tag", ["Two Words", "two words", "TWO WORDS", "２ words"])
async def test_tag_with_a_space_is_found_by_the_same_words(tag: str) -> None:
    agent = Agent()
    item_id = await agent.make("x", tags=["Two Words", "2 words"])
    assert ids_of(await agent.call("list_items", tags=[tag])) == [item_id]


@pytest.mark.parametrize(
    ("words", "due"),
    [
        ("in 3 days", "2026-03-04"),
        ("next friday", "2026-03-06"),
        ("下周五", "2026-03-06"),
        ("明天下午三点", "2026-03-02T07:00:00Z"),
        ("月底", "2026-03-31"),
    ],
)
async def test_date_in_words_is_understood(words: str, due: str) -> None:
    agent = Agent()
    answer = await agent.call("parse_due_date", input=words)
    assert answer["matched"] is True
    assert answer["due_at"].startswith(due)
    item_id = await agent.make("x", due=words)
    item = await agent.item(item_id)
    assert item["due_at"] == answer["due_at"]
    assert item["due_text"] == words


@pytest.mark.parametrize("words", ["5", "due 5", "room 12", "2026-02-30", "2026-02-30T10:00:00Z"])
async def test_words_that_are_no_date_are_an_error(words: str) -> None:
    error = await Agent().refused("parse_due_date", input=words)
    assert error["code"] == "invalid_date"


async def test_recurring_task_completed_late_moves_past_now_once() -> None:
    agent = Agent()
    item_id = await agent.make("water", due="2026-03-02T09:00:00Z", recurrence_kind="weekly")
    agent.wait(24 * 22)
    first = await agent.call("update_task_state", id=item_id, action="complete")
    assert first["item"]["due_at"] == "2026-03-30T09:00:00Z"
    assert first["item"]["lifecycle_state"] == "active"
    again = await agent.call("update_task_state", id=item_id, action="complete")
    assert (again["changed"], again["item"]["due_at"]) == (False, first["item"]["due_at"])


async def test_type_follows_kind_and_recurrence_unless_set_by_hand() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    item = (await agent.call("update_item", id=item_id, recurrence_kind="daily"))["item"]
    assert item["entity_type"] == "recurring_system"
    item = (await agent.call("update_item", id=item_id, clear_recurrence=True, kind="memory"))[
        "item"
    ]
    assert item["entity_type"] == "context_memory"


async def test_completed_task_can_be_reactivated() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    await agent.call("update_task_state", id=item_id, action="complete")
    done = await agent.call("update_task_state", id=item_id, action="complete")
    assert done["changed"] is False
    back = await agent.call("update_task_state", id=item_id, action="reactivate")
    assert back["item"]["lifecycle_state"] == "active"
    assert back["item"]["progress"] == "pending"


@pytest.mark.parametrize(
    ("action", "field"), [("snooze", "snoozed_until"), ("ignore", "ignored_until")]
)
async def test_task_set_aside_says_until_when(action: str, field: str) -> None:
    agent = Agent()
    item_id = await agent.make("x")
    answer = await agent.call("update_task_state", id=item_id, action=action)
    assert answer["item"][field] > "2026-03-01T12:00:00Z"
    assert (await agent.call("get_focus_task"))["item"] is None


async def test_supersede_action_and_tool_mean_the_same() -> None:
    agent = Agent()
    old, new = await agent.make("old"), await agent.make("new")
    answer = await agent.call(
        "update_task_state", id=old, action="supersede", superseded_by_id=new, reason="moved"
    )
    assert answer["item"]["lifecycle_state"] == "superseded"
    assert answer["item"]["superseded_by"] == new
    same = await agent.call("supersede_items", source_item_id=new, target_item_ids=[old])
    assert (same["superseded"], same["already"]) == ([], [old])


async def test_supersede_with_an_unknown_target_changes_nothing() -> None:
    agent = Agent()
    old, new = await agent.make("old"), await agent.make("new")
    error = await agent.refused(
        "supersede_items", source_item_id=new, target_item_ids=[old, "itm_none"]
    )
    assert error["code"] == "not_found"
    assert (await agent.item(old))["lifecycle_state"] == "active"


async def test_more_than_a_hundred_ids_are_a_limit_not_a_crash() -> None:
    agent = Agent()
    error = await agent.refused("list_items", ids=[f"itm_{n}" for n in range(101)])
    assert error["code"] == "limit_exceeded"
    error = await agent.refused("delete_items", ids=[f"itm_{n}" for n in range(101)])
    assert error["code"] == "limit_exceeded"


async def test_hundred_ids_are_served() -> None:
    agent = Agent()
    ids = [await agent.make(f"n{n}") for n in range(100)]
    assert (await agent.call("list_items", ids=ids, limit=100))["count"] == 100
    assert (await agent.call("delete_items", ids=ids))["deleted"] == ids


async def test_total_counts_beyond_the_page() -> None:
    agent = Agent()
    for n in range(7):
        await agent.make(f"n{n}", tags=["many"])
    first = await agent.call("list_items", tags=["many"], limit=3)
    assert (first["count"], first["total"], first["total_is_minimum"]) == (3, 7, False)
    seen = ids_of(first)
    while first["next_cursor"]:
        first = await agent.call("list_items", tags=["many"], limit=3, cursor=first["next_cursor"])
        seen += ids_of(first)
    assert len(seen) == len(set(seen)) == 7


@pytest.mark.parametrize(
    "query", ["foo-bar", "c++", "a:b", "AND", '"', "*", "NEAR(", "'; --", "笔"]
)
async def test_search_signs_are_words_not_syntax(query: str) -> None:
    agent = Agent()
    await agent.make("foo-bar c++ a:b AND 笔记本")
    for tool, name in (("list_items", "q"), ("semantic_search", "query")):
        await agent.call(tool, **{name: query})


async def test_chinese_part_of_a_word_is_found() -> None:
    agent = Agent()
    item_id = await agent.make("更换门禁密码")
    assert ids_of(await agent.call("list_items", q="密码")) == [item_id]
    matches = (await agent.call("semantic_search", query="门禁"))["matches"]
    assert [match["item"]["id"] for match in matches] == [item_id]


async def test_relation_tools_make_blockers_that_the_focus_shows() -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    goal = await agent.call("set_active_objective", project_slug="p", title="goal")
    step = await agent.make("step", project_slug="p", objective_id=goal["item"]["id"])
    block = await agent.make("blocker")
    made = await agent.call(
        "add_relation", source_item_id=block, relationship_type="blocks", target_item_id=step
    )
    assert made["outcome"] == "created"
    error = await agent.refused("add_relation", source_id=step, type="blocks", target_id=block)
    assert error["code"] == "cycle"
    context = await agent.call("get_focus_context", project_slug="p")
    assert block in str(context["blockers"])


async def test_focus_of_a_project_does_not_leak_into_the_next_call() -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    urgent = await agent.make("urgent", priority="high", due="2026-03-01T08:00:00Z")
    other = await agent.make("other", project_slug="p")
    assert (await agent.call("get_focus_task", project_slug="p"))["item"]["id"] == other
    assert (await agent.call("get_focus_task"))["item"]["id"] == urgent


async def test_reading_writes_nothing() -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    await agent.make("x", project_slug="p", tags=["t"], group_name="g")
    before = await agent.bench.tables()
    events = await agent.bench.rows("SELECT count(*) AS n FROM events")
    for tool, arguments in (
        ("get_startup_context", {}),
        ("get_focus_context", {"project_slug": "p"}),
        ("get_focus_task", {}),
        ("load_context", {"level": "project", "project_slug": "p"}),
        ("get_context_summary", {"topic": "g"}),
        ("list_items", {"q": "x"}),
        ("get_project_timeline", {"project_slug": "p"}),
    ):
        await agent.call(tool, **arguments)
    assert await agent.bench.tables() == before
    assert await agent.bench.rows("SELECT count(*) AS n FROM events") == events


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_startup_context", {}),
        ("load_context", {"level": "project", "project_slug": "p"}),
        ("get_context_summary", {"topic": "g"}),
    ],
)
async def test_cached_context_is_marked_equal_and_never_stale(
    tool: str, arguments: dict[str, str]
) -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    item_id = await agent.make("x", project_slug="p", group_name="g", startup_priority=10)
    fresh = await agent.call(tool, **arguments)
    cached = await agent.call(tool, **arguments)
    assert (fresh["source"], cached["source"]) == ("d1", "kv_cache")
    assert {**cached, "source": ""} == {**fresh, "source": ""}
    await agent.call("update_item", id=item_id, title="renamed 改名")
    after = await agent.call(tool, **arguments)
    assert after["source"] == "d1"
    assert "renamed 改名" in str(after)


async def test_project_summary_is_the_projects() -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    summary = await agent.call("get_context_summary", project_slug="p")
    assert (summary["level"], summary["project"]["slug"]) == ("project", "p")


async def test_history_and_limit_are_part_of_what_is_cached() -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    item_id = await agent.make("done", project_slug="p")
    await agent.call("update_task_state", id=item_id, action="complete")
    plain = await agent.call("load_context", level="project", project_slug="p")
    full = await agent.call("load_context", level="project", project_slug="p", include_history=True)
    assert "history" not in plain
    assert ids_of(full, "history") == [item_id]


async def test_canonical_item_must_be_current_and_belong() -> None:
    agent = Agent()
    await agent.call("upsert_group", name="g")
    item_id = await agent.make("x", group_slug="g")
    await agent.call("set_group_canonical_item", group_slug="g", item_id=item_id)
    gone = await agent.make("y", group_slug="g", lifecycle_state="archived")
    error = await agent.refused("set_group_canonical_item", group_slug="g", item_id=gone)
    assert error["code"] == "conflict"
    cleared = await agent.call("set_group_canonical_item", group_slug="g", item_id=None)
    assert cleared["topic"]["canonical_item"] is None


async def test_slug_and_name_of_an_unknown_project_make_it_a_slug_alone_does_not() -> None:
    agent = Agent()
    error = await agent.refused("create_item", title="x", project_slug="nowhere")
    assert error["code"] == "not_found"
    assert (await agent.call("list_projects"))["total"] == 0
    made = await agent.call("create_item", title="x", project_slug="nowhere", project_name="Now")
    assert made["item"]["project"] == {"slug": "nowhere", "name": "Now"}


async def test_consolidation_reports_a_pair_once() -> None:
    agent = Agent()
    tags = ["a", "b", "c"]
    ids = {
        await agent.make("Door code 1234", item_kind="memory", tags=tags),
        await agent.make("Door code 1234", item_kind="memory", tags=tags),
    }
    groups = (await agent.call("find_consolidation_candidates"))["groups"]
    assert len(groups) == 1
    assert all(item_id in str(groups[0]) for item_id in ids)


async def test_what_something_is_derived_from_stays_in_force() -> None:
    agent = Agent()
    keeper, other = await agent.make("summary"), await agent.make("原文")
    call: dict[str, Any] = {
        "source_item_id": keeper,
        "target_item_ids": [other],
        "relationship_type": "derived_from",
    }
    first = await agent.call("consolidate_memories", **call)
    assert (first["created"], first["superseded"]) == (1, [])
    assert (await agent.item(other))["lifecycle_state"] == "active"
    again = await agent.call("consolidate_memories", **call)
    assert again["created"] == 0
    marked = await agent.call("consolidate_memories", mark_superseded=True, **call)
    assert marked["superseded"] == [other]


async def test_duplicate_leads_to_what_stays() -> None:
    agent = Agent()
    keeper, copy = await agent.make("a"), await agent.make("a")
    await agent.call(
        "consolidate_memories",
        source_item_id=keeper,
        target_item_ids=[copy],
        relationship_type="duplicate_of",
    )
    [relation] = (await agent.call("list_relations", id=copy))["relations"]
    assert (relation["type"], relation["direction"], relation["item_id"]) == (
        "duplicate_of",
        "out",
        keeper,
    )
    assert (await agent.item(copy))["lifecycle_state"] == "superseded"


async def test_marking_stale_is_no_touch() -> None:
    agent = Agent()
    item_id = await agent.make("left lying")
    pinned = await agent.make("pinned", pinned=True)
    agent.wait(24 * 22)
    before = (await agent.call("get_stale_tasks"))["items"]
    assert {one["id"] for one in before} == {item_id, pinned}
    assert (await agent.call("mark_stale_candidates"))["marked"] == [item_id]
    after = (await agent.call("get_stale_tasks"))["items"]
    since = {one["id"]: one["untouched_since"] for one in before}
    assert {one["id"]: one["untouched_since"] for one in after} == since
    assert ids_of(await agent.call("list_items", stale_only=True, states=["stale"])) == [item_id]


async def test_renaming_a_project_changes_the_version_of_the_context() -> None:
    agent = Agent()
    await agent.call("create_project", name="p")
    await agent.make("x", project_slug="p")
    before = await agent.call("get_startup_context")
    await agent.call("upsert_project", slug="p", name="改名")
    after = await agent.call("get_startup_context")
    assert after["context_version"] > before["context_version"]
    assert [one["name"] for one in after["active_projects"]] == ["改名"]


async def test_consolidation_dates_itself() -> None:
    agent = Agent()
    ids = [await agent.make("a", item_kind="memory"), await agent.make("a", item_kind="memory")]
    assert (await agent.call("get_startup_context"))["last_consolidated"] is None
    agent.wait(5)
    await agent.call(
        "consolidate_memories",
        source_item_id=ids[0],
        target_item_ids=[ids[1]],
        relationship_type="replaces",
    )
    assert (await agent.call("get_startup_context"))["last_consolidated"] == "2026-03-01T17:00:00Z"


async def test_topic_of_an_item_is_shown_with_its_canonical_item_and_true_totals() -> None:
    agent = Agent()
    await agent.call("upsert_group", name="g", group_kind="system", retrieval_priority=7)
    ids = [await agent.make(f"n{n}", group_slug="g") for n in range(60)]
    await agent.call("set_group_canonical_item", group_slug="g", item_id=ids[3])
    summary = await agent.call("get_context_summary", topic="g")
    assert summary["group"]["group_kind"] == "system"
    assert summary["group"]["retrieval_priority"] == 7
    assert summary["canonical_item"]["id"] == ids[3]
    assert summary["summary"]["total"] == 60


async def test_token_budget_trims_and_says_what_it_left_out() -> None:
    agent = Agent()
    for n in range(10):
        await agent.make(f"always {n} 永远", description="长" * 300, startup_priority=10)
    bundle = await agent.call("get_startup_context", max_tokens=1_000)
    assert bundle["left_out"]["always_load"] > 0
    assert bundle["tokens"] <= 1_000
