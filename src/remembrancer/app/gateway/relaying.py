"""Relaying: an upstream's answer on its way to the client, with what was heard of it kept.

A stream's bytes go on as they come; what is made of them happens after the last. Bytes are sent
by the door; nothing here knows of HTTP connections or of memory.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from remembrancer.app.gateway.sending import whole_events
from remembrancer.core.chat.shapes import write_json
from remembrancer.core.chat.sse import encode_event
from remembrancer.core.errors import CODES, RemembrancerError, UpstreamFailed
from remembrancer.ports.outbound import OutboundAnswer, PlatformStream
from remembrancer.ports.runtime import Runtime

HEARD_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of one reply that are kept to be read; of a longer one the rest is passed on only."""

Ending = Callable[[bytes], bytes]
"""What is appended to a stream that ended without a fault, given all of its bytes: the event that
says it was cut off, or nothing."""


@dataclass(slots=True)
class Heard:
    """What came of a reply. *Shape:* `is_ended` when the upstream said all it wanted to."""

    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    is_ended: bool = False
    error: RemembrancerError | None = None

    def add(self, piece: bytes) -> None:
        """Keep a piece."""
        self.size += len(piece)
        if self.size <= HEARD_BYTES_MAX:
            self.pieces.append(piece)

    @property
    def raw(self) -> bytes:
        """All that was kept."""
        return b"".join(self.pieces)


@dataclass(slots=True, kw_only=True)
class Relayed:
    """What the door sends: a whole body, a platform stream, or pieces cut between events."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | None = None
    platform: PlatformStream | None = None
    pieces: AsyncGenerator[bytes, None] | None = None


async def pass_on(
    answer: OutboundAnswer,
    pieces: AsyncIterator[bytes],
    heard: Heard,
    *,
    ending: Ending,
    later: Callable[[], None],
) -> AsyncGenerator[bytes, None]:
    """Yield a stream's bytes as they come, then the event that says what broke, if something did.

    *Promise:* `later` is called once, whether the stream ended, broke, or the client left; then
    the upstream is told to stop.
    """
    try:
        async for piece in whole_events(pieces):
            heard.add(piece)
            yield piece
        heard.is_ended = True
        last = ending(heard.raw)
        if last:
            yield last
    except RemembrancerError as error:
        heard.error = error
        yield error_event(error)
    finally:
        await answer.close()
        later()


async def read_along(pieces: AsyncIterator[bytes], heard: Heard) -> None:
    """Read the copy of a stream that the platform passes on by itself, to its end."""
    try:
        async for piece in pieces:
            heard.add(piece)
        heard.is_ended = True
    except RemembrancerError as error:
        heard.error = error


def cut_off() -> UpstreamFailed:
    """Return the error of a stream that ended without saying so."""
    return UpstreamFailed(
        "the upstream ended its stream in the middle of the answer", hint="try again"
    )


def error_event(error: RemembrancerError) -> bytes:
    """Return the event that reports a fault after the status was sent; OpenAI's clients raise it.

    *Source:* openai-python's decoder: any data with a truthy `error`; nothing may follow.
    """
    shape = {
        "code": error.code,
        "message": error.message,
        "type": CODES[error.code].openai_type,
        "hint": error.hint,
    }
    return encode_event(write_json({"error": shape}))


# Any: the result of the work is nobody's business.
def run_once(
    runtime: Runtime, work: Callable[[], Coroutine[Any, Any, object]]
) -> Callable[[], None]:
    """Return a function that starts the work after the answer, the first time it is called."""
    started: list[bool] = []

    def start() -> None:
        if not started:
            started.append(True)
            runtime.run_later(work())

    return start
