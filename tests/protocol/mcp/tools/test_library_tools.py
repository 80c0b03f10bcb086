"""The library's tools, as an agent uses them in Chinese and English."""

from __future__ import annotations

import pytest
from tests.protocol.mcp.tools.agent import Agent

QUOTE = "  请记住：我的测试暗号是苹果星星-0428。\r\n"


async def test_pinned_quote_is_in_the_boot_pack_byte_for_byte() -> None:
    agent = Agent()
    made = await agent.call("memory_pin", content=QUOTE, context_message_ids="msg_1")
    pack = await agent.call("memory_boot")
    assert pack["precious"] == [made["precious"]]
    assert pack["precious"][0]["content"] == QUOTE
    assert "today_messages" not in pack
    id_ = made["precious"]["id"]
    assert (await agent.refused("precious_remove", id=id_))["code"] == "invalid_input"
    removed = await agent.call("precious_remove", id=id_, reason="用户要求")
    assert (await agent.call("precious_list"))["precious"] == []
    await agent.call("undo", cause=removed["cause"])
    assert (await agent.call("precious_list"))["count"] == 1


async def test_glossary_takes_one_alias_as_text_and_names_what_holds_a_name() -> None:
    agent = Agent()
    await agent.call("glossary_set", term="苹果星星", definition="暗号", aliases="Apple Star")
    error = await agent.refused("glossary_set", term="apple star", definition="a fruit")
    assert (error["code"], error["details"]["term"]) == ("conflict", "苹果星星")
    listed = await agent.call("glossary_list")
    assert [entry["aliases"] for entry in listed["entries"]] == [["Apple Star"]]
    removed = await agent.call("glossary_remove", term="APPLE STAR")
    assert removed["entry"]["term"] == "苹果星星"


@pytest.mark.parametrize("text", ["字" * 501, "a" * 1_201])
async def test_digest_over_its_limit_is_refused_and_never_cut(text: str) -> None:
    agent = Agent()
    await agent.call("digest_set", content="喜欢喝茶")
    assert (await agent.refused("digest_set", content=text))["code"] == "limit_exceeded"
    assert (await agent.call("digest_get"))["digest"]["content"] == "喜欢喝茶"


async def test_messages_are_stored_once_and_an_unknown_role_is_named() -> None:
    agent = Agent()
    message = {"role": "user", "content": QUOTE}
    first = await agent.call("memory_ingest", messages=[message], auto_extract=True)
    again = await agent.call("memory_ingest", messages=message)
    assert again["message_ids"] == first["message_ids"]
    bad = [message, {"role": "developer", "content": "x"}]
    error = await agent.refused("memory_ingest", messages=bad)
    assert error["code"] == "invalid_input"
    assert "developer" in error["message"]
