"""Requests of Chat Completions as requests of the Messages API."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.chat.translating import ASK, call, fields_of, roles_of, text, translate, turns_of

from remembrancer.core.chat.anthropic_content import Note
from remembrancer.core.chat.anthropic_request import JSON_ONLY, JSON_SCHEMA, AnthropicOptions
from remembrancer.core.chat.anthropic_turns import CONTINUE, FIRST_TURN
from remembrancer.core.chat.shapes import Body, objects_of
from remembrancer.core.chat.wrapping import append_block, wrap
from remembrancer.core.errors import InvalidInput


def test_to_anthropic_plain_conversation_has_system_and_alternating_turns() -> None:
    result = translate(
        [
            {"role": "system", "content": "你是助手。"},
            {"role": "developer", "content": [text("Be brief.")]},
            ASK,
            {"role": "assistant", "content": "晴 ☀️"},
            {"role": "user", "content": "谢谢"},
            {"role": "user", "content": "明天呢？"},
        ]
    )
    assert result.body == {
        "model": "claude-sonnet-5",
        "max_tokens": 8192,
        "system": [text("你是助手。"), text("Be brief.")],
        "messages": [
            {"role": "user", "content": [text("里斯本天气？")]},
            {"role": "assistant", "content": [text("晴 ☀️")]},
            {"role": "user", "content": [text("谢谢"), text("明天呢？")]},
        ],
    }
    assert result.notes == ()


def test_to_anthropic_tool_round_has_results_first_in_one_turn() -> None:
    result = translate(
        [
            ASK,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    call("call_a", arguments='{"city": "里斯本"}'),
                    call("call:b", "now", ""),
                ],
            },
            {"role": "tool", "tool_call_id": "call:b", "content": [text("12:00"), text("UTC")]},
            {"role": "user", "content": "快点"},
            {"role": "tool", "tool_call_id": "call_a", "content": "晴"},
        ]
    )
    assert turns_of(result)[1:] == [
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "call_a",
                    "name": "weather",
                    "input": {"city": "里斯本"},
                },
                {"type": "tool_use", "id": "call_b", "name": "now", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call_b",
                    "content": [text("12:00"), text("UTC")],
                },
                {"type": "tool_result", "tool_use_id": "call_a", "content": "晴"},
                text("快点"),
            ],
        },
    ]
    assert result.notes == ()


def test_to_anthropic_ids_used_again_stay_unique() -> None:
    round_of: list[Body] = [
        {"role": "assistant", "tool_calls": [call("call_0")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "晴"},
    ]
    turns = turns_of(translate([ASK, *round_of, *round_of]))
    uses = [objects_of(turn["content"])[0] for turn in turns[1:]]
    assert [use.get("id") or use["tool_use_id"] for use in uses] == [
        "call_0",
        "call_0",
        "call_0_2",
        "call_0_2",
    ]


def test_to_anthropic_result_of_no_call_becomes_text() -> None:
    result = translate([ASK, {"role": "tool", "tool_call_id": "gone", "content": "晴"}])
    assert turns_of(result) == [
        {
            "role": "user",
            "content": [text("里斯本天气？"), text("[result of an earlier call]"), text("晴")],
        }
    ]
    assert fields_of(result) == ["messages[1]"]


def test_to_anthropic_old_function_calls_are_tools() -> None:
    result = translate(
        [
            ASK,
            {"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}},
            {"role": "function", "name": "weather", "content": "晴"},
        ],
        fields={
            "functions": [{"name": "weather", "parameters": {"type": "object"}}],
            "function_call": {"name": "weather"},
        },
    )
    use = objects_of(turns_of(result)[1]["content"])[0]
    assert (use["type"], use["name"]) == ("tool_use", "weather")
    assert objects_of(turns_of(result)[2]["content"])[0]["tool_use_id"] == use["id"]
    assert result.body["tool_choice"] == {"type": "tool", "name": "weather"}


def test_to_anthropic_pictures_and_files_become_blocks() -> None:
    result = translate(
        [
            {
                "role": "user",
                "content": [
                    text("看"),
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                    {
                        "type": "image_url",
                        "image_url": {"url": "https://example.com/a.png", "detail": "low"},
                    },
                    {"type": "image_url", "image_url": "data:image/svg+xml,%3Csvg/%3E"},
                    {
                        "type": "file",
                        "file": {
                            "filename": "a.pdf",
                            "file_data": "data:application/pdf;base64,QUJD",
                        },
                    },
                    {"type": "file", "file": {"file_data": "data:text/plain;base64,5L2g5aW9"}},
                    {"type": "file", "file": {"file_id": "file_011"}},
                    {
                        "type": "document",
                        "source": {"type": "url", "url": "https://example.com/b.pdf"},
                    },
                ],
            }
        ]
    )
    blocks = objects_of(turns_of(result)[0]["content"])
    assert [block["type"] for block in blocks] == ["text", *["image"] * 3, *["document"] * 4]
    assert [block["source"] for block in blocks[1:]] == [
        {"type": "base64", "media_type": "image/png", "data": "QUJD"},
        {"type": "url", "url": "https://example.com/a.png"},
        {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"},
        {"type": "base64", "media_type": "application/pdf", "data": "QUJD"},
        {"type": "text", "media_type": "text/plain", "data": "你好"},
        {"type": "file", "file_id": "file_011"},
        {"type": "url", "url": "https://example.com/b.pdf"},
    ]
    assert blocks[4]["title"] == "a.pdf" and result.notes == ()


@pytest.mark.parametrize(
    "part",
    [
        pytest.param({"type": "input_audio", "input_audio": {"data": "AA"}}, id="audio"),
        pytest.param({"type": "image_url", "image_url": {}}, id="picture_without_address"),
        pytest.param({"type": "image_url", "image_url": {"url": "data:oops"}}, id="bad_data_url"),
        pytest.param({"type": "file", "file": {"file_id": "file-openai"}}, id="foreign_file"),
        pytest.param({"type": "file", "file": {"file_data": "data:a/b;base64,!"}}, id="bad_file"),
        pytest.param({"value": 1}, id="no_type"),
    ],
)
def test_to_anthropic_part_it_does_not_take_is_named_in_its_place(part: Body) -> None:
    result = translate([{"role": "user", "content": [text("听"), part]}])
    first, second = objects_of(turns_of(result)[0]["content"])
    assert first == text("听") and str(second["text"]).startswith("[")
    assert fields_of(result) == ["messages[0]"]


def test_to_anthropic_empty_texts_are_left_out() -> None:
    result = translate(
        [
            {"role": "system", "content": " \n"},
            ASK,
            {"role": "assistant", "content": ""},
            {"role": "user", "content": [text(""), text("还在吗？")]},
            {"role": "assistant", "content": None, "refusal": "不行"},
            {"role": "user", "content": "好"},
        ]
    )
    assert "system" not in result.body
    assert turns_of(result)[0]["content"] == [text("里斯本天气？"), text("还在吗？")]
    assert turns_of(result)[1]["content"] == [text("不行")]


def test_to_anthropic_nothing_to_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="nothing to answer"):
        translate([{"role": "user", "content": "  "}])


def test_to_anthropic_only_instructions_are_asked_as_a_user() -> None:
    result = translate([{"role": "system", "content": "写一首诗"}])
    assert turns_of(result) == [{"role": "user", "content": [text("写一首诗")]}]


def test_to_anthropic_conversation_that_starts_with_the_assistant_gets_a_first_turn() -> None:
    result = translate([{"role": "assistant", "content": "你好！"}, ASK])
    assert turns_of(result)[0] == {"role": "user", "content": [text(FIRST_TURN)]}


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-sonnet-5", "claude-haiku-5-5"])
def test_to_anthropic_instruction_inside_stays_one_where_the_model_takes_it(model: str) -> None:
    middle: Body = {"role": "system", "content": "现在用英文。"}
    result = translate([ASK, middle, {"role": "assistant", "content": "ok"}, ASK, middle], model)
    assert roles_of(result) == ["user", "system", "assistant", "user", "system"]
    assert result.notes == ()


@pytest.mark.parametrize("model", ["claude-opus-4-7", "claude-sonnet-4-5", "claude-haiku-5-0"])
def test_to_anthropic_instruction_inside_goes_with_the_user_elsewhere(model: str) -> None:
    middle: Body = {"role": "system", "content": "现在用英文。"}
    result = translate([ASK, middle, {"role": "assistant", "content": "ok"}, middle, ASK], model)
    assert roles_of(result) == ["user", "assistant", "user"]
    wrapped = text("<system-message>\n现在用英文。\n</system-message>")
    assert turns_of(result)[0]["content"] == [text("里斯本天气？"), wrapped]
    assert turns_of(result)[2]["content"] == [wrapped, text("里斯本天气？")]


def test_to_anthropic_reply_to_be_continued_is_a_start_or_is_asked_for() -> None:
    messages: list[Body] = [ASK, {"role": "assistant", "content": "今天 \n"}]
    assert turns_of(translate(messages, "claude-sonnet-4-5"))[-1] == {
        "role": "assistant",
        "content": [text("今天")],
    }
    result = translate(messages, "claude-sonnet-4-6")
    assert turns_of(result)[-1] == {"role": "user", "content": [text(CONTINUE)]}
    assert fields_of(result) == ["messages"]


def test_to_anthropic_odd_role_is_sent_as_user() -> None:
    result = translate([{"role": "observer", "content": "看到了"}, ASK])
    assert roles_of(result) == ["user"] and fields_of(result) == ["messages[0]"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"tool_choice": "auto"}, {"type": "auto"}, id="auto"),
        pytest.param({"tool_choice": "required"}, {"type": "any"}, id="required"),
        pytest.param({"tool_choice": "none"}, {"type": "none"}, id="none"),
        pytest.param({"tool_choice": "odd"}, None, id="unknown"),
        pytest.param(
            {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
            {"type": "tool", "name": "weather"},
            id="named",
        ),
        pytest.param({"tool_choice": {"type": "any"}}, {"type": "any"}, id="native"),
        pytest.param(
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required"}}},
            {"type": "any"},
            id="allowed",
        ),
        pytest.param(
            {"parallel_tool_calls": False},
            {"type": "auto", "disable_parallel_tool_use": True},
            id="one_at_a_time",
        ),
        pytest.param(
            {"tool_choice": "required", "parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
            id="one_and_required",
        ),
        pytest.param(
            {"tool_choice": "none", "parallel_tool_calls": False},
            {"type": "none"},
            id="none_at_all",
        ),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_to_anthropic_tool_choice_is_translated(given: Body, expected: Body | None) -> None:
    tools: list[Body] = [{"type": "function", "function": {"name": "weather"}}]
    assert translate([ASK], fields={"tools": tools, **given}).body.get("tool_choice") == expected
    assert "tool_choice" not in translate([ASK], fields=given).body


def test_to_anthropic_tools_are_sorted_and_translated() -> None:
    result = translate(
        [ASK],
        fields={
            "tools": [
                {"type": "web_search_20260801", "name": "web_search", "max_uses": 3},
                {
                    "type": "function",
                    "function": {
                        "name": "weather",
                        "description": "查天气",
                        "strict": True,
                        "parameters": {
                            "type": "object",
                            "required": ["city"],
                            "properties": {"city": {"type": "string", "maxLength": 9}},
                        },
                    },
                },
                {"type": "custom", "custom": {"name": "grammar"}},
                {"type": "function", "function": {"name": "now"}},
            ]
        },
    )
    assert result.body["tools"] == [
        {"name": "now", "input_schema": {"properties": {}, "type": "object"}},
        {
            "name": "weather",
            "description": "查天气",
            "strict": True,
            "input_schema": {
                "additionalProperties": False,
                "properties": {"city": {"description": "(maxLength: 9)", "type": "string"}},
                "required": ["city"],
                "type": "object",
            },
        },
        {"type": "web_search_20260801", "name": "web_search", "max_uses": 3},
    ]
    assert fields_of(result) == ["tools[2]"]


def test_to_anthropic_schema_of_the_answer_is_kept_or_told() -> None:
    schema: Body = {
        "type": "object",
        "properties": {
            "z": {"type": "integer", "minimum": 1, "description": "数"},
            "a": {"oneOf": [{"type": "null"}, {"type": "object", "properties": {}}]},
            "l": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2},
        },
    }
    form: Body = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    closed = {
        "type": "object",
        "properties": {
            "z": {"type": "integer", "description": "数 (minimum: 1)"},
            "a": {
                "anyOf": [
                    {"type": "null"},
                    {"type": "object", "properties": {}, "additionalProperties": False},
                ]
            },
            "l": {
                "type": "array",
                "items": {"type": "string", "description": "(minLength: 1)"},
                "description": "(minItems: 2)",
            },
        },
        "additionalProperties": False,
    }
    result = translate([ASK], fields={"response_format": form})
    assert result.body["output_config"] == {"format": {"type": "json_schema", "schema": closed}}
    told = translate([ASK], "claude-3-haiku-20240307", fields={"response_format": form})
    assert str(objects_of(told.body["system"])[0]["text"]).startswith(JSON_SCHEMA)
    for any_json in ({"type": "json_object"}, {"type": "json_schema"}):
        asked = translate(
            [{"role": "system", "content": "简短"}, ASK], fields={"response_format": any_json}
        )
        assert objects_of(asked.body["system"])[-1] == text(JSON_ONLY)
        assert fields_of(asked) == ["response_format"]
    assert translate([ASK], fields={"response_format": {"type": "text"}}).notes == ()


@pytest.mark.parametrize(
    ("model", "given", "sent"),
    [
        pytest.param(
            "claude-3-5-sonnet-20241022",
            {"temperature": 0.5, "top_p": 0.9},
            {"temperature": 0.5, "top_p": 0.9},
            id="old",
        ),
        pytest.param(
            "claude-sonnet-4-5",
            {"temperature": 1.8, "top_p": 0.9},
            {"temperature": 1},
            id="one_of_two",
        ),
        pytest.param(
            "claude-haiku-4.5", {"top_p": 0.9, "top_k": 5}, {"top_p": 0.9, "top_k": 5}, id="other"
        ),
        pytest.param("anthropic/claude-opus-4-7", {"temperature": 0, "top_k": 3}, {}, id="none"),
        pytest.param("claude-5-sonnet", {"temperature": 1}, {}, id="version_first"),
        pytest.param("claude-next", {"temperature": 1}, {}, id="unknown"),
    ],
)
def test_to_anthropic_sampling_is_sent_as_far_as_it_is_taken(
    model: str, given: Body, sent: Body
) -> None:
    result = translate([ASK], model, fields=given)
    names = ("temperature", "top_p", "top_k")
    assert {name: result.body[name] for name in names if name in result.body} == sent
    assert set(fields_of(result)) == {name for name in given if given[name] != sent.get(name)}
    assert translate([ASK], model, fields={"temperature": None}).notes == ()


def test_to_anthropic_other_fields_are_translated_or_named() -> None:
    result = translate(
        [ASK],
        options=AnthropicOptions(cache_enabled=False, cache_user_id="u-1"),
        fields={
            "max_tokens": 7,
            "max_completion_tokens": 9,
            "stop": ["\n", "停"],
            "stream": True,
            "stream_options": {"include_usage": True},
            "service_tier": "default",
            "user": "x",
            "n": 2,
            "frequency_penalty": 0,
            "logit_bias": None,
            "unknown_field": {"a": 1},
            "container": "c1",
        },
    )
    assert {name: value for name, value in result.body.items() if name != "messages"} == {
        "model": "claude-sonnet-5",
        "max_tokens": 9,
        "stop_sequences": ["停"],
        "stream": True,
        "service_tier": "standard_only",
        "metadata": {"user_id": "u-1"},
        "container": "c1",
    }
    assert fields_of(result) == ["stop", "n", "unknown_field"]
    assert translate([ASK], fields={"stop": "停"}).body["stop_sequences"] == ["停"]
    assert translate([ASK], fields={"metadata": {"user_id": "u2", "a": "b"}}).body["metadata"] == {
        "user_id": "u2"
    }


def test_to_anthropic_default_limit_fits_old_models() -> None:
    assert translate([ASK], "claude-3-haiku-20240307").body["max_tokens"] == 4096
    assert translate([ASK], fields={"max_tokens": True}).body["max_tokens"] == 8192


def test_to_anthropic_our_block_is_a_block_of_its_own() -> None:
    memory = wrap("memory", "- 住在里斯本", block_id="rcl_1")
    result = translate([{"role": "user", "content": append_block("天气？", memory)}])
    assert turns_of(result)[0]["content"] == [text("天气？"), text(memory)]


ROLES = st.sampled_from(["system", "user", "assistant", "tool", "developer", "function", "odd"])
CONTENTS = st.sampled_from([None, "", "你好", " ", "hi", [text("甲"), text("")]])
CALLS = st.lists(st.sampled_from([call("a"), call("b"), call("", "now", "[1]")]), max_size=2)
MESSAGES = st.lists(
    st.builds(
        lambda role, content, calls, result: {
            "role": role,
            "content": content,
            "tool_calls": calls,
            "tool_call_id": result,
        },
        ROLES,
        CONTENTS,
        CALLS,
        st.sampled_from(["a", "b", "c"]),
    ),
    min_size=1,
    max_size=9,
)


@given(MESSAGES, st.sampled_from(["claude-sonnet-5", "claude-sonnet-4-5", "claude-3-opus"]))
def test_to_anthropic_any_conversation_keeps_the_rules_of_turns(
    messages: list[Body], model: str
) -> None:
    try:
        result = translate(messages, model, options=AnthropicOptions())
    except InvalidInput:
        return
    turns = turns_of(result)
    assert turns[0]["role"] == "user"
    seen: set[object] = set()
    for index, turn in enumerate(turns):
        blocks = objects_of(turn["content"])
        assert blocks and all(block["type"] != "text" or block["text"] for block in blocks)
        assert index == 0 or turn["role"] != turns[index - 1]["role"]
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert not seen & set(uses) and len(set(uses)) == len(uses)
        seen |= set(uses)
        if uses:
            following = objects_of(turns[index + 1]["content"])
            results = [item["tool_use_id"] for item in following if item["type"] == "tool_result"]
            assert sorted(map(str, results)) == sorted(map(str, uses))
            assert [item["type"] for item in following[: len(results)]] == ["tool_result"] * len(
                uses
            )
    assert translate(messages, model, options=AnthropicOptions()) == result
    assert all(isinstance(note, Note) for note in result.notes)


def test_to_anthropic_pictures_and_addresses_given_as_files() -> None:
    files: list[Body] = [
        {"type": "file", "file": {"file_data": "data:image/gif;base64,QQ=="}},
        {"type": "file", "file": {"file_url": "https://example.com/c.pdf"}},
        {**text("引"), "citations": []},
    ]
    blocks = objects_of(turns_of(translate([{"role": "user", "content": files}]))[0]["content"])
    assert [block["type"] for block in blocks] == ["image", "document", "text"]
    assert blocks[2]["citations"] == []


def test_to_anthropic_instructions_lose_what_is_no_text_and_keep_their_mark() -> None:
    mark: Body = {"type": "ephemeral"}
    picture: Body = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    system: Body = {"role": "system", "content": [text("规则"), picture], "cache_control": mark}
    result = translate([system, ASK])
    assert result.body["system"] == [{**text("规则"), "cache_control": mark}]
    assert fields_of(result) == ["messages[0]"]


def test_to_anthropic_marks_of_parts_that_vanish_stay_with_what_is_before() -> None:
    mark: Body = {"type": "ephemeral"}
    empty: Body = {**text(""), "cache_control": mark}
    messages: list[Body] = [
        {"role": "user", "content": [empty, text("问"), empty]},
        {"role": "assistant", "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": [{**text("晴"), "cache_control": mark}]},
    ]
    turns = turns_of(translate(messages))
    assert turns[0]["content"] == [{**text("问"), "cache_control": mark}]
    result = objects_of(turns[2]["content"])[0]
    assert result["content"] == "晴" and result["cache_control"] == mark


def test_to_anthropic_schema_without_end_is_passed_on() -> None:
    schema: Body = {"type": "string", "minLength": 1}
    for _ in range(70):
        schema = {"type": "array", "items": schema}
    form: Body = {"type": "json_schema", "json_schema": {"schema": schema}}
    sent = translate([ASK], fields={"response_format": form}).body["output_config"]
    assert "minLength" in str(sent)


def test_to_anthropic_the_same_note_is_made_once() -> None:
    parts: list[Body] = [{"type": "input_audio"}, {"type": "input_audio"}, text("听")]
    assert fields_of(translate([{"role": "user", "content": parts}])) == ["messages[0]"]
