"""The way out through a proxy, which the environment or the system names: httpx knows how.

An exchange as those of `local.http_exchange`. `local.outbound` imports it when there is a proxy.
"""

from __future__ import annotations

import urllib.request
from typing import Final

import httpx

from remembrancer.local.http_exchange import Broken, Unreached
from remembrancer.ports.outbound import OutboundRequest

_PROXIED: Final = ("http", "https", "all")
"""Schemes for which a proxy may be named."""


def has_proxy() -> bool:
    """Tell whether a proxy is named; whether it serves a host is httpx's to say."""
    return any(name in urllib.request.getproxies() for name in _PROXIED)


class ProxiedExchange:
    """An answer that httpx reads."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._pieces = response.aiter_bytes()
        self.status = response.status_code
        self.headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in response.headers.raw
        ]

    async def piece(self) -> bytes | None:
        """Return some of the body; None at its end. *Raises:* Broken."""
        try:
            return await anext(self._pieces, None)
        except httpx.HTTPError as error:
            raise Broken from error

    async def end(self) -> None:
        """Give up what was not read."""
        await self._response.aclose()


class Proxied:
    """httpx, without its redirects, its cookies and its limits of time, which are kept outside.

    *Units:* `connect_s` seconds that a connection may take to be made; `idle_max` connections.
    """

    def __init__(self, *, connect_s: float, idle_max: int) -> None:
        self._timeout = {"connect": connect_s, "read": None, "write": None, "pool": None}
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=connect_s),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=idle_max),
        )

    async def exchange(
        self, request: OutboundRequest, headers: list[tuple[bytes, bytes]]
    ) -> ProxiedExchange:
        """Send a request and return its answer once the headers are there.

        *Raises:* Unreached, Broken.
        """
        # Made without the client's defaults: no cookie goes from one user's answer into another's
        # question.
        made = httpx.Request(
            request.method,
            request.url,
            headers=headers,
            content=request.body,
            extensions={"timeout": self._timeout},
        )
        try:
            return ProxiedExchange(await self._client.send(made, stream=True))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise Unreached from error
        except httpx.HTTPError as error:
            raise Broken from error

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()
