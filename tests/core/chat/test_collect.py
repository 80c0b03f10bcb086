"""Reading along while a reply passes: nothing lost, nothing mixed, and never a failure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.chat.streams import STREAMS, TEXT_STREAM, TEXTS, TOOL_STREAM, each_split, read_all

from remembrancer.core.chat.anthropic_stream import AnthropicToOpenAI, from_anthropic_message
from remembrancer.core.chat.collect import Reply, ReplyCollector, Shape, ToolCall
from remembrancer.core.chat.shapes import Body
from remembrancer.core.chat.sse import DONE, KEEP_ALIVE, encode_event
from remembrancer.core.chat.usage import Usage


def collected(*chunks: bytes, shape: Shape = "openai", chars_max: int = 10_000) -> Reply:
    collector = ReplyCollector(shape=shape, chars_max=chars_max)
    for chunk in chunks:
        collector.feed(chunk)
    assert collector.close() == collector.close()
    return collector.close()


def chunk(delta: Body, finish: str | None = None, **more: object) -> bytes:
    body = {
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }
    return encode_event(json.dumps(body))


def to_openai(stream: bytes) -> bytes:
    translator = AnthropicToOpenAI(model_name="m", id="c", created=1, wants_usage=True)
    sent = [out for event in read_all([stream]) for out in translator.feed(event)]
    return b"".join([*sent, *translator.close()])


OPENAI_STREAM = b"".join(
    [
        chunk({"role": "assistant", "content": ""}),
        KEEP_ALIVE,
        chunk({"reasoning_content": "想 🤔"}),
        chunk({"content": "你好，"}),
        chunk(
            {"content": None, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}
        ),
        chunk({"content": "🦷"}, usage=None),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"城": 1}'}}]}),
        chunk({}, "tool_calls"),
        encode_event('{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}'),
        DONE,
    ]
)


def test_collector_openai_stream_gives_the_reply_at_every_split() -> None:
    whole = collected(OPENAI_STREAM)
    assert whole == Reply(
        text="你好，🦷",
        reasoning="想 🤔",
        tool_calls=(ToolCall("a", "f", '{"城": 1}'),),
        finish_reason="tool_calls",
        usage=Usage(prompt=9, completion=2),
        is_complete=True,
        error=None,
        model="m",
    )
    for chunks in each_split(OPENAI_STREAM):
        assert collected(*chunks) == whole


@pytest.mark.parametrize("name", STREAMS)
def test_collector_sees_the_same_in_both_forms_of_a_stream(name: str) -> None:
    native = collected(STREAMS[name], shape="anthropic")
    translated = collected(to_openai(STREAMS[name]))
    assert native.is_complete and native.usage == translated.usage
    assert (native.text, native.reasoning) == (translated.text, translated.reasoning)
    assert native.finish_reason == translated.finish_reason
    for chunks in each_split(STREAMS[name]):
        assert collected(*chunks, shape="anthropic") == native


def test_bug_09_parallel_calls_stay_apart() -> None:
    calls = collected(to_openai(TOOL_STREAM)).tool_calls
    assert calls == (
        ToolCall("toolu_a", "weather", '{"city": "里斯本"}'),
        ToolCall("toolu_b", "now", "{}"),
    )
    mixed = collected(
        chunk(
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": ""}}]}
        ),
        chunk(
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]}
        ),
        chunk(
            {
                "tool_calls": [
                    {"index": 1, "function": {"arguments": "{}"}},
                    {"index": 0, "function": {"arguments": "}"}},
                ]
            }
        ),
    )
    assert mixed.tool_calls == (ToolCall("b", "g", "{}"), ToolCall("a", "f", "{}"))


@pytest.mark.parametrize("index", [{"index": 0}, {}], ids=["same_index", "no_index"])
def test_collector_calls_told_apart_by_their_ids(index: Body) -> None:
    reply = collected(
        chunk({"tool_calls": [{**index, "id": "a", "function": {"name": "f", "arguments": "{"}}]}),
        chunk({"tool_calls": [{**index, "function": {"arguments": "}"}}]}),
        chunk({"tool_calls": [{**index, "id": "b", "function": {"name": "g", "arguments": "{}"}}]}),
    )
    assert reply.tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}"))


def test_collector_old_function_call_and_parts_are_read() -> None:
    reply = collected(
        chunk({"content": [{"type": "text", "text": "好"}]}),
        chunk({"function_call": {"name": "f", "arguments": "{"}}),
        chunk({"function_call": {"arguments": "}"}}, "function_call"),
        chunk({"refusal": "不"}),
    )
    assert reply.text == "好不" and reply.tool_calls == (ToolCall("", "f", "{}"),)


def test_collector_other_choices_are_not_mixed_in() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "B"}}]}
    reply = collected(chunk({"content": "A"}), encode_event(json.dumps(second)))
    assert reply.text == "A" and not reply.is_complete


@pytest.mark.parametrize(
    ("stream", "is_complete", "error"),
    [
        pytest.param(b"", False, None, id="nothing"),
        pytest.param(chunk({"content": "一"}), False, None, id="left_early"),
        pytest.param(chunk({"content": "一"}, "length"), True, None, id="no_end_mark"),
        pytest.param(chunk({"content": "一"}) + DONE, True, None, id="no_reason"),
        pytest.param(
            chunk({"content": "一"}) + encode_event('{"error": {"message": "断了"}}') + DONE,
            False,
            "断了",
            id="error",
        ),
        pytest.param(encode_event('{"error": "gone"}'), False, "gone", id="plain_error"),
        pytest.param(encode_event('{"error": {"code": 1}}'), False, "an error", id="odd_error"),
    ],
)
def test_collector_says_whether_the_reply_is_whole(
    stream: bytes, is_complete: bool, error: str | None
) -> None:
    reply = collected(stream)
    assert (reply.is_complete, reply.error) == (is_complete, error)


def test_collector_whole_bodies_of_both_forms() -> None:
    message: Body = {
        "model": "claude-sonnet-5",
        "content": [
            {"type": "thinking", "thinking": "想", "signature": "s"},
            {"type": "text", "text": "好"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": "里"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 2},
    }
    native, completed = ReplyCollector(shape="anthropic"), ReplyCollector()
    native.feed_json(message)
    completed.feed_json(
        from_anthropic_message(message, model_name="claude-sonnet-5", id="c", created=1)
    )
    assert native.close() == completed.close()
    assert native.close().tool_calls == (ToolCall("t1", "f", '{"a":"里"}'),)
    assert native.close().usage == Usage(prompt=8, completion=2, cached=5)


def test_collector_error_body_and_odd_bodies() -> None:
    collector = ReplyCollector()
    odd: list[object] = [None, [], {}, {"choices": "x"}, {"choices": [{}]}]
    for body in odd:
        collector.feed_json(body)
    collector.feed_json({"error": {"message": "不行"}})
    assert collector.close().error == "不行" and not collector.close().is_complete


def test_collector_deepseek_counts_its_cache_beside_the_details() -> None:
    usage = {"prompt_tokens": 10, "prompt_cache_hit_tokens": 8, "completion_tokens": 1}
    assert collected(chunk({}, "stop", usage=usage)).usage == Usage(10, 1, cached=8)


def test_collector_keeps_at_most_its_limit() -> None:
    many = [chunk({"content": "字" * 40}) for _ in range(9)]
    calls = [
        chunk({"tool_calls": [{"index": n, "id": str(n), "function": {"name": "f"}}]})
        for n in range(9)
    ]
    reply = collected(*many, *calls, chars_max=100)
    assert reply.text == "字" * 100 and reply.tool_calls == () and reply.is_cut
    few = collected(*calls, chars_max=200)
    assert len(few.tool_calls) == 3 and few.is_cut


def test_collector_stream_without_lines_is_not_kept() -> None:
    reply = collected(*[b"x" * 1_000_000] * 20)
    assert reply.error is not None and "read along" in reply.error


def test_collector_half_a_character_in_each_chunk_is_one() -> None:
    halves = [
        encode_event('{"choices":[{"delta":{"content":"\\u' + half + '"}}]}')
        for half in ("d83e", "ddb7")
    ]
    assert collected(*halves).text == "🦷" and collected(halves[1]).text == "\ufffd"


KEYS = "choices delta content tool_calls function index id usage error type message".split()

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON_VALUES, max_size=4), st.sampled_from(["openai", "anthropic"]))
def test_collector_any_json_never_raises(values: list[object], shape: Shape) -> None:
    collector = ReplyCollector(shape=shape)
    for value in values:
        collector.feed(encode_event(json.dumps(value)))
        collector.feed_json(value)
    collector.close()


@given(st.binary(max_size=200), st.sampled_from(["openai", "anthropic"]))
def test_collector_any_bytes_never_raise(data: bytes, shape: Shape) -> None:
    collected(data, TEXT_STREAM, shape=shape)


def test_collector_text_of_the_fixture_is_what_was_sent() -> None:
    assert collected(TEXT_STREAM, shape="anthropic").text == "".join(TEXTS)


def test_collector_last_event_without_its_blank_line_counts() -> None:
    assert collected(chunk({"content": "好"}, "stop").rstrip(b"\n")).text == "好"


def test_collector_whole_body_has_one_choice() -> None:
    collector = ReplyCollector()
    choices = [{"index": n, "message": {"content": text}} for n, text in enumerate("甲乙")]
    collector.feed_json({"choices": choices})
    assert collector.close().text == "甲"


def test_collector_events_that_it_does_not_know_say_nothing() -> None:
    odd = encode_event('{"type": "future_event", "delta": {"text": "x"}}')
    assert collected(odd, shape="anthropic").text == ""
