"""Anthropic's form, in and out: passed on as it is, with memory; errors in its own shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import Bench
from tests.protocol.chat.test_injection import ASK, CODE, know
from tests.protocol.chat.upstreams import Chats, Json, chats, completion
from tests.protocol.rest.doors import error_of

from remembrancer.core.chat.inject import strip_injected
from remembrancer.core.chat.sse import SseReader
from remembrancer.core.errors import UpstreamFailed
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import ScriptedAnswer, json_answer, stream_answer

PATH = "/anthropic/v1/messages"
CLAUDE = {"CHAT_MODEL": "anthropic/claude-sonnet-4-5"}
MESSAGE = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "好的 ok"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "output_tokens": 4,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 5,
    },
}


def event(kind: str, **data: Json) -> bytes:
    body = json.dumps({"type": kind, **data}, ensure_ascii=False)
    return f"event: {kind}\ndata: {body}\n\n".encode()


def events(text: str = "好的", *, is_done: bool = True) -> list[bytes]:
    """A streamed message, a character each."""
    start = {**MESSAGE, "content": [], "stop_reason": None}
    pieces = [
        event("message_start", message=start),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ]
    for letter in text:
        delta = {"type": "text_delta", "text": letter}
        pieces.append(event("content_block_delta", index=0, delta=delta))
    if is_done:
        stop = {"stop_reason": "end_turn", "stop_sequence": None}
        pieces += [
            event("content_block_stop", index=0),
            event("message_delta", delta=stop, usage={"output_tokens": 4}),
            event("message_stop"),
        ]
    return pieces


def claude(request: OutboundRequest) -> ScriptedAnswer:
    if json.loads(request.body).get("stream"):
        return stream_answer(events())
    return json_answer(MESSAGE)


def question(text: Json, **more: Json) -> dict[str, Json]:
    return {
        "model": "companion",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": text}],
        **more,
    }


async def stored(one: Chats) -> list[tuple[Any, Any]]:
    found = await Bench(sql=one.served.app.sql).rows("SELECT role, content FROM messages")
    return sorted((row["role"], row["content"]) for row in found)


@pytest.mark.parametrize("path", [PATH, "/v1/messages"])
async def test_message_is_passed_on_and_back_byte_for_byte(path: str) -> None:
    asked = question("hello", system="Be kind.", top_k=3, stop_sequences=["\n"], 未知=[1.5])
    headers = {"anthropic-version": "2024-01-01", "anthropic-beta": "b-1"}
    async with chats(claude, CLAUDE) as one:
        response = await one.post(asked, path=path, **headers)
        assert await stored(one) == [("assistant", "好的 ok"), ("user", "hello")]
    [sent] = one.outbound.sent
    assert sent.url == "http://upstream.example/anthropic/v1/messages"
    assert dict(sent.headers)["anthropic-version"] == "2024-01-01"
    assert dict(sent.headers)["anthropic-beta"] == "b-1"
    assert dict(sent.headers)["x-api-key"] == "upstream-secret"
    assert one.last == {**asked, "model": "claude-sonnet-4-5"}
    assert response.content == json.dumps(MESSAGE, ensure_ascii=False).encode()


async def test_stream_is_passed_back_byte_for_byte_and_kept() -> None:
    async with chats(claude, CLAUDE) as one:
        response = await one.post(question("hello", stream=True), path=PATH)
        assert await stored(one) == [("assistant", "好的"), ("user", "hello")]
        [used] = await Bench(sql=one.served.app.sql).rows("SELECT * FROM usage")
    assert response.content == b"".join(events())
    assert (used["prompt_tokens"], used["cached_tokens"]) == (45, 30)
    assert (used["cache_write_tokens"], used["completion_tokens"]) == (5, 4)


async def test_memory_stands_behind_the_clients_marks() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    blocks = [{"type": "text", "text": ASK, **mark}]
    async with chats(claude, CLAUDE) as one:
        await know(one, CODE)
        await one.post(question(blocks), path=PATH)
    [message] = one.last["messages"]
    assert message["content"][0] == blocks[0]
    [_, added] = message["content"]
    assert "苹果星星-0428" in added["text"]
    assert strip_injected(added["text"]) == ""
    assert "cache_control" not in added


async def test_tool_results_are_the_same_turn() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "rain"}
    async with chats(claude, CLAUDE) as one:
        await know(one, CODE)
        await one.post(question(ASK), path=PATH)
        first = one.last["messages"]
        rest = [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
        await one.post(
            {**question(ASK), "messages": [*question(ASK)["messages"], *rest]}, path=PATH
        )
        assert len(await stored(one)) == 2
    assert one.last["messages"] == [*first, *rest]


async def test_stream_that_breaks_ends_with_an_error_event() -> None:
    def answer(request: OutboundRequest) -> ScriptedAnswer:
        broken = stream_answer(events(is_done=False))
        broken.breaks = UpstreamFailed("broke off")
        return broken

    async with chats(answer, CLAUDE) as one:
        response = await one.post(question("hello", stream=True), path=PATH)
    last = response.content.split(b"\n\n")[-2].decode().splitlines()
    assert last[0] == "event: error"
    error = json.loads(last[1].removeprefix("data: "))
    assert error["type"] == "error"
    assert error["error"]["type"] == "api_error"


async def test_errors_have_anthropics_shape() -> None:
    async with chats(claude, CLAUDE) as one:
        refused = await one.client.post(PATH, json=question("hi"), headers={"x-api-key": "no"})
        broken = await one.post({"messages": []}, path="/v1/messages")
    error_of(refused, status=401, code="unauthenticated")
    error_of(broken, status=400, code="invalid_input")
    for response in (refused, broken):
        assert response.json()["type"] == "error"
        assert response.json()["request_id"] == response.headers["x-request-id"]


async def test_tokens_are_counted_by_the_upstream() -> None:
    async with chats(lambda _: json_answer({"input_tokens": 9}), CLAUDE) as one:
        response = await one.post(question("hello"), path="/v1/messages/count_tokens?beta=true")
        assert await stored(one) == []
    assert response.json() == {"input_tokens": 9}
    assert one.outbound.sent[0].url.endswith("/anthropic/v1/messages/count_tokens")


async def test_thinking_of_another_model_does_not_go_to_claude() -> None:
    text = {"type": "text", "text": "ok"}
    foreign = {"type": "thinking", "thinking": "想", "signature": ""}
    own = {"type": "thinking", "thinking": "想", "signature": "sig"}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [foreign, text]},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": [own, text]},
        {"role": "user", "content": "c"},
    ]
    async with chats(claude, CLAUDE) as one:
        await one.post({**question(""), "messages": messages}, path=PATH)
    assert one.last["messages"][1]["content"] == [text]
    assert one.last["messages"][3]["content"] == [own, text]


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "茶"}'}}
TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object"}}


async def test_model_that_is_no_claude_is_asked_in_openais_form() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "雨"},
        {"type": "text", "text": "and now?"},
    ]
    used = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"}, used]},
        {"role": "user", "content": blocks},
    ]
    asked = question("", system="Be kind.", tools=[TOOL], tool_choice={"type": "any"})
    async with chats(lambda _: json_answer(completion("", tool_calls=[CALL]))) as one:
        response = await one.post({**asked, "messages": messages}, path=PATH)
    assert one.outbound.sent[0].url == "http://upstream.example/v1/chat/completions"
    roles = [message["role"] for message in one.last["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert one.last["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'
    assert one.last["tools"][0]["function"]["parameters"] == {"type": "object"}
    assert (one.last["tool_choice"], one.last["max_tokens"]) == ("required", 100)
    body = response.json()
    assert body["content"] == [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": "茶"}}]
    assert (body["type"], body["stop_reason"]) == ("message", "tool_use")
    assert (body["usage"]["input_tokens"], body["usage"]["cache_read_input_tokens"]) == (40, 60)


async def test_stream_of_a_model_that_is_no_claude_is_translated_and_kept() -> None:
    async with chats() as one:
        response = await one.post(question("hello", stream=True), path=PATH)
        assert await stored(one) == [("assistant", "好的 ok"), ("user", "hello")]
    told = [json.loads(each.data) for each in SseReader().feed(response.content)]
    kinds = [each["type"] for each in told if each["type"] != "content_block_delta"]
    assert kinds == [
        "message_start",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    texts = [each["delta"]["text"] for each in told if each["type"] == "content_block_delta"]
    assert "".join(texts) == "好的 ok"
    assert one.last["stream_options"] == {"include_usage": True}


async def test_refusal_of_a_model_that_is_no_claude_has_anthropics_shape() -> None:
    refused = {"error": {"message": "slow down", "type": "x"}}
    async with chats(lambda _: json_answer(refused, status=429)) as one:
        response = await one.post(question("hello"), path=PATH)
        counted = await one.post(question("hello"), path="/v1/messages/count_tokens")
    assert response.status_code == 429
    assert response.json() == {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "slow down"},
    }
    assert counted.json()["input_tokens"] > 5


async def test_workers_ai_answers_anthropics_clients_too() -> None:
    pieces = [b'data: {"response": "\xe4\xbd\xa0"}\n\n', b"data: [DONE]\n\n"]
    environ = {"CHAT_MODEL": "workers-ai/@cf/meta/l"}
    async with chats(lambda _: stream_answer(pieces), environ) as one:
        streamed = await one.post(question("hi", stream=True), path=PATH)
        one.outbound.handler = lambda _: json_answer({"response": "好"})
        whole = await one.post(question("hi"), path=PATH)
        late = await one.post(question("hi", stream=True), path=PATH)
    assert "你" in streamed.text
    assert "event: message_stop" in streamed.text
    assert whole.json()["content"] == [{"type": "text", "text": "好"}]
    assert "event: message_stop" in late.text
    assert late.headers["content-type"] == "text/event-stream"


async def test_picture_is_kept_as_an_artifact() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * 50}
    async with chats(claude, {**CLAUDE, "VISION_MODEL": "anthropic/claude-opus-4-5"}) as one:
        blocks = [{"type": "image", "source": source}, {"type": "text", "text": "这是什么?"}]
        await one.post(question(blocks), path=PATH)
        [_, (_, content)] = await stored(one)
    assert one.last["model"] == "claude-opus-4-5"
    assert content.startswith("这是什么?\n[art_")
    assert "QUJD" not in content
