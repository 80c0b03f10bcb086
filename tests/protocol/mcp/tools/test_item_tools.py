"""Making and editing items: names, words, what clears and what never does."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.mcp.tools.agent import Agent, ids_of, legacy_agent

FULL: dict[str, Any] = {
    "title": "准备发布 the release",
    "description": "Write notes. 写说明。",
    "item_kind": "task",
    "entity_type": "tactical_task",
    "priority": "high",
    "due": "2026-03-05T09:00:00Z",
    "tags": ["发布", "Release Notes"],
    "project_name": "发布 计划",
    "group_name": "工程",
    "pinned": True,
    "startup_priority": 10,
    "importance": 0.9,
    "confidence": 1,
    "fact_key": "release:next",
    "source": "chat",
    "source_message_ids": ["msg_1"],
    "valid_from": "2026-03-01",
    "valid_to": "2026-04-01",
    "expires_at": "2026-12-31",
    "steps": ["draft", {"text": "校对", "done": True, "steps": ["spelling"]}],
    "progress": "in_progress",
    "summary": "Short",
    "raw_input": "as typed",
}


async def test_create_item_with_every_field_shows_every_field() -> None:
    agent = Agent()
    item = (await agent.call("create_item", **FULL))["item"]
    assert item["title"] == FULL["title"]
    assert item["content"] == FULL["description"]
    assert (item["priority"], item["startup_priority"], item["pinned"]) == (3, 10, True)
    assert item["due_at"] == "2026-03-05T09:00:00Z"
    assert item["tags"] == ["发布", "Release Notes"]
    assert item["project"] == {"slug": "发布-计划", "name": "发布 计划"}
    assert item["topic"] == {"slug": "工程", "name": "工程"}
    assert item["fact_key"] == "release:next"
    assert [step["text"] for step in item["steps"]] == ["draft", "校对"]
    assert [step["done"] for step in item["steps"]] == [False, True]
    assert item["steps"][1]["steps"][0]["text"] == "spelling"
    assert (await agent.item(item["id"])) == item


@pytest.mark.parametrize("make_agent", [Agent, legacy_agent], ids=["modern", "legacy"])
async def test_our_names_give_the_same_item_as_the_predecessors(make_agent: Any) -> None:
    agent: Agent = make_agent()
    ours = await agent.call(
        "create_item", title="住址", content="北京", kind="memory", type="fact", topic_name="家"
    )
    theirs = await agent.call(
        "create_item",
        title="住址",
        description="北京",
        item_kind="memory",
        entity_type="fact",
        group_slug="家",
    )
    own = {"id", "created_at", "updated_at"}
    views = [{k: v for k, v in one["item"].items() if k not in own} for one in (ours, theirs)]
    assert views[0] == views[1]


async def test_two_names_of_one_argument_are_refused() -> None:
    error = await Agent().refused("create_item", title="x", content="a", description="b")
    assert error["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("given", "stored"),
    [("low", 1), ("Medium", 2), ("high", 3), (1, 1), (3, 3), ("2", 2), (3.0, 3)],
)
async def test_priority_is_taken_by_word_and_by_number(given: object, stored: int) -> None:
    answer = await Agent().call("create_item", title="x", priority=given)
    assert answer["item"]["priority"] == stored


@pytest.mark.parametrize("given", ["urgent", 0, 4, True, [1], "高高"])
async def test_unknown_priority_is_refused_with_the_words(given: object) -> None:
    error = await Agent().refused("create_item", title="x", priority=given)
    assert (error["code"], error["field"]) == ("invalid_input", "priority")
    assert "'high'" in error["message"]


async def test_single_text_is_taken_for_a_list() -> None:
    agent = Agent()
    item = (await agent.call("create_item", title="x", tags="购物"))["item"]
    assert item["tags"] == ["购物"]
    assert ids_of(await agent.call("list_items", tag="购物", kind="task")) == [item["id"]]


async def test_nulls_of_an_eager_client_change_nothing() -> None:
    agent = Agent()
    made = (await agent.call("create_item", **FULL))["item"]
    schema_names = [*FULL, "lifecycle_state", "archived", "completed", "add_note", "clear_due"]
    nulls = {name: None for name in schema_names if name != "title"}
    answer = await agent.call("update_item", id=made["id"], **nulls)
    assert answer["changed"] is False
    assert answer["item"] == made


async def test_update_changes_only_what_is_given() -> None:
    agent = Agent()
    made = (await agent.call("create_item", **FULL))["item"]
    answer = await agent.call("update_item", id=made["id"], title="改名")
    different = {name for name, value in answer["item"].items() if made.get(name) != value}
    assert different == {"title", "version"}


@pytest.mark.parametrize("words", ["someday", "2026-02-30", "room 12", "改天", ""])
async def test_due_that_is_not_understood_is_an_error_and_keeps_the_date(words: str) -> None:
    agent = Agent()
    item_id = await agent.make("pay", due="in 3 days")
    before = await agent.item(item_id)
    error = await agent.refused("update_item", id=item_id, due=words)
    assert error["code"] == "invalid_date"
    assert error["hint"]
    assert await agent.item(item_id) == before


@pytest.mark.parametrize(
    ("flag", "fields"),
    [
        ("clear_due", ["due_at"]),
        ("clear_project", ["project"]),
        ("clear_group", ["topic"]),
    ],
)
async def test_clear_flag_empties_its_field_and_no_other(flag: str, fields: list[str]) -> None:
    agent = Agent()
    made = (await agent.call("create_item", **FULL))["item"]
    arguments: dict[str, Any] = {flag: True}
    after = (await agent.call("update_item", id=made["id"], **arguments))["item"]
    different = {name for name in made | after if made.get(name) != after.get(name)}
    assert different - {"due_text"} == {*fields, "version"}
    assert all(after[name] is None for name in fields)


async def test_clear_recurrence_makes_the_task_a_plain_one() -> None:
    agent = Agent()
    item_id = await agent.make("water", recurrence_kind="weekly", recurrence_interval=2)
    assert (await agent.item(item_id))["entity_type"] == "recurring_system"
    after = (await agent.call("update_item", id=item_id, clear_recurrence=True))["item"]
    assert "recurrence_kind" not in after
    assert after["entity_type"] == "tactical_task"


async def test_clear_objective_takes_the_goal_away() -> None:
    agent = Agent()
    goal = await agent.make("goal", entity_type="strategic_goal")
    item_id = await agent.make("step", objective_id=goal)
    assert (await agent.item(item_id))["objective_id"] == goal
    after = (await agent.call("update_item", id=item_id, clear_objective=True))["item"]
    assert "objective_id" not in after


@pytest.mark.parametrize(
    "name",
    "summary fact_key importance confidence valid_from valid_to expires_at source "
    "source_message_ids steps".split(),
)
async def test_clear_empties_a_named_field(name: str) -> None:
    agent = Agent()
    made = (await agent.call("create_item", **FULL))["item"]
    after = (await agent.call("update_item", id=made["id"], clear=[name]))["item"]
    assert name in made and name not in after


async def test_clear_description_and_type() -> None:
    agent = Agent()
    item_id = await agent.make("x", description="text", item_kind="memory", entity_type="fact")
    answer = await agent.call("update_item", id=item_id, clear=["description", "entity_type"])
    assert answer["item"]["content"] == ""
    assert answer["item"]["entity_type"] == "context_memory"


@pytest.mark.parametrize(
    "arguments",
    [
        {"due": "tomorrow", "clear_due": True},
        {"project_name": "p", "clear_project": True},
        {"topic": "t", "clear_topic": True},
        {"recurrence_interval": 2, "clear_recurrence": True},
        {"content": "x", "clear": "description"},
        {"fact_key": "x", "clear": ["fact_key"]},
    ],
    ids=repr,
)
async def test_field_both_given_and_cleared_is_refused(arguments: dict[str, Any]) -> None:
    agent = Agent()
    item_id = await agent.make("x")
    error = await agent.refused("update_item", id=item_id, **arguments)
    assert error["code"] == "invalid_input"
    assert (await agent.item(item_id))["version"] == 1


async def test_steps_are_ticked_by_id_and_lines_are_added() -> None:
    agent = Agent()
    item_id = await agent.make("trip", steps=["tickets", "订酒店"])
    first = (await agent.item(item_id))["steps"][0]["id"]
    answer = await agent.call(
        "update_item",
        id=item_id,
        step_done={first: True},
        add_note="booked",
        add_decision="坐火车",
        add_problem="late",
    )
    item = answer["item"]
    assert [step["done"] for step in item["steps"]] == [True, False]
    assert [item[name][0]["text"] for name in ("notes", "decisions", "problems")] == [
        "booked",
        "坐火车",
        "late",
    ]
    error = await agent.refused("update_item", id=item_id, step_done={"stp_no": True})
    assert error["code"] == "invalid_input"


async def test_steps_replaced_with_their_ids_keep_them() -> None:
    agent = Agent()
    item_id = await agent.make("trip", steps=["a", "b"])
    first, second = (await agent.item(item_id))["steps"]
    answer = await agent.call(
        "update_item", id=item_id, steps=[{"id": second["id"], "text": "b"}, "c"]
    )
    ids = [step["id"] for step in answer["item"]["steps"]]
    assert ids[0] == second["id"] and ids[1] not in (first["id"], second["id"])


async def test_steps_nested_too_deep_are_refused() -> None:
    nested: Any = "end"
    for _ in range(400):
        nested = {"text": "s", "steps": [nested]}
    error = await Agent().refused("create_item", title="x", steps=[nested])
    assert error["code"] in ("invalid_input", "limit_exceeded")


async def test_expected_version_that_has_passed_is_a_version_conflict() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    await agent.call("update_item", id=item_id, title="y", expected_version=1)
    error = await agent.refused("update_item", id=item_id, title="z", expected_version=1)
    assert error["code"] == "version_conflict"
    assert error["details"] == {"version": 2}


@pytest.mark.parametrize("make_agent", [Agent], ids=["modern"])
async def test_idempotency_key_answers_the_first_result(make_agent: Any) -> None:
    agent: Agent = make_agent()
    first = await agent.call("create_item", key="k1", title="once")
    again = await agent.call("create_item", key="k1", title="once")
    assert again == first
    error = await agent.refused("create_item", key="k1", title="other")
    assert error["code"] == "idempotency_key_reused"
    assert (await agent.call("list_items"))["total"] == 1


async def test_same_call_with_two_keys_is_done_twice() -> None:
    agent = Agent()
    await agent.call("quick_add_task", key="a", title="milk")
    await agent.call("quick_add_task", key="b", title="milk")
    assert (await agent.call("list_items"))["total"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "买牛奶 #家 +采购 @生活 !high due:tomorrow"},
        {"input": "买牛奶 #家 +采购 @生活 !!! due:明天"},
    ],
    ids=["title", "input"],
)
async def test_quick_add_task_reads_markers(arguments: dict[str, str]) -> None:
    item = (await Agent().call("quick_add_task", **arguments))["item"]
    assert (item["title"], item["item_kind"], item["priority"]) == ("买牛奶", "task", 3)
    assert item["tags"] == ["家"]
    assert item["project"]["slug"] == "采购" and item["topic"]["slug"] == "生活"
    assert item["due_at"].startswith("2026-03-02")


async def test_quick_add_task_makes_a_task_of_what_looks_like_a_note() -> None:
    item = (await Agent().call("quick_add_task", title="记住：交电费"))["item"]
    assert (item["title"], item["item_kind"]) == ("交电费", "task")


async def test_quick_add_task_uses_the_default_priority() -> None:
    agent = Agent()
    await agent.call("update_app_settings", default_quick_add_priority="high")
    assert (await agent.call("quick_add_task", title="x"))["item"]["priority"] == 3


async def test_quick_capture_arguments_win_over_markers() -> None:
    answer = await Agent().call(
        "quick_capture", input="call #a due:tomorrow +home", due="in 3 days", priority=1, tags=["b"]
    )
    item = answer["item"]
    assert item["due_at"].startswith("2026-03-04")
    assert (item["priority"], item["tags"], item["project"]["slug"]) == (1, ["a", "b"], "home")


@pytest.mark.parametrize("line", ["note: the door code is 1234", "记住：门禁密码 1234"])
async def test_quick_capture_prefix_makes_a_memory(line: str) -> None:
    item = (await Agent().call("quick_capture", input=line))["item"]
    assert item["item_kind"] == "memory"


async def test_capture_context_is_a_memory_of_low_priority_that_keeps_its_due() -> None:
    item = (await Agent().call("capture_context", input="护照到期 due:2026-06-01"))["item"]
    assert (item["item_kind"], item["priority"]) == ("memory", 1)
    assert item["due_at"].startswith("2026-06-01")


async def test_capture_context_takes_what_is_said_of_a_memory() -> None:
    answer = await Agent().call(
        "capture_context",
        input="时区 is Asia/Shanghai",
        fact_key="profile:timezone",
        entity_type="fact",
        group_slug="profile",
        startup_priority=10,
        importance="0.8",
    )
    item = answer["item"]
    assert (item["fact_key"], item["entity_type"], item["importance"]) == (
        "profile:timezone",
        "fact",
        0.8,
    )
    assert item["topic"]["slug"] == "profile"


@pytest.mark.parametrize("line", ["write to a@b.org about C++", "see #123 and 1+1"])
async def test_addresses_and_signs_stay_text(line: str) -> None:
    item = (await Agent().call("quick_capture", input=line))["item"]
    assert item["title"] == line
    assert not item["tags"] and item["project"] is None and item["topic"] is None


async def test_agent_is_named_in_the_history() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    [event] = (await agent.call("item_history", id=item_id))["events"]
    assert event["actor"] == "agent:Tester-9"
    assert (await agent.item(item_id))["authored_by"] == "agent"


async def test_long_content_is_kept_whole_behind_a_pointer() -> None:
    agent = Agent()
    text = "长文本。" * 6_000
    item = (await agent.call("create_item", title="long", content=text))["item"]
    assert len(item["content"]) < 2_000
    parts = ""
    offset: int | None = 0
    while offset is not None:
        answer = await agent.call("get_artifact", id=item["artifact_id"], offset=offset)
        parts += answer["artifact"]["text"]
        offset = answer["next_offset"]
    assert parts == text


async def test_item_moves_between_projects_and_topics_and_out() -> None:
    agent = Agent()
    item_id = await agent.make("x")
    for tool, area, slug, name, clear in (
        ("set_item_project", "project", "project_slug", "project_name", "clear_project"),
        ("set_item_group", "topic", "group_slug", "group_name", "clear_group"),
    ):
        made = await agent.call(tool, id=item_id, **{name: "甲 乙"})
        assert made["item"][area] == {"slug": "甲-乙", "name": "甲 乙"}
        both: dict[str, Any] = {slug: "second", name: "Second"}
        assert (await agent.call(tool, id=item_id, **both))["item"][area]["name"] == "Second"
        back = await agent.call(tool, id=item_id, **{slug: "甲-乙"})
        assert back["item"][area]["name"] == "甲 乙"
        assert (await agent.refused(tool, id=item_id, **{slug: "nowhere"}))["code"] == "not_found"
        flag: dict[str, Any] = {clear: True}
        assert (await agent.call(tool, id=item_id, **flag))["item"][area] is None


async def test_occurrence_that_was_done_is_not_done_again() -> None:
    agent = Agent()
    item_id = await agent.make("water", due="2026-03-01T09:00:00Z", recurrence_kind="daily")
    meant = {"action": "complete", "occurrence_due_at": "2026-03-01T09:00:00Z"}
    first = await agent.call("update_task_state", id=item_id, **meant)
    assert first["changed"] is True and first["item"]["due_at"] == "2026-03-02T09:00:00Z"
    agent.wait(1)
    assert (await agent.call("update_task_state", id=item_id, **meant))["changed"] is False


@pytest.mark.parametrize("make_agent", [Agent, legacy_agent], ids=["modern", "legacy"])
async def test_forget_shows_first_what_would_go(make_agent: Any) -> None:
    agent: Agent = make_agent()
    said = await agent.call("memory_ingest", messages=[{"role": "user", "content": "我对花生过敏"}])
    item = (await agent.call("create_item", title="用户对花生过敏", kind="memory"))["item"]
    preview = await agent.call("forget", id=item["id"], dry_run=True)
    assert preview["would_forget"] == item["id"]
    assert preview["passages"] == [
        {"place": "message", "id": said["message_ids"][0], "texts": ["我对花生过敏"]}
    ]
    assert (await agent.item(item["id"]))["title"] == "用户对花生过敏"
    gone = await agent.call("forget", id=item["id"])
    assert gone == {"forgotten": item["id"], **preview["counts"]}
