"""HTTP/1.1 to a model's server: connections that are kept, each with one exchange at a time.

A protocol of the event loop over httptools' parser: a request is one write, an answer is read as it
comes and never further ahead than a bound. It knows no address's text, no proxy and no error of
ours; `local.outbound` does, and imports it.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, cast

import httptools

AHEAD_BYTES_MAX: Final = 256 * 1024
"""Bytes of an answer that wait to be read before the other side has to wait. Our choice."""

HEAD_BYTES_MAX: Final = 100 * 1024
"""Bytes of an answer's head, or of anything between two pieces of it. Source: httpcore's."""

WHOLE_BYTES_MAX: Final = 64 * 1024
"""Bytes of a body that go out in one write with the head; copying more would cost more."""

IDLE_S: Final = 30.0
"""Seconds that an idle connection is used again: a turn of a conversation, and shorter than what
gateways in between forget. One that its server closes is gone at once. Our choice."""

HAPPY_EYEBALLS_S: Final = 0.25
"""Seconds until the next address of a host is tried beside the last. Source: RFC 8305."""

_DECODED: Final = frozenset({b"gzip", b"x-gzip", b"deflate"})
"""Codings that are undone here. None is asked for; a server may send one all the same."""

_EITHER_HEADER: Final = zlib.MAX_WBITS | 32
"""What makes zlib read gzip's header as well as its own."""


class Unreached(Exception):
    """No connection could be made, so nothing was sent."""


class Broken(Exception):
    """The other side broke off, or what it says is no HTTP."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens."""

    host: str
    port: int
    is_tls: bool


class Owner(Protocol):
    """Whose a connection is."""

    def rest(self, connection: Connection) -> None:
        """Hear that an exchange came to its end, and the next may begin."""
        ...

    def forget(self, connection: Connection) -> None:
        """Hear that a connection is no more."""
        ...


class Connection(asyncio.Protocol):
    """One connection, whose answer is read by one reader: first `head`, then each `piece`."""

    def __init__(self, place: Place, owner: Owner) -> None:
        self.place = place
        self.idle_from = 0.0
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._is_lost = False
        self._is_asked = False
        self._begin()

    def _begin(self) -> None:
        """Be ready for an answer."""
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self._parser = httptools.HttpResponseParser(self)
        # What other clients take as well: servers are not always strict.
        self._parser.set_dangerous_leniencies(
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._pieces: list[bytes] = []
        self._waiting_bytes = 0
        self._unread = 0
        self._has_head = self._is_whole = self._is_broken = False
        self._keeps = False
        self._ends_with_connection = False
        self._inflating: zlib._Decompress | None = None

    # -- the reader's side -----------------------------------------------------------------------

    @property
    def is_usable(self) -> bool:
        """Tell whether a request may be sent: its server has not closed it meanwhile."""
        transport = self._transport
        if transport is None or self._is_lost or transport.is_closing():
            return False
        return not _is_readable(transport)

    def ask(self, head: bytes, body: bytes) -> None:
        """Send a request."""
        assert self._transport is not None
        self._is_asked = True
        if len(body) <= WHOLE_BYTES_MAX:
            self._transport.write(head + body)
        else:
            self._transport.write(head)
            self._transport.write(body)

    async def head(self) -> None:
        """Wait until status and headers are there. *Raises:* Broken."""
        while not self._has_head:
            await self._arrival()

    async def piece(self) -> bytes | None:
        """Return what has come of the body since the last piece; None at its end.

        *Raises:* Broken.
        """
        while not self._pieces:
            if self._is_whole:
                return None
            await self._arrival()
        pieces, self._pieces = self._pieces, []
        if self._waiting_bytes > AHEAD_BYTES_MAX and self._transport is not None:
            self._transport.resume_reading()
        self._waiting_bytes = 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def end(self) -> None:
        """End the exchange: a whole answer leaves the connection for the next one, else it ends."""
        if self._is_whole and self._keeps and not self._is_lost:
            if self._waiting_bytes > AHEAD_BYTES_MAX and self._transport is not None:
                self._transport.resume_reading()
            self._is_asked = False
            self._begin()
            self._owner.rest(self)
        else:
            self.drop()

    def drop(self) -> None:
        """Close the connection; what was not read is given up."""
        self._is_asked = False
        if self._transport is not None:
            self._transport.abort()

    async def _arrival(self) -> None:
        """Wait until something more has come. *Raises:* Broken when nothing can come any more."""
        if self._is_broken or self._is_lost:
            raise Broken
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    # -- the event loop's side -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if not self._is_asked or self._is_whole:
            self._keeps = False  # nobody asked for this: what would come next is not ours
            if not self._is_asked:
                self.drop()
            return
        self._unread += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._is_broken = not self._is_whole
            self._keeps = False
        if self._unread > HEAD_BYTES_MAX:
            self._is_broken = True
        if self._waiting_bytes > AHEAD_BYTES_MAX and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        if self._has_head and self._ends_with_connection and exc is None:
            self._is_whole = not self._is_broken
        self._wake()
        self._owner.forget(self)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- the parser's side -----------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # afterwards these are trailers, which nobody reads
            self.headers.append((name.lower(), value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        self._unread = 0
        if self._has_head:  # a second answer to one question
            self._keeps = False
            return
        status = self._parser.get_status_code()
        if status < 200:  # only word that the answer will come
            self.headers.clear()
            return
        self.status = status
        told = dict(self.headers)
        self._ends_with_connection = not {b"content-length", b"transfer-encoding"} & told.keys()
        self._keeps = self._parser.should_keep_alive()
        if told.get(b"content-encoding", b"").lower() in _DECODED:
            self._inflating = zlib.decompressobj(_EITHER_HEADER)
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        if self._is_whole:
            return
        if self._inflating is not None:
            try:
                body = self._inflating.decompress(body)
            except zlib.error as error:
                raise httptools.HttpParserError from error
        if body:
            self._pieces.append(body)
            self._waiting_bytes += len(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        self._is_whole = self._has_head


class Exchange:
    """One answer of one connection, which it lets go of at the end: the next one's is not touched.

    *Shape:* header names in lower case; values as the bytes that came, one character each.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection: Connection | None = connection
        self.status = connection.status
        self.headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in connection.headers
        ]

    async def piece(self) -> bytes | None:
        """Return some of the body; None at its end. *Raises:* Broken."""
        if self._connection is None:
            return None
        piece = await self._connection.piece()
        if piece is None:
            await self.end()
        return piece

    async def end(self) -> None:
        """Give up what was not read; the connection is closed when something was left."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.end()


def _is_readable(transport: asyncio.Transport) -> bool:
    """Tell whether something waits to be read, which on an idle connection is its end."""
    found = transport.get_extra_info("socket")
    if found is None or not hasattr(select, "poll"):  # Windows: the event loop alone tells
        return False
    poll = select.poll()
    poll.register(found.fileno(), select.POLLIN)
    return bool(poll.poll(0))


class Connections:
    """The open connections, of which idle ones are used again, the last used first.

    *Units:* `connect_s` seconds that a connection may take to be made; `idle_max` connections.
    """

    def __init__(
        self, *, connect_s: float, idle_max: int, make_tls: Callable[[], ssl.SSLContext]
    ) -> None:
        self._connect_s = connect_s
        self._idle_max = idle_max
        self._make_tls = make_tls
        self._tls: ssl.SSLContext | None = None
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()

    async def exchange(self, place: Place, head: bytes, body: bytes) -> Exchange:
        """Send a request and return its answer once the headers are there.

        *Raises:* Unreached, Broken. *Promise:* cancelled, it closes the connection.
        """
        connection = self._take(place) or await self._connect(place)
        try:
            connection.ask(head, body)
            await connection.head()
        except BaseException:
            connection.drop()
            raise
        return Exchange(connection)

    def tls(self) -> ssl.SSLContext:
        """Return what certificates are checked with; the first call reads them."""
        if self._tls is None:
            self._tls = self._make_tls()
        return self._tls

    def close(self) -> None:
        """Close every connection."""
        self._idle.clear()
        for connection in list(self._open):
            connection.drop()

    def rest(self, connection: Connection) -> None:
        """Keep a connection for the next exchange, where there is room."""
        if len(self._idle) < self._idle_max:
            connection.idle_from = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.drop()

    def forget(self, connection: Connection) -> None:
        """Let go of a connection that is no more."""
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _take(self, place: Place) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - IDLE_S
        while self._idle and self._idle[0].idle_from < oldest:
            self._idle.pop(0).drop()
        for index in range(len(self._idle) - 1, -1, -1):
            if self._idle[index].place == place:
                found = self._idle.pop(index)
                if found.is_usable:
                    return found
                found.drop()
        return None

    async def _connect(self, place: Place) -> Connection:
        try:
            async with asyncio.timeout(self._connect_s):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: Connection(place, self),
                    place.host,
                    place.port,
                    ssl=self.tls() if place.is_tls else None,
                    happy_eyeballs_delay=HAPPY_EYEBALLS_S,
                )
        except (OSError, UnicodeError, TimeoutError) as error:
            raise Unreached from error
        self._open.add(connection)
        return connection
