"""Bad input: each gets its documented code, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.mcp.tools.agent import Agent

from remembrancer.core.errors import CODES
from remembrancer.core.ids import Namespace

MEGABYTE = "大" * 350_000

ID = "<id>"
"""Stands for the id of the item that is there."""

BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "unknown id": ("get_item", {"id": "itm_00000000000000000000000000"}, "not_found"),
    "unknown id, edit": ("update_item", {"id": "itm_none", "title": "x"}, "not_found"),
    "unknown id, state": ("update_task_state", {"id": "nothing", "action": "ignore"}, "not_found"),
    "unknown id, delete": ("delete_items", {"ids": [ID, "itm_none"]}, "not_found"),
    "unknown id, history": ("item_history", {"id": "itm_none"}, "not_found"),
    "unknown id, undo": ("undo", {"id": "itm_none"}, "not_found"),
    "unknown id, forget": ("forget", {"id": "itm_none"}, "not_found"),
    "unknown artifact": ("get_artifact", {"id": "art_none"}, "not_found"),
    "unknown position": ("undo", {"position": 999_999}, "not_found"),
    "empty id": ("get_item", {"id": ""}, "not_found"),
    "no id": ("get_item", {}, "invalid_input"),
    "number for an id": ("get_item", {"id": 5}, "invalid_input"),
    "impossible date": ("update_item", {"id": ID, "due": "2026-02-30"}, "invalid_date"),
    "impossible date in a filter": ("list_items", {"due_before": "2026-02-30"}, "invalid_date"),
    "impossible snooze": (
        "update_task_state",
        {"id": ID, "action": "snooze", "until": "2026-13-01"},
        "invalid_date",
    ),
    "impossible as_of": ("list_items", {"as_of": "2026-02-30"}, "invalid_date"),
    "snooze into the past": (
        "update_task_state",
        {"id": ID, "action": "snooze", "until": "2020-01-01"},
        "invalid_input",
    ),
    "unknown state": ("set_item_lifecycle_state", {"id": ID, "state": "done"}, "invalid_input"),
    "unknown state in a filter": ("list_items", {"states": ["gone"]}, "invalid_input"),
    "impossible transition": (
        "set_item_lifecycle_state",
        {"id": "<memory>", "state": "completed"},
        "invalid_transition",
    ),
    "unknown action": ("update_task_state", {"id": ID, "action": "finish"}, "invalid_input"),
    "supersede by nothing": (
        "update_task_state",
        {"id": ID, "action": "supersede"},
        "invalid_input",
    ),
    "until without snooze": (
        "update_task_state",
        {"id": ID, "action": "complete", "until": "tomorrow"},
        "invalid_input",
    ),
    "complete a memory": (
        "update_task_state",
        {"id": "<memory>", "action": "complete"},
        "invalid_input",
    ),
    "cycle": (
        "add_relation",
        {"source_id": "<memory>", "type": "depends_on", "target_id": ID},
        "cycle",
    ),
    "relation to itself": (
        "add_relation",
        {"source_id": ID, "type": "supports", "target_id": ID},
        "invalid_input",
    ),
    "unknown relation": (
        "add_relation",
        {"source_id": ID, "type": "likes", "target_id": "<memory>"},
        "invalid_input",
    ),
    "relation that is not there": (
        "remove_relation",
        {"source_id": ID, "type": "supports", "target_id": "<memory>"},
        "not_found",
    ),
    "11th startup priority": (
        "set_item_startup_priority",
        {"id": ID, "startup_priority": 11},
        "invalid_input",
    ),
    "startup priority below zero": (
        "update_item",
        {"id": ID, "startup_priority": -1},
        "invalid_input",
    ),
    "empty title": ("create_item", {"title": ""}, "invalid_input"),
    "white title": ("create_item", {"title": " \t\u3000\n"}, "invalid_input"),
    "title emptied": ("update_item", {"id": ID, "title": "   "}, "invalid_input"),
    "title of a megabyte": ("create_item", {"title": MEGABYTE}, "limit_exceeded"),
    "title of a megabyte, edit": ("update_item", {"id": ID, "title": MEGABYTE}, "limit_exceeded"),
    "capture of markers only": ("quick_capture", {"input": "#a +b"}, "invalid_input"),
    "empty capture": ("capture_context", {"input": ""}, "invalid_input"),
    "text for a number": ("list_items", {"limit": "many"}, "invalid_input"),
    "list for a text": ("create_item", {"title": ["x"]}, "invalid_input"),
    "object for a list": ("create_item", {"title": "x", "tags": {"a": 1}}, "invalid_input"),
    "numbers in tags": ("create_item", {"title": "x", "tags": [1]}, "invalid_input"),
    "text for a flag": ("set_item_pinned", {"id": ID, "pinned": "maybe"}, "invalid_input"),
    "unknown argument": ("create_item", {"title": "x", "colour": "red"}, "invalid_input"),
    "arguments are a list": ("create_item", {"": []}, "invalid_input"),
    "importance above one": ("create_item", {"title": "x", "importance": 1.5}, "invalid_input"),
    "page of none": ("list_items", {"limit": 0}, "invalid_input"),
    "page of too many": ("list_items", {"limit": 101}, "invalid_input"),
    "cursor of nobody": ("list_items", {"cursor": "abc"}, "invalid_input"),
    "unknown order": ("list_items", {"sort": "colour; DROP TABLE items"}, "invalid_input"),
    "unknown project": ("create_item", {"title": "x", "project_slug": "no'; --"}, "not_found"),
    "unknown project in a filter": ("list_items", {"project_slugs": ["nowhere"]}, "not_found"),
    "unknown topic": ("get_context_summary", {"topic": "nowhere"}, "not_found"),
    "unknown project, delete": ("delete_project", {"slug": "nowhere"}, "not_found"),
    "project without a letter": ("create_project", {"name": "!!!"}, "invalid_input"),
    "project named twice": ("create_project", {"name": "Project P"}, "conflict"),
    "profile deleted": ("delete_group", {"slug": "profile"}, "conflict"),
    "fact key taken": ("create_item", {"title": "x", "fact_key": "k"}, "conflict"),
    "nothing to supersede": (
        "supersede_items",
        {"source_item_id": ID, "target_item_ids": []},
        "invalid_input",
    ),
    "superseded by itself": (
        "supersede_items",
        {"source_item_id": ID, "target_item_ids": [ID]},
        "invalid_input",
    ),
    "nothing to redo": ("redo", {"id": ID}, "conflict"),
    "undo of nothing": ("undo", {}, "invalid_input"),
    "undo of two": ("undo", {"id": ID, "position": 1}, "invalid_input"),
    "group neither set nor cleared": ("set_item_group", {"id": ID}, "invalid_input"),
    "project set and cleared": (
        "set_item_project",
        {"id": ID, "project_slug": "project-p", "clear": True},
        "invalid_input",
    ),
    "setting out of range": ("update_app_settings", {"default_snooze_hours": 721}, "invalid_input"),
    "unknown zone": ("update_app_settings", {"time_zone": "Mars/Olympus"}, "invalid_input"),
    "memory that recurs": (
        "update_item",
        {"id": "<memory>", "recurrence_kind": "daily"},
        "invalid_input",
    ),
    "valid backwards": (
        "update_item",
        {"id": ID, "valid_from": "2026-05-02", "valid_to": "2026-05-01"},
        "invalid_input",
    ),
    "startup level with a tiny budget": (
        "get_startup_context",
        {"max_tokens": 5},
        "invalid_input",
    ),
    "summary of two": ("get_context_summary", {"topic": "a", "project_slug": "b"}, "invalid_input"),
    "project level without a project": ("load_context", {"level": "project"}, "invalid_input"),
    "unknown level": ("load_context", {"level": "everything"}, "invalid_input"),
    "conflicts of nothing": ("find_semantic_conflicts", {}, "invalid_input"),
    "search for nothing": ("semantic_search", {"query": ""}, "invalid_input"),
}


async def _prepared() -> tuple[Agent, dict[str, str]]:
    agent = Agent()
    await agent.call("create_project", name="Project P")
    item_id = await agent.make("任务 task", due="in 3 days", project_slug="project-p")
    memory = await agent.make("记忆", item_kind="memory", fact_key="k")
    await agent.call("add_relation", source_id=item_id, type="depends_on", target_id=memory)
    return agent, {ID: item_id, "<memory>": memory}


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


async def _state(agent: Agent) -> object:
    events = await agent.bench.rows("SELECT count(*) AS n FROM events")
    return events, await agent.bench.tables()


@pytest.mark.parametrize("name", BAD)
async def test_bad_input_gets_its_code_and_changes_nothing(name: str) -> None:
    tool, arguments, code = BAD[name]
    agent, names = await _prepared()
    before = await _state(agent)
    filled = {key: _filled(value, names) for key, value in arguments.items()}
    error = await agent.refused(tool, **filled)
    assert error["code"] == code, error
    assert code in CODES
    assert error["message"] and error["request_id"]
    assert MEGABYTE[:200] not in error["message"]
    assert await _state(agent) == before


@pytest.mark.parametrize("arguments", [[], "x", 5, True])
async def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    result = await Agent().send("create_item", arguments)
    assert result["structuredContent"]["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    "text",
    ["'; DROP TABLE items; --", '" OR 1=1', "%_\\", "NEAR/2 * ^ {a b}:", "👩‍👩‍👧‍👦" * 5],
    ids=ascii,
)
async def test_sql_and_search_signs_are_text(text: str) -> None:
    agent = Agent()
    item = (await agent.call("create_item", title=f"keep {text}", content=text))["item"]
    assert (item["title"], item["content"]) == (f"keep {text}", text)
    await agent.call("list_items", q=text)
    assert (await agent.call("list_items", q="keep"))["total"] == 1


async def test_control_signs_are_taken_out_of_a_title() -> None:
    item = (await Agent().call("create_item", title="a\x00b\x01 \u202ec"))["item"]
    assert "\x00" not in item["title"] and "\x01" not in item["title"]


async def test_another_namespace_is_as_if_nothing_were_there() -> None:
    agent, names = await _prepared()
    before = await _state(agent)
    item_id = names[ID]

    foreign = Agent(bench=agent.bench, namespace=Namespace("other"))
    for tool in ("get_item", "delete_item", "forget", "item_history", "undo", "list_relations"):
        assert (await foreign.refused(tool, id=item_id))["code"] == "not_found"
    assert (await foreign.refused("get_project", slug="project-p"))["code"] == "not_found"
    assert (await foreign.refused("update_item", id=item_id, title="mine"))["code"] == "not_found"
    assert (await foreign.call("list_items"))["total"] == 0
    assert await _state(agent) == before


async def test_reading_key_may_not_write() -> None:
    agent = Agent(scopes=frozenset({"memory:read"}))
    error = await agent.refused("create_item", title="x")
    assert error["code"] == "forbidden"
    assert (await agent.call("list_items"))["total"] == 0


async def test_key_without_memory_may_not_read() -> None:
    agent = Agent(scopes=frozenset({"chat:proxy"}))
    for tool in ("list_items", "get_startup_context", "get_app_settings"):
        assert (await agent.refused(tool))["code"] == "forbidden"
