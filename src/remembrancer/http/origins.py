"""Origins: which web pages may call, and what a browser is told about it.

A request without an `Origin` header does not come from a page and passes. Authentication is
another matter; this only keeps a foreign page from using a server that its visitor can reach.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from remembrancer.http.errors import DoorError

PREFLIGHT_AGE_S: Final = 600
"""Seconds for which a browser may keep a preflight's answer. Our choice."""

CHAT_DOORS: Final = (
    "/anthropic/v1",
    "/v1/chat/completions",
    "/v1/guide-dog",
    "/v1/messages",
    "/v1/models",
)
"""Paths that any page may call, with those below them. Chat clients are pages of every kind
(`file://`, `app://.`, an extension's, `null`), and nothing here is done without a key, which no
page has by itself."""

ALLOWED_HEADERS: Final = (
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "anthropic-version",
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "x-api-key",
    "x-remembrancer-bookmark",
    "x-remembrancer-conversation",
    "x-remembrancer-memory",
    "x-remembrancer-namespace",
    "x-request-id",
    "x-stainless-arch",
    "x-stainless-helper-method",
    "x-stainless-lang",
    "x-stainless-os",
    "x-stainless-package-version",
    "x-stainless-retry-count",
    "x-stainless-runtime",
    "x-stainless-runtime-version",
    "x-stainless-timeout",
    "*",
)
"""Request headers that a page may send: all of them. The star stands for those that are not named
where no cookies are sent, in browsers since 2020 but never for `authorization`; the others are
named for older ones. Source: the Fetch standard."""

EXPOSED_HEADERS: Final = (
    "etag",
    "retry-after",
    "x-remembrancer-bookmark",
    "x-remembrancer-cause",
    "x-remembrancer-conversation",
    "x-remembrancer-degraded",
    "x-remembrancer-recall",
    "x-remembrancer-saved",
    "x-request-id",
)
"""Response headers that a page may read."""

HOSTS_KEPT: Final = 256
"""Hosts that were looked at, the last ones. Our choice: a server has few, each request has two."""


@lru_cache(maxsize=HOSTS_KEPT)
def is_loopback(host: str | None) -> bool:
    """Tell whether a host name or address is this machine's own."""
    if not host:
        return False
    name = host.lower().strip("[]").rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def check_origin(
    headers: Mapping[str, str], path: str, *, server_host: str | None, allowed: Sequence[str]
) -> str | None:
    """Return the request's origin when it may call, None when it names none.

    A page may call when it is local, listed, or served from the same host; the last does not count
    where the server listens on loopback, since a foreign name that is made to point there looks
    like that (DNS rebinding). At the doors of chats every page may.
    *Raises:* DoorError `forbidden`.
    """
    origin = headers.get("origin")
    if origin is None or _is_chat_door(path):
        return origin
    plain = origin.strip().lower()
    parts = _split(plain)
    if parts is not None:
        name, netloc = parts
        is_same_host = netloc == headers.get("host", "").strip().lower()
        if is_loopback(name) or (is_same_host and not is_loopback(server_host)):
            return origin
    if "*" in allowed or plain in allowed:
        return origin
    raise DoorError(
        "forbidden",
        f"the origin {origin[:100]!r} may not call this server",
        hint="add it to ALLOWED_ORIGINS",
    )


def _is_chat_door(path: str) -> bool:
    return any(path == door or path.startswith(f"{door}/") for door in CHAT_DOORS)


def cors_headers(origin: str) -> dict[str, str]:
    """Return what a browser needs to hand an answer to the page."""
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": ", ".join(EXPOSED_HEADERS),
        "vary": "origin",
    }


def preflight_headers(allow: Sequence[str]) -> dict[str, str]:
    """Return what a browser asks for before it sends the request itself."""
    return {
        "access-control-allow-methods": ", ".join(allow),
        "access-control-allow-headers": ", ".join(ALLOWED_HEADERS),
        "access-control-max-age": str(PREFLIGHT_AGE_S),
    }


def _split(origin: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(origin)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return host, parts.netloc
