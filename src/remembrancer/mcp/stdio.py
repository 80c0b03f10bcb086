"""The line transport: one JSON message a line, until the input ends.

A pure loop over a stream of lines and a way to write one; opening the standard streams is
`local/`'s part. Requests run side by side, `notifications/cancelled` cancels one, and nothing
but answers is ever written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Generic

from remembrancer.core.errors import CODES, InvalidInput
from remembrancer.core.limits import BODY_BYTES_MAX
from remembrancer.core.values import JSON
from remembrancer.mcp import jsonrpc
from remembrancer.mcp.call import Call
from remembrancer.mcp.classify import (
    BATCH_VERSION,
    Batch,
    Notification,
    Rejection,
    Request,
    classify,
)
from remembrancer.mcp.dispatch import McpServer
from remembrancer.mcp.headers import VERSION_HEADER
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.registry import AppT


async def serve_lines(
    lines: AsyncIterator[bytes],
    write: Callable[[bytes], Awaitable[None]],
    *,
    server: McpServer[AppT],
    new_call: Callable[[], Call[AppT]],
) -> None:
    """Serve one client until its lines end; what is under way then is still answered.

    *Shape:* `write` gets one whole line at a time; `new_call` makes the call of one request,
    whose caller has a fresh `cause`.
    """
    connection = _Connection(write, server, new_call)
    async with asyncio.TaskGroup() as tasks:
        async for line in lines:
            if line.strip():
                await connection.take(line, tasks)


class _Connection(Generic[AppT]):
    """What one client's lines share: the way back, the client's name, the requests under way."""

    def __init__(
        self,
        write: Callable[[bytes], Awaitable[None]],
        server: McpServer[AppT],
        new_call: Callable[[], Call[AppT]],
    ) -> None:
        self._write = write
        self._server = server
        self._new_call = new_call
        self._client: str | None = None
        self._batching: Mapping[str, str] | None = None
        self._running: dict[JSON, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    async def take(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        if len(line) > BODY_BYTES_MAX:
            await self._send(_too_large(len(line)))
            return
        try:
            decoded = jsonrpc.decode(line)
        except InvalidInput as error:
            await self._send(jsonrpc.failure(None, jsonrpc.PARSE_ERROR, error.message))
            return
        message = classify(decoded, self._batching if isinstance(decoded, list) else None)
        if isinstance(message, Rejection):
            await self._send(message.answer())
        elif isinstance(message, Request):
            if message.method == "initialize":
                self._client = message.client_name
                # Batches are of one revision, and there is no header to name it.
                is_of_batches = message.params.get("protocolVersion") == BATCH_VERSION
                self._batching = {VERSION_HEADER: BATCH_VERSION} if is_of_batches else None
            task = tasks.create_task(self._answer(message))
            self._running[message.id] = task
            task.add_done_callback(lambda done: self._forget(message.id, done))
        elif isinstance(message, Notification):
            self._heed(message)
        elif isinstance(message, Batch):
            for each in message.messages:
                if isinstance(each, Notification):
                    self._heed(each)
            tasks.create_task(self._answer_batch(message))

    async def _answer(self, request: Request) -> None:
        call = replace(self._new_call(), emit=self._send, client=self._client)
        await self._send(await self._server.handle(request, call))

    async def _answer_batch(self, batch: Batch) -> None:
        call = replace(self._new_call(), emit=self._send, client=self._client)
        answers = await self._server.handle_batch(batch, call)
        if answers:
            await self._send(answers)

    def _heed(self, notification: Notification) -> None:
        if notification.method != "notifications/cancelled":
            return
        named = notification.params.get("requestId")
        task = self._running.get(named) if isinstance(named, str | int) else None
        if task is not None:
            task.cancel()

    def _forget(self, request_id: JSON, done: asyncio.Task[None]) -> None:
        # A client that numbers two requests alike must not lose the later one's entry.
        if self._running.get(request_id) is done:
            del self._running[request_id]

    async def _send(self, message: Message | list[Message]) -> None:
        async with self._turn:
            await self._write(jsonrpc.encode(message).encode("utf-8") + b"\n")


def _too_large(size: int) -> Message:
    # Unread, so nobody knows its id. The code is the one that the HTTP door gives.
    code = "payload_too_large"
    text = f"A message holds at most {BODY_BYTES_MAX} bytes, not {size}."
    data: Message = {"code": code, "message": text, "hint": "Send less at once."}
    return jsonrpc.failure(None, CODES[code].jsonrpc, text, data)
