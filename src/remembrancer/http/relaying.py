"""Relaying: the response of a chat, begun while its request still waits for an upstream.

It watches for a client that leaves, whose upstream is then told to stop, and sends a comment when
a stream is silent for long. What is asked and sent is the gateway's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from remembrancer.app.gateway.relaying import Relayed
from remembrancer.core.chat.sse import KEEP_ALIVE

PLATFORM_STREAM: Final = "http.response.platform_stream"
"""The member of the message that starts a response whose body is a stream of the platform; the
edge's bridge takes it as it is."""

SILENCE_S: Final = 15.0
"""Seconds without a byte after which a stream gets a comment, at the latest after two of them.
Source: proxies that close at 60 s; our choice."""


class RelayResponse(Response):
    """The response whose content is asked for when it is sent."""

    # Any: a coroutine's other two types are nobody's business.
    def __init__(self, asking: Coroutine[Any, Any, Relayed]) -> None:
        super().__init__()
        self._asking = asking
        self._has_moved = False

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Ask, then send what comes. *Raises:* what asking raises; ClientDisconnect."""
        asking = asyncio.ensure_future(self._asking)
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait({asking, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise ClientDisconnect
            await self._send(asking.result(), gone, send)
        finally:
            await _end(asking, gone)
            # A stream that nobody began to read does not end by itself.
            if not asking.cancelled() and asking.exception() is None:
                end = asking.result().end
                if end is not None:
                    await end()

    async def _send(self, relayed: Relayed, gone: asyncio.Future[None], send: Send) -> None:
        headers = [
            (name.encode(), value.encode("latin-1", "replace")) for name, value in relayed.headers
        ]
        start: dict[str, Any] = {
            "type": "http.response.start",
            "status": relayed.status,
            "headers": headers,
        }
        if relayed.platform is not None:
            await send({**start, PLATFORM_STREAM: relayed.platform.stream})
            await _watch(relayed, gone)
            return
        if relayed.body is not None:
            headers.append((b"content-length", str(len(relayed.body)).encode()))
            await send(start)
            await send({"type": "http.response.body", "body": relayed.body})
            return
        headers.append((b"x-accel-buffering", b"no"))
        await send(start)
        pump = asyncio.ensure_future(self._pump(relayed, send))
        try:
            while not pump.done() and not gone.done():
                self._has_moved = False
                await asyncio.wait(
                    {pump, gone}, timeout=SILENCE_S, return_when=asyncio.FIRST_COMPLETED
                )
                if not pump.done() and not gone.done() and not self._has_moved:
                    await send(_piece(KEEP_ALIVE))
            if not pump.done():
                raise ClientDisconnect
            pump.result()
        finally:
            await _end(pump)

    async def _pump(self, relayed: Relayed, send: Send) -> None:
        assert relayed.pieces is not None
        try:
            async for piece in relayed.pieces:
                self._has_moved = True
                await send(_piece(piece))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            # Cancelled while sending, the upstream's side does not hear of it by itself.
            await relayed.pieces.aclose()


def _piece(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}


async def _watch(relayed: Relayed, gone: asyncio.Future[None]) -> None:
    """Tell the upstream to stop when the client leaves a stream that the platform sends."""
    assert relayed.along is not None and relayed.stop is not None
    await asyncio.wait({relayed.along, gone}, return_when=asyncio.FIRST_COMPLETED)
    if not relayed.along.done():
        await relayed.stop()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(*futures: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has cleaned up."""
    running: Sequence[asyncio.Future[Any]] = [one for one in futures if not one.done()]
    for one in running:
        one.cancel()
    if running:
        await asyncio.wait(running)
