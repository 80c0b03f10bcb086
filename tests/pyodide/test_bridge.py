"""The bridge over JavaScript's own requests, responses and streams."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from tests.d1.bridge import D1Bridge
from tests.pyodide.conftest import Edge, serve

WAIT_S = 120
"""Seconds until an answer, or a note, is given up."""


@pytest.fixture(scope="module")
def streams(d1_bridge: D1Bridge) -> Iterator[Edge]:
    """The Worker with the small app."""
    served = serve(d1_bridge, module="tests.pyodide.stream_worker")
    yield served
    assert served.stop() == 0


@pytest.fixture
def client(streams: Edge) -> Iterator[httpx.Client]:
    """A client of the small app."""
    with httpx.Client(base_url=streams.url, timeout=WAIT_S, trust_env=False) as made:
        yield made


@pytest.fixture
def hear(client: httpx.Client) -> Callable[[str], None]:
    """Waits for a note of the app."""

    def wait(note: str) -> None:
        end = time.monotonic() + WAIT_S
        while note not in client.get("/notes").text.split("\n"):
            assert time.monotonic() < end, f"never heard {note!r}"

    return wait


def test_stream_arrives_whole_with_its_headers(client: httpx.Client) -> None:
    response = client.get("/words")
    assert response.text == "荔枝lycheeend"
    assert response.headers["x-kind"] == "words"
    assert "content-length" not in response.headers


def test_head_has_headers_and_no_body(client: httpx.Client) -> None:
    response = client.head("/words")
    assert (response.status_code, response.content) == (200, b"")


def test_stream_of_the_platform_passes_untouched(client: httpx.Client) -> None:
    response = client.get("/handover")
    assert response.text == "荔枝 " * 50_000
    assert response.headers["content-type"] == "text/plain; charset=utf-8"


def test_body_is_streamed_in_and_out(client: httpx.Client) -> None:
    # Small enough for the buffers in between: the client reads only when it has sent all.
    pieces = [bytes([number]) * 4_000 for number in range(20)]
    assert client.post("/echo", content=iter(pieces)).content == b"".join(pieces)
    assert client.post("/echo", content=b"").content == b""


def test_large_body_is_refused_before_it_is_read(streams: Edge) -> None:
    address = urlsplit(streams.url)
    with socket.create_connection((address.hostname, address.port), timeout=WAIT_S) as connection:
        head = (
            f"POST /refuse HTTP/1.1\r\nhost: {address.netloc}\r\ncontent-length: 100000000\r\n\r\n"
        )
        connection.sendall(head.encode() + b"x" * 1_000)
        answer = connection.recv(65_536)
    assert b"413" in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("path", ["/endless", "/silent"])
def test_client_that_leaves_ends_a_stream(
    client: httpx.Client, hear: Callable[[str], None], path: str
) -> None:
    with client.stream("GET", path) as response:
        for _ in response.iter_raw():
            break
    assert client.get("/words").status_code == 200
    if path == "/silent":
        hear("silent ended")


def test_client_that_leaves_is_heard_of_by_who_waits(
    streams: Edge, hear: Callable[[str], None]
) -> None:
    address = urlsplit(streams.url)
    with socket.create_connection((address.hostname, address.port), timeout=WAIT_S) as connection:
        connection.sendall(f"GET /wait HTTP/1.1\r\nhost: {address.netloc}\r\n\r\n".encode())
        hear("waiting")
    hear("client left")


def test_stream_that_breaks_is_not_taken_for_whole(client: httpx.Client) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/broken")


def test_work_after_the_answer_is_done(client: httpx.Client, hear: Callable[[str], None]) -> None:
    assert client.get("/later").text == "ok"
    hear("done later")
