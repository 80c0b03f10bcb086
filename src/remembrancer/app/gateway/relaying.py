"""Relaying: an upstream's answer on its way to the client, with what was heard of it kept.

A stream's bytes go on as they come; what is made of them happens after the last. Bytes are sent
by the door; nothing here knows of HTTP connections or of memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from remembrancer.app.gateway.forms import StreamTranslator
from remembrancer.app.gateway.sending import whole_events
from remembrancer.core.chat.sse import DONE, SseReader
from remembrancer.core.errors import RemembrancerError, UpstreamFailed
from remembrancer.ports.outbound import OutboundAnswer, PlatformStream
from remembrancer.ports.runtime import Runtime

HEARD_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of one reply that are kept to be read; of a longer one the rest is passed on only."""

_ENDS: Final = (b"data: [DONE]", b"data:[DONE]", b"event: message_stop", b"event:message_stop")
"""What the last piece of a whole stream holds; without it the reply is read to see."""

END_BYTES_MAX: Final = 128
"""Bytes in which what ends a stream stands: both vendors' last events are shorter."""

Fault = Callable[[RemembrancerError], bytes]
"""What makes the event that reports a fault."""


@dataclass(slots=True)
class Heard:
    """What came of a reply, as the client was sent it. *Shape:* `is_ended` when it came to its
    end; `error` what broke it."""

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

    @property
    def is_cut(self) -> bool:
        """Whether more came than was kept, so that nobody knows how it ended."""
        return self.size > HEARD_BYTES_MAX


@dataclass(slots=True, kw_only=True)
class Relayed:
    """What the door sends: a whole body, a platform stream, or pieces cut between events.

    *Shape:* beside a platform stream, `along` ends when all of it was read along, and `stop` tells
    the upstream that nobody reads it any more. Whatever becomes of the rest, `end` is called when
    the client has had it, or has left.
    """

    status: int
    headers: list[tuple[str, str]]
    body: bytes | None = None
    platform: PlatformStream | None = None
    along: asyncio.Future[None] | None = None
    stop: Callable[[], Awaitable[None]] | None = None
    pieces: AsyncGenerator[bytes, None] | None = None
    end: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Moments:
    """What is done at certain moments of a stream.

    *Shape:* `begun` when the client has been sent the first bytes, and some more; `before_end` is
    awaited before the client hears of the stream's end; `fault` makes the event that reports a
    fault; `later` at the end of it all, however it came.
    """

    begun: Callable[[], None]
    before_end: Callable[[], Awaitable[None]]
    fault: Fault
    later: Callable[[], None]


async def pass_on(
    answer: OutboundAnswer,
    pieces: AsyncIterator[bytes],
    heard: Heard,
    *,
    is_told: Callable[[bytes], bool],
    moments: Moments,
) -> AsyncGenerator[bytes, None]:
    """Yield a stream's bytes as they come, then the event that says what broke, if something did.

    *Shape:* `is_told` tells of all bytes whether they say how the reply ended, an error included.
    *Promise:* whether the stream ended, broke, or the client left, the upstream is told to stop.
    """
    has_end = False
    try:
        async for piece in whole_events(pieces):
            heard.add(piece)
            may_end = b"[DONE]" in piece or b"message_stop" in piece
            has_end = may_end and any(end in piece for end in _ENDS)
            if has_end:
                # All else that came with the end goes on first: it may be the whole reply.
                at = _end_at(piece)
                if at:
                    yield piece[:at]
                    moments.begun()
                    piece = piece[at:]
                await moments.before_end()
            yield piece
            moments.begun()
        heard.is_ended = True
        await moments.before_end()
        if not has_end and not heard.is_cut and not is_told(heard.raw):
            heard.error = cut_off()
            yield moments.fault(heard.error)
    except RemembrancerError as error:
        heard.error = error
        yield moments.fault(error)
    finally:
        await answer.close()
        moments.later()


async def translate_on(
    answer: OutboundAnswer,
    heard: Heard,
    translator: StreamTranslator,
    moments: Moments,
) -> AsyncGenerator[bytes, None]:
    """Yield a stream in the client's form, event by event; otherwise as `pass_on`."""
    reader = SseReader()
    try:
        async for piece in answer.chunks():
            told = [one for event in reader.feed(piece) for one in translator.feed(event)]
            is_end = bool(told) and told[-1] == DONE
            out = b"".join(told[:-1] if is_end else told)
            if out:
                heard.add(out)
                yield out
                moments.begun()
            if is_end:
                await moments.before_end()
                heard.add(DONE)
                yield DONE
        rest = [one for event in reader.close() for one in translator.feed(event)]
        rest += translator.close()
        heard.is_ended = True
        if rest:
            await moments.before_end()
            out = b"".join(rest)
            heard.add(out)
            yield out
    except RemembrancerError as error:
        heard.error = error
        yield moments.fault(error)
    finally:
        await answer.close()
        moments.later()


def _end_at(piece: bytes) -> int:
    """Return where the event begins that ends a stream, in a piece that is cut between events."""
    at = max(piece.rfind(end) for end in _ENDS)
    before = piece[:at]
    for blank in (b"\n\n", b"\r\n\r\n"):
        found = before.rfind(blank)
        if found >= 0:
            return found + len(blank)
    return 0


async def read_along(
    pieces: AsyncIterator[bytes], heard: Heard, *, is_told: Callable[[bytes], bool]
) -> None:
    """Read the copy of a stream that the platform passes on by itself, to its end.

    *Shape:* as with `pass_on`, an end that was not said is an error.
    """
    try:
        async for piece in pieces:
            heard.add(piece)
        heard.is_ended = True
        raw = heard.raw
        has_end = any(end in raw[-END_BYTES_MAX:] for end in _ENDS)
        if not has_end and not heard.is_cut and not is_told(raw):
            heard.error = cut_off()
    except RemembrancerError as error:
        heard.error = error


def cut_off() -> UpstreamFailed:
    """Return the error of a stream that ended without saying so."""
    return UpstreamFailed(
        "the upstream ended its stream in the middle of the answer", hint="try again"
    )


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
