"""Replies of the Messages API as chat completions, streamed and whole."""

from __future__ import annotations

import json

import pytest
from tests.core.chat.streams import (
    STREAMS,
    TEXT_STREAM,
    TOOL_STREAM,
    block,
    delta,
    each_split,
    ended,
    named,
    read_all,
    started,
    stopped,
)

from remembrancer.core.chat.anthropic_stream import (
    ENDED_EARLY,
    AnthropicToOpenAI,
    anthropic_error_to_openai,
    from_anthropic_message,
    thinking_before_calls,
)
from remembrancer.core.chat.shapes import Body, objects_of
from remembrancer.core.chat.sse import SseEvent, SseReader
from remembrancer.core.chat.usage import Usage

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "companion"}


def translator(*, wants_usage: bool = False) -> AnthropicToOpenAI:
    return AnthropicToOpenAI(
        model_name="companion", id="chatcmpl-1", created=7, wants_usage=wants_usage
    )


def translated(chunks: list[bytes], *, wants_usage: bool = False) -> list[bytes]:
    reader, stream = SseReader(), translator(wants_usage=wants_usage)
    events = [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()
    return [sent for event in events for sent in stream.feed(event)] + stream.close()


def chunks_of(stream: bytes, *, wants_usage: bool = False) -> list[Body]:
    """The chunks that the client sees, checked for what they share; the end mark left out."""
    sent = read_all(translated([stream], wants_usage=wants_usage))
    chunks: list[Body] = []
    for event in sent:
        assert event.event is None
        if event.data == "[DONE]":
            assert event is sent[-1]
            continue
        chunk = json.loads(event.data)
        assert "error" in chunk or {name: chunk[name] for name in HEAD} == HEAD
        chunks.append(chunk)
    return chunks


def deltas_of(stream: bytes) -> list[Body]:
    return [
        choice["delta"]
        for chunk in chunks_of(stream)
        for choice in objects_of(chunk["choices"])
        if isinstance(choice["delta"], dict)
    ]


def test_stream_text_is_a_role_the_pieces_and_an_end() -> None:
    chunks = chunks_of(TEXT_STREAM)
    deltas = deltas_of(TEXT_STREAM)
    assert deltas[0] == {"role": "assistant", "content": ""}
    text = "".join(str(item["content"]) for item in deltas[:-1])
    assert text == "Grüß Gott, 我住在里斯本，周五看牙医 🦷👍🏽 — ok" and deltas[-1] == {}
    reasons = [
        choice["finish_reason"] for chunk in chunks for choice in objects_of(chunk["choices"])
    ]
    assert reasons == [None] * (len(reasons) - 1) + ["stop"]
    assert all("usage" not in chunk for chunk in chunks)


def test_stream_usage_is_one_last_chunk_when_it_was_asked_for() -> None:
    chunks = chunks_of(TEXT_STREAM, wants_usage=True)
    assert all(chunk["usage"] is None for chunk in chunks[:-1])
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == {
        "prompt_tokens": 442,
        "completion_tokens": 21,
        "total_tokens": 463,
        "prompt_tokens_details": {"cached_tokens": 400, "cache_write_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_stream_thinking_is_sent_as_reasoning_and_kept_as_it_was() -> None:
    stream = translator()
    for event in read_all([TOOL_STREAM]):
        stream.feed(event)
    thought = '先看日历 🤔 "then" ask\\go'
    assert stream.thinking_blocks == {
        "toolu_a": [
            {"type": "thinking", "thinking": thought, "signature": "EqQB+/=="},
            {"type": "redacted_thinking", "data": "AbC/+="},
        ]
    }
    assert (stream.stop_reason, stream.message_id) == ("tool_use", "msg_01")
    reasoning = [item.get("reasoning_content") for item in deltas_of(TOOL_STREAM)]
    assert [piece for piece in reasoning if piece] == ["先看日历", ' 🤔 "then" ask\\go']


def test_stream_server_tools_and_unknown_events_are_not_sent() -> None:
    deltas = deltas_of(STREAMS["server_tools"])
    assert deltas == [{"role": "assistant", "content": ""}, {"content": "Gefunden 🦷"}, {}]
    usage = chunks_of(STREAMS["server_tools"], wants_usage=True)[-1]["usage"]
    assert isinstance(usage, dict) and usage["prompt_tokens"] == 9000


@pytest.mark.parametrize("name", STREAMS)
def test_stream_every_split_gives_the_same_bytes(name: str) -> None:
    whole = b"".join(translated([STREAMS[name]], wants_usage=True))
    assert whole.endswith(b"data: [DONE]\n\n")
    for chunks in each_split(STREAMS[name]):
        assert b"".join(translated(chunks, wants_usage=True)) == whole


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_stream_stop_reason_is_mapped(reason: str, finish: str) -> None:
    chunks = chunks_of(named(started(), *ended(reason)))
    assert objects_of(chunks[-1]["choices"])[0]["finish_reason"] == finish
    message: Body = {"stop_reason": reason, "content": []}
    whole = from_anthropic_message(message, model_name="m", id="c", created=1)
    assert objects_of(whole["choices"])[0]["finish_reason"] == finish


def test_stream_error_inside_is_an_error_event_and_no_end_mark() -> None:
    fault: Body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    sent = translated([named(started(), block(0, type="text", text=""), fault, *ended("end_turn"))])
    last = read_all(sent)[-1]
    assert json.loads(last.data) == {
        "error": {
            "message": "Overloaded",
            "type": "server_error",
            "param": None,
            "code": "overloaded_error",
        }
    }
    assert b"[DONE]" not in b"".join(sent)


@pytest.mark.parametrize("events", [0, 1, 4], ids=["nothing", "started", "in_the_text"])
def test_stream_that_stops_half_way_is_an_error(events: int) -> None:
    stream = translator()
    sent = [out for event in read_all([TEXT_STREAM])[:events] for out in stream.feed(event)]
    sent += stream.close()
    assert json.loads(read_all(sent)[-1].data)["error"]["message"] == ENDED_EARLY
    assert stream.close() == [] and stream.feed(SseEvent(None, "{}")) == []


def test_stream_without_its_last_event_but_with_a_reason_is_complete() -> None:
    cut = named(started(), block(0, type="text", text="好"), ended("max_tokens")[0])
    chunks = chunks_of(cut)
    assert objects_of(chunks[-1]["choices"])[0]["finish_reason"] == "length"


def test_stream_without_its_first_event_or_names_is_read() -> None:
    events = [block(0, type="text", text=""), delta(0, "text_delta", text="好"), *ended("end_turn")]
    stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    assert deltas_of(stream)[1] == {"content": "好"}


@pytest.mark.parametrize(
    "data", ["", "not json", "[1]", '{"type": "content_block_delta", "index": 9, "delta": 3}', "{}"]
)
def test_stream_odd_event_is_passed_over(data: str) -> None:
    stream = translator()
    stream.feed(SseEvent(None, json.dumps(started())))
    assert stream.feed(SseEvent("content_block_delta", data)) == []


def test_stream_halves_of_a_character_are_sent_as_escapes_and_joined_when_kept() -> None:
    stream = named(
        started(),
        block(0, type="thinking", thinking="", signature="s"),
        stopped(0),
        block(1, type="tool_use", id="t", name="f", input={}),
        stopped(1),
    ).replace(
        b'event: content_block_stop\ndata: {"type": "content_block_stop", "index": 0}\n\n',
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta",'
        b'"thinking":"\\ud83e"}}\n\n'
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta",'
        b'"thinking":"\\uddb7"}}\n\n'
        b'data: {"type":"content_block_stop","index":0}\n\n',
    )
    to_openai = translator()
    sent = b"".join(out for event in read_all([stream]) for out in to_openai.feed(event))
    assert b'"reasoning_content":"\\ud83e"' in sent
    assert to_openai.thinking_blocks["t"][0]["thinking"] == "🦷"


def test_message_whole_is_a_completion() -> None:
    message: Body = {
        "id": "msg_1",
        "content": [
            {"type": "thinking", "thinking": "想", "signature": "s"},
            {"type": "text", "text": "看 "},
            {"type": "text", "text": "🦷"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": "里"}},
            {"type": "server_tool_use", "id": "x", "name": "g", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {
            "input_tokens": 3,
            "cache_creation_input_tokens": 4,
            "cache_read_input_tokens": 5,
            "output_tokens": 9,
            "output_tokens_details": {"thinking_tokens": 6},
        },
    }
    whole = from_anthropic_message(message, model_name="companion", id="chatcmpl-1", created=7)
    assert whole == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 7,
        "model": "companion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "看 🦷",
                    "refusal": None,
                    "reasoning_content": "想",
                    "tool_calls": [
                        {
                            "id": "t1",
                            "type": "function",
                            "function": {"name": "f", "arguments": '{"a":"里"}'},
                        }
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": Usage(prompt=12, completion=9, cached=5, cache_write=4, reasoning=6).to_openai(),
    }
    assert thinking_before_calls(message) == {
        "t1": [{"type": "thinking", "thinking": "想", "signature": "s"}]
    }


def test_message_without_text_has_null_beside_calls_and_nothing_alone() -> None:
    use: Body = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    contents = []
    for content in ([use], []):
        whole = from_anthropic_message({"content": content}, model_name="m", id="c", created=1)
        message = objects_of(whole["choices"])[0]["message"]
        assert isinstance(message, dict)
        contents.append(message["content"])
    assert contents == [None, ""]


@pytest.mark.parametrize(
    ("status", "kind", "expected", "openai_type"),
    [
        (400, "invalid_request_error", 400, "invalid_request_error"),
        (401, "authentication_error", 401, "authentication_error"),
        (402, "billing_error", 402, "insufficient_quota"),
        (403, "permission_error", 403, "permission_error"),
        (404, "not_found_error", 404, "not_found_error"),
        (413, "request_too_large", 413, "invalid_request_error"),
        (429, "rate_limit_error", 429, "rate_limit_error"),
        (500, "api_error", 500, "server_error"),
        (504, "timeout_error", 504, "timeout_error"),
        (529, "overloaded_error", 503, "server_error"),
    ],
)
def test_error_is_mapped_with_and_without_its_status(
    status: int, kind: str, expected: int, openai_type: str
) -> None:
    body: Body = {"type": "error", "error": {"type": kind, "message": "不行"}}
    wanted = {"message": "不行", "type": openai_type, "param": None, "code": kind}
    assert anthropic_error_to_openai(status, body) == (expected, {"error": wanted})
    assert anthropic_error_to_openai(0, body)[0] == expected


@pytest.mark.parametrize("body", [None, "<html>", {}, {"error": "gone"}])
def test_error_that_is_no_object_still_has_a_sentence(body: object) -> None:
    status, answer = anthropic_error_to_openai(502, body)
    error = answer["error"]
    assert status == 502 and isinstance(error, dict) and "status 502" in str(error["message"])


def test_stream_thinking_given_at_the_start_is_sent_and_kept() -> None:
    stream = named(
        started(),
        block(0, type="thinking", thinking="想", signature="s"),
        stopped(0),
        block(1, type="tool_use", id="t", name="f", input={}),
    )
    to_openai = translator()
    sent = b"".join(out for event in read_all([stream]) for out in to_openai.feed(event))
    assert '"reasoning_content":"想"'.encode() in sent
    assert to_openai.thinking_blocks["t"][0]["thinking"] == "想"
