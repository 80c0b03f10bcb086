"""A chat server with a scripted upstream behind it, and requests to it in-process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from tests.protocol.rest.doors import OWNER, Served, serve

from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.testing.outbound import (
    Handler,
    ScriptedAnswer,
    ScriptedOutbound,
    json_answer,
    stream_answer,
)

BASE = "http://upstream.example/v1"
ENVIRON = {"AI_GATEWAY_BASE_URL": BASE, "CF_AIG_TOKEN": "upstream-secret", "CHAT_MODEL": "m-1"}

Json = Any


def completion(text: str = "好的 ok", **more: Json) -> dict[str, Json]:
    """A whole completion as an upstream answers it."""
    message = {"role": "assistant", "content": text, "refusal": None, **more}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_772_366_400,
        "model": "m-1-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "total_tokens": 107,
            "prompt_tokens_details": {"cached_tokens": 60},
        },
        "system_fingerprint": "fp_新",
    }


def chunk_bytes(delta: Mapping[str, Json], *, finish: str | None = None) -> bytes:
    """One chunk of a stream, as the event that carries it."""
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_772_366_400,
        "model": "m-1-2026",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def stream_of(text: str, *, is_done: bool = True) -> list[bytes]:
    """The events of a streamed reply, a character each."""
    pieces = [chunk_bytes({"role": "assistant", "content": ""})]
    pieces += [chunk_bytes({"content": letter}) for letter in text]
    if is_done:
        pieces += [chunk_bytes({}, finish="stop"), b"data: [DONE]\n\n"]
    return pieces


def echo_upstream(text: str = "好的 ok") -> Handler:
    """An upstream that answers every request alike, as a stream when it is asked for one."""

    def answer(request: OutboundRequest) -> ScriptedAnswer:
        if json.loads(request.body).get("stream"):
            return stream_answer(stream_of(text))
        return json_answer(completion(text))

    return answer


@dataclass(slots=True)
class Chats:
    """A chat client, the server, and the upstream behind it."""

    served: Served
    client: httpx.AsyncClient
    outbound: ScriptedOutbound
    headers: dict[str, str] = field(default_factory=lambda: dict(OWNER))

    async def post(
        self, body: Json, *, path: str = "/v1/chat/completions", **headers: str
    ) -> httpx.Response:
        """The response to a chat; work after it is done."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await self.client.post(path, json=body, headers={**self.headers, **named})
        await self.served.runtime.drain()
        return response

    async def say(self, text: str, **body: Json) -> httpx.Response:
        """The response to one user message."""
        return await self.post({"messages": [{"role": "user", "content": text}], **body})

    @property
    def last(self) -> Json:
        """The body that the upstream was sent last."""
        return json.loads(self.outbound.sent[-1].body)


@asynccontextmanager
async def chats(
    handler: Handler | None = None,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[Chats]:
    """A fresh chat server over a scripted upstream."""
    outbound = ScriptedOutbound(handler or echo_upstream())
    served = serve({**ENVIRON, **(environ or {})})
    served.app = replace(served.app, outbound=outbound)
    served.asgi = create_asgi(served.app, routes=AREAS)
    async with served.client() as client:
        yield Chats(served, client, outbound)
