"""The HTTP side of MCP: one POST in, one JSON answer or one event stream out.

Streamable HTTP without sessions. What a message means is `mcp/`'s part; origin, key and method
were checked before, by `dispatch.py`. Nothing is remembered from one request to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

from pydantic import ConfigDict, Field
from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse

from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput
from remembrancer.http.bodies import JSON_TYPES
from remembrancer.http.calls import Call as HttpCall
from remembrancer.http.parsing import Query
from remembrancer.http.route_table import Route
from remembrancer.mcp import jsonrpc
from remembrancer.mcp.call import Call
from remembrancer.mcp.classify import LEGACY, MODERN, Batch, Rejection, Request, classify
from remembrancer.mcp.dispatch import McpServer
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.registry import TOOLSETS, AppT, parse_toolsets

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


class McpQuery(Query):
    """Parameters of the endpoint's address."""

    # Built at import, as the one model: so the first costs of pydantic are in the snapshot.
    model_config = ConfigDict(defer_build=False)

    tools: str | None = Field(
        default=None,
        description=f"Which tools are listed, comma-joined: {', '.join(TOOLSETS)}, all.",
    )


def mcp_route(server: McpServer[App]) -> Route[McpQuery, None]:
    """Return the route that serves MCP; GET and DELETE are answered 405 by the table."""

    async def handle(call: HttpCall[McpQuery, None]) -> Response:
        tools = call.query.tools
        own = Call(call.app, call.caller, count=call.count)
        return await answer_post(server, own, body=call.raw, headers=call.headers, tools=tools)

    return Route(
        method="POST",
        path="/mcp",
        aliases=("/memory-mcp",),
        name="mcp",
        area="mcp",
        summary="Speak the Model Context Protocol",
        description=f"One JSON-RPC message in, one answer out, or an event stream when something "
        f"is said first. Revisions {MODERN}, {', '.join(LEGACY)}; no sessions. Any key may come "
        "in; what is listed and may be called is what its scopes allow.",
        scope=None,
        any_key=True,
        query=McpQuery,
        raw_body=JSON_TYPES,
        response={"type": "object"},
        statuses=(200, 202),
        query_token=True,
        handler=handle,
    )


async def answer_post(
    server: McpServer[AppT],
    call: Call[AppT],
    *,
    body: bytes,
    headers: Headers,
    tools: str | None,
) -> Response:
    """Return the response to the body of one POST.

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
        call = replace(call, toolsets=parse_toolsets(tools))
    except InvalidInput as error:
        request_id = message.id if isinstance(message, Request) else None
        refused = jsonrpc.failure(request_id, jsonrpc.INVALID_PARAMS, error.message)
        return _json(refused, 400)
    if isinstance(message, Batch):
        answers = await server.handle_batch(message, call)
        return _json_text(jsonrpc.encode(answers), 200) if answers else Response(status_code=202)
    if "text/event-stream" not in headers.get("accept", ""):
        answer = await server.handle(message, call)
        return _json(answer, _status(message, answer))
    return await _Turn(message).response(server, call)


class _Turn:
    """One request whose answer may become a stream, when something is said ahead of it."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._said: asyncio.Queue[Message] = asyncio.Queue()

    async def response(self, server: McpServer[AppT], call: Call[AppT]) -> Response:
        call = replace(call, emit=self._said.put)

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
    return Response(text, status, media_type="application/json")
