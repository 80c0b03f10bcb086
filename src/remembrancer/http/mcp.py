"""The HTTP side of MCP: one POST in, one JSON answer or one event stream out.

Streamable HTTP without sessions. What a message means is `mcp/`'s part; who may call is the
`authenticate` callable's. Nothing is remembered from one request to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Generic

from starlette.datastructures import Headers
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.limits import BODY_BYTES_MAX
from remembrancer.core.values import Caller
from remembrancer.http.bodies import read_body
from remembrancer.http.errors import DoorError, error_response
from remembrancer.http.origins import check_origin, is_loopback
from remembrancer.mcp import jsonrpc
from remembrancer.mcp.call import Call
from remembrancer.mcp.classify import Batch, Rejection, Request, classify
from remembrancer.mcp.dispatch import McpServer
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.registry import AppT, parse_toolsets

SILENCE_S: Final = 15.0
"""Seconds without a word after which the stream opens, or says that it lives. Our choice."""

_EVENT_HEADERS: Final = {"cache-control": "no-store, no-transform", "x-accel-buffering": "no"}
_STATUS_OF: Final = {
    jsonrpc.HEADER_MISMATCH: 400,
    jsonrpc.MISSING_CAPABILITY: 400,
    jsonrpc.UNSUPPORTED_VERSION: 400,
}

_unfinished: Final[set[asyncio.Task[None]]] = set()
"""Work of earlier revisions whose client left: it goes on, so somebody must hold it."""


class McpEndpoint(Generic[AppT]):
    """The whole endpoint as an ASGI app, for where no route table stands before it.

    *Shape:* `authenticate` returns the caller or raises ours; `server_host` is the address that
    the server listens on, None behind a platform.
    """

    def __init__(
        self,
        server: McpServer[AppT],
        authenticate: Callable[[HttpRequest], Awaitable[Caller]],
        *,
        server_host: str | None = None,
        allowed_origins: tuple[str, ...] = (),
    ) -> None:
        self._server = server
        self._authenticate = authenticate
        self._server_host = server_host
        self._allowed_origins = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HttpRequest(scope, receive)
        try:
            response = await self._respond(request)
        except RemembrancerError as error:
            response = error_response(error, "-")
        await response(scope, receive, send)

    async def _respond(self, request: HttpRequest) -> Response:
        headers = request.headers
        check_host(headers.get("host"), server_host=self._server_host)
        check_origin(headers, server_host=self._server_host, allowed=self._allowed_origins)
        caller = await self._authenticate(request)
        if request.method != "POST":
            raise DoorError(
                "method_not_allowed", f"{request.method} is not served here", allow=("POST",)
            )
        body = await read_body(request.receive, headers, bytes_max=BODY_BYTES_MAX)
        tools = request.query_params.get("tools")
        return await answer_post(self._server, caller, body=body, headers=headers, tools=tools)


def check_host(host: str | None, *, server_host: str | None) -> None:
    """Refuse a foreign name that was made to point at a server on loopback (DNS rebinding).

    *Raises:* DoorError `forbidden`.
    """
    if not is_loopback(server_host) or host is None:
        return
    name = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host
    if not is_loopback(name if name.startswith("[") else name.partition(":")[0]):
        raise DoorError("forbidden", f"this server is not {host[:100]!r}", hint="use localhost")


async def answer_post(
    server: McpServer[AppT],
    caller: Caller,
    *,
    body: bytes,
    headers: Headers,
    tools: str | None,
) -> Response:
    """Return the response to the body of one POST by an authenticated caller.

    *Shape:* `tools` is the query parameter of that name.
    """
    try:
        message = classify(jsonrpc.decode(body), _routing(headers))
    except InvalidInput as error:
        return _json(jsonrpc.failure(None, jsonrpc.PARSE_ERROR, error.message), 400)
    if isinstance(message, Rejection):
        return _json(message.answer(), message.http_status)
    if not isinstance(message, Request | Batch):
        return Response(status_code=202)
    try:
        call = Call(caller, parse_toolsets(tools))
    except InvalidInput as error:
        request_id = message.id if isinstance(message, Request) else None
        refused = jsonrpc.failure(request_id, jsonrpc.INVALID_PARAMS, error.message)
        return _json(refused, 400)
    if isinstance(message, Batch):
        return await _answer_batch(server, message, call)
    if "text/event-stream" not in headers.get("accept", ""):
        answer = await server.handle(message, call)
        return _json(answer, _status(message, answer))
    return await _Turn(message).response(server, call)


class _Turn:
    """One request whose answer may become a stream, when something is said ahead of it."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._said: asyncio.Queue[Message] = asyncio.Queue()

    async def response(self, server: McpServer[AppT], call: Call) -> Response:
        call = Call(call.caller, call.toolsets, self._said.put, call.client)

        async def work() -> None:
            self._said.put_nowait(await server.handle(self._request, call))

        task = asyncio.create_task(work())
        _unfinished.add(task)
        task.add_done_callback(_unfinished.discard)
        try:
            first = await asyncio.wait_for(self._said.get(), SILENCE_S)
        except TimeoutError:
            first = None
        except asyncio.CancelledError:
            self._leave(task)
            raise
        if first is not None and _is_answer(first):
            return _json(first, _status(self._request, first))
        return StreamingResponse(
            self._events(first, task), media_type="text/event-stream", headers=_EVENT_HEADERS
        )

    async def _events(
        self, message: Message | None, task: asyncio.Task[None]
    ) -> AsyncIterator[bytes]:
        try:
            while True:
                if message is None:
                    yield b": keep-alive\n\n"
                else:
                    yield f"event: message\ndata: {jsonrpc.encode(message)}\n\n".encode()
                    if _is_answer(message):
                        return
                try:
                    message = await asyncio.wait_for(self._said.get(), SILENCE_S)
                except TimeoutError:
                    message = None
        finally:
            self._leave(task)

    def _leave(self, task: asyncio.Task[None]) -> None:
        # Only the current revision says that a closed stream cancels the request.
        if self._request.is_modern:
            task.cancel()


async def _answer_batch(server: McpServer[AppT], batch: Batch, call: Call) -> Response:
    answers: list[Message] = []
    for message in batch.messages:
        if isinstance(message, Request):
            answers.append(await server.handle(message, call))
        elif isinstance(message, Rejection):
            answers.append(message.answer())
    if not answers:
        return Response(status_code=202)
    return _json_text("[" + ",".join(map(jsonrpc.encode, answers)) + "]", 200)


def _routing(headers: Headers) -> dict[str, str]:
    # A header sent twice is joined, so that it equals nothing: two readers could pick either.
    names = {name for name in headers if name.startswith("mcp-")}
    return {name: ", ".join(headers.getlist(name)) for name in names}


def _status(request: Request, answer: Message) -> int:
    error = answer.get("error")
    code = error["code"] if isinstance(error, dict) else None
    if code == jsonrpc.METHOD_NOT_FOUND and request.is_modern:
        return 404
    return _STATUS_OF.get(code, 200) if isinstance(code, int) else 200


def _is_answer(message: Message) -> bool:
    return "method" not in message


def _json(message: Message, status: int) -> Response:
    return _json_text(jsonrpc.encode(message), status)


def _json_text(text: str, status: int) -> Response:
    return Response(
        text, status, headers={"cache-control": "no-store"}, media_type="application/json"
    )
