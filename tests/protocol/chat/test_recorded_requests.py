"""Requests of real clients, and odd ones: the upstream is asked what the client asked, but for
`messages` (and Anthropic's `system`, where the boot pack stands), and its reply is the client's.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.chat.recording import DOORS, RECORDED
from tests.protocol.chat.requests import ANTHROPIC, OPENAI, Sent, made, recorded
from tests.protocol.chat.test_injection import CODE, know
from tests.protocol.chat.upstreams import Chats, chats
from tests.protocol.rest.doors import OWNER

from remembrancer.core.chat.inject import strip_injected_messages
from remembrancer.core.chat.request import SYSTEM_ROLES, text_of
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import ScriptedAnswer

Json = Any

RECORDED_MIN = 60
"""Distinct bodies of real clients at least."""
ALL_MIN = 200
"""Requests at least, made ones too. Source: what the gateway promises."""
CLIENTS = {
    *("Anthropic", "AsyncAnthropic", "AsyncOpenAI", "OpenAI", "TrustedRouter"),
    *("ai", "ai-sdk-openai-compatible", "compatcanary"),
}

ONE_MODEL = {"VISION_MODEL": "m-1", "RATE_LIMIT_PER_MINUTE": "0"}
"""One model behind the public name, with pictures and without."""

WHOLE = '{ "id":"r1",\n "choices":[ {"message":{"content":"\\u597d 好"} } ], "x":1.0, "x":2 }\n'
STREAM = (
    ': hello\n\ndata:  {"choices":[{"delta":{"content":"\\u597d 好"}}],"未知":1.0}\n\n'
    "event: odd\r\ndata: not json\r\n\r\n"
    'event: message_stop\ndata: {"type":"message_stop"}\n\ndata: [DONE]\n\n'
)


def upstream(request: OutboundRequest) -> ScriptedAnswer:
    """A model's server whose bytes nobody else would write."""
    is_stream = json.loads(request.body).get("stream") is True
    raw = (STREAM if is_stream else WHOLE).encode()
    kind = "text/event-stream" if is_stream else "application/json"
    return ScriptedAnswer(headers=(("content-type", kind),), pieces=[raw[:7], raw[7:70], raw[70:]])


async def passed(one: Chats, sent: Sent) -> tuple[bytes, bytes]:
    """The bytes that the upstream was asked with, and those that the client was answered."""
    headers = {**OWNER, "content-type": "application/json", **sent.headers}
    response = await one.client.post(sent.path, content=sent.raw, headers=headers)
    await one.served.runtime.drain()
    assert response.status_code == 200, (sent.name, response.text)
    return one.outbound.sent[-1].body, response.content


def reply_to(sent: Sent) -> bytes:
    return (STREAM if sent.body.get("stream") is True else WHOLE).encode()


def as_blocks(content: Json) -> Json:
    """A content as blocks; no text at all is none, as no content is."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return content


def without_memory(messages: Json) -> Json:
    """Messages as they were before memory was put in, contents as blocks.

    Instructions that were empty, where the boot pack stands, cannot be told from none.
    """
    plain = [
        {**one, "content": as_blocks(one.get("content"))}
        for one in strip_injected_messages(messages)
    ]
    return [one for one in plain if one["content"] or one["role"] not in SYSTEM_ROLES]


def rest_of(body: Json) -> Json:
    return {
        key: "m-1" if (key, body[key]) == ("model", "companion") else body[key]
        for key in body
        if key not in ("messages", "system")
    }


def test_enough_is_recorded_of_every_client_and_no_key_is_in_it() -> None:
    assert len({one.raw for one in recorded()}) >= RECORDED_MIN
    assert {one.name.split(" ")[1] for one in recorded()} == CLIENTS
    assert {one.path for one in recorded()} == set(DOORS)
    assert len(recorded()) + len(made()) >= ALL_MIN
    text = RECORDED.read_text(encoding="utf-8").lower()
    for secret in ("authorization", "x-api-key", "bearer", "rmb_", '"host"', "/work", "/home"):
        assert secret not in text


def test_made_ones_hold_what_clients_do_not_say() -> None:
    chats_made = [one.body for one in made() if one.path == OPENAI]
    messages = [message for body in chats_made for message in body["messages"]]
    assert any(one.get("content", 0) is None for one in messages)
    assert any(len(one.get("tool_calls") or ()) > 1 for one in messages)
    assert {"评论员", "developer", "tool"} <= {one["role"] for one in messages}
    for path in DOORS:
        assert max(len(one.raw) for one in made() if one.path == path) >= 1_000_000


@pytest.mark.parametrize("path", DOORS)
async def test_without_memory_the_upstream_is_asked_in_the_clients_own_bytes(path: str) -> None:
    async with chats(upstream, ONE_MODEL) as one:
        for sent in (each for each in (*recorded(), *made()) if each.path == path):
            asked, answered = await passed(one, sent)
            assert answered == reply_to(sent), sent.name
            if sent.body["model"] == "companion":
                assert json.loads(asked) == {**sent.body, "model": "m-1"}, sent.name
            else:
                assert asked == sent.raw, sent.name


@pytest.mark.parametrize("path", DOORS)
async def test_with_memory_messages_alone_differ(path: str) -> None:
    injected = 0
    async with chats(upstream, ONE_MODEL) as one:
        await know(one, CODE)
        quote = {"content": "爱是恒久忍耐 love is patient"}
        response = await one.client.post("/v1/precious", json=quote, headers=OWNER)
        assert response.status_code == 201
        for sent in (each for each in (*recorded(), *made()) if each.path == path):
            asked, answered = await passed(one, sent)
            assert answered == reply_to(sent), sent.name
            body, told = sent.body, json.loads(asked)
            assert rest_of(told) == rest_of(body), sent.name
            assert without_memory(told["messages"]) == without_memory(body["messages"]), sent.name
            system = [{"role": "system", "content": told.get("system")}]
            stripped = [text_of(each["content"]) for each in strip_injected_messages(system)]
            assert "".join(stripped) == text_of(body.get("system")), sent.name
            assert (path == ANTHROPIC) or told.get("system") == body.get("system"), sent.name
            injected += b"remembrancer-boot" in asked
    assert injected > 50
