"""The way out of the Worker: what is asked of `fetch` and Workers AI, and how an answer reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.edge.platform import Ai
from tests.edge.standins import FETCH, Answer, Body, JsBytes, JsException, Pipe

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.edge.outbound import FetchOutbound
from remembrancer.ports.outbound import OutboundRequest, PlatformStream

ASK = OutboundRequest(
    "POST",
    "https://gateway.example/v1/chat/completions",
    [("authorization", "Bearer x"), ("content-type", "application/json")],
    '{"你": 1}'.encode(),
)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    FETCH.calls.clear()
    yield
    FETCH.answer = None


def answering(answer: Answer) -> None:
    async def fetch(_url: str, _options: dict[str, Any]) -> Answer:
        return answer

    FETCH.answer = fetch


async def read(outbound: FetchOutbound, request: OutboundRequest = ASK) -> bytes:
    answer = await outbound.send(request)
    return b"".join([piece async for piece in answer.chunks()])


async def test_request_goes_out_as_given_and_follows_no_redirect() -> None:
    answering(Answer(302, {"Location": "https://elsewhere.example"}))
    answer = await FetchOutbound(None).send(ASK)
    [(url, options)] = FETCH.calls
    assert (url, options["method"], options["redirect"]) == (ASK.url, "POST", "manual")
    assert options["headers"] == [list(pair) for pair in ASK.headers]
    assert isinstance(options["body"], JsBytes) and options["body"].data == ASK.body
    assert answer.status == 302
    assert [piece async for piece in answer.chunks()] == []


async def test_request_without_a_body_has_none() -> None:
    answering(Answer())
    await FetchOutbound(None).send(OutboundRequest("GET", "https://a.example"))
    assert "body" not in FETCH.calls[0][1]


async def test_answer_has_its_headers_but_those_of_the_connection() -> None:
    headers = {"Retry-After": "7", "Content-Type": "text/event-stream", "Content-Encoding": "br"}
    answering(Answer(429, headers, Body([b"data: \xe4\xbd", b"\xa0\n\n"])))
    answer = await FetchOutbound(None).send(ASK)
    assert answer.status == 429
    assert list(answer.headers) == [("retry-after", "7"), ("content-type", "text/event-stream")]
    assert [piece async for piece in answer.chunks()] == [b"data: \xe4\xbd", b"\xa0\n\n"]


async def whole(stream: Pipe) -> list[bytes]:
    """All that a client is sent."""
    pieces = []
    while (piece := await stream.next()) is not None:
        pieces.append(piece)
    return pieces


@pytest.mark.parametrize(
    ("came", "last", "wanted"),
    [
        ([b"a", b"b"], b"", [b"a", b"b"]),
        ([b"a", b"b"], b"c", [b"a", b"b", b"c"]),
        ([b"a", Body.BREAK, b"b"], b"c", [b"a", b"c"]),
    ],
)
async def test_stream_is_handed_over_and_read_along_and_ended_with_more(
    came: list[bytes], last: bytes, wanted: list[bytes]
) -> None:
    answering(Answer(200, {}, Body(came)))
    stream, copy = (await FetchOutbound(None).send(ASK)).tee()
    assert isinstance(stream, PlatformStream) and isinstance(stream.stream, Pipe)
    reading = asyncio.ensure_future(whole(stream.stream))
    told: list[bytes] = []
    with suppress(UpstreamFailed):
        async for piece in copy:
            told += [piece]
    assert told == [one for one in wanted if one != b"c"]
    for _ in range(10):
        await asyncio.sleep(0)
    assert not reading.done()
    await stream.finish(last)
    assert await reading == wanted


async def test_ending_a_stream_that_nobody_reads_is_no_error() -> None:
    answering(Answer(200, {}, Body([b"a", b"b"])))
    stream, _ = (await FetchOutbound(None).send(ASK)).tee()
    assert stream is not None and isinstance(stream.stream, Pipe)
    await asyncio.sleep(0)
    stream.stream.cancel()
    await stream.finish(b"c")


async def test_broken_stream_is_said() -> None:
    answering(Answer(200, {}, Body([b"a", Body.BREAK])))
    with pytest.raises(UpstreamFailed, match="half-way"):
        await read(FetchOutbound(None))


async def test_silent_stream_is_given_up() -> None:
    answering(Answer(200, {}, Body([b"a", Body.SILENCE])))
    request = OutboundRequest("POST", ASK.url, body=b"{}", idle_ms=20)
    with pytest.raises(TimedOut, match="silent"):
        await read(FetchOutbound(None), request)
    assert FETCH.calls[0][1]["signal"].aborted


async def test_upstream_that_does_not_answer_is_given_up() -> None:
    async def wait(_url: str, _options: dict[str, Any]) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    FETCH.answer = wait
    with pytest.raises(TimedOut, match="20 ms"):
        await FetchOutbound(None).send(OutboundRequest("POST", ASK.url, timeout_ms=20))
    assert FETCH.calls[0][1]["signal"].aborted


async def test_unreachable_upstream_is_said() -> None:
    async def fail(_url: str, _options: dict[str, Any]) -> Answer:
        raise JsException("internal error; reference = secret")

    FETCH.answer = fail
    with pytest.raises(UpstreamFailed) as caught:
        await FetchOutbound(None).send(ASK)
    assert "secret" not in caught.value.message


async def test_request_that_is_cancelled_is_given_up() -> None:
    started = asyncio.Event()

    async def wait(_url: str, _options: dict[str, Any]) -> Answer:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    FETCH.answer = wait
    task = asyncio.get_running_loop().create_task(FetchOutbound(None).send(ASK))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert FETCH.calls[0][1]["signal"].aborted


async def test_closing_an_answer_cancels_its_request() -> None:
    answering(Answer(200, {}, Body([b"a"])))
    answer = await FetchOutbound(None).send(ASK)
    await answer.close()
    assert FETCH.calls[0][1]["signal"].aborted


async def test_workers_ai_is_asked_for_its_raw_answer() -> None:
    ai = Ai(Answer(429, {"content-type": "application/json"}, Body([b"{}"])))
    request = OutboundRequest(
        "POST", "workers-ai://run/@cf/baai/bge-m3", body='{"text":["你"]}'.encode()
    )
    answer = await FetchOutbound(ai).send(request)
    [(model, inputs, options)] = ai.calls
    assert (model, vars(inputs)) == ("@cf/baai/bge-m3", {"text": ["你"]})
    assert options.returnRawResponse is True
    assert answer.status == 429
    assert FETCH.calls == []


async def test_workers_ai_without_a_binding_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no Workers AI"):
        await FetchOutbound(None).send(
            OutboundRequest("POST", "workers-ai://run/@cf/x", body=b"{}")
        )
