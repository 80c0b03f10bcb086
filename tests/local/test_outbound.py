"""The way out over real sockets: answers as they come, nothing followed, faults told apart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.local.outbound import HttpOutbound, WorkersAiAccount
from remembrancer.ports.outbound import WORKERS_AI, OutboundRequest

Talk = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(talk: Talk) -> AsyncIterator[str]:
    """A server that reads one request and then talks as it is told; its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.decode().lower().splitlines():
            if line.startswith("content-length:"):
                length = int(line.split(":")[1])
        body = await reader.readexactly(length)
        try:
            await talk(head + body, writer)
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


def whole(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def outbound(account: WorkersAiAccount | None = None) -> AsyncIterator[HttpOutbound]:
    one = HttpOutbound(account)
    try:
        yield one
    finally:
        await one.close()


async def read(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


async def test_answer_comes_with_its_status_headers_and_bytes() -> None:
    seen: list[bytes] = []

    async def talk(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(whole("418 Tea", "茶".encode(), "X-Kind: Green", "Connection: close"))

    async with server(talk) as url, outbound() as one:
        request = OutboundRequest("POST", f"{url}/v1/x", [("authorization", "Bearer t")], b"{}")
        answer = await one.send(request)
        assert answer.status == 418
        assert await read(answer.chunks()) == "茶".encode()
    assert ("x-kind", "Green") in answer.headers
    assert "connection" not in dict(answer.headers)
    [sent] = seen
    assert sent.startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert b"authorization: Bearer t\r\n" in sent.replace(b"Authorization", b"authorization")
    assert sent.endswith(b"{}")


async def test_redirect_is_an_answer_like_any_other() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(whole("302 Found", b"", "location: http://127.0.0.1:1/"))

    async with server(talk) as url, outbound() as one:
        assert (await one.send(OutboundRequest("POST", url))).status == 302


async def test_stream_comes_piece_by_piece() -> None:
    go_on = asyncio.Event()

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        await writer.drain()
        await go_on.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")

    async with server(talk) as url, outbound() as one:
        pieces = (await one.send(OutboundRequest("POST", url))).chunks()
        assert await anext(pieces) == b"one"
        go_on.set()
        assert await read(pieces) == b"two"


async def test_server_that_is_not_there_was_surely_sent_nothing() -> None:
    async with outbound() as one:
        with pytest.raises(UpstreamFailed, match="cannot be reached") as caught:
            await one.send(OutboundRequest("POST", "http://127.0.0.1:1/v1"))
    assert caught.value.details["sent"] is False


async def test_server_that_hangs_up_may_have_been_sent_something() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with server(talk) as url, outbound() as one:
        with pytest.raises(UpstreamFailed, match="broke off") as caught:
            await one.send(OutboundRequest("POST", url))
    assert caught.value.details["sent"] is True


async def test_answer_that_breaks_in_the_middle_is_a_failure() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")

    async with server(talk) as url, outbound() as one:
        answer = await one.send(OutboundRequest("POST", url))
        with pytest.raises(UpstreamFailed, match="in the middle"):
            await read(answer.chunks())


@pytest.mark.parametrize("has_headers", [False, True], ids=["before", "within"])
async def test_silence_is_a_timeout(has_headers: bool) -> None:
    over = asyncio.Event()

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        if has_headers:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")
            await writer.drain()
        await over.wait()

    async with server(talk) as url, outbound() as one:
        request = OutboundRequest("POST", url, timeout_ms=5_000 if has_headers else 50, idle_ms=50)
        with pytest.raises(TimedOut):
            await read((await one.send(request)).chunks())
        over.set()


async def test_reader_that_leaves_closes_the_connection() -> None:
    closed = asyncio.Event()

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n")
        await writer.drain()
        try:
            while True:
                writer.write(b"3\r\nand\r\n")
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            closed.set()

    async with server(talk) as url, outbound() as one:
        answer = await one.send(OutboundRequest("POST", url))
        await anext(answer.chunks())
        await answer.close()
        await answer.close()
        await asyncio.wait_for(closed.wait(), 5)


async def test_workers_ai_is_asked_over_the_api_and_comes_without_its_envelope() -> None:
    seen: list[bytes] = []

    async def talk(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        body = json.dumps({"result": {"response": "你好"}, "success": True}).encode()
        writer.write(whole("200 OK", body, "content-type: application/json"))

    async with server(talk) as url:
        account = WorkersAiAccount("a" * 32, "cf-token", api=url)
        async with outbound(account) as one:
            answer = await one.send(OutboundRequest("POST", WORKERS_AI + "@cf/meta/l", (), b"{}"))
            assert json.loads(await read(answer.tee()[1])) == {"response": "你好"}
            await answer.close()
    assert seen[0].startswith(f"POST /accounts/{'a' * 32}/ai/run/@cf/meta/l ".encode())
    assert b"Bearer cf-token" in seen[0]


@pytest.mark.parametrize("body", [b'{"errors": [{"code": 3036}]}', b"not json"])
async def test_refusal_of_workers_ai_comes_as_it_is(body: bytes) -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(whole("429 No", body, "content-type: application/json"))

    async with server(talk) as url, outbound(WorkersAiAccount("a" * 32, "t", api=url)) as one:
        answer = await one.send(OutboundRequest("POST", WORKERS_AI + "@cf/x", (), b"{}"))
        assert (answer.status, await read(answer.chunks())) == (429, body)


async def test_workers_ai_without_an_account_is_a_sentence() -> None:
    async with outbound() as one:
        with pytest.raises(InvalidInput, match="not set up") as caught:
            await one.send(OutboundRequest("POST", WORKERS_AI + "@cf/x"))
    assert "CLOUDFLARE_ACCOUNT_ID" in str(caught.value.hint)


async def test_cookie_of_one_answer_is_not_sent_with_another_question() -> None:
    seen: list[bytes] = []

    async def talk(request: bytes, writer: asyncio.StreamWriter) -> None:
        seen.append(request.lower())
        writer.write(whole("200 OK", b"{}", "set-cookie: session=one", "connection: close"))

    async with server(talk) as url, outbound() as one:
        for _ in range(2):
            answer = await one.send(OutboundRequest("POST", url, (("accept", "a/b"),), b"{}"))
            await read(answer.chunks())
    assert len(seen) == 2
    assert all(b"cookie" not in request for request in seen)
    assert all(request.count(b"accept: ") == 1 for request in seen)
