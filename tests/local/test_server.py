"""The server's socket, and its life from readiness to a stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Iterator, Sequence

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.core.errors import Conflict, InvalidInput, RemembrancerError
from remembrancer.local import server
from remembrancer.local.logs import NAMES
from remembrancer.local.server import Listening, bind


@pytest.fixture(autouse=True)
def _unchanged_loggers() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(one.handlers[:], one.propagate, one.level) for one in loggers]
    yield
    for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
        one.handlers, one.propagate = handlers, propagate
        one.setLevel(level)


def test_port_that_is_taken_is_a_conflict_that_names_it() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(Conflict, match=str(port)) as caught:
            bind("127.0.0.1", port)
        assert "--port" in str(caught.value.hint)


@pytest.mark.parametrize("host", ["203.0.113.9", "no such host", "例え.无"])
def test_host_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        bind(host, 0)
    assert repr(host) in caught.value.message


def test_port_that_may_not_be_used_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(RemembrancerError, match="Permission denied"):
        bind("127.0.0.1", 80)


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        for _ in range(2):
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
        return
    await PlainTextResponse("你好")(scope, receive, send)


@pytest.mark.parametrize(
    ("host", "is_loopback"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)]
)
async def test_server_answers_when_ready_and_ends_by_a_signal(host: str, is_loopback: bool) -> None:
    ready: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
    app: ASGIApp = _hello
    before = signal.getsignal(signal.SIGTERM)
    running = asyncio.create_task(server.run(app, host, 0, on_ready=ready.set_result))
    place = await asyncio.wait_for(ready, 5)
    assert place.is_loopback is is_loopback
    async with httpx.AsyncClient() as client:
        response = await client.get(f"http://127.0.0.1:{place.port}/")
    assert response.text == "你好"
    assert "server" not in response.headers
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, 15)
    assert signal.getsignal(signal.SIGTERM) == before


async def _answer_to(raw: bytes, app: ASGIApp = _hello) -> bytes:
    """What a server answers to bytes, up to the end or the first answer."""
    ready: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(server.run(app, "127.0.0.1", 0, on_ready=ready.set_result))
    async with asyncio.timeout(20):
        place = await ready
        reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
        writer.write(raw)
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        os.kill(os.getpid(), signal.SIGTERM)
        await serving
    return answer


async def _until_the_end(pieces: Sequence[bytes], app: ASGIApp) -> bytes:
    """All that a server answers to pieces of a request before it ends the connection."""
    ready: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(server.run(app, "127.0.0.1", 0, on_ready=ready.set_result))
    async with asyncio.timeout(20):
        place = await ready
        reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        answer = await reader.read()
        writer.close()
        os.kill(os.getpid(), signal.SIGTERM)
        await serving
    return answer


async def _counted(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _hello(scope, receive, send)
        return
    size, is_more = 0, True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, is_more = size + len(message["body"]), message["more_body"]
    await PlainTextResponse(f"{size} bytes")(scope, receive, send)


_POST = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nconnection: close\r\n"


@pytest.mark.parametrize(
    "pieces",
    [[], [b"GET / HT"], [b"GET / HTTP/1.1\r\n", b"x: a\r\n"], [_POST + b"\r\n", b"ab"]],
    ids=["no word", "half a line", "half a head", "half a body"],
)
async def test_client_that_falls_silent_is_not_waited_for(
    pieces: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SILENCE_S_MAX", 0.1)
    assert await _until_the_end(pieces, _counted) == b""


async def test_answer_that_takes_its_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await asyncio.wait_for(asyncio.shield(waited), 5)
        await _counted(scope, receive, send)

    monkeypatch.setattr(server, "SILENCE_S_MAX", 0.05)
    loop = asyncio.get_running_loop()
    waited = loop.create_future()
    loop.call_later(0.2, waited.set_result, None)
    answer = await _until_the_end([_POST + b"\r\n", b"ab", b"cd"], slow)
    assert answer.endswith(b"4 bytes")


async def _shown(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await _hello(scope, receive, send)
        return
    given = dict(scope["headers"])[b"x-name"].decode()
    await PlainTextResponse("", headers={"x-shown": f"<{given}>"})(scope, receive, send)


async def test_blanks_around_the_value_of_a_header_are_no_part_of_it() -> None:
    raw = b"GET / HTTP/1.1\r\nhost: a\r\nx-name: \t list items \t \r\n\r\n"
    assert b"x-shown: <list items>\r\n" in await _answer_to(raw, _shown)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"GET / HTTP/1.1\r\nhost: a\r\nx-long: " + b"a" * 60_000 + b"\r\n\r\n", b" 200 "),
        (b"GET / HTTP/1.1\r\nhost: a\r\nx-long: " + b"a" * 90_000, b" 400 "),
        (b"GET /" + b"a" * 90_000, b" 400 "),
        (b"GET / HTTP/1.1\r\n" + b"x-many: a\r\n" * 9_000, b" 400 "),
        (b"nonsense\r\n\r\n", b" 400 "),
    ],
    ids=["long enough", "one header", "address", "many headers", "no request"],
)
async def test_head_is_taken_up_to_its_limit(raw: bytes, status: bytes) -> None:
    assert status in (await _answer_to(raw)).partition(b"\r\n")[0]
