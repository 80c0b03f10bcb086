"""Requests translated for Claude, and what the tests look at in the result."""

from __future__ import annotations

import copy

from remembrancer.core.chat.anthropic_request import AnthropicOptions, Translated, to_anthropic
from remembrancer.core.chat.cache_marks import count_marks
from remembrancer.core.chat.shapes import Body, objects_of

PLAIN = AnthropicOptions(cache_enabled=False)
ASK: Body = {"role": "user", "content": "里斯本天气？"}


def translate(
    messages: list[Body],
    model: str = "claude-sonnet-5",
    *,
    options: AnthropicOptions = PLAIN,
    fields: Body | None = None,
) -> Translated:
    """The request translated; its other fields are given as an object."""
    body: Body = {"model": "companion", "messages": messages, **(fields or {})}
    before = copy.deepcopy(body)
    result = to_anthropic(body, model=model, options=options)
    assert body == before, "the request was changed"
    assert count_marks(result.body) <= 4
    return result


def call(call_id: str, name: str = "weather", arguments: str = "{}") -> Body:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def text(value: str) -> Body:
    return {"type": "text", "text": value}


def turns_of(result: Translated) -> list[Body]:
    return objects_of(result.body["messages"])


def roles_of(result: Translated) -> list[object]:
    return [turn["role"] for turn in turns_of(result)]


def fields_of(result: Translated) -> list[str]:
    return [note.field for note in result.notes]
