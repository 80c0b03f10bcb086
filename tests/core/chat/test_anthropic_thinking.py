"""How much a Claude model thinks, and which thinking goes back to it."""

from __future__ import annotations

import pytest
from tests.core.chat.translating import ASK, call, fields_of, text, translate, turns_of

from remembrancer.core.chat.anthropic_request import AnthropicOptions
from remembrancer.core.chat.shapes import Body, objects_of

ON = AnthropicOptions(cache_enabled=False, thinking_enabled=True, thinking_budget=3000)
OFF = AnthropicOptions(cache_enabled=False)
THOUGHT: Body = {"type": "thinking", "thinking": "先想 🤔", "signature": "EqQ+/=="}


def enabled(budget: int) -> Body:
    return {"type": "enabled", "budget_tokens": budget}


ADAPTIVE: Body = {"type": "adaptive"}
SHOWN: Body = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "options", "fields", "thinking", "effort"),
    [
        pytest.param("claude-sonnet-4-5", OFF, {}, None, None, id="off"),
        pytest.param("claude-sonnet-4-5", ON, {}, enabled(3000), None, id="settings_budget"),
        pytest.param("claude-opus-4-6", ON, {}, ADAPTIVE, None, id="settings_adaptive"),
        pytest.param("claude-sonnet-5", ON, {}, SHOWN, None, id="settings_shown"),
        pytest.param(
            "claude-sonnet-5", OFF, {"reasoning_effort": "xhigh"}, SHOWN, "xhigh", id="effort"
        ),
        pytest.param(
            "claude-opus-4-6", OFF, {"reasoning_effort": "xhigh"}, ADAPTIVE, "high", id="capped"
        ),
        pytest.param(
            "claude-opus-5", OFF, {"reasoning_effort": "minimal"}, SHOWN, "low", id="minimal"
        ),
        pytest.param(
            "claude-opus-5", OFF, {"reasoning_effort": "extreme"}, SHOWN, None, id="unknown_effort"
        ),
        pytest.param(
            "claude-haiku-4-5", OFF, {"reasoning_effort": "high"}, enabled(4096), None, id="table"
        ),
        pytest.param(
            "claude-opus-4-5", OFF, {"reasoning_effort": "low"}, enabled(1024), "low", id="both"
        ),
        pytest.param("claude-sonnet-5", ON, {"reasoning_effort": "none"}, None, None, id="none"),
        pytest.param(
            "claude-sonnet-4-5", OFF, {"reasoning": {"max_tokens": 99_000}}, enabled(32_000), None,
            id="clamped",
        ),
        pytest.param(
            "claude-sonnet-4-5", OFF, {"reasoning": {"enabled": True}}, enabled(1024), None,
            id="switched_on",
        ),
        pytest.param(
            "claude-sonnet-4-5", ON, {"reasoning": {"enabled": False}}, None, None,
            id="switched_off",
        ),
        pytest.param(
            "claude-sonnet-5", OFF, {"thinking": enabled(2000)}, SHOWN, None, id="native_budget"
        ),
        pytest.param(
            "claude-sonnet-5", OFF, {"thinking": {"type": "adaptive", "display": "omitted"}},
            {"type": "adaptive", "display": "omitted"}, None, id="native_display",
        ),
        pytest.param(
            "claude-sonnet-5", ON, {"thinking": {"type": "disabled"}}, None, None, id="native_off"
        ),
        pytest.param(
            "claude-sonnet-5", ON, {"output_config": {"effort": "max"}, "reasoning_effort": "low"},
            SHOWN, "max", id="native_effort",
        ),
        pytest.param("claude-3-5-haiku-latest", ON, {}, None, None, id="cannot"),
    ],
)  # fmt: skip
def test_thinking_is_asked_for_as_the_model_takes_it(
    model: str, options: AnthropicOptions, fields: Body, thinking: Body | None, effort: str | None
) -> None:
    result = translate([ASK], model, options=options, fields=fields)
    assert result.body.get("thinking") == thinking
    config = result.body.get("output_config")
    assert (config.get("effort") if isinstance(config, dict) else None) == effort


@pytest.mark.parametrize(
    ("limit", "thinking", "noted"),
    [
        pytest.param(1024, None, ["thinking"], id="too_small"),
        pytest.param(2500, enabled(1250), ["thinking"], id="lowered"),
        pytest.param(2047, enabled(1024), ["thinking"], id="lowest"),
        pytest.param(3001, enabled(3000), [], id="enough"),
    ],
)
def test_thinking_budget_stays_under_the_clients_limit(
    limit: int, thinking: Body | None, noted: list[str]
) -> None:
    result = translate([ASK], "claude-sonnet-4-5", options=ON, fields={"max_tokens": limit})
    assert result.body.get("thinking") == thinking and result.body["max_tokens"] == limit
    assert fields_of(result) == noted


def test_thinking_budget_is_added_to_the_default_limit() -> None:
    assert translate([ASK], "claude-sonnet-4-5", options=ON).body["max_tokens"] == 8192 + 3000


def test_thinking_leaves_out_sampling_and_yields_to_a_forced_tool() -> None:
    result = translate([ASK], "claude-sonnet-4-5", options=ON, fields={"temperature": 0.2})
    assert "temperature" not in result.body and fields_of(result) == ["temperature"]
    tools: list[Body] = [{"type": "function", "function": {"name": "weather"}}]
    forced = translate(
        [ASK],
        "claude-sonnet-5",
        options=ON,
        fields={"tools": tools, "tool_choice": "required"},
    )
    assert "thinking" not in forced.body and fields_of(forced) == ["thinking"]


def test_thinking_yields_to_a_reply_to_be_continued() -> None:
    messages: list[Body] = [ASK, {"role": "assistant", "content": "今天"}]
    result = translate(messages, "claude-sonnet-4-5", options=ON)
    assert "thinking" not in result.body and fields_of(result) == ["thinking"]


def _round(assistant: Body) -> list[Body]:
    return [
        ASK,
        {"role": "assistant", "content": "看", "tool_calls": [call("toolu_a")], **assistant},
        {"role": "tool", "tool_call_id": "toolu_a", "content": "晴"},
    ]


@pytest.mark.parametrize(
    ("assistant", "kept"),
    [
        pytest.param({}, {"toolu_a": [THOUGHT]}, id="kept_here"),
        pytest.param({"thinking_blocks": [THOUGHT, {"type": "odd"}]}, {}, id="kept_by_the_client"),
        pytest.param(
            {
                "reasoning_details": [
                    {
                        "type": "reasoning.text",
                        "text": "先想 🤔",
                        "signature": "EqQ+/==",
                        "format": "anthropic-claude-v1",
                    },
                    {"type": "reasoning.text", "text": "x", "format": "openai-responses-v1"},
                    {"type": "reasoning.summary", "format": "anthropic-claude-v1"},
                ]
            },
            {},
            id="as_details",
        ),
        pytest.param({"content": [THOUGHT, text("看")]}, {}, id="native"),
    ],
)
def test_thinking_of_a_tool_round_goes_back_first_and_unchanged(
    assistant: Body, kept: dict[str, list[Body]]
) -> None:
    options = AnthropicOptions(cache_enabled=False, thinking_enabled=True, kept_thinking=kept)
    result = translate(_round(assistant), "claude-sonnet-4-5", options=options)
    blocks = objects_of(turns_of(result)[1]["content"])
    assert blocks[0] == THOUGHT
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use"]
    assert result.body["thinking"] == enabled(1024) and result.notes == ()


def test_thinking_kept_between_calls_goes_back_between_them() -> None:
    redacted: Body = {"type": "redacted_thinking", "data": "AbC="}
    messages = _round({"tool_calls": [call("toolu_a"), call("toolu_b")]})
    kept = {"toolu_a": [THOUGHT], "toolu_b": [redacted]}
    result = translate(messages, options=AnthropicOptions(cache_enabled=False, kept_thinking=kept))
    blocks = objects_of(turns_of(result)[1]["content"])
    assert [block["type"] for block in blocks] == [
        "thinking",
        "text",
        "tool_use",
        "redacted_thinking",
        "tool_use",
    ]


def test_thinking_encrypted_details_go_back_as_they_are() -> None:
    detail: Body = {"type": "reasoning.encrypted", "data": "AbC=", "format": "anthropic-claude-v1"}
    result = translate(_round({"reasoning_details": [detail]}))
    assert objects_of(turns_of(result)[1]["content"])[0] == {
        "type": "redacted_thinking",
        "data": "AbC=",
    }


def test_thinking_of_a_tool_round_that_is_lost_turns_it_off() -> None:
    result = translate(_round({}), "claude-sonnet-4-5", options=ON)
    assert "thinking" not in result.body and fields_of(result) == ["thinking"]
    assert translate(_round({}), "claude-sonnet-5", options=ON).body["thinking"] == SHOWN


def test_thinking_alone_may_be_continued() -> None:
    messages: list[Body] = [ASK, {"role": "assistant", "content": [THOUGHT]}]
    assert turns_of(translate(messages, "claude-sonnet-4-5"))[-1]["content"] == [THOUGHT]
