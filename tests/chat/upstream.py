"""A model's server for tests: real HTTP on loopback, both vendors' forms, answers by rule.

What it answers follows from the request: the last user message is said back; tools are called when
there are some and no result yet; a schema is answered by an object that fits. The model's name asks
for faults: `slow`, `thinks-long`, `status-429`, `breaks`, `silent-end`. Every request is kept.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Json = Any

START_S = 120.0
"""Seconds until a server that does not listen is given up."""
THINKS_S = 60.0
"""Seconds that the model `thinks-long` takes for a whole answer, unless its client leaves."""


@dataclass(slots=True)
class Kept:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    raw: bytes
    is_cancelled: bool = False

    @property
    def body(self) -> Json:
        return json.loads(self.raw)


@dataclass(slots=True)
class Upstream:
    """The server, and what it was sent. *Units:* `pause_s` between two pieces of a stream."""

    url: str = ""
    sent: list[Kept] = field(default_factory=list)
    pause_s: float = 0.0

    @property
    def last(self) -> Kept:
        return self.sent[-1]


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def _said(body: Json) -> str:
    users = [one for one in body["messages"] if one["role"] == "user"]
    return f"you said: {_text(users[-1]['content'])}" if users else "nothing was said"


def _value_for(schema: Json) -> Json:
    """The plainest value that fits a JSON schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        names = schema.get("properties", {})
        return {name: _value_for(part) for name, part in names.items()}
    if kind == "array":
        return [_value_for(schema.get("items", {"type": "string"}))]
    return {"string": "ok", "integer": 1, "number": 1.5, "boolean": True}.get(kind)


def _wanted_tool(body: Json) -> Json:
    """The tool that is to be called, None when none is."""
    tools = body.get("tools") or []
    choice = body.get("tool_choice")
    if not tools or choice == "none" or body["messages"][-1]["role"] == "tool":
        return None
    if isinstance(choice, dict):
        name = choice.get("function", choice).get("name")
        tools = [one for one in tools if one["function"]["name"] == name] or tools
    return tools[0]["function"]


def _calls(body: Json) -> list[Json]:
    tool = _wanted_tool(body)
    if tool is None:
        return []
    arguments = json.dumps(_value_for(tool.get("parameters") or {"type": "object"}))
    return [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": tool["name"], "arguments": arguments},
        }
    ]


def _answer(body: Json) -> str:
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return json.dumps(_value_for(form["json_schema"].get("schema", {})))
    if form.get("type") == "json_object":
        return '{"ok": true}'
    return _said(body)


USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 9,
    "total_tokens": 129,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}


def _completion(body: Json) -> Json:
    calls = _calls(body)
    message: Json = {
        "role": "assistant",
        "content": None if calls else _answer(body),
        "refusal": None,
    }
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if calls else "stop",
        "logprobs": None,
    }
    return {
        "id": "chatcmpl-mock",
        "object": "chat.completion",
        "created": 1_772_366_400,
        "model": body["model"],
        "choices": [choice] * int(body.get("n") or 1),
        "usage": USAGE,
    }


def _chunk(body: Json, choices: list[Json], **more: Json) -> bytes:
    chunk = {
        "id": "chatcmpl-mock",
        "object": "chat.completion.chunk",
        "created": 1_772_366_400,
        "model": body["model"],
        "choices": choices,
        **more,
    }
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def _deltas(body: Json) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    calls = _calls(body)
    for index, call in enumerate(calls):
        arguments = call["function"]["arguments"]
        yield {
            "tool_calls": [
                {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            ]
        }
        for at in range(0, len(arguments), 5):
            piece = {"arguments": arguments[at : at + 5]}
            yield {"tool_calls": [{"index": index, "function": piece}]}
    if not calls:
        text = _answer(body)
        count = int(body.get("x_chunks") or 0)
        if count:
            yield from ({"content": f"{_said(body)}#{number};"} for number in range(count))
        else:
            yield from ({"content": text[at : at + 4]} for at in range(0, len(text), 4))


def _events(body: Json) -> Iterator[bytes]:
    has_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    more: Json = {"usage": None} if has_usage else {}
    for delta in _deltas(body):
        yield _chunk(body, [{"index": 0, "delta": delta, "finish_reason": None}], **more)
    finish = "tool_calls" if _calls(body) else "stop"
    yield _chunk(body, [{"index": 0, "delta": {}, "finish_reason": finish}], **more)
    if has_usage:
        yield _chunk(body, [], usage=USAGE)
    yield b"data: [DONE]\n\n"


def _anthropic(body: Json) -> Json:
    return {
        "id": "msg_mock",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": _said(body)}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "output_tokens": 9,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 8,
        },
    }


def _anthropic_events(body: Json) -> Iterator[bytes]:
    whole = _anthropic(body)
    parts: list[tuple[str, Json]] = [
        ("message_start", {"message": {**whole, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("ping", {}),
    ]
    text = whole["content"][0]["text"]
    for at in range(0, len(text), 4):
        delta = {"type": "text_delta", "text": text[at : at + 4]}
        parts.append(("content_block_delta", {"index": 0, "delta": delta}))
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    parts += [
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": stop, "usage": {"output_tokens": 9}}),
        ("message_stop", {}),
    ]
    for kind, data in parts:
        body_text = json.dumps({"type": kind, **data}, ensure_ascii=False)
        yield f"event: {kind}\ndata: {body_text}\n\n".encode()


def make_app(upstream: Upstream) -> Starlette:
    """The server's app."""

    async def keep(request: Request) -> Kept:
        kept = Kept(request.url.path, dict(request.headers), await request.body())
        upstream.sent.append(kept)
        return kept

    async def flow(kept: Kept, events: Iterator[bytes]) -> AsyncIterator[bytes]:
        model = str(kept.body["model"])
        try:
            for number, piece in enumerate(events):
                if number == 3 and "breaks" in model:
                    await asyncio.sleep(0.1)  # a reset overtakes what was not read yet
                    raise ConnectionResetError("the mock breaks off on purpose")
                if number == 3 and "silent-end" in model:
                    return
                if upstream.pause_s or "slow" in model:
                    await asyncio.sleep(max(upstream.pause_s, 0.05 if "slow" in model else 0.0))
                yield piece
        except asyncio.CancelledError:
            kept.is_cancelled = True
            raise

    async def answer(request: Request, whole: Any, events: Any) -> Response:
        kept = await keep(request)
        model = str(kept.body["model"])
        if "status-" in model:
            status = int(model.rpartition("status-")[2])
            error = {"message": f"refused with {status}", "type": "mock_error", "code": "mock"}
            return JSONResponse({"error": error}, status, headers={"retry-after": "3"})
        if kept.body.get("stream"):
            return StreamingResponse(flow(kept, events(kept.body)), media_type="text/event-stream")
        if "slow" in model:
            await asyncio.sleep(0.3)
        until = time.monotonic() + (THINKS_S if "thinks-long" in model else 0.0)
        while time.monotonic() < until and not kept.is_cancelled:
            kept.is_cancelled = await request.is_disconnected()
            await asyncio.sleep(0.02)
        return JSONResponse(whole(kept.body))

    async def completions(request: Request) -> Response:
        return await answer(request, _completion, _events)

    async def messages(request: Request) -> Response:
        return await answer(request, _anthropic, _anthropic_events)

    async def count(request: Request) -> Response:
        await keep(request)
        return JSONResponse({"input_tokens": 7})

    paths = {
        "/v1/chat/completions": completions,
        "/compat/chat/completions": completions,
        "/anthropic/v1/messages": messages,
        "/v1/messages": messages,
        "/anthropic/v1/messages/count_tokens": count,
        "/custom-mine/messages": messages,
    }
    return Starlette(routes=[Route(path, door, methods=["POST"]) for path, door in paths.items()])


@contextmanager
def running_upstream() -> Iterator[Upstream]:
    """A server in a thread of its own, for as long as the block runs."""
    upstream = Upstream()
    config = uvicorn.Config(
        make_app(upstream),
        host="127.0.0.1",
        port=0,
        log_config=None,
        lifespan="off",
        ws="none",
        # None is closed for being idle, just when somebody asks again.
        timeout_keep_alive=3_600,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + START_S
        while not server.started:
            assert time.monotonic() < until, "the mock upstream does not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        upstream.url = f"http://127.0.0.1:{port}"
        yield upstream
    finally:
        server.should_exit = True
        thread.join(10)


def main() -> None:
    """Serve until the standard input ends; the address is told on the standard output."""
    with running_upstream() as upstream:
        print(upstream.url, flush=True)  # noqa: T201 - the caller reads it
        sys.stdin.read()


if __name__ == "__main__":
    main()
