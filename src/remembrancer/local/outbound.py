"""The outbound port on one machine: an httpx client with its pool, opened when first needed.

No retry, no redirect, no translation. Workers AI is reached through Cloudflare's API, where an
account is set up. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.ports.outbound import WORKERS_AI, OutboundRequest, PlatformStream

if TYPE_CHECKING:
    import httpx

CONNECT_S: Final = 10.0
"""Seconds that a connection may take to be made. Our choice; httpx's default is 5."""

IDLE_CONNECTIONS_MAX: Final = 100
"""Connections that are kept for the next request. Our choice; httpx's default is 20."""

ENVELOPE_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of an answer of Cloudflare's API that is unwrapped. Our choice."""

_HOP_HEADERS: Final = frozenset(
    "connection content-encoding content-length keep-alive proxy-authenticate te trailer"
    " transfer-encoding upgrade".split()
)
"""Headers of one connection, and of a coding that is undone here."""


_OWN: Final = (
    ("user-agent", "remembrancer"),
    ("connection", "keep-alive"),
    # Bytes are passed on as they come, and read along: no coding in between.
    ("accept-encoding", "identity"),
)
"""Headers of every request."""

_TIMEOUT: Final = {"connect": CONNECT_S, "read": None, "write": None, "pool": None}
"""The client's own limits: the others are those of the request, and are kept here."""

ADDRESSES_KEPT: Final = 64
"""Addresses that were taken apart, the last ones. Our choice: one for each model and more."""


@dataclass(frozen=True, slots=True)
class WorkersAiAccount:
    """The Cloudflare account whose Workers AI is used. `token` is a secret."""

    account_id: str
    token: str
    api: str = "https://api.cloudflare.com/client/v4"

    def wrap(self, request: OutboundRequest) -> OutboundRequest:
        """Return the request to Cloudflare's API for one of the scheme `workers-ai`."""
        model = request.url.removeprefix(WORKERS_AI)
        headers = [(name, value) for name, value in request.headers if name != "authorization"]
        return replace(
            request,
            url=f"{self.api}/accounts/{self.account_id}/ai/run/{model}",
            headers=[*headers, ("authorization", f"Bearer {self.token}")],
        )


class HttpOutbound:
    """The way out over a pool of connections; those idle are kept."""

    def __init__(self, account: WorkersAiAccount | None = None) -> None:
        self._account = account
        self._opened: httpx.AsyncClient | None = None

    async def send(self, request: OutboundRequest) -> HttpAnswer | WholeAnswer:
        """Send a request and return its answer once the headers are there."""
        is_enveloped = request.url.startswith(WORKERS_AI)
        if is_enveloped:
            if self._account is None:
                raise InvalidInput(
                    "Workers AI is not set up on this machine",
                    hint="set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN, or another model",
                )
            request = self._account.wrap(request)
        answer = HttpAnswer(await self._send(request), request.idle_ms)
        return await _unwrapped(answer) if is_enveloped else answer

    async def close(self) -> None:
        """Close every connection."""
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.aclose()

    def open(self) -> httpx.AsyncClient:
        """Return the client; the first call loads httpx and the system's certificates."""
        if self._opened is None:
            # 0.2 s of imports that a start without chats does not need.
            import httpx  # noqa: PLC0415

            self._opened = httpx.AsyncClient(
                follow_redirects=False,
                timeout=httpx.Timeout(None, connect=CONNECT_S),
                limits=httpx.Limits(
                    max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS_MAX
                ),
            )
        return self._opened

    async def _send(self, request: OutboundRequest) -> httpx.Response:
        import httpx  # noqa: PLC0415

        client = self.open()
        try:
            # Made without the client's defaults: no cookie goes from one user's answer into
            # another's question, and nothing is merged that is never set.
            made = httpx.Request(
                request.method,
                _address(request.url),
                headers=_with_own(request.headers),
                content=request.body,
                extensions={"timeout": _TIMEOUT},
            )
            async with asyncio.timeout(request.timeout_ms / 1_000):
                return await client.send(made, stream=True)
        except TimeoutError as error:
            raise TimedOut(
                f"the model's server did not answer within {request.timeout_ms} ms",
                hint="try again, or a smaller question",
            ) from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise UpstreamFailed(
                f"the model's server at {_place(made.url)} cannot be reached",
                hint="see whether it runs, and whether AI_GATEWAY_BASE_URL is its address",
                details={"sent": False},
            ) from error
        except httpx.HTTPError as error:
            raise UpstreamFailed(
                f"the model's server at {_place(made.url)} broke off before it answered",
                hint="try again",
                details={"sent": True},
            ) from error
        except httpx.InvalidURL as error:
            raise InvalidInput(
                "the model's name makes no address", hint="name a model of the upstream"
            ) from error


def _with_own(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers of a request with those that all have."""
    takes_all = () if any(name == "accept" for name, _ in headers) else (("accept", "*/*"),)
    return [*takes_all, *headers, *_OWN]


@lru_cache(maxsize=ADDRESSES_KEPT)
def _address(url: str) -> httpx.URL:
    import httpx  # noqa: PLC0415

    return httpx.URL(url)


def _place(url: httpx.URL) -> str:
    return f"{url.host}:{url.port}" if url.port else url.host


class HttpAnswer:
    """An answer whose headers have come; its body is read once."""

    def __init__(self, response: httpx.Response, idle_ms: int) -> None:
        self._response = response
        self._idle_ms = idle_ms
        self._headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name not in _HOP_HEADERS
        ]

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return self._response.status_code

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Return the headers, names in lower case, without those of the connection."""
        return self._headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """Return the body as it comes; once."""
        import httpx  # noqa: PLC0415

        pieces = self._response.aiter_bytes()
        try:
            while True:
                async with asyncio.timeout(self._idle_ms / 1_000):
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                yield piece
        except TimeoutError as error:
            raise TimedOut(
                f"the model's server was silent for {self._idle_ms} ms", hint="try again"
            ) from error
        except httpx.HTTPError as error:
            raise UpstreamFailed(
                "the model's server broke off in the middle of its answer", hint="try again"
            ) from error
        finally:
            await self.close()

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        """Return the body to read; there is no platform stream here."""
        return None, self.chunks()

    async def close(self) -> None:
        """Give the rest up; the connection is closed when something was left."""
        await self._response.aclose()


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """An answer that is here in full."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    async def chunks(self) -> AsyncIterator[bytes]:
        """Return the body in one piece."""
        yield self.body

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        """Return the body to read; there is no platform stream here."""
        return None, self.chunks()

    async def close(self) -> None:
        """Do nothing: nothing is open."""


async def _unwrapped(answer: HttpAnswer) -> HttpAnswer | WholeAnswer:
    """Return what Workers AI itself answers: streams as they are, JSON without the envelope."""
    if not dict(answer.headers).get("content-type", "").startswith("application/json"):
        return answer
    pieces: list[bytes] = []
    size = 0
    async for piece in answer.chunks():
        pieces.append(piece)
        size += len(piece)
        if size > ENVELOPE_BYTES_MAX:
            await answer.close()
            raise UpstreamFailed(
                f"an answer of Workers AI has more than {ENVELOPE_BYTES_MAX} bytes",
                hint="ask for less at once",
            )
    body = b"".join(pieces)
    try:
        envelope = json.loads(body)
    except ValueError:
        return WholeAnswer(answer.status, answer.headers, body)
    if isinstance(envelope, dict) and answer.status < 400 and "result" in envelope:
        body = json.dumps(envelope["result"]).encode()
    return WholeAnswer(answer.status, answer.headers, body)
