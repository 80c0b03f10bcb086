"""Requests that a gateway must pass on as they are: recorded from real clients, and made here.

Made ones are what the clients' types do not let them say: odd roles, null content, unknown fields,
parallel calls in odd places, a megabyte. Either door.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from tests.chat.recording import read_recorded

Json = Any

OPENAI, ANTHROPIC = "/v1/chat/completions", "/anthropic/v1/messages"


class Sent(NamedTuple):
    """One request. *Shape:* `name` says where it is from; `raw` its body's bytes."""

    name: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Json:
        return json.loads(self.raw)


def recorded() -> list[Sent]:
    """What real clients sent; without what one door has to translate for the other's models."""
    found = []
    for number, one in enumerate(read_recorded()):
        is_claude = "claude" in json.loads(one.body)["model"]
        if is_claude == (one.path == ANTHROPIC):
            name = f"{number + 1} {one.client}"
            found.append(Sent(name, one.path, one.headers, one.body.encode()))
    return found


ROLES = ("user", "assistant", "system", "developer", "tool", "评论员")
PARTS = [{"type": "text", "text": "部分 part"}, {"type": "新", "x": [None]}, {"type": "text"}]
CONTENTS: dict[str, Json] = {
    "null": None,
    "empty": "",
    "text": "你好 🙂 there\u2028\x00",
    "half": "\ud83d cut",
    "no parts": [],
    "parts": PARTS,
}
CALLS = [
    {"id": f"call_{n}", "type": "function", "function": {"name": "天气", "arguments": "{"}}
    for n in range(3)
]
FIELDS: dict[str, Json] = {
    "unknown": {"未知": [None, True, 1e-7, {"": ""}], "x": {"messages": [1]}},
    "numbers": {"seed": 9007199254740993, "top_p": 1.0, "n": 1, "big": 10**30, "tiny": 5e-324},
    "nulls": {"stop": None, "tools": None, "user": None, "metadata": None, "stream_options": None},
    "tools": {
        "tools": [{"type": "function", "function": {"name": "b"}}, {"type": "custom"}, {"z": 1}],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}},
        "parallel_tool_calls": True,
    },
    "formats": {"response_format": {"type": "json_schema", "json_schema": {"$ref": "#"}}},
    "cache": {"prompt_cache_key": "会话", "prompt_cache_options": {"mode": "explicit"}},
}
EXCHANGES: dict[str, Json] = {
    "parallel calls": [
        {"role": "user", "content": "both 两个"},
        {"role": "assistant", "content": None, "tool_calls": CALLS, "reasoning_content": "想"},
        *({"role": "tool", "tool_call_id": one["id"], "content": "晴"} for one in CALLS),
    ],
    "calls without results": [
        {"role": "user", "content": "one"},
        {"role": "assistant", "tool_calls": CALLS, "function_call": {"name": "f"}},
    ],
    "results first": [{"role": "tool", "tool_call_id": "x", "content": PARTS}],
    "a megabyte": [{"role": "user", "content": "长 long. " * 100_000}],
    "a megabyte of turns": [
        {"role": role, "content": f"{n} " + "长 long. " * 100}
        for n in range(500)
        for role in ("user", "assistant")
    ],
}
BLOCKS: dict[str, Json] = {
    "text": "你好 🙂 there",
    "blocks": [{"type": "text", "text": "块 block", "cache_control": {"type": "ephemeral"}}],
    "odd block": [{"type": "新", "x": [None]}, {"type": "text", "text": "x"}],
    "results": [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "晴"}]},
        {"type": "tool_result", "tool_use_id": "b"},
    ],
    "a megabyte": "长 long. " * 100_000,
}


def made() -> list[Sent]:
    """What no client's types let it say."""
    return [*_made_chats(), *_made_messages()]


def _made_chats() -> Iterator[Sent]:
    for role, (name, content), stream in product(ROLES, CONTENTS.items(), (False, True)):
        message = {"name": "n", "content": content, "role": role, "x": 1}
        last = [] if role == "user" else [{"role": "user", "content": f"{role} {name}"}]
        yield _sent(f"{role} {name}", OPENAI, {"messages": [message, *last], "stream": stream})
    for (name, fields), stream in product(FIELDS.items(), (False, True)):
        messages = [{"role": "user", "content": f"field {name}"}]
        yield _sent(name, OPENAI, {"stream": stream, "messages": messages, **fields})
    for (name, messages), stream in product(EXCHANGES.items(), (False, True)):
        yield _sent(name, OPENAI, {"messages": messages, "stream": stream})


def _made_messages() -> Iterator[Sent]:
    for (name, content), (field, more), stream in product(
        BLOCKS.items(), FIELDS.items(), (False, True)
    ):
        if name == "a megabyte" and field != "unknown":
            continue
        body = {"max_tokens": 9, "messages": [{"role": "user", "content": content}], **more}
        yield _sent(f"{name}, {field}", ANTHROPIC, {**body, "stream": stream})


def _sent(name: str, path: str, body: Json) -> Sent:
    model = "claude-sonnet-5" if path == ANTHROPIC else "gpt-odd"
    raw = json.dumps({"model": model, **body}).encode()
    return Sent(f"made: {name}", path, {"content-type": "application/json"}, raw)
