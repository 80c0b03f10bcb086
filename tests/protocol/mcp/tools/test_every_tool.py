"""Every tool is called once and works; what it answers is held to its schema by the agent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.candidates.test_queue import waiting
from tests.protocol.mcp.tools.agent import SERVER, Agent

TASK, MEMORY, OTHER, GONE, LONG = "<task>", "<memory>", "<other>", "<gone>", "<artifact>"
QUOTE, WAITING, RECALL = "<quote>", "<candidate>", "<recall>"

NO_EVENTS = {"mark_stale_candidates", "memory_ingest"}
"""Tools that may write without an event: nothing to mark; messages are not in the ledger."""

CALLS: dict[str, dict[str, Any]] = {
    "get_app_settings": {},
    "update_app_settings": {"default_snooze_hours": 48, "reset": ["default_upcoming_days"]},
    "parse_due_date": {"input": "下周五 下午三点"},
    "quick_add_task": {"title": "打电话 #家"},
    "create_item": {"title": "写信", "recurrence_kind": "weekly", "due": "next friday"},
    "quick_capture": {"input": "note: 门禁 1234"},
    "capture_context": {"input": "喜欢喝茶", "entity_type": "preference"},
    "get_item": {"id": TASK},
    "list_items": {"kinds": ["task"], "sort": "due_at", "current_only": True},
    "update_item": {"id": TASK, "title": "改"},
    "delete_item": {"id": TASK},
    "delete_items": {"ids": [TASK, MEMORY]},
    "set_item_startup_priority": {"id": TASK, "startup_priority": 0},
    "set_item_pinned": {"id": TASK, "pinned": True},
    "set_item_lifecycle_state": {"id": TASK, "lifecycle_state": "dormant"},
    "set_item_group": {"id": TASK, "group_name": "生活"},
    "set_item_project": {"id": TASK, "clear_project": True},
    "update_task_state": {"id": TASK, "action": "snooze", "until": "in 3 days"},
    "create_project": {"name": "新 项目", "description": "x"},
    "upsert_project": {"slug": "家装", "description": "更新"},
    "get_project": {"slug": "家装"},
    "list_projects": {},
    "delete_project": {"slug": "家装"},
    "set_active_objective": {"project_slug": "家装", "title": "完工"},
    "get_active_objectives": {},
    "get_active_projects": {},
    "get_project_timeline": {"project_slug": "家装"},
    "list_groups": {},
    "upsert_group": {"name": "健康", "group_kind": "topic", "retrieval_priority": 3},
    "update_group_metadata": {"slug": "读书", "summary_mode": "manual"},
    "set_group_canonical_item": {"group_slug": "读书", "item_id": MEMORY},
    "delete_group": {"slug": "读书"},
    "list_tags": {"prefix": "旅"},
    "supersede_items": {"source_item_id": OTHER, "target_item_ids": [MEMORY]},
    "get_stale_tasks": {},
    "mark_stale_candidates": {},
    "get_focus_task": {},
    "get_focus_context": {"project_slug": "家装"},
    "semantic_search": {"query": "红楼梦"},
    "find_semantic_conflicts": {"query": "红楼梦"},
    "find_consolidation_candidates": {},
    "consolidate_memories": {
        "source_item_id": OTHER,
        "target_item_ids": [MEMORY],
        "relationship_type": "duplicate_of",
    },
    "load_context": {"level": "project", "project_slug": "家装", "include_history": True},
    "get_startup_context": {"max_tokens": 2000},
    "get_context_summary": {"topic": "读书"},
    "add_relation": {
        "source_item_id": OTHER,
        "relationship_type": "supports",
        "target_item_id": MEMORY,
        "confidence": 0.5,
    },
    "remove_relation": {
        "source_item_id": TASK,
        "relationship_type": "depends_on",
        "target_item_id": MEMORY,
    },
    "list_relations": {"id": TASK},
    "item_history": {"id": TASK},
    "undo": {"id": OTHER},
    "redo": {"id": GONE},
    "forget": {"id": MEMORY},
    "restore_item": {"id": "<deleted>"},
    "get_artifact": {"id": LONG, "limit": 10},
    "memory_search": {"query": "红楼梦", "min_score": 0.1},
    "memory_recall": {"query": "红楼梦读完了吗", "k": 5},
    "recall_explain": {"id": RECALL},
    "memory_list": {"status": "active", "limit": 1000},
    "memory_get": {"id": MEMORY},
    "memory_export": {},
    "memory_upsert": {"fact_key": "profile:tea", "content": "喜欢喝茶"},
    "memory_supersede": {"old_id": MEMORY, "new_content": "读过红楼梦两遍"},
    "memory_archive": {"id": MEMORY},
    "memory_delete": {"id": MEMORY},
    "memory_restore": {"id": "<deleted memory>"},
    "memory_boot": {},
    "memory_ingest": {"messages": [{"role": "user", "content": "请记住：苹果星星-0428"}]},
    "memory_pin": {"content": " 一字不改 "},
    "precious_list": {"limit": 200},
    "precious_remove": {"id": QUOTE, "reason": "说错了"},
    "glossary_set": {"term": "星星", "definition": "暗号", "aliases": ["star"]},
    "glossary_list": {},
    "glossary_remove": {"term": "黑话"},
    "digest_get": {},
    "digest_set": {"content": "喜欢喝茶"},
    "candidates_list": {"status": "pending"},
    "candidate_decide": {"id": WAITING, "action": "merge", "target_id": MEMORY},
}


async def _prepared() -> tuple[Agent, dict[str, str]]:
    agent = Agent()
    await agent.call("create_project", name="家装")
    await agent.call("upsert_group", name="读书")
    names = {
        TASK: await agent.make("刷墙", project_slug="家装", tags=["旅行"], due="in 3 days"),
        MEMORY: await agent.make("读完红楼梦", item_kind="memory", group_slug="读书", tags=["书"]),
        OTHER: await agent.make("读完红楼梦", item_kind="memory", group_slug="读书", tags=["书"]),
        GONE: await agent.make("redo me"),
        "<deleted>": await agent.make("deleted"),
        "<deleted memory>": await agent.make("deleted", item_kind="memory"),
    }
    long = (await agent.call("create_item", title="long", content="字" * 10_001))["item"]
    names[LONG] = long["artifact_id"]
    names[QUOTE] = (await agent.call("memory_pin", content="永远记得"))["precious"]["id"]
    names[WAITING] = await waiting(agent.bench, "读完红楼梦前八十回")
    names[RECALL] = (await agent.call("memory_recall", query="红楼梦"))["recall_id"]
    await agent.bench.runtime.drain()
    await agent.call("glossary_set", term="黑话", definition="行话", aliases=["jargon"])
    await agent.call(
        "add_relation",
        source_id=names[TASK],
        type="depends_on",
        target_id=names[MEMORY],
    )
    await agent.call("update_item", id=names[GONE], title="redone")
    await agent.call("undo", id=names[GONE])
    await agent.call("delete_items", ids=[names["<deleted>"], names["<deleted memory>"]])
    agent.wait(24 * 30 - 1)
    return agent, names


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def test_table_names_every_tool() -> None:
    assert set(CALLS) == set(SERVER.registry.tools) - {"memory_create"}


@pytest.mark.parametrize("name", CALLS)
async def test_tool_works(name: str) -> None:
    agent, names = await _prepared()
    events = "SELECT count(*) AS n FROM events"
    before = await agent.bench.rows(events)
    await agent.call(name, **{key: _filled(value, names) for key, value in CALLS[name].items()})
    after = await agent.bench.rows(events)
    assert (after == before) == SERVER.registry.tools[name].read_only or name in NO_EVENTS


@pytest.mark.parametrize(
    "name", [name for name, tool in SERVER.registry.tools.items() if tool.idempotent]
)
async def test_tool_that_says_so_is_idempotent(name: str) -> None:
    agent, names = await _prepared()
    arguments = {key: _filled(value, names) for key, value in CALLS[name].items()}
    await agent.call(name, **arguments)
    before = await agent.bench.tables()
    await agent.call(name, **arguments)
    assert await agent.bench.tables() == before
