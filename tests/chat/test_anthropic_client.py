"""Anthropic's own Python client on its door, and OpenAI's in front of Claude."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import OpenAI
from tests.chat.conftest import Gateway


def client(gateway: Gateway) -> Anthropic:
    return Anthropic(base_url=gateway.anthropic_url, api_key=gateway.server.token, max_retries=0)


def test_message_is_read(gateway: Gateway) -> None:
    with client(gateway) as one:
        message = one.messages.create(
            model="claude-sonnet-5",
            max_tokens=50,
            messages=[{"role": "user", "content": "你好"}],
        )
    assert message.content[0].text == "you said: 你好"  # type: ignore[union-attr]
    assert gateway.upstream.last.path == "/anthropic/v1/messages"
    assert gateway.server.token not in str(gateway.upstream.last.headers)


async def test_stream_is_accumulated(gateway: Gateway) -> None:
    async with (
        AsyncAnthropic(base_url=gateway.anthropic_url, api_key=gateway.server.token) as one,
        one.messages.stream(
            model="claude-sonnet-5",
            max_tokens=50,
            messages=[{"role": "user", "content": "stream 流"}],
        ) as stream,
    ):
        text = "".join([piece async for piece in stream.text_stream])
        final = await stream.get_final_message()
    assert text == "you said: stream 流"
    assert final.usage.cache_read_input_tokens == 64


def test_tokens_are_counted(gateway: Gateway) -> None:
    with client(gateway) as one:
        count = one.messages.count_tokens(
            model="claude-sonnet-5", messages=[{"role": "user", "content": "hi"}]
        )
    assert count.input_tokens == 7


def test_refusals_are_the_clients_own_errors(gateway: Gateway) -> None:
    stranger = client(gateway).with_options(api_key="wrong")
    with stranger, pytest.raises(anthropic.AuthenticationError, match="not known"):
        stranger.messages.create(
            model="claude", max_tokens=5, messages=[{"role": "user", "content": "hi"}]
        )
    with client(gateway) as one, pytest.raises(anthropic.RateLimitError):
        one.messages.create(
            model="claude-status-429", max_tokens=5, messages=[{"role": "user", "content": "hi"}]
        )


def test_models_are_listed(gateway: Gateway) -> None:
    with client(gateway) as one:
        names = [model.id for model in one.models.list()]
    assert names[0] == "companion"


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "custom-mine/claude-x"])
def test_openai_client_talks_to_claude(gateway: Gateway, model: str) -> None:
    with OpenAI(
        base_url=gateway.openai_url,
        api_key=gateway.server.token,
        _strict_response_validation=True,
    ) as one:
        whole = one.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "你好"}]
        )
        with one.chat.completions.stream(
            model=model, messages=[{"role": "user", "content": "再见"}]
        ) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
    assert whole.choices[0].message.content == "you said: 你好"
    assert final.choices[0].message.content == "you said: 再见"


def test_client_talks_to_a_model_that_is_no_claude(gateway: Gateway) -> None:
    tool: Any = {
        "name": "weather",
        "description": "The weather",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    ask: list[Any] = [{"role": "user", "content": "天气?"}]
    with client(gateway) as one:
        with one.messages.stream(
            model="companion",
            max_tokens=50,
            messages=ask,
            tools=[tool],
        ) as stream:
            called = stream.get_final_message()
        [call] = called.content
        assert called.stop_reason == "tool_use"
        result: Any = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}  # type: ignore[union-attr]
        final = one.messages.create(
            model="companion",
            max_tokens=50,
            messages=[
                *ask,
                {"role": "assistant", "content": called.content},
                {"role": "user", "content": [result]},
            ],
            tools=[tool],
        )
    assert call.input == {"city": "ok"}  # type: ignore[union-attr]
    assert final.content[0].text == "you said: 天气?"  # type: ignore[union-attr]
    assert gateway.upstream.last.path == "/v1/chat/completions"
