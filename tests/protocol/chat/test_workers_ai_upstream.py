"""OpenAI's form in front of Workers AI: both of its streams, whole answers, refusals."""

from __future__ import annotations

import json

from tests.protocol.chat.upstreams import Json, chats

from remembrancer.core.chat.sse import SseReader
from remembrancer.testing.outbound import json_answer, stream_answer

LLAMA = {"CHAT_MODEL": "workers-ai/@cf/meta/llama-3.3-70b", "AI_GATEWAY_BASE_URL": ""}


def sse(*values: Json) -> list[bytes]:
    told = [f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode() for value in values]
    return [*told, b"data: [DONE]\n\n"]


def text_of(content: bytes) -> str:
    *told, done = [one.data for one in SseReader().feed(content)]
    assert done == "[DONE]"
    return "".join(json.loads(one)["choices"][0]["delta"].get("content") or "" for one in told)


async def test_run_is_asked_at_the_binding_without_null_content() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "天气?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "雨"},
    ]
    async with chats(lambda _: json_answer({"response": "下雨"}), LLAMA) as one:
        response = await one.post({"messages": messages})
    [sent] = one.outbound.sent
    assert sent.url == "workers-ai://run/@cf/meta/llama-3.3-70b"
    assert one.last["messages"][1]["content"] == ""
    assert "model" not in one.last
    assert response.json()["choices"][0]["message"]["content"] == "下雨"


async def test_both_forms_of_a_stream_are_read() -> None:
    forms = [
        sse(
            {"response": "你"}, {"response": "好"}, {"response": "", "usage": {"prompt_tokens": 3}}
        ),
        sse(
            {"choices": [{"index": 0, "delta": {"content": "你"}}]},
            {"choices": [{"index": 0, "delta": {"content": "好"}, "finish_reason": "stop"}]},
        ),
    ]
    for pieces in forms:
        async with chats(None, LLAMA) as one:
            one.outbound.handler = lambda _, pieces=pieces: stream_answer(pieces)  # type: ignore[misc]
            response = await one.say("hello", stream=True)
        assert text_of(response.content) == "你好"


async def test_whole_answer_becomes_the_stream_that_was_asked_for() -> None:
    async with chats(lambda _: json_answer({"response": "你好"}), LLAMA) as one:
        response = await one.say("hello", stream=True)
    assert response.headers["content-type"] == "text/event-stream"
    assert text_of(response.content) == "你好"


async def test_refusal_gets_the_status_of_its_code() -> None:
    refused = {"errors": [{"code": 3036, "message": "daily limit"}]}
    async with chats(lambda _: json_answer(refused, status=400), LLAMA) as one:
        response = await one.say("hello")
    assert response.status_code == 429
    assert response.json()["error"]["message"] == "daily limit"


async def test_what_its_models_take_no_notice_of_is_named() -> None:
    wished = {"n": 2, "logprobs": True, "web_search_options": {}}
    nothing = {"n": 1, "user": "u", "store": False, "max_completion_tokens": 5, "stop": None}
    async with chats(lambda _: json_answer({"response": "好"}), LLAMA) as one:
        told = await one.say("hello", **wished, temperature=0.5, metadata={"a": "b"})
        silent = await one.say("hello", **nothing)
    left_out = told.headers["x-remembrancer-degraded"].split(",")
    assert left_out == [f"left_out:{name}" for name in wished]
    assert "x-remembrancer-degraded" not in silent.headers
