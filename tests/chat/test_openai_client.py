"""OpenAI's own Python client, held to strict validation, notices nothing but the memory."""

from __future__ import annotations

import json

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from tests.chat.conftest import Gateway

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}


def client(gateway: Gateway, **more: object) -> OpenAI:
    return OpenAI(
        base_url=gateway.openai_url,
        api_key=gateway.server.token,
        max_retries=0,
        _strict_response_validation=True,
        **more,  # type: ignore[arg-type]
    )


def test_completion_is_read(gateway: Gateway) -> None:
    with client(gateway) as one:
        reply = one.chat.completions.create(
            model="companion", messages=[{"role": "user", "content": "你好 there"}]
        )
    assert reply.choices[0].message.content == "you said: 你好 there"
    assert reply.usage is not None
    assert reply.usage.prompt_tokens_details is not None
    assert reply.usage.prompt_tokens_details.cached_tokens == 64
    assert gateway.upstream.last.body["model"] == "mock-chat"
    assert gateway.server.token not in str(gateway.upstream.last.headers)
    assert gateway.upstream.last.headers["authorization"] == "Bearer upstream-secret-token"


async def test_async_stream_is_read_with_its_usage(gateway: Gateway) -> None:
    async with AsyncOpenAI(
        base_url=gateway.openai_url,
        api_key=gateway.server.token,
        _strict_response_validation=True,
    ) as one:
        stream = await one.chat.completions.create(
            model="companion",
            messages=[{"role": "user", "content": "stream 流"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        texts, usage = [], None
        async for chunk in stream:
            usage = chunk.usage or usage
            texts += [choice.delta.content or "" for choice in chunk.choices]
    assert "".join(texts) == "you said: stream 流"
    assert usage is not None


def test_stream_helper_accumulates_tool_calls(gateway: Gateway) -> None:
    with (
        client(gateway) as one,
        one.chat.completions.stream(
            model="companion",
            messages=[{"role": "user", "content": "weather in Zürich?"}],
            tools=[TOOL],  # type: ignore[list-item]
        ) as stream,
    ):
        for _ in stream:
            pass
        final = stream.get_final_completion()
    [call] = final.choices[0].message.tool_calls or []
    assert call.function.name == "weather"
    assert json.loads(call.function.arguments) == {"city": "ok", "days": 1}


def test_tool_loop_ends_with_a_reply(gateway: Gateway) -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "weather 天气?"}]
    with client(gateway) as one:
        first = one.chat.completions.create(
            model="companion",
            messages=messages,  # type: ignore[arg-type]
            tools=[TOOL],  # type: ignore[list-item]
        )
        message = first.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": "call_1", "content": "rain"})
        last = one.chat.completions.create(
            model="companion",
            messages=messages,  # type: ignore[arg-type]
            tools=[TOOL],  # type: ignore[list-item]
        )
    assert last.choices[0].message.content == "you said: weather 天气?"


class Fact(BaseModel):
    name: str
    count: int


def test_parsed_output_fits_its_schema(gateway: Gateway) -> None:
    with client(gateway) as one:
        reply = one.chat.completions.parse(
            model="companion",
            messages=[{"role": "user", "content": "a fact"}],
            response_format=Fact,
        )
    assert reply.choices[0].message.parsed == Fact(name="ok", count=1)


def test_models_are_listed(gateway: Gateway) -> None:
    with client(gateway) as one:
        names = [model.id for model in one.models.list()]
    assert names[:3] == ["companion", "mock-chat", "mock-vision"]


def test_refusals_are_the_clients_own_errors(gateway: Gateway) -> None:
    ask = [{"role": "user", "content": "hi"}]
    with client(gateway) as one:
        with pytest.raises(openai.RateLimitError) as limited:
            one.chat.completions.create(model="status-429", messages=ask)  # type: ignore[arg-type]
        with pytest.raises(openai.InternalServerError, match="refused with 500"):
            one.chat.completions.create(model="status-500", messages=ask)  # type: ignore[arg-type]
    assert limited.value.response.headers["retry-after"] == "3"
    stranger = client(gateway).with_options(api_key="wrong")
    with stranger, pytest.raises(openai.AuthenticationError):
        stranger.chat.completions.create(model="companion", messages=ask)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["breaks", "silent-end"])
def test_stream_that_dies_half_way_is_an_error(gateway: Gateway, model: str) -> None:
    with client(gateway) as one:
        stream = one.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "a longer one"}], stream=True
        )
        with pytest.raises(openai.APIError):
            for _ in stream:
                pass


def test_memory_is_told_and_used_in_the_next_conversation(gateway: Gateway) -> None:
    ask = "请记住：我的测试暗号是苹果星星-0428。"
    with client(gateway) as one:
        saved = one.chat.completions.with_raw_response.create(
            model="companion", messages=[{"role": "user", "content": ask}]
        )
        again = one.chat.completions.with_raw_response.create(
            model="companion", messages=[{"role": "user", "content": "我的测试暗号是什么？"}]
        )
    assert saved.headers["x-remembrancer-saved"].startswith("itm_")
    assert again.headers["x-remembrancer-recall"].startswith("rcl_")
    assert "苹果星星-0428" in gateway.upstream.last.body["messages"][-1]["content"]


def test_guide_dog_door_has_no_memory(gateway: Gateway) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    with OpenAI(base_url=f"{gateway.server.url}/v1/guide-dog", api_key=gateway.server.token) as one:
        one.chat.completions.create(
            model="companion",
            messages=[{"role": "user", "content": [picture]}],  # type: ignore[list-item,misc]
        )
    assert gateway.upstream.last.body["model"] == "mock-vision"
    assert gateway.upstream.last.body["messages"] == [{"role": "user", "content": [picture]}]
