"""The outbound port over the platform's `fetch`, and over the binding of Workers AI.

Answers stay streams of the platform: one is handed over to a client without a copy, and read along
from its twin. `edge.wire` imports it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import suppress
from typing import Final, Protocol

from pyodide.ffi import JsException

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.edge.convert import (
    Abort,
    JsObject,
    extended,
    fetch,
    header_texts,
    is_absent,
    js_value,
    to_bytes,
)
from remembrancer.ports.outbound import (
    WORKERS_AI,
    OutboundAnswer,
    OutboundRequest,
    PlatformStream,
)

CONNECTION_HEADERS: Final = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"}
)
"""Headers of an answer that are not true any more once the platform has unpacked it."""


class Ai(Protocol):
    """The binding of Workers AI."""

    def run(self, model: str, inputs: JsObject, options: JsObject) -> Awaitable[JsObject]: ...


class FetchAnswer:
    """A response of the platform, as the port has it."""

    def __init__(self, response: JsObject, abort: Abort, *, idle_ms: int) -> None:
        self.status = int(response.status)
        self.headers: Sequence[tuple[str, str]] = [
            pair for pair in header_texts(response.headers) if pair[0] not in CONNECTION_HEADERS
        ]
        self._body = response.body
        self._abort = abort
        self._idle_s = idle_ms / 1000

    def chunks(self) -> AsyncIterator[bytes]:
        """Return the body as it comes; see the port."""
        return self._read(self._body)

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        """Return the stream to hand over, and its twin to read along."""
        if is_absent(self._body):
            return None, self._read(self._body)
        first, second = self._body.tee()
        stream, finish = extended(first)

        async def end(last: bytes) -> None:
            with suppress(JsException):  # nobody reads any more
                await finish(last)

        return PlatformStream(stream, end), self._read(second)

    async def close(self) -> None:
        """Cancel the request."""
        self._abort.abort()

    async def _read(self, body: JsObject) -> AsyncIterator[bytes]:
        if is_absent(body):
            return
        reader = body.getReader()
        while True:
            try:
                async with asyncio.timeout(self._idle_s):
                    piece = await reader.read()
            except TimeoutError as error:
                self._abort.abort()
                raise TimedOut(
                    f"the upstream was silent for {self._idle_s:g} s", hint="try again"
                ) from error
            except JsException as error:
                raise UpstreamFailed("the upstream broke off half-way", hint="try again") from error
            if piece.done:
                return
            data = to_bytes(piece.value)
            if data:
                yield data


class FetchOutbound:
    """The way out of the Worker.

    *Shape:* without the binding of Workers AI, its addresses are refused.
    """

    def __init__(self, ai: Ai | None) -> None:
        self._ai = ai

    async def send(self, request: OutboundRequest) -> OutboundAnswer:
        """Send a request; see the port."""
        abort = Abort()
        try:
            async with asyncio.timeout(request.timeout_ms / 1000):
                response = await self._ask(request, abort)
        except TimeoutError as error:
            abort.abort()
            raise TimedOut(
                f"the upstream did not answer within {request.timeout_ms} ms", hint="try again"
            ) from error
        except asyncio.CancelledError:
            abort.abort()
            raise
        except JsException as error:
            # Nobody knows how far it came: `fetch` says the same of a name that is not there.
            raise UpstreamFailed(
                "the upstream could not be reached",
                hint="check its address",
                details={"sent": True},
            ) from error
        return FetchAnswer(response, abort, idle_ms=request.idle_ms)

    async def _ask(self, request: OutboundRequest, abort: Abort) -> JsObject:
        if not request.url.startswith(WORKERS_AI):
            return await fetch(request, abort)
        if self._ai is None:
            raise InvalidInput(
                "there is no Workers AI here", hint="bind AI, or name a model of another provider"
            )
        model = request.url.removeprefix(WORKERS_AI)
        options = js_value({"returnRawResponse": True})
        options.signal = abort.signal
        return await self._ai.run(model, js_value(json.loads(request.body)), options)
