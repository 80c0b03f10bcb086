"""The bridge: bodies read as they are asked for, answers in one piece or as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.requests import Request as AppRequest
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.edge.standins import Body, Context, Pipe, Request, Response

from remembrancer.edge import bridge
from remembrancer.edge.bridge import CLIENT_GONE, PLATFORM_STREAM, respond
from remembrancer.edge.runtime import serving


def post(*chunks: bytes, **headers: str) -> Request:
    """A request with a body in these chunks."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("POST", given=given, body=Body(chunks))


async def turns() -> None:
    """Let everything that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that answers the body it got."""
    await PlainTextResponse(await AppRequest(scope, receive).body())(scope, receive, send)


def start(status: int = 200, **headers: str) -> dict[str, Any]:
    """The message that starts an answer."""
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": pairs}


def piece(body: bytes, *, is_last: bool = False) -> dict[str, Any]:
    """A message with a piece of an answer's body."""
    return {"type": "http.response.body", "body": body, "more_body": not is_last}


async def answer(app: ASGIApp, request: Request, context: Context | None = None) -> Response:
    """What the bridge makes of a request."""
    with serving(context or Context()):
        made: Response = await asyncio.wait_for(respond(app, request), 5)
    return made


async def test_scope_has_what_a_server_would_say() -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await PlainTextResponse("ok")(scope, receive, send)

    url = "https://memory.example/v1/items/%E8%8D%94%E6%9E%9D?q=%20a&b=c"
    await answer(app, Request("GET", url, {"Host": "memory.example", "X-Name": "é"}))
    (scope,) = seen
    assert scope["path"] == "/v1/items/荔枝"
    assert scope["raw_path"] == b"/v1/items/%E8%8D%94%E6%9E%9D"
    assert scope["query_string"] == b"q=%20a&b=c"
    assert scope["headers"] == [(b"host", b"memory.example"), (b"x-name", b"\xe9")]
    assert (scope["scheme"], scope["server"]) == ("https", ("memory.example", 443))
    assert scope["client"] is None
    assert PLATFORM_STREAM in scope["extensions"]


async def test_header_that_is_no_byte_string_is_taken_as_utf_8() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(dict(scope["headers"])[b"x-name"])(scope, receive, send)

    made = await answer(app, Request("GET", given={"x-name": "荔枝"}))
    assert made.data == "荔枝".encode()


@pytest.mark.parametrize(
    ("request_", "reads"),
    [
        pytest.param(Request("POST"), 0, id="none"),
        pytest.param(post(b"ab", b"", b"c"), 4, id="of-unknown-length"),
        pytest.param(post(b"ab", b"c", content_length="3"), 2, id="of-known-length"),
    ],
)
async def test_body_arrives_whole(request_: Request, reads: int) -> None:
    made = await answer(read_all, request_)
    if isinstance(request_.body, Body):
        assert made.data == b"abc"
        assert request_.body.reads == reads
    else:
        assert made.data == b""


async def test_body_is_read_no_further_than_the_app_asks() -> None:
    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        size = 0
        while size <= 4:
            size += len((await receive())["body"])
        await PlainTextResponse("too large", 413)(scope, receive, send)

    request = post(*[b"xx"] * 1_000)
    made = await answer(refuse, request)
    assert (made.status, request.body.reads) == (413, 3)


async def test_body_that_breaks_off_is_a_client_that_left() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        with pytest.raises(ClientDisconnect):
            await AppRequest(scope, receive).body()
        assert (await receive())["type"] == "http.disconnect"

    made = await answer(app, post(b"ab", Body.BREAK))
    assert (made.status, made.body) == (CLIENT_GONE, None)


async def test_answer_of_known_length_is_one_response_with_its_headers() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = PlainTextResponse("荔枝", 201)
        response.headers.append("set-cookie", "a=1")
        response.headers.append("set-cookie", "b=2")
        await response(scope, receive, send)

    request = Request()
    made = await answer(app, request)
    assert (made.status, made.data.decode()) == (201, "荔枝")
    assert made.header("content-length") == "6"
    assert [value for name, value in made.headers if name == "set-cookie"] == ["a=1", "b=2"]
    assert request.signal.listeners == []


@pytest.mark.parametrize(("status", "method"), [(204, "POST"), (304, "GET"), (200, "HEAD")])
async def test_answer_that_may_have_no_body_has_none(status: int, method: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start(status, content_length="6" if status == 200 else "0"))
        await send(piece(b"", is_last=True))

    made = await answer(app, Request(method))
    assert (made.status, made.body) == (status, None)


async def read_stream(made: Response) -> list[bytes]:
    """Read a streamed answer to its end."""
    assert isinstance(made.body, Pipe)
    chunks: list[bytes] = []
    while (chunk := await asyncio.wait_for(made.body.next(), 5)) is not None:
        chunks.append(chunk)
    return chunks


async def test_answer_of_unknown_length_is_streamed_as_it_is_made() -> None:
    made_so_far: list[bytes] = []

    async def words() -> Any:
        for word in (b"one", b"two", b"three"):
            made_so_far.append(word)
            yield word

    context, request = Context(), Request()
    made = await answer(StreamingResponse(words()), request, context)
    assert made.header("content-length") is None
    assert isinstance(made.body, Pipe)
    assert await made.body.next() == b"one"
    assert made_so_far[0] == b"one"
    assert len(made_so_far) < 3  # the next waits for a reader
    assert await read_stream(made) == [b"two", b"three"]
    await context.settle()
    assert request.signal.listeners == []


async def test_known_length_in_pieces_is_streamed_too() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start(content_length="4"))
        await send(piece(b"ab"))
        await send(piece(b"cd", is_last=True))

    assert await read_stream(await answer(app, Request())) == [b"ab", b"cd"]


async def test_client_that_leaves_ends_a_stream_that_waits() -> None:
    ended: list[str] = []

    async def silent() -> Any:
        yield b"tick"
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    context, request = Context(), Request()
    made = await answer(StreamingResponse(silent()), request, context)
    assert isinstance(made.body, Pipe)
    assert await made.body.next() == b"tick"
    await turns()
    request.signal.abort()
    await context.settle()
    assert ended == ["ended"]
    assert request.signal.listeners == []


@pytest.mark.parametrize("is_noticed_by", ["signal", "stream"])
async def test_client_that_leaves_frees_a_write_that_waits(is_noticed_by: str) -> None:
    async def endless() -> Any:
        while True:
            yield b"tick"

    context, request = Context(), Request()
    made = await answer(StreamingResponse(endless()), request, context)
    assert isinstance(made.body, Pipe)
    assert await made.body.next() == b"tick"
    await turns()
    if is_noticed_by == "signal":
        request.signal.abort()
    else:
        made.body.cancel()
    await context.settle()
    assert request.signal.listeners == []


async def test_client_that_left_at_once_is_noticed() -> None:
    async def silent() -> Any:
        await asyncio.Event().wait()
        yield b""

    context, request = Context(), Request()
    request.signal.aborted = True
    made = await answer(StreamingResponse(silent()), request, context)
    await context.settle()
    assert made.status == CLIENT_GONE


async def test_error_after_an_answer_has_begun_ends_the_work_and_the_stream() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start())
        raise ValueError("broken")

    with serving(Context()):
        exchange = bridge._Exchange(Request())
        with pytest.raises(ValueError, match="broken"):
            await exchange.run(app)
    made = await exchange.answered
    assert isinstance(made.body, Pipe) and made.body.is_broken


async def test_stream_that_the_app_leaves_open_breaks_off() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start())

    context = Context()
    made = await answer(app, Request(), context)
    await context.settle()
    assert isinstance(made.body, Pipe) and made.body.is_broken


async def test_stream_of_the_platform_is_handed_over_untouched() -> None:
    stream = Pipe()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({**start(content_type="text/event-stream"), PLATFORM_STREAM: stream})
        await send(piece(b"", is_last=True))
        assert (await receive())["type"] == "http.request"
        assert (await receive())["type"] == "http.disconnect"
        heard.append("gone")

    heard: list[str] = []
    context, request = Context(), Request()
    made = await answer(app, request, context)
    await asyncio.sleep(0)
    assert (heard, made.body is stream, stream.is_broken) == ([], True, False)
    request.signal.abort()
    await context.settle()
    assert heard == ["gone"] and not stream.is_broken
    assert made.header("content-type") == "text/event-stream"


async def test_error_before_an_answer_reaches_the_platform() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await answer(app, Request())


async def test_app_that_never_answers_is_answered_for() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    assert (await answer(app, Request())).status == CLIENT_GONE


async def test_work_goes_on_after_the_answer_and_the_platform_waits_for_it() -> None:
    may_end = asyncio.Event()
    done: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("saved")(scope, receive, send)
        await may_end.wait()
        done.append("after")

    context = Context()
    made = await answer(app, Request(), context)
    assert (made.data, done) == (b"saved", [])
    assert len(context.promises) == 1
    may_end.set()
    await context.settle()
    assert done == ["after"]


async def test_client_that_leaves_does_not_stop_a_write() -> None:
    may_end, done = asyncio.Event(), list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await may_end.wait()
        done.append("written")
        await PlainTextResponse("written")(scope, receive, send)

    context, request = Context(), post(b"{}", content_length="2")
    with serving(context):
        waiting = asyncio.create_task(respond(app, request))
        await asyncio.sleep(0)
        request.signal.abort()
        may_end.set()
        await context.settle()
    assert done == ["written"]
    assert (await waiting).data == b"written"


def names(messages: Sequence[dict[str, Any]]) -> list[str]:
    """The kinds of messages."""
    return [message["type"] for message in messages]


async def test_app_that_listens_hears_of_the_client_once_it_has_left() -> None:
    heard: list[dict[str, Any]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        heard.append(dict(await receive()))
        heard.append(dict(await receive()))
        await send(start())  # dropped: nobody hears
        await send(piece(b"x", is_last=True))

    context, request = Context(), Request()
    with serving(context):
        waiting = asyncio.create_task(respond(app, request))
        await turns()  # until the app listens
        request.signal.abort()
        made = await asyncio.wait_for(waiting, 5)
    assert names(heard) == ["http.request", "http.disconnect"]
    assert made.status == CLIENT_GONE
