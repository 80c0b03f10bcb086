"""The response of a chat: silence, clients that leave, streams that are handed over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect
from tests.builders import Bench
from tests.protocol.chat.upstreams import Json, chats, stream_of
from tests.protocol.rest.doors import OWNER, Wire, http_scope

from remembrancer.app.gateway.relaying import Relayed
from remembrancer.app.gateway.sending import whole_events
from remembrancer.core.chat.sse import KEEP_ALIVE
from remembrancer.core.errors import UpstreamFailed
from remembrancer.http import relaying
from remembrancer.http.asgi import create_asgi
from remembrancer.http.relaying import PLATFORM_STREAM, RelayResponse
from remembrancer.http.routes import AREAS
from remembrancer.ports.outbound import PlatformStream
from remembrancer.testing.outbound import ScriptedAnswer, ScriptedOutbound


async def pieces_of(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


@given(st.lists(st.integers(0, 400), max_size=12), st.sampled_from([b"\n\n", b"\r\n\r\n"]))
async def test_events_are_cut_only_between_them_and_keep_every_byte(
    cuts: list[int], end: bytes
) -> None:
    data = b"".join(piece.removesuffix(b"\n\n") + end for piece in stream_of("流 🙂 ok"))
    at = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:stop] for start, stop in pairwise(at)]
    told = [piece async for piece in whole_events(pieces_of(*pieces))]
    assert b"".join(told) == data
    assert all(piece.endswith(end) for piece in told)


async def test_half_an_event_is_dropped_when_the_stream_breaks() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"data: 1\n\ndata: {"
        raise UpstreamFailed("broke")

    told = whole_events(broken())
    assert await anext(told) == b"data: 1\n\n"
    with pytest.raises(UpstreamFailed):
        await anext(told)


class Client:
    """The ASGI side of a client that reads until it leaves."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.gone = asyncio.Event()
        self.commented = asyncio.Event()

    async def receive(self) -> Json:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("body") == KEEP_ALIVE:
            self.commented.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def test_long_silence_gets_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaying, "SILENCE_S", 0.02)
    client = Client()

    async def stream() -> AsyncGenerator[bytes, None]:
        yield b"data: 1\n\n"
        await client.commented.wait()
        yield b"data: 2\n\n"

    async def ask() -> Relayed:
        return Relayed(status=200, headers=[], pieces=stream())

    await RelayResponse(ask())({}, client.receive, client.send)
    assert client.body.startswith(b"data: 1\n\n: keep-alive\n\n")
    assert client.body.endswith(b"data: 2\n\n")
    assert client.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_client_that_leaves_before_the_answer_cancels_the_asking() -> None:
    client, is_cancelled = Client(), asyncio.Event()

    async def ask() -> Relayed:
        try:
            await asyncio.Event().wait()
        finally:
            is_cancelled.set()
        raise AssertionError

    response = asyncio.ensure_future(RelayResponse(ask())({}, client.receive, client.send))
    await asyncio.sleep(0)
    client.gone.set()
    with pytest.raises(ClientDisconnect):
        await response
    assert is_cancelled.is_set()
    assert client.sent == []


async def test_client_that_leaves_a_stream_closes_it() -> None:
    client, is_closed = Client(), asyncio.Event()

    async def stream() -> AsyncGenerator[bytes, None]:
        try:
            yield b"data: 1\n\n"
            client.gone.set()
            await asyncio.Event().wait()
        finally:
            is_closed.set()

    async def ask() -> Relayed:
        return Relayed(status=200, headers=[], pieces=stream())

    with pytest.raises(ClientDisconnect):
        await RelayResponse(ask())({}, client.receive, client.send)
    assert is_closed.is_set()


async def test_client_that_leaves_before_the_first_piece_ends_the_exchange() -> None:
    client, ended = Client(), list[str]()

    async def stream() -> AsyncGenerator[bytes, None]:
        yield b"data: 1\n\n"

    async def end() -> None:
        ended.append("ended")

    async def ask() -> Relayed:
        client.gone.set()
        await asyncio.sleep(0)
        return Relayed(status=200, headers=[], pieces=stream(), end=end)

    with pytest.raises(ClientDisconnect):
        await RelayResponse(ask())({}, client.receive, client.send)
    assert ended == ["ended"]


@dataclass(slots=True)
class Teed(ScriptedAnswer):
    """An answer of a platform that can hand its stream over. *Shape:* `ends` what it ended with."""

    ends: list[bytes] = field(default_factory=list)

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        return PlatformStream("the platform's", self.finish), self._iterate()

    async def finish(self, last: bytes) -> None:
        self.ends.append(last)


async def ask_over(upstream: Teed) -> tuple[Wire, list[dict[str, Any]]]:
    """What a client is sent of an upstream's stream, and the messages that are kept of it."""
    body = {"messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with chats() as one:
        app = replace(one.served.app, outbound=ScriptedOutbound(lambda _: upstream))
        wire = Wire([json.dumps(body).encode()])
        scope = http_scope("POST", "/v1/chat/completions", OWNER)

        async def receive() -> Json:
            if wire.received:
                await asyncio.Event().wait()
            return await wire.receive()

        await create_asgi(app, routes=AREAS)(scope, receive, wire.send)
        await one.served.runtime.drain()
        rows = await Bench(sql=app.sql).rows("SELECT content, is_partial FROM messages ORDER BY id")
    return wire, [dict(row) for row in rows]


STREAMED = (("content-type", "text/event-stream"),)


async def test_platforms_stream_is_handed_over_and_its_copy_kept() -> None:
    upstream = Teed(headers=STREAMED, pieces=stream_of("好的"))
    wire, kept = await ask_over(upstream)
    [start] = wire.sent
    assert start[PLATFORM_STREAM] == "the platform's"
    assert start["status"] == 200
    assert upstream.ends == [b""]
    assert kept == [{"content": "hi", "is_partial": 0}, {"content": "好的", "is_partial": 0}]


@pytest.mark.parametrize("breaks", [UpstreamFailed("it broke"), None])
async def test_platforms_stream_that_dies_half_way_ends_with_an_error_event(
    breaks: UpstreamFailed | None,
) -> None:
    upstream = Teed(headers=STREAMED, pieces=stream_of("好的", is_done=False), breaks=breaks)
    _, kept = await ask_over(upstream)
    [last] = upstream.ends
    assert last.startswith(b"\n\ndata: ")
    assert json.loads(last.strip()[6:])["error"]["code"] == "upstream_failed"
    assert kept[1] == {"content": "好的", "is_partial": 1}


async def test_platforms_stream_with_an_error_of_its_own_gets_no_second_one() -> None:
    fault = 'data: {"error": {"message": "boom 坏了"}}\n\n'.encode()
    upstream = Teed(headers=STREAMED, pieces=[*stream_of("好", is_done=False), fault])
    await ask_over(upstream)
    assert upstream.ends == [b""]


class Endless(Teed):
    """A stream of a platform that goes on until it is given up."""

    def __init__(self, first: bytes) -> None:
        super().__init__(headers=(("content-type", "text/event-stream"),))
        self.first = first
        self.is_given_up = asyncio.Event()
        self.is_read = asyncio.Event()

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        return PlatformStream("the platform's", self.finish), self._pieces()

    async def _pieces(self) -> AsyncIterator[bytes]:
        yield self.first
        self.is_read.set()
        await self.is_given_up.wait()
        raise UpstreamFailed("it was given up")

    async def close(self) -> None:
        self.is_given_up.set()


async def test_client_that_leaves_a_platforms_stream_stops_the_upstream() -> None:
    upstream = Endless(next(iter(stream_of("还没说完"))))
    body = {"messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with chats() as one:
        app = replace(one.served.app, outbound=ScriptedOutbound(lambda _: upstream))
        wire, gone = Wire([json.dumps(body).encode()]), asyncio.Event()

        async def receive() -> Json:
            if wire.received:
                await gone.wait()
                return {"type": "http.disconnect"}
            return await wire.receive()

        scope = http_scope("POST", "/v1/chat/completions", OWNER)
        served = asyncio.ensure_future(create_asgi(app, routes=AREAS)(scope, receive, wire.send))
        async with asyncio.timeout(5):
            await upstream.is_read.wait()
            assert not upstream.is_given_up.is_set()
            gone.set()
            await served
        assert upstream.is_given_up.is_set()
        await one.served.runtime.drain()
        rows = await Bench(sql=app.sql).rows("SELECT role, is_partial FROM messages ORDER BY id")
    assert dict(rows[0]) == {"role": "user", "is_partial": 0}
