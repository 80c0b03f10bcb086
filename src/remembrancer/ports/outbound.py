"""The outbound port: one HTTP request to a model's server, its answer as it comes.

It promises the weaker of the platform's `fetch` and a client on one machine: the answer's status
and headers first, then bytes cut anywhere. Workers AI is reached through it as well, at addresses
of the scheme `workers-ai`, which the edge answers from its binding and one machine by Cloudflare's
API. No retry and no translation lives here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

WORKERS_AI: Final = "workers-ai://run/"
"""What stands before a model's name in the address of Workers AI: a POST whose body is the input as
JSON. Statuses and bodies are those of the REST API without its envelope; streams are streams."""


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """One request.

    *Shape:* header names in lower case; the scheme of `url` is http, https or workers-ai.
    *Units:* `timeout_ms` until the answer's headers, `idle_ms` between two pieces of its body.
    """

    method: str
    url: str
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    timeout_ms: int = 120_000
    idle_ms: int = 300_000


@dataclass(frozen=True, slots=True)
class PlatformStream:
    """A stream of the platform that an answer can hand over untouched; opaque but at the edge.

    *Shape:* its reader does not come to an end before `finish` was called, with bytes that follow
    all the others, or b""; that nobody reads any more is no error.
    """

    stream: object
    finish: Callable[[bytes], Awaitable[None]]


class OutboundAnswer(Protocol):
    """An answer whose headers have come."""

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """Return the headers, names in lower case, without those of the connection."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Return the body as it comes; once. *Raises:* UpstreamFailed, TimedOut half-way."""
        ...

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        """Return the body twice, instead of `chunks`: to hand over, and to read along.

        *Shape:* the first is None where there is no platform stream; then what is read must also
        be sent on by the reader.
        """
        ...

    async def close(self) -> None:
        """Give the rest up; the other side hears of it. May be called again."""
        ...


class Outbound(Protocol):
    """The way out."""

    async def send(self, request: OutboundRequest) -> OutboundAnswer:
        """Send a request and return its answer once the headers are there, whatever the status.

        *Raises:* UpstreamFailed (nothing was answered; `details["sent"]` False when surely nothing
        was received), TimedOut. *Promise:* never follows a redirect, never retries; cancelling the
        task cancels the request.
        """
        ...
