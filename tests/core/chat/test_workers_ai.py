"""Workers AI: both forms of its streams, whole replies, and its errors."""

from __future__ import annotations

import copy
import json

import pytest
from tests.core.chat.streams import each_split, read_all

from remembrancer.core.chat.collect import Reply, ReplyCollector, ToolCall
from remembrancer.core.chat.shapes import Body, object_of, objects_of
from remembrancer.core.chat.sse import DONE, SseEvent, SseReader, encode_event
from remembrancer.core.chat.usage import Usage
from remembrancer.core.chat.workers_ai import (
    ENDED_EARLY,
    WorkersAIToOpenAI,
    from_workers_ai,
    to_workers_ai,
    workers_ai_error_to_openai,
)

USAGE: Body = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def events(*values: object) -> bytes:
    return b"".join(encode_event(json.dumps(value, ensure_ascii=False)) for value in values)


def called(index: int, **fields: object) -> Body:
    return delta(tool_calls=[{"index": index, **fields}])


def delta(finish: str | None = None, **fields: object) -> Body:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


OWN_FORM = (
    events(
        {"response": "我住在", "p": "abc"},
        {"response": "里斯本 🦷"},
        {"response": 5},
        {"response": None, "tool_calls": [{"name": "weather", "arguments": {"城": "里"}}]},
        {"response": "", "tool_calls": [{"name": "now", "arguments": None}], "usage": USAGE},
    )
    + DONE
)
OPENAI_FORM = (
    events(
        delta(role="assistant", content=""),
        delta(reasoning_content="想"),
        delta(content="我住在"),
        delta(content="里斯本 🦷5"),
        delta(
            tool_calls=[{"index": 0, "id": "a", "function": {"name": "weather", "arguments": ""}}]
        ),
        called(0, function={"arguments": '{"城":"里"}'}),
        called(1, id=None, function={"name": "now"}),
        called(1, id=None, function={"name": None, "arguments": None}),
        delta("tool_calls", content=None),
        {"choices": [], "usage": USAGE},
    )
    + DONE
)


def translator(*, wants_usage: bool = True) -> WorkersAIToOpenAI:
    return WorkersAIToOpenAI(model_name="m", id="c1", created=1, wants_usage=wants_usage)


def translated(chunks: list[bytes]) -> bytes:
    reader, stream = SseReader(), translator()
    found = [event for chunk in chunks for event in reader.feed(chunk)] + reader.close()
    return b"".join([sent for event in found for sent in stream.feed(event)] + stream.close())


def reply_of(sent: bytes) -> Reply:
    collector = ReplyCollector()
    collector.feed(sent)
    return collector.close()


@pytest.mark.parametrize("form", [OWN_FORM, OPENAI_FORM], ids=["own", "openai"])
def test_stream_of_either_form_is_the_same_reply_at_every_split(form: bytes) -> None:
    whole = translated([form])
    reply = reply_of(whole)
    assert reply.text == "我住在里斯本 🦷5" and reply.is_complete
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("weather", '{"城":"里"}'),
        ("now", "{}"),
    ]
    assert len({call.id for call in reply.tool_calls}) == 2
    assert (reply.finish_reason, reply.usage) == ("tool_calls", Usage(9, 4))
    assert whole.endswith(DONE)
    for chunks in each_split(form):
        assert translated(chunks) == whole


def test_stream_reasoning_and_ids_are_kept() -> None:
    reply = reply_of(translated([OPENAI_FORM]))
    assert reply.reasoning == "想" and reply.tool_calls[0] == ToolCall(
        "a", "weather", '{"城":"里"}'
    )


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("model_length", "length"), ("length", "length"), ("stop", "stop"), ("odd", "stop")],
)
def test_stream_finish_reason_is_mapped(reason: str, finish: str) -> None:
    assert reply_of(translated([events(delta(reason, content="x"))])).finish_reason == finish


def test_stream_without_anything_is_an_empty_reply() -> None:
    reply = reply_of(translated([DONE]))
    assert reply.is_complete and reply.text == "" and reply.finish_reason == "stop"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"response": "你好", "usage": USAGE}, id="own"),
        pytest.param({"result": {"response": "你好", "usage": USAGE}, "success": True}, id="rest"),
        pytest.param(
            {
                "choices": [
                    {"message": {"content": "你好", "reasoning": None}, "finish_reason": "stop"}
                ],
                "usage": USAGE,
            },
            id="openai",
        ),
    ],
)
def test_whole_answer_is_a_completion_or_a_stream(body: Body) -> None:
    collector = ReplyCollector()
    collector.feed_json(from_workers_ai(body, model_name="m", id="c1", created=1))
    stream = translator()
    sent = b"".join(stream.feed_json(body))
    assert collector.close() == reply_of(sent)
    assert reply_of(sent).text == "你好" and reply_of(sent).usage == Usage(9, 4)
    assert stream.feed_json(body) == [] and stream.feed(SseEvent(None, "{}")) == []


def test_whole_answer_with_calls_and_values() -> None:
    body: Body = {
        "response": None,
        "tool_calls": [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": ""}],
    }
    choice = objects_of(from_workers_ai(body, model_name="m", id="c", created=1)["choices"])[0]
    message = object_of(choice["message"])
    assert choice["finish_reason"] == "tool_calls" and message["content"] is None
    calls = objects_of(message["tool_calls"])
    assert [call["id"] for call in calls] == ["call_0_c", "call_1_c"]
    assert [object_of(call["function"])["arguments"] for call in calls] == ['{"a":1}', "{}"]
    value = from_workers_ai({"response": {"属": "兔"}}, model_name="m", id="c", created=1)
    assert object_of(objects_of(value["choices"])[0]["message"])["content"] == '{"属":"兔"}'
    thought: Body = {"choices": [{"message": {"content": "", "reasoning": "想"}}]}
    answer = from_workers_ai(thought, model_name="m", id="c", created=1)
    assert object_of(objects_of(answer["choices"])[0]["message"])["reasoning_content"] == "想"


def test_stream_errors_and_early_ends_have_no_end_mark() -> None:
    cut = translated([events({"response": "我"})])
    assert ENDED_EARLY.encode() in cut and b"[DONE]" not in cut
    failed = translated([events({"response": "我"}, {"errors": [{"code": 3040, "message": "满"}]})])
    assert b"[DONE]" not in failed and reply_of(failed).error == "满"
    stream = translator()
    sent = stream.feed_json({"errors": [{"message": "坏"}]})
    assert len(sent) == 1 and reply_of(sent[0]).error == "坏"


@pytest.mark.parametrize("data", ["", "no json", "[1]"])
def test_stream_odd_event_is_passed_over(data: str) -> None:
    assert translator().feed(SseEvent(None, data)) == []


@pytest.mark.parametrize(
    ("status", "body", "expected", "code"),
    [
        (0, "5007: No such model @cf/x", 400, "5007"),
        (0, "InferenceUpstreamError: 3036: daily limit", 429, "3036"),
        (500, {"errors": [{"code": 5018, "message": "not allowed"}]}, 403, "5018"),
        (400, {"internalCode": 3042, "description": "gone"}, 404, "3042"),
        (0, {"error": {"message": "odd"}}, 502, None),
        (418, {"error": "tea"}, 418, None),
        (0, "3006", 413, "3006"),
        (0, "3007: timeout", 408, "3007"),
        (0, "5019", 405, "5019"),
        (503, {}, 503, None),
        (503, "9999: unknown", 503, None),
    ],
)
def test_error_code_decides_the_status(
    status: int, body: object, expected: int, code: str | None
) -> None:
    found, answer = workers_ai_error_to_openai(status, body)
    error = object_of(answer["error"])
    assert found == expected and error["code"] == code and error["message"]


def test_to_workers_ai_no_null_content_and_only_known_fields() -> None:
    picture: Body = {"type": "image_url", "image_url": {"url": "data:,"}}
    body: Body = {
        "model": "companion",
        "messages": [
            {"role": "developer", "content": "规则", "name": None},
            {
                "role": "user",
                "content": [{"type": "text", "text": "甲"}, {"type": "text", "text": "乙"}],
            },
            {"role": "user", "content": [{"type": "text", "text": "看"}, picture]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
            {"role": "tool", "tool_call_id": "a", "content": "", "cache_control": {}},
        ],
        "max_completion_tokens": 50,
        "temperature": 0.3,
        "top_p": None,
        "stream": True,
        "stream_options": {"include_usage": True},
        "metadata": {"a": "b"},
    }
    before = copy.deepcopy(body)
    assert to_workers_ai(body) == {
        "messages": [
            {"role": "system", "content": "规则"},
            {"role": "user", "content": "甲\n乙"},
            {"role": "user", "content": [{"type": "text", "text": "看"}, picture]},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
            {"role": "tool", "tool_call_id": "a", "content": ""},
        ],
        "max_tokens": 50,
        "temperature": 0.3,
        "stream": True,
    }
    assert body == before


def test_events_of_a_stream_are_events() -> None:
    assert len(read_all([OWN_FORM])) == 6


def test_stream_piece_of_an_unknown_call_is_passed_over() -> None:
    stream = translator()
    stream.feed(SseEvent(None, '{"response": "x"}'))
    assert stream.feed(SseEvent(None, json.dumps(called(3, function={"name": None})))) == []


def test_to_workers_ai_least_request() -> None:
    assert to_workers_ai({"messages": []}) == {"messages": []}
