"""A remote server, over HTTP: one MCP message or one REST request at a time.

It turns failures of the way into our errors and decides nothing. The key is never shown.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote, urlsplit

import httpx

from remembrancer.cli.answers import Answer, part, told_error
from remembrancer.cli.place import Place
from remembrancer.core.errors import (
    InvalidInput,
    RemembrancerError,
    StoreUnavailable,
    TimedOut,
    UpstreamFailed,
)
from remembrancer.core.values import JSON

TIMEOUT_S: Final = 60.0
"""Seconds that a server has for one answer. Our choice; the largest bundle takes far less."""

LINES_TYPE: Final = "application/x-ndjson"
"""The media type of JSON lines. As in `http.rest.export`."""

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
"""Key in `_meta`: the revision. Source: MCP 2026-07-28, basic."""

_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class RemoteServer:
    """One server and the key for it, open inside an `async with` block."""

    def __init__(
        self,
        place: Place,
        *,
        tools: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Take what is needed; `tools` are the toolsets that a list shows."""
        assert place.url is not None
        self._base = parse_url(place.url)
        self._mcp = f"{self._base}/mcp" + (f"?tools={quote(tools)}" if tools else "")
        headers = {"accept": "application/json, text/event-stream"}
        if place.token:
            headers["authorization"] = f"Bearer {_parse_token(place.token)}"
        if place.namespace is not None:
            headers["x-remembrancer-namespace"] = _header_value(place.namespace)
        self._client = httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def send(self, message: Answer) -> Answer:
        """Return the answer to one MCP request. *Raises:* ours, for everything on the way."""
        text = json.dumps(message, ensure_ascii=False)
        async for answer in self.post(text.encode("utf-8"), message):
            if "method" not in answer:
                return answer
        raise self._strange()

    async def post(
        self, line: bytes, message: Mapping[str, JSON], version: str | None = None
    ) -> AsyncIterator[Answer]:
        """Give every message that one MCP message is answered with; none for a notification.

        *Shape:* `version` is the revision that was agreed on earlier, for a message that names
        none.
        """
        headers = {"content-type": "application/json", **_routing(message, version)}
        request = self._client.build_request("POST", self._mcp, content=line, headers=headers)
        response = await self._sent(request, stream=True)
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                async for text in response.aiter_lines():
                    if text.startswith("data:"):
                        yield self._decoded(text[5:])
                return
            await response.aread()
            if response.status_code == 202:
                return
            answer = self._decoded(response.text)
            if answer.get("jsonrpc") != "2.0":
                raise self._refused(answer)
            yield answer
        except httpx.HTTPError as error:
            raise self._unreached(error) from error
        finally:
            await response.aclose()

    async def post_batch(self, line: bytes, version: str | None) -> JSON:
        """Return what a batch is answered with, None for nothing. *Raises:* ours."""
        headers = {"content-type": "application/json", **_routing({}, version)}
        response = await self._sent(
            self._client.build_request("POST", self._mcp, content=line, headers=headers)
        )
        if response.status_code == 202:
            return None
        answer = self._json(response.text)
        if isinstance(answer, dict) and answer.get("jsonrpc") != "2.0":
            raise self._refused(answer)
        return answer

    async def ask(
        self, method: str, path: str, body: Answer | None = None, *, timeout_s: float = TIMEOUT_S
    ) -> Answer:
        """Return the body of a REST answer. *Raises:* ours."""
        return await self._answered(
            self._client.build_request(method, f"{self._base}{path}", json=body, timeout=timeout_s)
        )

    async def hand_in(self, path: str, content: bytes) -> Answer:
        """Return the body of the answer to lines of JSON that are posted. *Raises:* ours."""
        headers = {"content-type": LINES_TYPE}
        return await self._answered(
            self._client.build_request(
                "POST", f"{self._base}{path}", content=content, headers=headers
            )
        )

    async def _answered(self, request: httpx.Request) -> Answer:
        response = await self._sent(request)
        answer = self._decoded(response.text)
        if response.is_success:
            return answer
        raise self._refused(answer)

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """Give the lines of a long REST answer as they come. *Raises:* ours."""
        request = self._client.build_request("GET", f"{self._base}{path}")
        response = await self._sent(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise self._refused(self._decoded(response.text))
            held = b""
            async for piece in response.aiter_bytes():
                *whole, held = (held + piece).split(b"\n")
                for line in whole:
                    yield line + b"\n"
            if held:
                yield held
        except httpx.HTTPError as error:
            raise self._unreached(error) from error
        finally:
            await response.aclose()

    async def _sent(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        try:
            return await self._client.send(request, stream=stream)
        except httpx.HTTPError as error:
            raise self._unreached(error) from error

    def _json(self, text: str) -> JSON:
        try:
            answer: JSON = json.loads(text)
        except ValueError as error:
            raise self._strange() from error
        return answer

    def _decoded(self, text: str) -> Answer:
        answer = self._json(text)
        if not isinstance(answer, dict):
            raise self._strange()
        return answer

    def _refused(self, answer: Answer) -> RemembrancerError:
        held = part(answer, "error")
        return told_error(held) if "message" in held else self._strange()

    def _unreached(self, error: httpx.HTTPError) -> RemembrancerError:
        if isinstance(error, httpx.TimeoutException):
            return TimedOut(f"{self._base!r} did not answer within {TIMEOUT_S:.0f} s")
        return StoreUnavailable(
            f"no server answers at {self._base!r}", hint="check --url, and that the server runs"
        )

    def _strange(self) -> UpstreamFailed:
        return UpstreamFailed(
            f"{self._base!r} does not answer as this server would", hint="check --url"
        )


def parse_url(url: str) -> str:
    """Return a server's base address; that of its MCP endpoint is taken too.

    *Raises:* InvalidInput.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address or parts.query or parts.fragment or parts.username:
        # What may hold a key is not repeated.
        shown = url.partition("?")[0].rpartition("@")[2]
        raise InvalidInput(
            f"{shown[:80]!r} is not the address of a server",
            hint="write it as https://memory.example.org, and the key behind --token",
            field="url",
        )
    return url.rstrip("/").removesuffix("/mcp").rstrip("/")


def _parse_token(token: str) -> str:
    token = token.strip()
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise InvalidInput(
            "the token holds signs that no key has",
            hint="check --token and REMEMBRANCER_TOKEN",
            field="token",
        )
    return token


def _routing(message: Mapping[str, JSON], agreed: str | None) -> dict[str, str]:
    """Return the headers that repeat what a message says, as its revision wants them."""
    params = part(message, "params")
    version = part(params, "_meta").get(VERSION_KEY)
    method = message.get("method")
    if not isinstance(version, str) or not isinstance(method, str):
        is_later = agreed is not None and method != "initialize"
        return {"mcp-protocol-version": agreed} if agreed is not None and is_later else {}
    headers = {"mcp-protocol-version": version, "mcp-method": method}
    named = params.get(_NAMED_BY.get(method, ""))
    if isinstance(named, str):
        headers["mcp-name"] = _header_value(named)
    return headers


def _header_value(text: str) -> str:
    if text.isascii() and text.isprintable() and text == text.strip() and text[:2] != "=?":
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8')).decode('ascii')}?="
