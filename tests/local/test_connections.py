"""Connections to a model's server: used again, never for two at once, and closed when in doubt."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from remembrancer.core.errors import InvalidInput, TimedOut, UpstreamFailed
from remembrancer.local import outbound
from remembrancer.local.outbound import HttpOutbound
from remembrancer.ports.outbound import OutboundRequest

Talk = Callable[["Peer"], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Peer:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def heard(self) -> bytes:
        """One request, its body too."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(one[15:]) for one in lines if one.startswith(b"content-length:")), 0)
        return head + await self.reader.readexactly(length)

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class Place:
    """A server that talks as it is told, and what became of its connections."""

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0
        self.ended = asyncio.Event()


@asynccontextmanager
async def talking(
    talk: Talk, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[HttpOutbound, Place]]:
    """The way out, and a server on which each connection is one talk."""
    place = Place()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place.connections += 1
        try:
            await talk(Peer(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            place.ended.set()
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    one = HttpOutbound()
    async with listening:
        scheme = "http" if tls is None else "https"
        place.url = f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        try:
            yield one, place
        finally:
            await one.close()


async def whole(one: HttpOutbound, url: str, body: bytes = b"{}") -> bytes:
    answer = await one.send(OutboundRequest("POST", url, (), body, idle_ms=5_000))
    return b"".join([piece async for piece in answer.chunks()])


async def forever(peer: Peer) -> None:
    while True:
        await peer.heard()
        await peer.say(OK)


async def test_connection_is_used_again_and_never_for_two_at_once() -> None:
    async with talking(forever) as (one, place):
        assert [await whole(one, place.url) for _ in range(3)] == [b"ok"] * 3
        assert place.connections == 1
        assert await asyncio.gather(*(whole(one, place.url) for _ in range(3))) == [b"ok"] * 3
        assert place.connections == 3


async def test_closing_an_old_answer_again_leaves_the_next_exchange_alone() -> None:
    go_on = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.heard()
        await peer.say(OK)
        await peer.heard()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha")
        await go_on.wait()
        await peer.say(b"lf")

    async with talking(talk) as (one, place):
        first = await one.send(OutboundRequest("POST", place.url))
        assert [piece async for piece in first.chunks()] == [b"ok"]
        second = await one.send(OutboundRequest("POST", place.url))
        await first.close()
        go_on.set()
        assert b"".join([piece async for piece in second.chunks()]) == b"half"
        assert place.connections == 1


async def test_answer_that_nobody_reads_to_the_end_leaves_its_connection_when_it_is_whole() -> None:
    async with talking(forever) as (one, place):
        for _ in range(2):
            answer = await one.send(OutboundRequest("POST", place.url))
            await answer.close()
        assert place.connections == 1


async def test_connection_that_its_server_closed_is_not_used_again() -> None:
    async def talk(peer: Peer) -> None:
        await peer.heard()
        await peer.say(OK)

    async with talking(talk) as (one, place):
        for number in range(3):
            assert await whole(one, place.url) == b"ok"
            await place.ended.wait()
            place.ended.clear()
            assert place.connections == number + 1


async def test_connection_that_has_rested_long_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbound, "IDLE_S", 0.0)
    async with talking(forever) as (one, place):
        assert [await whole(one, place.url) for _ in range(2)] == [b"ok"] * 2
        assert place.connections == 2


async def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    async def talk(peer: Peer) -> None:
        await peer.heard()
        await peer.say(OK + b"HTTP/1.1 500 No\r\ncontent-length: 3\r\n\r\nbad")
        await peer.reader.read()

    async with talking(talk) as (one, place):
        assert await whole(one, place.url) == b"ok"
        await place.ended.wait()
        assert await whole(one, place.url) == b"ok"
        assert place.connections == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + OK,
        b"HTTP/1.0 200 OK\r\n\r\nok",
        b"HTTP/1.1 200\r\nconnection: close\r\n\r\nok",
        b"HTTP/1.1 200 OK\ncontent-length: 2\n\nok",
        CHUNKED + b"1;a=b\r\no\r\n1\r\nk\r\n0\r\nx: y\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(b"ok"),
        b"HTTP/1.1 200 OK\r\ncontent-encoding: Deflate\r\n\r\n" + zlib.compress(b"ok"),
    ],
    ids="continue hints 1.0 until-close bare-lines chunked gzip deflate".split(),
)
async def test_answer_is_read_in_every_form_and_at_every_cut(raw: bytes) -> None:
    async def talk(peer: Peer) -> None:
        request = await peer.heard()
        at = int(request.partition(b"\r\n\r\n")[2])
        await peer.say(raw[:at])
        await asyncio.sleep(0)
        await peer.say(raw[at:])

    async with talking(talk) as (one, place):
        for at in range(0, len(raw), 3):
            answer = await one.send(OutboundRequest("POST", place.url, (), str(at).encode()))
            assert answer.status == 200
            assert b"".join([piece async for piece in answer.chunks()]) == b"ok"
            assert "link" not in dict(answer.headers)


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000,
        b"HTTP/1.1 200 OK\r\n",
    ],
    ids="no-http upgrade endless-head half-a-head".split(),
)
async def test_what_is_no_answer_is_a_failure(raw: bytes) -> None:
    async def talk(peer: Peer) -> None:
        await peer.heard()
        await peer.say(raw)

    async with talking(talk) as (one, place):
        with pytest.raises(UpstreamFailed, match="broke off before") as caught:
            await whole(one, place.url)
        assert caught.value.details["sent"] is True


async def test_body_that_cannot_be_read_is_a_failure_half_way() -> None:
    begun = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.heard()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\n")
        await begun.wait()
        await peer.say(b"plain bye")
        await peer.reader.read()

    async with talking(talk) as (one, place):
        answer = await one.send(OutboundRequest("POST", place.url))
        begun.set()
        with pytest.raises(UpstreamFailed, match="in the middle"):
            [piece async for piece in answer.chunks()]
        await asyncio.wait_for(place.ended.wait(), 5)


async def test_refusal_before_the_whole_question_was_read_is_heard() -> None:
    async def talk(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.say(b"HTTP/1.1 413 Large\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbig")
        await peer.reader.read(1_000_000)

    async with talking(talk) as (one, place):
        answer = await one.send(OutboundRequest("POST", place.url, (), b"x" * 8_000_000))
        assert (answer.status, [piece async for piece in answer.chunks()]) == (413, [b"big"])


async def test_question_of_megabytes_arrives_whole() -> None:
    body = "长 long ".encode() * 300_000
    seen: list[bytes] = []

    async def talk(peer: Peer) -> None:
        seen.append((await peer.heard()).partition(b"\r\n\r\n")[2])
        await peer.say(OK)

    async with talking(talk) as (one, place):
        assert await whole(one, place.url, body) == b"ok"
    assert seen == [body]


async def test_reader_that_is_slow_holds_the_server_back() -> None:
    sent = 0

    async def talk(peer: Peer) -> None:
        nonlocal sent
        await peer.heard()
        await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 64000000\r\n\r\n")
        for _ in range(1_000):
            await peer.say(b"x" * 64_000)
            sent += 64_000

    async with talking(talk) as (one, place):
        answer = await one.send(OutboundRequest("POST", place.url))
        pieces = answer.chunks()
        size = len(await anext(pieces))
        before = -1
        while sent != before:
            before = sent
            await asyncio.sleep(0.05)
        assert sent < 32_000_000  # what sockets hold; the rest waits at the server
        async for piece in pieces:
            assert len(piece) <= 1_000_000
            size += len(piece)
        assert size == 64_000_000


async def test_question_that_is_given_up_closes_its_connection() -> None:
    asked = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.heard()
        asked.set()
        await peer.reader.read()

    async with talking(talk) as (one, place):
        asking = asyncio.ensure_future(whole(one, place.url))
        await asyncio.wait_for(asked.wait(), 5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(place.ended.wait(), 5)


async def test_connection_that_is_never_made_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "CONNECT_S", 1e-6)
    async with talking(forever) as (one, place):
        with pytest.raises(UpstreamFailed, match="cannot be reached") as caught:
            await whole(one, place.url)
        assert caught.value.details["sent"] is False
        with pytest.raises(TimedOut):
            await one.send(OutboundRequest("POST", place.url, timeout_ms=0))


async def test_server_without_tls_cannot_be_reached_with_it() -> None:
    async def talk(peer: Peer) -> None:
        await peer.say(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")

    async with talking(talk) as (one, place):
        with pytest.raises(UpstreamFailed, match="cannot be reached") as caught:
            await whole(one, place.url.replace("http:", "https:"))
    assert caught.value.details["sent"] is False


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine's own, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    kind = serialization.PrivateFormat.PKCS8
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_certificate_is_checked(
    is_trusted: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    async with talking(forever, context) as (one, place):
        if is_trusted:
            assert [await whole(one, place.url) for _ in range(3)] == [b"ok"] * 3
            assert place.connections == 1
            return
        with pytest.raises(UpstreamFailed, match="cannot be reached") as caught:
            await whole(one, place.url)
        assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


async def test_head_says_what_the_client_said_in_its_bytes() -> None:
    seen: list[bytes] = []

    async def talk(peer: Peer) -> None:
        seen.append(await peer.heard())
        await peer.say(OK)

    title = "标题".encode().decode("latin-1")  # as a server hands a header's bytes over
    async with talking(talk) as (one, place):
        host = place.url.removeprefix("http://").removesuffix("/v1")
        request = OutboundRequest(
            "POST", place.url + "/聊?a=1", [("x-title", title), ("x-setting", "密")], b"{}"
        )
        answer = await one.send(request)
        await answer.close()
        with pytest.raises(InvalidInput, match="line break"):
            await one.send(OutboundRequest("POST", place.url, [("x", "a\r\nhost: b")]))
    head = seen[0].replace(b"Host", b"host").replace(b"Content-Length", b"content-length")
    lines = head.split(b"\r\n")
    assert lines[:2] == [b"POST /v1/%E8%81%8A?a=1 HTTP/1.1", b"host: " + host.encode()]
    assert b"x-title: " + "标题".encode() in lines
    assert b"x-setting: " + "密".encode() in lines
    assert b"content-length: 2" in lines


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "http://127.0.0.1:99999/", "x"])
async def test_what_is_no_address_is_a_sentence(url: str) -> None:
    async with talking(forever) as (one, _):
        with pytest.raises(InvalidInput, match="no address"):
            await whole(one, url)


async def test_get_says_nothing_of_a_body() -> None:
    seen: list[bytes] = []

    async def talk(peer: Peer) -> None:
        seen.append((await peer.heard()).lower())
        await peer.say(b"HTTP/1.1 204 No\r\n\r\n")

    async with talking(talk) as (one, place):
        answer = await one.send(OutboundRequest("GET", place.url))
        assert [piece async for piece in answer.chunks()] == []
    assert b"content-length" not in seen[0]


@pytest.mark.parametrize("way", ["proxy", "user"])
async def test_proxy_and_login_of_an_address_are_used(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bytes] = []

    async def talk(peer: Peer) -> None:
        seen.append(await peer.heard())
        if b"/half" in seen[-1]:
            await peer.say(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n")
            await asyncio.sleep(0.05)
            await peer.say(b"half")
        elif b"/none" not in seen[-1]:
            await peer.say(b"HTTP/1.1 200 OK\r\nX-Kind: Green\r\ncontent-length: 2\r\n\r\nok")

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with talking(talk) as (one, place):
        base = place.url.replace("//", "//me:secret@")
        if way == "proxy":
            monkeypatch.setenv("http_proxy", place.url.removesuffix("/v1"))
            base = "http://models.example/v1"
        answer = await one.send(OutboundRequest("POST", base, (("x-a", "b"),), b"{}"))
        assert ("x-kind", "Green") in answer.headers
        assert b"".join([piece async for piece in answer.chunks()]) == b"ok"
        with pytest.raises(UpstreamFailed, match="in the middle"):
            await whole(one, base + "/half")
        with pytest.raises(UpstreamFailed, match="before it answered"):
            await whole(one, base + "/none")
        if way == "user":
            with pytest.raises(UpstreamFailed, match="cannot be reached"):
                await whole(one, "http://me:secret@127.0.0.1:1/v1")
    said = seen[0].lower()
    assert b"x-a: b\r\n" in said
    assert b"accept-encoding: identity\r\n" in said
    if way == "proxy":
        assert said.startswith(b"post http://models.example/v1 http/1.1\r\n")
    else:
        assert b"authorization: basic bwu6c2vjcmv0\r\n" in said
