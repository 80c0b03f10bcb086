"""The outbound port on one machine: connections of its own, or httpx where a proxy is in between.

No retry, no redirect, no translation. Workers AI is reached through Cloudflare's API, where an
account is set up. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.local.http_exchange import Broken, Connections, Exchange, Place, Unreached
from remembrancer.ports.outbound import WORKERS_AI, OutboundRequest, PlatformStream

if TYPE_CHECKING:
    from remembrancer.local.proxied import Proxied, ProxiedExchange

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

_BODILESS: Final = ("GET", "HEAD", "DELETE", "OPTIONS")
"""Methods whose requests say nothing of a body when they have none. Source: RFC 9110."""

PORT_MAX: Final = 65_535
"""The highest port. Source: RFC 9293."""

_BREAKS: Final = re.compile(rb"[\r\n\0]")
"""What would end a header's line."""

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


@dataclass(frozen=True, slots=True)
class _Address:
    """An address, taken apart. *Shape:* `needs_httpx` when it holds a user and a password."""

    place: Place
    target: bytes
    host: bytes
    shown: str
    needs_httpx: bool


class HttpOutbound:
    """The way out over a pool of connections; those idle are kept."""

    def __init__(self, account: WorkersAiAccount | None = None) -> None:
        self._account = account
        self._opened: Connections | None = None
        self._proxied: Proxied | None = None

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
        opened, self._opened = self._opened, None
        proxied, self._proxied = self._proxied, None
        if opened is not None:
            opened.close()
        if proxied is not None:
            await proxied.close()

    def open(self) -> Connections:
        """Return the connections; the first call loads httpx and the system's certificates."""
        if self._opened is None:
            # 0.2 s of imports that a start without chats does not need.
            import httpx  # noqa: PLC0415

            from remembrancer.local.proxied import has_proxy  # noqa: PLC0415

            opened = Connections(
                connect_s=CONNECT_S,
                idle_max=IDLE_CONNECTIONS_MAX,
                make_tls=httpx.create_ssl_context,
            )
            opened.tls()
            if has_proxy():
                self._through_httpx()
            self._opened = opened
        return self._opened

    def _through_httpx(self) -> Proxied:
        from remembrancer.local.proxied import Proxied  # noqa: PLC0415

        if self._proxied is None:
            self._proxied = Proxied(connect_s=CONNECT_S, idle_max=IDLE_CONNECTIONS_MAX)
        return self._proxied

    async def _send(self, request: OutboundRequest) -> Exchange | ProxiedExchange:
        connections = self.open()
        address = _address(request.url)
        headers = _with_own(request.headers)
        try:
            async with asyncio.timeout(request.timeout_ms / 1_000):
                if self._proxied is not None or address.needs_httpx:
                    return await self._through_httpx().exchange(request, headers)
                head = _head(request, address, headers)
                return await connections.exchange(address.place, head, request.body)
        except TimeoutError as error:
            raise TimedOut(
                f"the model's server did not answer within {request.timeout_ms} ms",
                hint="try again, or a smaller question",
            ) from error
        except Unreached as error:
            raise UpstreamFailed(
                f"the model's server at {address.shown} cannot be reached",
                hint="see whether it runs, and whether AI_GATEWAY_BASE_URL is its address",
                details={"sent": False},
            ) from error
        except Broken as error:
            raise UpstreamFailed(
                f"the model's server at {address.shown} broke off before it answered",
                hint="try again",
                details={"sent": True},
            ) from error


@lru_cache(maxsize=ADDRESSES_KEPT)
def _address(url: str) -> _Address:
    """Take an address apart. *Raises:* InvalidInput."""
    import httpx  # noqa: PLC0415

    try:
        taken = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise _no_address() from error
    port = taken.port or 0
    if taken.scheme not in ("http", "https") or not taken.host or port > PORT_MAX:
        raise _no_address()
    is_tls = taken.scheme == "https"
    return _Address(
        place=Place(taken.raw_host.decode("ascii"), port or (443 if is_tls else 80), is_tls),
        target=taken.raw_path,
        host=taken.netloc,
        shown=f"{taken.host}:{port}" if port else taken.host,
        needs_httpx=bool(taken.userinfo),
    )


def _no_address() -> InvalidInput:
    return InvalidInput("the model's name makes no address", hint="name a model of the upstream")


def _head(
    request: OutboundRequest, address: _Address, headers: Sequence[tuple[bytes, bytes]]
) -> bytes:
    """Return a request's head."""
    lines = [b"%b %b HTTP/1.1" % (request.method.encode(), address.target)]
    lines.append(b"host: " + address.host)
    lines += [b"%b: %b" % header for header in headers]
    if request.body or request.method not in _BODILESS:
        lines.append(b"content-length: %d" % len(request.body))
    return b"\r\n".join([*lines, b"", b""])


def _with_own(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request with those that all have. *Raises:* InvalidInput."""
    takes_all = () if any(name == "accept" for name, _ in headers) else (("accept", "*/*"),)
    return [(name.encode(), _value(value)) for name, value in (*takes_all, *headers, *_OWN)]


def _value(text: str) -> bytes:
    """Return a header's value: a client's as it came, a setting's in UTF-8."""
    try:
        value = text.encode("latin-1")
    except UnicodeEncodeError:
        value = text.encode(errors="replace")
    if _BREAKS.search(value):
        raise InvalidInput("a header of the request to the model's server has a line break in it")
    return value


class HttpAnswer:
    """An answer whose headers have come; its body is read once."""

    def __init__(self, exchange: Exchange | ProxiedExchange, idle_ms: int) -> None:
        self._exchange = exchange
        self._idle_ms = idle_ms
        self._headers = [one for one in exchange.headers if one[0] not in _HOP_HEADERS]

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return self._exchange.status

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Return the headers, names in lower case, without those of the connection."""
        return self._headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """Return the body as it comes; once."""
        idle_s = self._idle_ms / 1_000
        try:
            while True:
                async with asyncio.timeout(idle_s):
                    piece = await self._exchange.piece()
                if piece is None:
                    return
                yield piece
        except TimeoutError as error:
            raise TimedOut(
                f"the model's server was silent for {self._idle_ms} ms", hint="try again"
            ) from error
        except Broken as error:
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
        await self._exchange.end()


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
