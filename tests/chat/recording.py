"""What real clients send, written down: a relay before the gateway that reads along.

`pytest tests/chat --record-requests` writes `requests.jsonl` anew, from one process; the tests of
`tests/protocol/chat` send its requests again. No key and nothing of this machine is in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httptools

RECORDED = Path(__file__).parent / "requests.jsonl"
"""The requests, one a line."""
DOORS = ("/v1/chat/completions", "/anthropic/v1/messages")
"""The paths whose requests are kept."""
PLAIN = "python-httpx"
"""Who is no client of chats: tests that send many alike themselves."""
KEPT_HEADERS = (
    *("accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"),
    *("user-agent", "x-stainless-async", "x-stainless-helper-method", "x-stainless-lang"),
)
"""Headers that are kept: those that say something of the client, and nothing of the machine."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request. *Shape:* `body` its text as it was sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def client(self) -> str:
        """Which client sent it, as it calls itself, without its version."""
        return self.headers.get("user-agent", "?").split("/")[0]


def read_recorded(path: Path = RECORDED) -> list[Recorded]:
    """Return what was written down."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Recorded(**json.loads(line)) for line in lines]


def write_recorded(requests: Iterable[Recorded], path: Path = RECORDED) -> int:
    """Write each distinct body of a client and a path once, in an order of its own; how many."""
    distinct = {(one.path, one.client, one.body): one for one in requests}
    lines = [
        json.dumps(
            {"method": one.method, "path": one.path, "headers": one.headers, "body": one.body},
            ensure_ascii=False,
        )
        for _, one in sorted(distinct.items(), key=lambda entry: entry[0])
    ]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return len(lines)


@dataclass(slots=True)
class Relay:
    """A relay's address, and what came through it. *Shape:* answered with success only."""

    url: str = ""
    requests: list[Recorded] = field(default_factory=list)


class _Asking:
    """Reads along what a client sends on one connection."""

    def __init__(self, waiting: list[Recorded]) -> None:
        self._waiting = waiting
        self._parser = httptools.HttpRequestParser(self)
        self.feed = self._parser.feed_data

    def on_message_begin(self) -> None:
        self._url, self._body = b"", b""
        self._headers: dict[str, str] = {}

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode().lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        headers = {name: self._headers[name] for name in KEPT_HEADERS if name in self._headers}
        path = self._url.decode().partition("?")[0]
        method = self._parser.get_method().decode()
        body = self._body.decode(errors="surrogateescape")
        self._waiting.append(Recorded(method, path, headers, body))


class _Answering:
    """Reads along what the server answers: each answer belongs to the request before it."""

    def __init__(self, waiting: list[Recorded], relay: Relay) -> None:
        self._waiting = waiting
        self._relay = relay
        self._parser = httptools.HttpResponseParser(self)
        self.feed = self._parser.feed_data

    def on_headers_complete(self) -> None:
        if self._parser.get_status_code() >= 200:
            asked = self._waiting.pop(0)
            is_chat = asked.path in DOORS and asked.client != PLAIN
            if is_chat and self._parser.get_status_code() == 200:
                self._relay.requests.append(asked)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, along: _Asking | _Answering
) -> None:
    try:
        while data := await reader.read(65_536):
            along.feed(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@contextmanager
def relaying(port: int) -> Iterator[Relay]:
    """A relay to a port of this machine, in a thread of its own, for as long as the block runs."""
    relay, loop, over = Relay(), asyncio.new_event_loop(), asyncio.Event()
    ready = threading.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, thither = await asyncio.open_connection("127.0.0.1", port)
        waiting: list[Recorded] = []
        await asyncio.gather(
            _pass_on(reader, thither, _Asking(waiting)),
            _pass_on(there, writer, _Answering(waiting, relay)),
        )

    async def serve() -> None:
        server = await asyncio.start_server(take, "127.0.0.1", 0)
        async with server:
            relay.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            await over.wait()

    def run() -> None:
        with contextlib.closing(loop):
            loop.run_until_complete(serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        assert ready.wait(10), "the relay does not start"
        yield relay
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
