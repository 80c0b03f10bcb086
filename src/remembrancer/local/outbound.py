"""The outbound port on one machine: an aiohttp session with its pool, opened when first needed.

No retry, no redirect, no translation. Workers AI is reached through Cloudflare's API, where an
account is set up. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import ssl
import urllib.request
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.ports.outbound import WORKERS_AI, OutboundRequest, PlatformStream

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

CONNECT_S: Final = 10.0
"""Seconds that a connection may take to be made. Our choice; aiohttp's default is 30."""

IDLE_S: Final = 30.0
"""Seconds that an idle connection is used again: a turn of a conversation, and shorter than what
gateways in between forget. One that its server closes is gone at once. Our choice."""

BODY_BYTES_MAX: Final = 1 << 20
"""Bytes of a body that go out in one write; aiohttp warns above it, since more holds the loop."""

ENVELOPE_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of an answer of Cloudflare's API that is unwrapped. Our choice."""

_HOP_HEADERS: Final = frozenset(
    "connection content-encoding content-length keep-alive proxy-authenticate te trailer"
    " transfer-encoding upgrade".split()
)
"""Headers of one connection, and of a coding that is undone here."""

_OWN: Final = (
    ("user-agent", "remembrancer"),
    # Bytes are passed on as they come, and read along: no coding in between.
    ("accept-encoding", "identity"),
)
"""Headers of every request."""

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
    """An address, taken apart. *Shape:* `login` is a header's value; `proxy` None without one."""

    url: URL
    shown: str
    login: str
    proxy: URL | None


class HttpOutbound:
    """The way out over a pool of connections; those idle are kept."""

    def __init__(self, account: WorkersAiAccount | None = None) -> None:
        self._account = account
        self._tls: ssl.SSLContext | None = None
        self._session: aiohttp.ClientSession | None = None

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
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    def load(self) -> ssl.SSLContext:
        """Load the client and the certificates, 0.3 s that a start without chats does not need."""
        if self._tls is None:
            import aiohttp  # noqa: F401, PLC0415

            self._tls = _certificates()
        return self._tls

    def _open(self) -> aiohttp.ClientSession:
        """Return the session of this event loop."""
        if self._session is None:
            tls = self.load()
            import aiohttp  # noqa: PLC0415

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S, ssl=tls),
                # Nothing of one user's answer goes into another's question.
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("content-type",),
                # The other limits are those of the request, and are kept here.
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            )
        return self._session

    async def _send(self, request: OutboundRequest) -> aiohttp.ClientResponse:
        session = self._open()
        import aiohttp  # noqa: PLC0415

        address = _address(request.url)
        body = request.body
        # Two turns of the loop: in these it hears which idle connections their servers have closed.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(request.timeout_ms / 1_000):
                answer = await session.request(
                    request.method,
                    address.url,
                    headers=_headers(request.headers, address.login),
                    data=io.BytesIO(body) if len(body) > BODY_BYTES_MAX else body or None,
                    allow_redirects=False,
                    proxy=address.proxy,
                )
        except (
            aiohttp.ClientConnectorError,
            aiohttp.ClientHttpProxyError,
            aiohttp.ConnectionTimeoutError,
        ) as error:
            raise UpstreamFailed(
                f"the model's server at {address.shown} cannot be reached",
                hint="see whether it runs, and whether AI_GATEWAY_BASE_URL is its address",
                details={"sent": False},
            ) from error
        except aiohttp.ClientError as error:
            raise _broken_off(address) from error
        except TimeoutError as error:
            raise TimedOut(
                f"the model's server did not answer within {request.timeout_ms} ms",
                hint="try again, or a smaller question",
            ) from error
        if answer.status < 200:  # another protocol, which nobody asked for
            answer.close()
            raise _broken_off(address)
        return answer


def _broken_off(address: _Address) -> UpstreamFailed:
    return UpstreamFailed(
        f"the model's server at {address.shown} broke off before it answered",
        hint="try again",
        details={"sent": True},
    )


def _certificates() -> ssl.SSLContext:
    """Return what servers' certificates are checked with: the environment's, or Mozilla's list."""
    import certifi  # noqa: PLC0415

    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    is_named = bool(file or folder)
    return ssl.create_default_context(
        cafile=file or (None if is_named else certifi.where()), capath=folder or None
    )


@lru_cache(maxsize=ADDRESSES_KEPT)
def _address(text: str) -> _Address:
    """Take an address apart. *Raises:* InvalidInput."""
    from yarl import URL  # noqa: PLC0415

    try:
        url = URL(text)
        host, port = url.host, url.explicit_port
    except ValueError as error:
        raise _no_address() from error
    if url.scheme not in ("http", "https") or not host:
        raise _no_address()
    login = ""
    if url.user is not None or url.password is not None:
        pair = f"{url.user or ''}:{url.password or ''}"
        login = "Basic " + b64encode(pair.encode()).decode()
        url = url.with_user(None)
    shown = f"{host}:{port}" if port else host
    return _Address(url, shown, login, _proxy(url))


def _proxy(url: URL) -> URL | None:
    """Return the proxy that the environment or the system names for an address."""
    from yarl import URL  # noqa: PLC0415

    named = urllib.request.getproxies()
    found = named.get(url.scheme) or named.get("all")
    if not found or urllib.request.proxy_bypass(url.authority.rpartition("@")[2]):
        return None
    proxy = URL(found if "://" in found else f"http://{found}")
    if proxy.scheme not in ("http", "https"):
        raise InvalidInput(
            f"a proxy of the kind {proxy.scheme!r} is named, which is not to be had here",
            hint="name an http proxy, or name the model's server in NO_PROXY",
        )
    return proxy


def _no_address() -> InvalidInput:
    return InvalidInput("the model's name makes no address", hint="name a model of the upstream")


def _headers(headers: Sequence[tuple[str, str]], login: str) -> list[tuple[str, str]]:
    """Return the headers of a request with those that all have. *Raises:* InvalidInput."""
    names = {name for name, _ in headers}
    own = [*_OWN]
    if login and "authorization" not in names:
        own.append(("authorization", login))
    return [(name, _value(value)) for name, value in (*headers, *own)]


def _value(text: str) -> str:
    """Return a header's value as it is to be written in UTF-8.

    A server hands over a client's bytes one character each; a setting's text is text.
    """
    if any(sign in text for sign in "\r\n\0"):
        raise InvalidInput("a header of the request to the model's server has a line break in it")
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text.encode(errors="replace").decode()


class HttpAnswer:
    """An answer whose headers have come; its body is read once."""

    def __init__(self, response: aiohttp.ClientResponse, idle_ms: int) -> None:
        self._response = response
        self._idle_ms = idle_ms
        named = ((name.lower().decode("latin-1"), value) for name, value in response.raw_headers)
        self._headers = [
            (name, value.decode("latin-1")) for name, value in named if name not in _HOP_HEADERS
        ]

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return self._response.status

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Return the headers, names in lower case, without those of the connection."""
        return self._headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """Return the body as it comes; once."""
        import aiohttp  # noqa: PLC0415

        idle_s = self._idle_ms / 1_000
        body = self._response.content
        try:
            while True:
                async with asyncio.timeout(idle_s):
                    piece = await body.readany()
                if not piece:
                    return
                yield piece
        except TimeoutError as error:
            raise TimedOut(
                f"the model's server was silent for {self._idle_ms} ms", hint="try again"
            ) from error
        except (aiohttp.ClientError, aiohttp.http.HttpProcessingError) as error:
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
        self._response.release()


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
