"""Server-sent events: an incremental reader and a writer.

It knows nothing of what the events say, and does not reconnect. Any ring may import it.
*Source:* WHATWG HTML, section 9.2.6 (interpretation of an event stream).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from remembrancer.core.errors import UpstreamFailed

KEEP_ALIVE: Final = b": keep-alive\n\n"
"""A comment that clients skip; sent while an upstream is silent."""

DONE: Final = b"data: [DONE]\n\n"
"""The end of a stream of chat completion chunks. Source: OpenAI's decoder."""

EVENT_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of one event at most. Our choice: a picture in base64 fits, a broken upstream does not
fill the memory."""

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event. *Shape:* `event` is its name or None, `data` its lines joined by line feeds."""

    event: str | None
    data: str


class SseReader:
    """Reads events from bytes in pieces of any size.

    *Promise:* the same events however the bytes are split, also inside a character or between
    the two halves of a line end; linear time.
    """

    def __init__(self, *, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        self._max = event_bytes_max
        self._pieces: list[bytes] = []
        self._piece_bytes = 0
        self._is_start = True
        self._after_cr = False
        self._name: str | None = None
        self._data: list[str] = []
        self._data_bytes = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return the events that `chunk` completes. *Raises:* UpstreamFailed: one is too large."""
        if not chunk:
            return []
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = False
        events: list[SseEvent] = []
        for line in chunk.splitlines(keepends=True):
            if not line.endswith((b"\n", b"\r")):
                self._keep(line)
                break
            self._after_cr = line.endswith(b"\r")
            self._keep(line.rstrip(b"\r\n"))
            event = self._line(self._take())
            if event is not None:
                events.append(event)
        else:
            return events
        self._after_cr = False
        return events

    def close(self) -> list[SseEvent]:
        """Return the last event when the stream ended without the blank line after it."""
        if self._pieces:
            self._line(self._take())
        event = self._dispatch()
        return [event] if event is not None else []

    def _keep(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._piece_bytes += len(piece)
        if self._piece_bytes + self._data_bytes > self._max:
            raise UpstreamFailed(
                f"an event of the stream is over {self._max} bytes",
                hint="the upstream does not send server-sent events, or one that is too large",
            )

    def _take(self) -> bytes:
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._piece_bytes = 0
        if self._is_start:
            self._is_start = False
            return line.removeprefix(_BOM)
        return line

    def _line(self, line: bytes) -> SseEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value.decode(errors="replace"))
            self._data_bytes += len(value) + 1
        elif name == b"event":
            self._name = value.decode(errors="replace")
        return None

    def _dispatch(self) -> SseEvent | None:
        name, data = self._name, self._data
        self._name, self._data, self._data_bytes = None, [], 0
        return SseEvent(name or None, "\n".join(data)) if data else None


def encode_event(data: str, event: str | None = None) -> bytes:
    """Return the bytes of one event.

    *Shape:* `data` may hold line feeds (one `data:` line each); carriage returns become line
    feeds, since the form cannot carry them; `event` is one line.
    """
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = f"event: {event}\n" if event else ""
    return (head + "".join(f"data: {line}\n" for line in lines) + "\n").encode()
