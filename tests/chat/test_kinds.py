"""Every kind of request that the clients can make is answered as the model's server answers it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI
from tests.chat.conftest import Gateway

Json = Any

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg"
)
FUNCTION = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}


def user(content: Json, **more: Json) -> Json:
    return {"role": "user", "content": content, **more}


def call(number: int) -> Json:
    function = {"name": "weather", "arguments": '{"city": "苏黎世"}'}
    return {"id": f"call_{number}", "type": "function", "function": function}


def result(number: int, content: Json) -> Json:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


PARALLEL = [
    user("weather in two towns? 两个城市的天气？"),
    {"role": "assistant", "content": None, "tool_calls": [call(1), call(2)]},
    result(1, "rain 雨"),
    result(2, [{"type": "text", "text": "sun 晴"}]),
]
CHATS: dict[str, Json] = {
    "system": {"messages": [{"role": "system", "content": "Be brief. 简短"}, user("一 one")]},
    "developer": {"messages": [{"role": "developer", "content": "Be kind"}, user("二 two")]},
    "parts": {"messages": [user([{"type": "text", "text": "三 three"}])]},
    "picture": {
        "messages": [
            user(
                [
                    {"type": "text", "text": "四 what is this?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
                ]
            )
        ]
    },
    "address": {
        "messages": [
            user(
                [
                    {"type": "image_url", "image_url": {"url": "https://example.com/猫.png"}},
                    {"type": "text", "text": "五 and this?"},
                ]
            )
        ]
    },
    "sound": {
        "messages": [
            user(
                [
                    {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                    {"type": "text", "text": "六 what is said?"},
                ]
            )
        ]
    },
    "names": {"messages": [user("七 seven", name="小王")], "user": "用户-1"},
    "history": {
        "messages": [
            user("八 first"),
            {"role": "assistant", "content": "ok 好", "name": "bot"},
            user("八 second"),
        ]
    },
    "parallel tools": {"messages": PARALLEL, "tools": [FUNCTION], "parallel_tool_calls": True},
    "no tool": {"messages": [user("九 nine")], "tools": [FUNCTION], "tool_choice": "none"},
    "sampling": {
        "messages": [user("十 ten")],
        "temperature": 0.2,
        "top_p": 0.9,
        "seed": 9007199254740993,
        "stop": ["。", "\n\n"],
        "frequency_penalty": -0.5,
        "logit_bias": {"50256": -100},
        "max_completion_tokens": 99,
    },
    "refusal": {
        "messages": [
            user("十一"),
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no 不"}]},
            user("十一 again"),
        ]
    },
    "prediction": {
        "messages": [user("十二 twelve")],
        "prediction": {"type": "content", "content": "预测 text"},
        "metadata": {"客户": "一"},
        "store": False,
    },
    "unknown": {
        "messages": [user("十三 thirteen")],
        "extra_body": {"x_未知": [None, {"a": 1e-7}], "reasoning": {"effort": "low"}},
    },
}


def said_last(messages: Json) -> str:
    """The words of the user's last message."""
    last = [one for one in messages if one["role"] == "user"][-1]["content"]
    return last if isinstance(last, str) else next(one["text"] for one in last if "text" in one)


@pytest.mark.parametrize("kind", CHATS)
@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
def test_openais_client_gets_every_kind_answered(
    gateway: Gateway, kind: str, is_stream: bool
) -> None:
    asked = copy.deepcopy(CHATS[kind])
    with OpenAI(base_url=gateway.openai_url, api_key=gateway.server.token, max_retries=0) as one:
        reply: Json = one.chat.completions.create(model="companion", stream=is_stream, **asked)
        if is_stream:
            text = "".join([piece.choices[0].delta.content or "" for piece in reply])
        else:
            text = reply.choices[0].message.content
    assert text.startswith("you said: ")
    assert said_last(asked["messages"]) in text


BLOCK = {"type": "text", "text": "Be brief. 简短", "cache_control": {"type": "ephemeral"}}
TOOL = {"name": "weather", "description": "天气", "input_schema": {"type": "object"}}
USES = [
    {"type": "tool_use", "id": f"toolu_{number}", "name": "weather", "input": {"城": number}}
    for number in (1, 2)
]
MESSAGES: dict[str, Json] = {
    "system": {"system": "Be kind 友善", "messages": [user("一 one")]},
    "blocks": {"system": [BLOCK], "messages": [user([{"type": "text", "text": "二 two"}])]},
    "picture": {
        "messages": [
            user(
                [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                    },
                    {"type": "text", "text": "三 what is this?"},
                ]
            )
        ]
    },
    "parallel tools": {
        "tools": [TOOL],
        "messages": [
            user("四 weather in two towns?"),
            {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, *USES]},
            user(
                [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain 雨"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True},
                    {"type": "text", "text": "四 go on"},
                ]
            ),
        ],
    },
    "thinking": {
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            user("五 five"),
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "想一想", "signature": "c2ln"},
                    {"type": "text", "text": "five 五"},
                ],
            },
            user("五 more"),
        ],
    },
    "sampling": {
        "messages": [user("六 six")],
        "stop_sequences": ["。"],
        "metadata": {"user_id": "user_1_account__session_会话"},
        "extra_body": {"temperature": 0.2, "top_k": 5},  # the client knows them no more
    },
    "prefill": {"messages": [user("七 seven"), {"role": "assistant", "content": "{"}]},
    "unknown": {"messages": [user("八 eight")], "extra_body": {"x_未知": [None, 1.5]}},
}


@pytest.mark.parametrize("kind", MESSAGES)
@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "stream"])
def test_anthropics_client_gets_every_kind_answered(
    gateway: Gateway, kind: str, is_stream: bool
) -> None:
    asked = {"model": "claude-sonnet-5", "max_tokens": 2_000, **copy.deepcopy(MESSAGES[kind])}
    extra = asked.pop("extra_body", {})
    with Anthropic(
        base_url=gateway.anthropic_url, api_key=gateway.server.token, max_retries=0
    ) as one:
        if is_stream:
            with one.messages.stream(**asked, extra_body=extra) as stream:
                text = stream.get_final_text()
        else:
            reply: Json = one.messages.create(**asked, extra_body=extra)
            text = reply.content[0].text
    assert text.startswith("you said: ")
    assert said_last(asked["messages"]) in text
