"""The outbound port with scripted answers: what was sent is kept, what comes back is told before.

A handler answers each request, so that a test can be an upstream of any kind, odd ones included.
Tests of every ring import it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from remembrancer.core.errors import RemembrancerError
from remembrancer.ports.outbound import OutboundRequest, PlatformStream


@dataclass(slots=True)
class ScriptedAnswer:
    """One answer. *Shape:* `pieces` the body as it comes; `breaks` is raised after the last."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),)
    pieces: Sequence[bytes] = ()
    breaks: RemembrancerError | None = None
    is_closed: bool = False

    async def _iterate(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if self.is_closed:
                return
            yield piece
        if self.breaks is not None:
            raise self.breaks

    def chunks(self) -> AsyncIterator[bytes]:
        """Return the pieces."""
        return self._iterate()

    def tee(self) -> tuple[PlatformStream | None, AsyncIterator[bytes]]:
        """Return the pieces; there is no platform stream here."""
        return None, self._iterate()

    async def close(self) -> None:
        """Note that the rest was given up."""
        self.is_closed = True


def json_answer(value: object, *, status: int = 200) -> ScriptedAnswer:
    """Return an answer whose body is a value as JSON."""
    return ScriptedAnswer(status, pieces=[json.dumps(value, ensure_ascii=False).encode()])


def stream_answer(pieces: Sequence[bytes]) -> ScriptedAnswer:
    """Return an answer of server-sent events, cut as given."""
    return ScriptedAnswer(headers=(("content-type", "text/event-stream"),), pieces=pieces)


Handler = Callable[[OutboundRequest], "ScriptedAnswer | Awaitable[ScriptedAnswer]"]
"""What an upstream does with a request; it may raise."""


class ScriptedOutbound:
    """The outbound port whose upstream is a function. *Shape:* `sent` every request, in order."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.sent: list[OutboundRequest] = []

    async def send(self, request: OutboundRequest) -> ScriptedAnswer:
        """Let the handler answer."""
        self.sent.append(request)
        answer = self.handler(request)
        return answer if isinstance(answer, ScriptedAnswer) else await answer
