"""The recall tools as an agent meets them: the seed's parameters and answer, and why it was so."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.mcp.tools.agent import SERVER, Agent


def test_recall_has_the_seeds_parameters() -> None:
    schema: Any = SERVER.registry.described(SERVER.registry.tools["memory_recall"])["inputSchema"]
    fields = schema["properties"]
    assert schema["required"] == ["query"]
    assert (fields["k"]["default"], fields["k"]["minimum"], fields["k"]["maximum"]) == (20, 1, 100)
    assert fields["min_score"]["default"] == 0.15
    assert set(fields) >= {"query", "k", "min_score", "types"}


async def test_what_was_just_saved_is_recalled_first_and_can_be_explained() -> None:
    agent = Agent()
    await agent.call("memory_upsert", fact_key="tea", content="喜欢喝普洱茶")
    await agent.call("memory_upsert", fact_key="test:code", content="我的测试暗号是苹果星星-0428。")
    found = await agent.call("memory_recall", query="我的测试暗号是什么？")
    [hit] = found["hits"]
    assert hit["content"] == "我的测试暗号是苹果星星-0428。"
    assert (hit["type"], hit["source_layer"]) == ("fact", "active")
    assert set(found["meta"]) == {"decayed", "deduped", "floored", "min_score", "total"}
    assert '"我的测试暗号是苹果星星-0428。"' in found["text"]
    assert found["degraded"] == ["no_vectors"]
    await agent.bench.runtime.drain()
    shown = (await agent.call("recall_explain", id=found["recall_id"]))["recall"]
    assert shown["query"] == "我的测试暗号是什么？"
    assert shown["candidates"][0]["id"] == hit["id"]
    used = await agent.call("memory_get", id=hit["id"])
    assert used["memory"]["recall_count"] == 1


async def test_a_scope_narrows_what_is_recalled_and_searched() -> None:
    agent = Agent()
    await agent.call("create_project", name="菜园")
    for project, tag in ((None, "甲"), ("菜园", "乙")):
        await agent.make(f"番茄种在{tag}地", item_kind="memory", project_slug=project, tags=[tag])
    for scope in ({"project_slug": "菜园"}, {"tags": "乙"}):
        found = await agent.call("memory_recall", query="番茄种在哪里", **scope)
        searched = await agent.call("memory_search", query="番茄种在哪里", **scope)
        assert [one["content"] for one in found["hits"]] == ["番茄种在乙地"]
        assert [one["content"] for one in searched["data"]] == ["番茄种在乙地"]


async def test_small_talk_recalls_nothing_and_a_search_is_no_use() -> None:
    agent = Agent()
    made = await agent.call("memory_upsert", fact_key="tea", content="喜欢喝普洱茶")
    nothing = await agent.call("memory_recall", query="好的，谢谢！")
    assert (nothing["hits"], nothing["text"]) == ([], "")
    found = await agent.call("memory_search", query="普洱茶")
    assert [one["id"] for one in found["data"]] == [made["memory"]["id"]]
    await agent.bench.runtime.drain()
    used = await agent.call("memory_get", id=made["memory"]["id"])
    assert used["memory"]["recall_count"] == 0


@pytest.mark.parametrize(
    "arguments",
    [{"query": "x", "k": 0}, {"query": "x", "k": 101}, {"query": "x", "min_score": 2}, {}],
    ids=str,
)
async def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    agent = Agent()
    result = await agent.send("memory_recall", arguments)
    assert result["isError"]
