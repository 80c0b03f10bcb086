"""The bridge: a JavaScript request through an ASGI app to a JavaScript response.

The platform's own adapter reads the whole body before it calls the app, and tells of no client
that has left. Here a body is read as the app asks for it, so that one over the cap is refused
early; an answer with a known length is one response, any other one is streamed; and a stream of
the platform can be handed over untouched. Websockets and the app's start and stop are not served.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from pyodide.ffi import JsException
from starlette.types import ASGIApp, Message, Scope

from remembrancer.edge.convert import (
    JsObject,
    from_bytes,
    header_pairs,
    is_absent,
    on_abort,
    pipe,
    response,
    to_bytes,
)
from remembrancer.edge.runtime import keep_alive

PLATFORM_STREAM: Final = "http.response.platform_stream"
"""The ASGI extension of ours, and its member of the message that starts a response: a stream of
the platform that becomes the body as it is. No Python runs for its chunks."""

NULL_BODY_STATUSES: Final = frozenset({101, 103, 204, 205, 304})
"""Statuses of responses that may not have a body. Source: the Fetch standard."""

CLIENT_GONE: Final = 499
"""Status for nobody: the client left before there was an answer. Source: nginx's custom."""

_PORTS: Final = {"http": 80, "https": 443}


class Reader(Protocol):
    """ReadableStreamDefaultReader."""

    def read(self) -> Awaitable[JsObject]: ...


class Writer(Protocol):
    """WritableStreamDefaultWriter."""

    def write(self, chunk: JsObject) -> Awaitable[None]: ...

    def close(self) -> Awaitable[None]: ...

    def abort(self) -> object: ...


class Request(Protocol):
    """Request, as the platform hands it to a handler."""

    @property
    def method(self) -> str: ...

    @property
    def url(self) -> str: ...

    @property
    def headers(self) -> JsObject: ...

    @property
    def body(self) -> JsObject: ...

    @property
    def signal(self) -> JsObject: ...


async def respond(app: ASGIApp, request: Request) -> JsObject:
    """Return the app's answer as soon as it has begun; the app goes on until it has ended.

    *Promise:* work that has begun goes on when the client leaves, as on a server of one's own.
    *Raises:* what the app raises before it answers.
    """
    exchange = _Exchange(request)
    ended = keep_alive()
    task = asyncio.get_running_loop().create_task(exchange.run(app))
    task.add_done_callback(lambda _: ended())
    return await exchange.answered


def scope_of(request: Request) -> Scope:
    """Return the ASGI scope of a request.

    There is no peer address: what the platform knows of the client is in its headers.
    """
    parts = urlsplit(request.url)
    return {
        "type": "http",
        # 2.3 and not later: the app is told of a client that left, and sending is no error then.
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": parts.scheme,
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": header_pairs(request.headers),
        "client": None,
        "server": (parts.hostname, parts.port or _PORTS.get(parts.scheme)),
        "extensions": {PLATFORM_STREAM: {}},
    }


class _Exchange:
    """One request and its answer on their way."""

    def __init__(self, request: Request) -> None:
        self.answered: asyncio.Future[JsObject] = asyncio.get_running_loop().create_future()
        self._request = request
        self._over = asyncio.Event()  # the client has left, or the answer is complete
        self._reader: Reader | None = None
        self._unread: int | None = None  # bytes of the body to come; None when nobody said
        self._is_read = False
        self._start: Message | None = None  # of an answer that waits for its body
        self._writer: Writer | None = None
        self._is_handed_over = False  # the platform sends the body by itself
        self._forget: Callable[[], None] | None = None

    async def run(self, app: ASGIApp) -> None:
        """Run the app to its end, and see to it that there is an answer."""
        try:
            scope = scope_of(self._request)
            self._unread = _announced(scope)
            await app(scope, self._receive, self._send)
        except BaseException as error:
            if not self.answered.done():
                self.answered.set_exception(error)
                return
            raise
        finally:
            self._end()

    async def _receive(self) -> Message:
        if not self._is_read:
            try:
                return {"type": "http.request", **await self._read()}
            except JsException:  # the stream broke: so did the connection
                self._is_read = True
                self._leave()
        self._watch()
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _read(self) -> Message:
        if self._reader is None:
            body = self._request.body
            if is_absent(body):
                self._is_read = True
                return {"body": b"", "more_body": False}
            self._reader = body.getReader()
            assert self._reader is not None
        piece = await self._reader.read()
        data = b"" if piece.done else to_bytes(piece.value)
        if self._unread is not None:
            self._unread -= len(data)
        self._is_read = piece.done or (self._unread is not None and self._unread <= 0)
        return {"body": data, "more_body": not self._is_read}

    async def _send(self, message: Message) -> None:
        if self._over.is_set() or self._is_handed_over:  # what nobody hears is dropped
            await asyncio.sleep(0)  # the app must come to hear that it need not go on
            return
        if message["type"] == "http.response.start":
            self._begin(message)
        elif message["type"] == "http.response.body":
            await self._go_on(message.get("body", b""), is_last=not message.get("more_body", False))

    def _begin(self, message: Message) -> None:
        if PLATFORM_STREAM in message:
            self._answer(message, message[PLATFORM_STREAM])
            self._is_handed_over = True
            self._watch()  # the app reads along, and must hear that nobody reads any more
        elif message["status"] in NULL_BODY_STATUSES or _has_length(message):
            self._start = message
        else:
            self._stream(message)

    async def _go_on(self, body: bytes, *, is_last: bool) -> None:
        if self._start is not None:
            start, self._start = self._start, None
            if is_last:
                is_empty = start["status"] in NULL_BODY_STATUSES or self._request.method == "HEAD"
                self._answer(start, None if is_empty else from_bytes(body))
                self._over.set()
                return
            self._stream(start)
        assert self._writer is not None
        try:
            if body:
                await self._writer.write(from_bytes(body))
            if is_last:
                await self._writer.close()
                self._over.set()
        except JsException:  # nobody reads any more
            self._leave()

    def _stream(self, start: Message) -> None:
        readable, self._writer = pipe()
        self._answer(start, readable)
        self._watch()

    def _answer(self, start: Message, body: JsObject | None) -> None:
        made = response(body, status=start["status"], headers=start.get("headers", ()))
        self.answered.set_result(made)

    def _watch(self) -> None:
        """Hear from the platform when the client leaves; most requests need not know."""
        if self._forget is None and not self._over.is_set():
            signal = self._request.signal
            self._forget = on_abort(signal, self._leave)
            if signal.aborted:
                self._leave()

    def _leave(self) -> None:
        if not self._over.is_set():
            self._over.set()
            if self._writer is not None:
                self._writer.abort()  # frees a write that waits for a reader

    def _end(self) -> None:
        self._leave()  # an answer that was not completed breaks off
        if self._forget is not None:
            self._forget()
        if not self.answered.done():
            self.answered.set_result(response(None, status=CLIENT_GONE, headers=()))


def _announced(scope: Scope) -> int | None:
    """Return the length of the body that the client announced; the platform holds it to that."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return None


def _has_length(start: Message) -> bool:
    return any(name.lower() == b"content-length" for name, _ in start.get("headers", ()))
