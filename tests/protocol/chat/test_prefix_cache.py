"""A prompt cache behind us keeps nearly all of what it would keep without us, turn after turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.protocol.chat.test_anthropic_door import MESSAGE
from tests.protocol.chat.test_injection import know
from tests.protocol.chat.upstreams import Chats, Json, chats, completion

from remembrancer.app.gateway.forms import anthropic_options
from remembrancer.core.chat.anthropic_request import to_anthropic
from remembrancer.core.chat.prefix import CacheHit, MarkCache, PromptCache
from remembrancer.testing.outbound import json_answer

Record = Callable[[str, object], None]

TURNS = 20
SHARE_MIN = 0.97
"""Share of the tokens that the cache would reuse without us. Source: DESIGN section 7."""

SYSTEM = "You are a careful assistant for a household. Answer in the user's language. " * 30
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 200}}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"The {name} of a city, and whatever else is known of it. " * 4,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
    for name in ("weather", "traffic", "events")
]


def requests(*, has_clock: bool) -> list[Json]:
    """The requests of a conversation: twenty turns, every fourth with a tool loop of three."""
    bodies: list[Json] = []
    history: list[Json] = []
    for turn in range(TURNS):
        clock = f"\nCurrent time: 2026-03-01 10:{turn:02d}" if has_clock else ""
        system = {"role": "system", "content": SYSTEM + clock}
        text = f"问题 {turn}: what about the dentist, the cat 花花 and the trip {turn}? " * 6
        content: Json = text
        if turn % 5 == 2:
            content = [{"type": "text", "text": text}, PICTURE]
        history.append({"role": "user", "content": content})
        bodies.append({"messages": [system, *history], "tools": TOOLS})
        for step in range(3 if turn % 4 == 1 else 0):
            call = {
                "id": f"call_{turn}_{step}",
                "type": "function",
                "function": {"name": "weather", "arguments": '{"city": "苏黎世"}'},
            }
            history.append({"role": "assistant", "content": None, "tool_calls": [call]})
            result = f"rain, wind {step} " * 40
            history.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            bodies.append({"messages": [system, *history], "tools": TOOLS})
        history.append({"role": "assistant", "content": f"Answer {turn}. 好的。" * 25})
    return bodies


async def talk(one: Chats, bodies: list[Json]) -> list[Any]:
    """Hold the conversation; return what the upstream was sent."""
    for number in range(12):
        await know(
            one, f"The user's cat 花花 number {number} likes fish {number}; 牙医预约 {number}点"
        )
    for text in ("「别怕，慢慢来。」", "Always bring the umbrella."):
        await one.client.post("/v1/precious", json={"content": text}, headers=one.headers)
    sent = []
    for body in bodies:
        await one.post(body)
        one.served.runtime.advance(90_000)
        sent.append(one.last)
    return sent


def share(with_us: list[CacheHit], without: list[CacheHit], record: Record) -> float:
    """The part of the tokens reused without us that is reused behind us; the report has it."""
    mine, theirs = sum(one.cached for one in with_us), sum(one.cached for one in without)
    record("tokens_reused", f"{mine} behind us, {theirs} without: {mine / theirs:.4f}")
    return mine / theirs


@pytest.mark.parametrize("has_clock", [False, True], ids=["steady", "clock"])
async def test_cache_that_compares_prompts_keeps_its_prefix(
    has_clock: bool, record_property: Record
) -> None:
    bodies = requests(has_clock=has_clock)
    async with chats(lambda _: json_answer(completion())) as one:
        sent = await talk(one, bodies)
    assert any("remembrancer-memory" in json.dumps(body) for body in sent)
    ours, theirs = PromptCache(), PromptCache()
    behind = [ours.send(body) for body in sent]
    assert share(behind, [theirs.send(body) for body in bodies], record_property) >= SHARE_MIN


@pytest.mark.parametrize("has_clock", [False, True], ids=["steady", "clock"])
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-5"])
async def test_cache_that_goes_by_marks_keeps_its_prefix(
    has_clock: bool, model: str, record_property: Record
) -> None:
    bodies = requests(has_clock=has_clock)
    environ = {"CHAT_MODEL": f"anthropic/{model}", "VISION_MODEL": f"anthropic/{model}"}
    async with chats(lambda _: json_answer(MESSAGE), environ) as one:
        sent = await talk(one, bodies)
        options = anthropic_options(one.served.app.settings, {})
    bare = [to_anthropic(body, model=model, options=options).body for body in bodies]
    # A system message holds the memory where the model takes one.
    roles = {message["role"] for body in sent for message in body["messages"]}
    assert ("system" in roles) == (model == "claude-opus-5")
    ours, theirs = MarkCache(), MarkCache()
    behind = [ours.send(body) for body in sent]
    assert share(behind, [theirs.send(body) for body in bare], record_property) >= SHARE_MIN
    for body in sent:
        blocks = [block for message in body["messages"] for block in message["content"]]
        parts = [*body.get("tools", []), *body.get("system", []), *blocks]
        assert sum("cache_control" in part for part in parts) <= 4
