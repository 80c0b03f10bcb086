"""The memory tools as an agent meets them: the seed's names, parameters and defaults."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.mcp.tools.agent import SERVER, Agent

from remembrancer.core.values import JSON


def defaults(tool: str) -> dict[str, JSON]:
    schema: Any = SERVER.registry.described(SERVER.registry.tools[tool])["inputSchema"]
    required = schema.get("required", [])
    shown = {name: field.get("default") for name, field in schema["properties"].items()}
    return {name: "required" if name in required else value for name, value in shown.items()}


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [
        ("memory_search", {"query": "required", "top_k": 50, "types": None, "min_score": 0.15}),
        ("memory_list", {"limit": 100, "cursor": None, "type": None, "status": "active"}),
        ("memory_get", {"id": "required"}),
        ("memory_delete", {"id": "required"}),
        ("memory_archive", {"id": "required"}),
        ("memory_restore", {"id": "required"}),
        (
            "memory_upsert",
            {"fact_key": "required", "content": "required", "type": None, "valid_as_of": None},
        ),
        (
            "memory_supersede",
            {
                "old_id": "required",
                "new_content": "required",
                "new_type": "world_fact",
                "new_fact_key": None,
                "valid_as_of": None,
                "reason": None,
            },
        ),
    ],
)
def test_tool_has_the_seeds_parameters(tool: str, parameters: dict[str, JSON]) -> None:
    shown = defaults(tool)
    assert {name: shown.get(name, "missing") for name in parameters} == parameters


async def test_upsert_gives_the_seeds_defaults_and_then_supersedes() -> None:
    agent = Agent()
    first = await agent.call("memory_upsert", fact_key="ssh:port", content="port 2222", tags="ssh")
    memory = first["memory"]
    assert (memory["type"], memory["importance"], memory["confidence"]) == ("fact", 0.6, 0.8)
    seen = await agent.call("memory_upsert", fact_key="ssh:port", content="Port 2222.")
    second = await agent.call(
        "memory_upsert", fact_key="ssh:port", content="port 2223", valid_as_of="2026-03-01"
    )
    assert [first["outcome"], seen["outcome"], second["outcome"]] == [
        "created",
        "seen",
        "superseded",
    ]
    assert second["superseded"] == [memory["id"]]
    assert second["memory"]["tags"] == ["ssh"]
    assert second["memory"]["valid_from"].startswith("2026-0")
    found = await agent.call("memory_search", query="ssh port")
    assert [one["content"] for one in found["data"]] == ["port 2223"]
    assert found["degraded"] == ["no_vectors"]


async def test_superseded_memory_goes_through_every_tool() -> None:
    agent = Agent()
    made = await agent.call("memory_upsert", fact_key="city", content="住在上海")
    old_id = made["memory"]["id"]
    moved = await agent.call("memory_supersede", old_id=old_id, new_content="住在杭州", reason="搬")
    new_id = moved["memory"]["id"]
    assert (moved["memory"]["type"], moved["memory"]["fact_key"]) == ("world_fact", "city")
    shown = await agent.call("memory_get", id=old_id)
    assert (shown["memory"]["status"], shown["memory"]["seen_count"]) == ("superseded", 0)
    assert shown["relations"][0]["item_id"] == new_id
    listed = await agent.call("memory_list")
    assert [one["id"] for one in listed["memories"]] == [new_id]
    exported = await agent.call("memory_export", limit=1)
    assert [one["id"] for one in exported["memories"]] == [old_id]
    rest = await agent.call("memory_export", cursor=exported["next_cursor"])
    assert [one["id"] for one in rest["memories"]] == [new_id]
    await agent.call("memory_archive", id=new_id)
    assert (await agent.call("memory_list"))["count"] == 0
    assert (await agent.call("memory_list", status="archived"))["count"] == 1
    await agent.call("memory_delete", id=new_id)
    restored = await agent.call("memory_restore", id=new_id)
    assert restored["memory"]["status"] == "archived"


async def test_create_refuses_and_names_the_way_out() -> None:
    agent = Agent()
    error = await agent.refused("memory_create", content="x", type="note", tags=["a"])
    assert error["code"] == "invalid_input"
    assert "memory_upsert" in error["hint"]
    assert not [
        one
        for one in SERVER.registry.list_tools(agent.scopes, frozenset({"memory"}))
        if one["name"] == "memory_create"
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("memory_upsert", {"fact_key": "k", "content": " "}, "invalid_input"),
        ("memory_upsert", {"content": "x"}, "invalid_input"),
        ("memory_upsert", {"fact_key": "k" * 201, "content": "x"}, "limit_exceeded"),
        ("memory_upsert", {"fact_key": "k", "content": "x", "type": "poem"}, "invalid_input"),
        ("memory_upsert", {"fact_key": "k", "content": "x", "importance": 2}, "invalid_input"),
        ("memory_supersede", {"old_id": "itm_none", "new_content": "x"}, "not_found"),
        ("memory_search", {"query": "x", "min_score": -1}, "invalid_input"),
        ("memory_search", {"query": "x", "top_k": 51}, "invalid_input"),
        ("memory_list", {"cursor": "nonsense"}, "invalid_input"),
        ("memory_get", {"id": "mem_1"}, "not_found"),
    ],
)
async def test_bad_input_is_refused_with_its_code(
    tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert (await Agent().refused(tool, **arguments))["code"] == code


async def test_repeated_request_answers_the_first_result() -> None:
    agent = Agent()
    first = await agent.call("memory_upsert", key="a", fact_key="k", content="x 1")
    again = await agent.call("memory_upsert", key="a", fact_key="k", content="x 1")
    assert first == again
    assert first["outcome"] == "created"
