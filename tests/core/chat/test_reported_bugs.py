"""Faults of other gateways as their users reported them, each a test under its number."""

from __future__ import annotations

import copy
import json

from tests.core.chat.streams import (
    TEXT_STREAM,
    TOOL_STREAM,
    block,
    delta,
    ended,
    named,
    read_all,
    started,
    stopped,
)
from tests.core.chat.translating import ASK, call, text, translate, turns_of

from remembrancer.core.chat.anthropic_request import AnthropicOptions
from remembrancer.core.chat.anthropic_stream import AnthropicToOpenAI, from_anthropic_message
from remembrancer.core.chat.cache_marks import CacheOptions, count_marks, place_marks
from remembrancer.core.chat.inject import (
    inject_boot,
    inject_patch,
    strip_injected_messages,
)
from remembrancer.core.chat.request import parse_chat_request
from remembrancer.core.chat.shapes import Body, object_of, objects_of

MARK: Body = {"type": "ephemeral"}


def chunks_of(stream: bytes) -> list[Body]:
    to_openai = AnthropicToOpenAI(model_name="m", id="c", created=1, wants_usage=True)
    sent = [out for event in read_all([stream]) for out in to_openai.feed(event)]
    return [json.loads(event.data) for event in read_all(sent) if event.data != "[DONE]"]


def calls_of(stream: bytes) -> list[Body]:
    return [
        piece
        for chunk in chunks_of(stream)
        for choice in objects_of(chunk["choices"])
        for piece in objects_of(object_of(choice["delta"]).get("tool_calls"))
    ]


def arguments_of(stream: bytes, index: int) -> str:
    pieces = [piece for piece in calls_of(stream) if piece["index"] == index]
    return "".join(str(object_of(piece["function"])["arguments"]) for piece in pieces)


def test_bug_01_tool_index_counts_calls_from_zero() -> None:
    assert [piece["index"] for piece in calls_of(TOOL_STREAM)] == [0, 0, 0, 1, 1]
    assert [piece["id"] for piece in calls_of(TOOL_STREAM) if "id" in piece] == [
        "toolu_a",
        "toolu_b",
    ]


def test_bug_02_no_empty_object_before_streamed_arguments() -> None:
    assert arguments_of(TOOL_STREAM, 0) == '{"city": "里斯本"}'


def test_bug_03_call_without_arguments_streams_an_empty_object() -> None:
    assert arguments_of(TOOL_STREAM, 1) == "{}"
    whole = named(
        started(), block(0, type="tool_use", id="t", name="f", input={"a": "里"}), stopped(0)
    )
    assert arguments_of(whole, 0) == '{"a":"里"}'


def test_bug_04_cache_usage_is_there_when_streaming() -> None:
    usage = object_of(chunks_of(TEXT_STREAM)[-1]["usage"])
    assert usage["prompt_tokens_details"] == {"cached_tokens": 400, "cache_write_tokens": 30}


def test_bug_05_never_more_than_four_marks() -> None:
    parts: list[Body] = [{**text(f"部分 {n}"), "cache_control": MARK} for n in range(7)]
    messages: list[Body] = [
        {"role": "system", "content": parts},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "好"},
        ASK,
    ]
    tools: list[Body] = [
        {"type": "function", "function": {"name": name}, "cache_control": MARK} for name in "abc"
    ]
    for options in (AnthropicOptions(), AnthropicOptions(cache_enabled=False)):
        body = translate(messages, options=options, fields={"tools": tools}).body
        assert count_marks(body) == 4


def test_bug_06_tool_use_and_result_blocks_are_kept() -> None:
    messages: list[Body] = [
        ASK,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}],
        },
        {
            "role": "user",
            "content": [
                text("结果"),
                {"type": "tool_result", "tool_use_id": "t1", "content": "晴"},
            ],
        },
    ]
    turns = turns_of(translate(messages))
    use: Body = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    assert turns[1]["content"] == [use]
    assert turns[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "晴"},
        text("结果"),
    ]


def _round(content: object, arguments: str = "{}") -> list[Body]:
    return [
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [call("t1", arguments=arguments)]},
        {"role": "tool", "tool_call_id": "t1", "content": content},
    ]


def test_bug_07_result_without_text_is_kept() -> None:
    for content in ("", None, [], [text("")]):
        turns = turns_of(translate(_round(content)))
        assert turns[2]["content"] == [{"type": "tool_result", "tool_use_id": "t1"}]
    picture: Body = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    result = objects_of(turns_of(translate(_round([picture])))[2]["content"])[0]
    assert objects_of(result["content"])[0]["type"] == "image"


def test_bug_08_usage_stands_in_the_one_chunk_without_choices() -> None:
    chunks = chunks_of(TEXT_STREAM)
    assert [chunk["usage"] is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1]["choices"] == [] and all(chunk["choices"] for chunk in chunks[:-1])


def test_bug_10_call_without_result_gets_one() -> None:
    messages = _round("晴")
    messages[1]["tool_calls"] = [call("t1"), call("t2")]
    results = objects_of(turns_of(translate(messages))[2]["content"])
    assert [item["tool_use_id"] for item in results] == ["t1", "t2"]
    assert results[1]["is_error"] is True
    at_the_end = turns_of(translate(messages[:2]))
    assert len(objects_of(at_the_end[2]["content"])) == 2


def test_bug_11_cache_tokens_of_the_start_survive_a_delta_without_them() -> None:
    stream = named(started(cache_read_input_tokens=500), *ended("end_turn", output_tokens=4))
    usage = object_of(chunks_of(stream)[-1]["usage"])
    assert usage["prompt_tokens_details"] == {"cached_tokens": 500, "cache_write_tokens": 0}
    later = named(
        started(cache_read_input_tokens=0),
        *ended("end_turn", output_tokens=4, cache_read_input_tokens=700, input_tokens=None),
    )
    assert object_of(chunks_of(later)[-1]["usage"])["prompt_tokens"] == 712


def test_bug_12_prompt_tokens_count_the_cached_part() -> None:
    assert object_of(chunks_of(TEXT_STREAM)[-1]["usage"])["prompt_tokens"] == 12 + 30 + 400


def test_bug_13_marks_in_openai_form_are_kept() -> None:
    hour: Body = {"type": "ephemeral", "ttl": "1h"}
    messages: list[Body] = [
        {"role": "system", "content": [{**text("规则"), "cache_control": hour}]},
        {"role": "user", "content": "文件", "cache_control": MARK},
        {"role": "assistant", "content": "好"},
        {"role": "user", "content": [{**text("问"), "prompt_cache_breakpoint": True}]},
    ]
    tools: list[Body] = [{"type": "function", "function": {"name": "f"}, "cache_control": hour}]
    options = AnthropicOptions(cache_enabled=False)
    body = translate(messages, options=options, fields={"tools": tools}).body
    assert objects_of(body["system"])[0]["cache_control"] == hour
    assert objects_of(body["tools"])[0]["cache_control"] == hour
    turns = objects_of(body["messages"])
    assert [objects_of(turn["content"])[0].get("cache_control") for turn in turns] == [
        MARK,
        None,
        MARK,
    ]


def test_bug_14_reasoning_of_the_client_reaches_the_upstream() -> None:
    thought: Body = {**_round("晴")[1], "reasoning_content": "想过了", "reasoning_details": [{}]}
    messages: list[Body] = [ASK, thought, _round("晴")[2]]
    body: Body = {"model": "deepseek/deepseek-v4-pro", "messages": messages}
    before = copy.deepcopy(body)
    given = strip_injected_messages(inject_boot(inject_patch(messages, "- 里斯本"), "妈妈"))
    sent = inject_patch(inject_boot(given, "妈妈"), "- 里斯本")
    assert parse_chat_request(body).body == before and sent[2] is thought


THOUGHT: Body = {"signature": "EqQB+/\\==", "type": "thinking", "thinking": '想 \u2028<é>"\\n'}


def test_bug_15_thinking_goes_back_with_the_very_same_text() -> None:
    stream = named(
        started(),
        block(0, type="thinking", thinking="", signature=""),
        *(delta(0, "thinking_delta", thinking=char) for char in str(THOUGHT["thinking"])),
        delta(0, "signature_delta", signature=THOUGHT["signature"]),
        stopped(0),
        block(1, type="tool_use", id="t1", name="f", input={}),
        stopped(1),
        *ended("tool_use"),
    )
    to_openai = AnthropicToOpenAI(model_name="m", id="c", created=1, wants_usage=False)
    for event in read_all([stream]):
        to_openai.feed(event)
    options = AnthropicOptions(kept_thinking=to_openai.thinking_blocks)
    sent = turns_of(translate(_round("晴"), options=options))[1]["content"]
    again = json.loads(json.dumps(sent, ensure_ascii=False).encode())
    assert again[0] == THOUGHT


def test_bug_16_signature_is_kept_and_not_shown() -> None:
    kept = {"t1": [THOUGHT]}
    turns = turns_of(translate(_round("晴"), options=AnthropicOptions(kept_thinking=kept)))
    assert objects_of(turns[1]["content"])[0]["signature"] == THOUGHT["signature"]
    message: Body = {"content": [THOUGHT, text("好")], "stop_reason": "end_turn"}
    whole = from_anthropic_message(message, model_name="m", id="c", created=1)
    assert "EqQB" not in json.dumps(whole)


def test_bug_17_empty_or_broken_arguments_do_not_spoil_the_next_turn() -> None:
    for arguments, expected in (("", {}), ("  ", {}), ('{"a": ', {"arguments": '{"a": '})):
        turns = turns_of(translate(_round("晴", arguments)))
        assert objects_of(turns[1]["content"])[0]["input"] == expected
    assert objects_of(turns_of(translate(_round("晴", "[1]")))[1]["content"])[0]["input"] == {
        "arguments": "[1]"
    }


def test_bug_18_empty_piece_of_json_changes_nothing() -> None:
    stream = named(
        started(),
        block(0, type="tool_use", id="t", name="f", input={}),
        delta(0, "input_json_delta", partial_json=""),
        delta(0, "input_json_delta", partial_json='{"a"'),
        delta(0, "input_json_delta", partial_json=""),
        delta(0, "input_json_delta", partial_json=": 0}"),
        stopped(0),
        *ended("tool_use"),
    )
    assert arguments_of(stream, 0) == '{"a": 0}'
    assert all(object_of(piece["function"])["arguments"] for piece in calls_of(stream)[1:])


def test_bug_19_a_mark_on_every_block_becomes_four_useful_ones() -> None:
    def marked(count: int) -> list[Body]:
        return [{**text(f"块 {n}"), "cache_control": MARK} for n in range(count)]

    body: Body = {
        "tools": [{"name": name, "cache_control": MARK} for name in "abc"],
        "system": marked(3),
        "messages": [{"role": "user", "content": marked(5)}],
    }
    placed = place_marks(body, CacheOptions())
    where = {
        level: [index for index, item in enumerate(items) if "cache_control" in item]
        for level, items in (
            ("tools", objects_of(placed["tools"])),
            ("system", objects_of(placed["system"])),
            ("messages", objects_of(objects_of(placed["messages"])[0]["content"])),
        )
    }
    assert where == {"tools": [2], "system": [2], "messages": [3, 4]}


def test_bug_20_usage_adds_up() -> None:
    usage = object_of(chunks_of(TEXT_STREAM)[-1]["usage"])
    prompt, completion = usage["prompt_tokens"], usage["completion_tokens"]
    assert isinstance(prompt, int) and isinstance(completion, int)
    assert usage["total_tokens"] == prompt + completion == 463
