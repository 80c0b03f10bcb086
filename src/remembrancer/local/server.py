"""The HTTP server of one machine: a socket, uvicorn on it, and a stop that finishes what runs.

It knows no route; the ASGI app is handed in. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import HANDLED_SIGNALS

from remembrancer.core.errors import Conflict, InvalidInput, StoreUnavailable
from remembrancer.local.logs import log_to_stderr

BACKLOG: Final = 2_048
"""Connections that may wait to be taken. Source: uvicorn's default."""

STOP_S_MAX: Final = 10
"""Seconds that running requests have after a stop was asked for. Our choice."""

HEAD_BYTES_MAX: Final = 64 * 1024
"""Bytes of a request's head, or of its trailers. Source: h11's limit in uvicorn."""

SILENCE_S_MAX: Final = 60.0
"""Seconds for a request's whole head, and between two pieces of its body. Source: nginx's."""

KEEP_ALIVE_S: Final = 75
"""Seconds that an idle connection is kept. Source: nginx's default; clients reuse theirs less."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens; on a loopback address only this machine reaches it."""

    host: str
    port: int
    is_loopback: bool


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one.

    *Raises:* Conflict when the port is taken, InvalidInput for a host or port that cannot be used.
    """
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
    except (OSError, OverflowError, UnicodeError) as error:
        raise InvalidInput(
            f"{host!r} is no address of this machine",
            hint="use 127.0.0.1, or 0.0.0.0 for every address",
            field="host",
        ) from error
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows lets two share a port without it
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise _refused(error, host, port) from error
    return listening


async def run(app: ASGIApp, host: str, port: int, *, on_ready: Callable[[Listening], None]) -> None:
    """Serve until a signal asks to stop; running requests are finished first.

    *Shape:* `on_ready` is called once requests are answered. *Raises:* as `bind`.
    """
    with bind(host, port) as listening:
        log_to_stderr()
        address = listening.getsockname()
        is_loopback = address[0].startswith("127.") or address[0] == "::1"
        place = Listening(host, int(address[1]), is_loopback)
        await _Server(_configured(app), lambda: on_ready(place)).serve(sockets=[listening])


def _configured(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=_Bounded,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_S_MAX,
    )


class _Bounded(HttpToolsProtocol):
    """A connection whose parser, unlike h11, takes heads and trailers of any size: here it may not.

    What is received without an event (a head that ends, a piece of a body, an end) is counted. It
    also leaves blanks behind a header's value, which are no part of it. Source: RFC 9110, 5.5.
    A client that is to send something and does not is not waited for: its connection ends.
    """

    _unread = 0
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", transport))
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._patience is None:
            self._wait()

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self._unread > HEAD_BYTES_MAX and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        self._unread = 0
        self._wait()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        self._wait()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        self._wait_no_more()
        super().on_message_complete()

    def _wait(self) -> None:
        self._wait_no_more()
        self._patience = self.loop.call_later(SILENCE_S_MAX, self._give_up)

    def _wait_no_more(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        if self.flow.read_paused:
            self._wait()  # it is the app that is not ready for more
        else:
            self.transport.close()


class _Server(uvicorn.Server):
    """uvicorn, but a signal ends `serve` and nothing else, so that what follows can finish."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if not self.should_exit:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # The original raises the signal again afterwards, which would end the process at once.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _refused(error: OSError, host: str, port: int) -> Exception:
    if error.errno in (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", None)):
        return Conflict(
            f"port {port} of {host} is taken: another program listens there, perhaps this server",
            hint="use the running one, or choose another port with --port (0 takes a free one)",
            field="port",
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return InvalidInput(
            f"{host!r} is no address of this machine",
            hint="use 127.0.0.1, or 0.0.0.0 for every address",
            field="host",
        )
    return StoreUnavailable(
        f"port {port} of {host} cannot be used: {error.strerror}",
        hint="ports below 1024 need privileges; choose another with --port",
    )
