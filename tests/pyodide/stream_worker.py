"""A Worker around a small app that does with the bridge what the product does not do yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import js
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from workers import WorkerEntrypoint

from remembrancer.edge.bridge import PLATFORM_STREAM, respond
from remembrancer.edge.runtime import EdgeRuntime, serving

NOTES: list[str] = []
"""What happened, for the test to ask."""
RUNTIME = EdgeRuntime()


async def words(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        for word in ("荔枝", "lychee", "end"):
            await asyncio.sleep(0)
            yield word.encode()

    return StreamingResponse(pieces(), headers={"x-kind": "words"})


async def endless(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    return StreamingResponse(pieces())


async def silent(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        try:
            await asyncio.sleep(3_600)
        finally:
            NOTES.append("silent ended")

    return StreamingResponse(pieces())


async def broken(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        raise ConnectionError("upstream is gone")

    return StreamingResponse(pieces())


class Echo(Response):
    """An answer that sends the request's body back as it comes."""

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        is_more = True
        while is_more:
            message = await receive()
            is_more = message["more_body"]
            piece = {"type": "http.response.body", "body": message["body"], "more_body": is_more}
            await send(piece)


async def echo(_: Request) -> Response:
    return Echo()


async def refuse(request: Request) -> Response:
    async for piece in request.stream():
        return PlainTextResponse(f"refused after {len(piece)} bytes", 413)
    return PlainTextResponse("nothing came")


async def wait(request: Request) -> Response:
    NOTES.append("waiting")
    while (await request.receive())["type"] != "http.disconnect":
        pass
    NOTES.append("client left")
    return PlainTextResponse("nobody hears this")


async def later(_: Request) -> Response:
    async def work() -> None:
        await asyncio.sleep(0.05)
        NOTES.append("done later")

    RUNTIME.run_later(work())
    return PlainTextResponse("ok")


async def notes(_: Request) -> Response:
    return PlainTextResponse("\n".join(NOTES))


class Handover(Response):
    """An answer whose body is a stream of the platform."""

    async def __call__(self, _: Scope, __: Receive, send: Send) -> None:
        stream = js.Response.new("荔枝 " * 50_000).body
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        await send({**start, PLATFORM_STREAM: stream})
        await send({"type": "http.response.body", "body": b""})


async def handover(_: Request) -> Response:
    return Handover()


HANDLERS: dict[str, Callable[[Request], Awaitable[Response]]] = {
    f"/{handler.__name__}": handler
    for handler in (words, endless, silent, broken, echo, refuse, wait, later, notes, handover)
}


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI app."""
    response = await HANDLERS[scope["path"]](Request(scope, receive))
    await response(scope, receive, send)


class Default(WorkerEntrypoint):  # type: ignore[misc] # the SDK is there on the platform alone
    """The entrypoint."""

    async def fetch(self, request: Any) -> object:
        with serving(self.ctx):
            return await respond(app, request.js_object)
