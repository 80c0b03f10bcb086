"""The Messages API over models that are no Claude: requests, whole replies, streams, errors."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.chat.collect import ReplyCollector
from remembrancer.core.chat.messages_reply import ChunksToMessages, error_to_messages, to_message
from remembrancer.core.chat.messages_request import to_chat_completion
from remembrancer.core.chat.sse import SseReader

Json = Any


def asked(*messages: Json, **more: Json) -> Json:
    return to_chat_completion({"messages": list(messages), "max_tokens": 9, **more}, model="m")


def user(content: Json) -> Json:
    return {"role": "user", "content": content}


def test_results_of_tools_come_before_what_is_said_and_keep_their_ids() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": "雨"},
        {"type": "text", "text": "and?"},
        {"type": "tool_result", "tool_use_id": "b", "content": [], "is_error": True},
    ]
    assert asked(user(results))["messages"] == [
        {"role": "tool", "tool_call_id": "a", "content": "雨"},
        {"role": "tool", "tool_call_id": "b", "content": "Error:"},
        {"role": "user", "content": "and?"},
    ]


def test_picture_in_a_result_is_shown_by_the_user() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QQ=="}
    inner = [{"type": "text", "text": "see"}, {"type": "image", "source": source}]
    result = {"type": "tool_result", "tool_use_id": "a", "content": inner}
    tool, shown = asked(user([result]))["messages"]
    assert tool["content"] == "see"
    url = {"url": "data:image/png;base64,QQ=="}
    assert shown["content"] == [{"type": "image_url", "image_url": url}]


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ({"type": "url", "url": "https://p/a.png"}, "https://p/a.png"),
        ({"type": "base64", "media_type": "image/gif", "data": "R"}, "data:image/gif;base64,R"),
        ({"type": "file", "file_id": "f"}, None),
    ],
)
def test_picture_becomes_an_address(source: Json, part: str | None) -> None:
    messages = asked(user([{"type": "image", "source": source}]))["messages"]
    found = [message["content"][0]["image_url"]["url"] for message in messages]
    assert found == ([part] if part else [])


def test_documents_are_files_or_text() -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "R"}
    text = {"type": "text", "media_type": "text/plain", "data": "正文"}
    blocks = [{"type": "document", "source": pdf}, {"type": "document", "source": text}]
    [message] = asked(user(blocks))["messages"]
    assert message["content"][0]["file"]["file_data"] == "data:application/pdf;base64,R"
    assert message["content"][1] == {"type": "text", "text": "正文"}


def test_thinking_goes_back_with_calls_and_only_with_them() -> None:
    thought = {"type": "thinking", "thinking": "想", "signature": "s"}
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    text = {"type": "text", "text": "ok"}
    with_call, without = asked(
        {"role": "assistant", "content": [thought, call]},
        {"role": "assistant", "content": [thought, text]},
    )["messages"]
    assert with_call["reasoning_content"] == "想"
    assert with_call["content"] is None
    assert without == {"role": "assistant", "content": "ok"}


def test_parameters_are_named_as_the_other_form_names_them() -> None:
    form = {"type": "json_schema", "schema": {"type": "object"}}
    body = asked(
        user("hi"),
        system=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        stop_sequences=["x"],
        stream=True,
        temperature=0,
        top_k=3,
        metadata={"user_id": "u"},
        output_config={"effort": "high", "format": form},
        tools=[{"name": "f", "input_schema": {}}, {"type": "web_search_20250305", "name": "w"}],
        tool_choice={"type": "tool", "name": "f", "disable_parallel_tool_use": True},
    )
    assert body["messages"][0] == {"role": "system", "content": "a\nb"}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["f"]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert body["parallel_tool_calls"] is False
    assert (body["stop"], body["temperature"], body["max_tokens"]) == (["x"], 0, 9)
    assert body["stream_options"] == {"include_usage": True}
    assert (body["user"], body["reasoning_effort"]) == ("u", "high")
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "top_k" not in body


CHUNKS: list[Json] = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 0, "delta": {"reasoning_content": "想一想"}}]},
    {"choices": [{"index": 0, "delta": {"content": "好的🙂"}}]},
    {"choices": [{"index": 0, "delta": {"content": " ok"}}]},
    {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}
                    ]
                },
            }
        ]
    },
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"x"'}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]},
    {
        "choices": [
            {
                "delta": {
                    "tool_calls": [
                        {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}
                    ]
                }
            }
        ]
    },
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 60},
        },
    },
]
STREAM = b"".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode() for chunk in CHUNKS)


def translated(stream: bytes, cuts: list[int]) -> bytes:
    at = sorted({0, len(stream), *(cut % len(stream) for cut in cuts)})
    reader, translator = SseReader(), ChunksToMessages(model_name="m", id="msg_1")
    told = [
        one
        for start, stop in pairwise(at)
        for event in reader.feed(stream[start:stop])
        for one in translator.feed(event)
    ]
    return b"".join([*told, *translator.close()])


@given(st.lists(st.integers(0, 10_000), max_size=8))
def test_stream_is_the_same_message_however_it_is_split(cuts: list[int]) -> None:
    told = translated(STREAM + b"data: [DONE]\n\n", cuts)
    collector = ReplyCollector(shape="anthropic")
    collector.feed(told)
    reply = collector.close()
    assert (reply.text, reply.reasoning) == ("好的🙂 ok", "想一想")
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("a", "f", '{"x":1}'),
        ("b", "g", "{}"),
    ]
    assert reply.is_complete
    assert reply.finish_reason == "tool_calls"
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.completion) == (100, 60, 7)


def test_blocks_come_one_after_another_and_each_is_ended() -> None:
    told = [json.loads(one.data) for one in SseReader().feed(translated(STREAM, []))]
    open_blocks: list[int] = []
    for event in told:
        if event["type"] == "content_block_start":
            assert not open_blocks
            open_blocks.append(event["index"])
        elif event["type"] == "content_block_stop":
            assert open_blocks.pop() == event["index"]
    starts = [one["content_block"]["type"] for one in told if one["type"] == "content_block_start"]
    assert starts == ["thinking", "text", "tool_use", "tool_use"]
    assert told[-1]["type"] == "message_stop"


def test_stream_that_is_cut_or_fails_ends_with_an_error() -> None:
    short = STREAM[: STREAM.index(b'data: {"choices": [{"index": 0, "delta": {}')]
    assert b"event: error" in translated(short, [])
    failed = translated(b'data: {"error": {"message": "no"}}\n\ndata: [DONE]\n\n', [])
    assert json.loads(failed.split(b"data: ")[1])["error"]["message"] == "no"
    assert b"message_stop" not in failed


@pytest.mark.parametrize(
    ("message", "finish", "content", "reason"),
    [
        ({"content": "好"}, "stop", [{"type": "text", "text": "好"}], "end_turn"),
        ({"content": None}, "length", [{"type": "text", "text": ""}], "max_tokens"),
        ({"refusal": "no"}, "content_filter", [{"type": "text", "text": "no"}], "refusal"),
        (
            {"tool_calls": [{"function": {"name": "f", "arguments": "not json"}}]},
            "stop",
            [{"type": "tool_use", "id": "toolu_msg_1_0", "name": "f", "input": {}}],
            "tool_use",
        ),
    ],
)
def test_whole_completion_becomes_a_message(
    message: Json, finish: str, content: Json, reason: str
) -> None:
    reply: Json = {"choices": [{"message": message, "finish_reason": finish}]}
    told = to_message(reply, model_name="m", id="msg_1")
    assert (told["content"], told["stop_reason"]) == (content, reason)


def test_errors_are_named_by_their_status() -> None:
    body = {"error": {"message": "慢一点"}}
    assert error_to_messages(429, body)["error"] == {
        "type": "rate_limit_error",
        "message": "慢一点",
    }
    assert error_to_messages(418, None)["error"] == {
        "type": "invalid_request_error",
        "message": "The upstream answered with status 418.",
    }
