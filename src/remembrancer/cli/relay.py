"""MCP over the standard streams, answered by a remote server: lines there, messages back.

For clients that only start programs. It adds to each message what HTTP wants beside it, and what
a server without sessions cannot remember.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeGuard

from remembrancer.cli.answers import Answer, part
from remembrancer.cli.remote import VERSION_KEY, RemoteServer
from remembrancer.core.errors import CODES, RemembrancerError
from remembrancer.core.values import JSON

CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
"""Key in `_meta`: the client's name. Source: MCP 2026-07-28, basic."""


class Relay:
    """One client's lines and the server that answers them."""

    def __init__(self, server: RemoteServer, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._server = server
        self._write = write
        self._version: str | None = None
        self._client: JSON = None
        self._running: dict[JSON, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Relay until the lines end; what is under way then is still answered."""
        async with asyncio.TaskGroup() as tasks:
            async for line in lines:
                if line.strip():
                    await self._take(line, tasks)

    async def _take(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        message = _decoded(line)
        if isinstance(message, list):
            for each in message:
                self._heed(each)
            tasks.create_task(self._relay_batch(line, message))
            return
        self._heed(message)
        if message.get("method") == "initialize":
            # What follows depends on the revision that this settles.
            self._client = part(message, "params").get("clientInfo")
            await self._relay(line, message)
            return
        task = tasks.create_task(self._relay(*self._completed(line, message)))
        if "id" in message:
            key = _key(message["id"])
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))

    def _heed(self, message: JSON) -> None:
        """Give up what a notification says that nobody waits for any more."""
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            running = self._running.get(_key(part(message, "params").get("requestId")))
            if running is not None:
                running.cancel()

    def _completed(self, line: bytes, message: Answer) -> tuple[bytes, Answer]:
        """Add the client's name to a request of an earlier revision; only its first one has it."""
        params = part(message, "params")
        meta = part(params, "_meta")
        if "id" not in message or self._client is None or VERSION_KEY in meta:
            return line, message
        whole: Answer = {
            **message,
            "params": {**params, "_meta": {CLIENT_KEY: self._client, **meta}},
        }
        return json.dumps(whole, ensure_ascii=False).encode("utf-8"), whole

    async def _relay(self, line: bytes, message: Answer) -> None:
        try:
            async for answer in self._server.post(line, message, self._version):
                if message.get("method") == "initialize":
                    agreed = part(answer, "result").get("protocolVersion")
                    self._version = agreed if isinstance(agreed, str) else None
                await self._say(answer)
        except RemembrancerError as error:
            if "id" in message:
                await self._say(_failure(message["id"], error))

    async def _relay_batch(self, line: bytes, batch: list[JSON]) -> None:
        """Relay an array of messages, which the server answers or refuses as one."""
        if self._client is not None:
            named = [self._completed(b"", each)[1] if _is_message(each) else each for each in batch]
            line = json.dumps(named, ensure_ascii=False).encode("utf-8")
        try:
            answer = await self._server.post_batch(line, self._version)
        except RemembrancerError as error:
            ids = [each["id"] for each in batch if _is_message(each) and "id" in each]
            answer = [_failure(one, error) for one in ids] or None
        if answer is not None:
            await self._say(answer)

    async def _say(self, message: JSON) -> None:
        async with self._turn:
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            await self._write(text.encode("utf-8") + b"\n")


def _decoded(line: bytes) -> Answer | list[JSON]:
    """Return the message of a line, or several; empty for what is none: the server will say so."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict | list) else {}


def _is_message(member: JSON) -> TypeGuard[Answer]:
    return isinstance(member, dict)


def _key(request_id: JSON) -> JSON:
    # Only such ids are legal, and only they can be looked up.
    return request_id if isinstance(request_id, str | int) else None


def _failure(request_id: JSON, error: RemembrancerError) -> Answer:
    held: Answer = {"code": error.code, "message": error.message, "hint": error.hint}
    code = CODES[error.code].jsonrpc
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": {"code": code, "message": error.message, "data": held},
    }
