"""Sending to an upstream: one request, its answer's headers, and the bytes of its body.

Tried again only where surely nothing was received. It knows nothing of memory or of forms.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from remembrancer.app.gateway.routing import Target
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput, UpstreamFailed
from remembrancer.ports.outbound import OutboundAnswer, OutboundRequest

WHOLE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of an answer that is no stream. Our choice: several pictures in base64."""

ANSWER_TIMEOUT_MS: Final = 600_000
"""Milliseconds until an answer's headers: one that is no stream is written first. Source: the
default of OpenAI's clients."""

REDIRECTS: Final = (301, 302, 303, 307, 308)
"""Statuses of a server that is elsewhere. A client that is passed one goes there without memory, or
stands before an empty answer; what has to be mended is a setting. Source: RFC 9110."""

_PASSED_UP: Final = (
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "openai-beta",
    "traceparent",
    "x-title",
)
"""The client's headers that an upstream is told, also in place of ours; never one with a key."""

_PASSED_DOWN: Final = ("content-type", "retry-after", "retry-after-ms", "x-should-retry")
_PASSED_DOWN_PREFIXES: Final = ("anthropic-", "cf-aig-", "openai-", "x-ratelimit-")


async def ask(
    app: App, target: Target, body: bytes, *, client_headers: Mapping[str, str]
) -> OutboundAnswer:
    """Return the upstream's answer once its headers are there, whatever its status.

    *Raises:* UpstreamFailed (a redirect too), TimedOut, InvalidInput (this deployment has no way
    out).
    """
    if app.outbound is None:
        raise InvalidInput(
            "this deployment has no way to a model's server",
            hint="memory works without one; chats need the server's own program or the Worker",
        )
    told = {name: client_headers[name] for name in _PASSED_UP if name in client_headers}
    own = [(name, value) for name, value in target.headers if name not in told]
    request = OutboundRequest(
        "POST", target.url, (*own, *told.items()), body, timeout_ms=ANSWER_TIMEOUT_MS
    )
    try:
        answer = await app.outbound.send(request)
    except UpstreamFailed as error:
        if error.details.get("sent") is not False:
            raise
        answer = await app.outbound.send(request)
    if answer.status in REDIRECTS:
        await answer.close()
        raise _redirected(header_of(answer.headers, "location"))
    return answer


def _redirected(location: str) -> UpstreamFailed:
    """Return the error of a server that is elsewhere; of its address only what holds no secret."""
    try:
        parts = urlsplit(location)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    is_whole = parts.scheme and parts.hostname
    place = f"{parts.scheme}://{parts.hostname}{port}" if is_whole else "another address"
    return UpstreamFailed(
        f"the model's server sends on to {place}, which is not followed",
        hint="set AI_GATEWAY_BASE_URL to the address that the server has now",
    )


async def read_whole(answer: OutboundAnswer) -> bytes:
    """Return an answer's whole body. *Raises:* UpstreamFailed, TimedOut."""
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in answer.chunks():
            pieces.append(piece)
            size += len(piece)
            if size > WHOLE_BYTES_MAX:
                raise UpstreamFailed(
                    f"the upstream's answer has more than {WHOLE_BYTES_MAX} bytes",
                    hint="ask for a stream",
                )
    finally:
        await answer.close()
    return b"".join(pieces)


async def whole_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the bytes as they come, cut only between events.

    *Promise:* the same bytes; half an event is held back until the rest is there, so that what
    follows a broken stream is an event of its own. *Raises:* UpstreamFailed: one is too large.
    """
    held = b""
    async for piece in pieces:
        searched = max(len(held) - 3, 0)
        data = held + piece if held else piece
        if data.endswith((b"\n\n", b"\r\n\r\n")):
            held = b""
            yield data
            continue
        at = data.rfind(b"\n\n", searched)
        at_crlf = data.rfind(b"\r\n\r\n", searched)
        end = max(at + 2 if at >= 0 else 0, at_crlf + 4 if at_crlf >= 0 else 0)
        if end:
            held = data[end:]
            yield data[:end]
        else:
            held = data
        if len(held) > WHOLE_BYTES_MAX:
            raise UpstreamFailed(
                f"an event of the upstream's stream has more than {WHOLE_BYTES_MAX} bytes",
                hint="ask for a smaller answer",
            )
    if held:
        yield held


def passed_headers(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the upstream's headers that the client is told."""
    told = [
        (name, value)
        for name, value in headers
        if name in _PASSED_DOWN or name.startswith(_PASSED_DOWN_PREFIXES)
    ]
    told += [
        ("x-upstream-request-id", value)
        for name, value in headers
        if name in ("x-request-id", "request-id")
    ]
    return told


def header_of(headers: Sequence[tuple[str, str]], wanted: str) -> str:
    """Return the value of a header, '' when it is not there."""
    return next((value for name, value in headers if name == wanted), "")
