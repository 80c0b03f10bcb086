"""The same commands on a remote server, answered by the real application without a network."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from tests.cli.running import Program

from remembrancer.cli.answers import Answer
from remembrancer.cli.door import Door
from remembrancer.cli.place import Place
from remembrancer.cli.relay import Relay
from remembrancer.cli.remote import RemoteServer, parse_url
from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.values import JSON
from remembrancer.local import wire

KEY = "owner-key-of-the-test"
URL = "http://127.0.0.1:8787"


class _App(httpx.AsyncBaseTransport):
    """Hands requests to the ASGI app, opened for each, as a server on the folder would."""

    def __init__(self, program: Program) -> None:
        self._data = str(program.data)

    def made(self, local: wire.LocalApp) -> wire.LocalApp:
        """What is served."""
        return local

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        environ = {"CHATBOX_API_KEY": KEY}
        async with wire.open_app(self._data, environ) as local:
            inner = httpx.ASGITransport(wire.make_asgi(self.made(local)))
            response = await inner.handle_async_request(request)
            return httpx.Response(
                response.status_code, headers=response.headers, content=await response.aread()
            )


@pytest.fixture
def remote(program: Program, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a command against the application as if it were a server elsewhere."""
    plain = httpx.AsyncClient

    def client(**options: Any) -> httpx.AsyncClient:
        return plain(**{**options, "transport": _App(program)})

    monkeypatch.setattr(httpx, "AsyncClient", client)

    def run(*arguments: str, token: str = KEY) -> Any:
        return program.bare(*arguments, "--url", URL, "--token", token)

    return run


def _plain(value: JSON, ids: dict[str, str]) -> JSON:
    """A value without what differs from run to run: ids are numbered, times are gone.

    A score depends on whether the match is embedded yet, which is done behind a server's answer.
    """
    if isinstance(value, dict):
        return {
            name: "a score" if name == "score" else _plain(each, ids)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_plain(each, ids) for each in value]
    if isinstance(value, str) and value[3:4] == "_" and len(value) == 30:
        return ids.setdefault(value, f"id {len(ids)}")
    if isinstance(value, str) and re.fullmatch(r"20\d\d-.*Z", value):
        return value if value.startswith("2030") else "a time"
    return value


SESSION: tuple[tuple[str, ...], ...] = (
    ("tasks", "add", "写报告", "#工作", "+report", "--due", "2030-01-01 09:00"),
    ("remember", "likes tea", "--type", "preference"),
    ("tasks",),
    ("search", "tea"),
    ("projects", "objective", "report", "交报告"),
    ("projects",),
    ("topics", "add", "健康", "--priority", "3"),
    ("topics",),
    ("context",),
    ("context", "project", "report"),
    ("settings",),
    ("jobs", "run", "retention", "--force"),
    ("jobs", "pause", "dream"),
    ("jobs", "resume", "dream"),
    ("jobs", "preview", "--days", "3"),
    ("jobs", "show"),
    ("jobs",),
)


def test_remote_commands_answer_as_local_ones(
    program: Program, remote: Callable[..., Any], tmp_path: Any
) -> None:
    here = Program(tmp_path / "here")
    ids: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for command in SESSION:
        local = here(*command, "--json").json
        there = remote(*command, "--json").json
        for answer in (local, there):
            answer.pop("environment", None)
        assert _plain(there, ids[1]) == _plain(local, ids[0]), command


def test_remote_keys_verify_rebuild_and_doctor(remote: Callable[..., Any]) -> None:
    made = remote("keys", "create", "笔记本", "--json").json
    assert made["token"].startswith("rmb_")
    assert remote("keys", "--json").json["data"][0]["name"] == "笔记本"
    assert remote("tasks", token=made["token"]).code == 0
    assert remote("keys", token=made["token"]).code == 3
    assert "revoked" in remote("keys", "revoke", made["key"]["id"]).out
    assert remote("tasks", token=made["token"]).code == 3
    assert remote("verify", "--json").json["ok"] is True
    assert remote("rebuild", "--dry-run", "--json").json["events"] >= 1
    assert remote("doctor", "--json").json["health"]["status"] == "ok"


def test_remote_errors_keep_their_code(remote: Callable[..., Any]) -> None:
    assert remote("tasks", token="wrong").code == 3
    assert remote("tasks", token="").code == 3
    assert remote("tasks", "show", "itm_1").code == 4
    assert remote("tasks", "add", "x", "--due", "2026-02-30", "--json").error["code"] == (
        "invalid_date"
    )
    assert remote("tasks", "--namespace", "other").code == 0


def _server(answer: Callable[[httpx.Request], httpx.Response]) -> RemoteServer:
    place = Place(url=URL, token=KEY, namespace="家人".encode().hex())
    return RemoteServer(place, transport=httpx.MockTransport(answer))


def _refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def _wait(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("slow", request=request)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(_refuse, "store_unavailable", id="nobody-there"),
        pytest.param(_wait, "timed_out", id="too-slow"),
        pytest.param(lambda _: httpx.Response(200, text="<html>"), "upstream_failed", id="html"),
        pytest.param(lambda _: httpx.Response(200, json=[1]), "upstream_failed", id="list"),
        pytest.param(lambda _: httpx.Response(502, json={"a": 1}), "upstream_failed", id="proxy"),
        pytest.param(lambda _: httpx.Response(202), "upstream_failed", id="no-answer"),
        pytest.param(
            lambda _: httpx.Response(429, json={"error": {"code": "rate_limited", "message": "m"}}),
            "rate_limited",
            id="ours",
        ),
        pytest.param(
            lambda _: httpx.Response(429, json={"error": {"code": "new_one", "message": "m"}}),
            "internal_error",
            id="newer",
        ),
        pytest.param(
            lambda _: httpx.Response(
                200, json={"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "没有"}}
            ),
            "internal_error",
            id="jsonrpc",
        ),
    ],
)
async def test_remote_failure_becomes_our_error(
    answer: Callable[[httpx.Request], httpx.Response], code: str
) -> None:
    async with _server(answer) as server:
        with pytest.raises(RemembrancerError) as caught:
            await Door(server.send).call("list_items", {})
        assert caught.value.code == code
        if code not in ("internal_error", "rate_limited"):
            with pytest.raises(RemembrancerError) as caught:
                await server.ask("GET", "/v1/keys")


async def test_remote_answer_may_be_a_stream() -> None:
    done = {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"items": []}}}
    told = {"jsonrpc": "2.0", "method": "notifications/progress"}
    text = f": alive\n\ndata: {json.dumps(told)}\n\nevent: message\ndata: {json.dumps(done)}\n\n"

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})

    async with _server(answer) as server:
        assert await Door(server.send).call("list_items", {}) == {"items": []}


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://memory.example.org", "https://memory.example.org"),
        ("https://memory.example.org/", "https://memory.example.org"),
        ("http://localhost:8787/mcp", "http://localhost:8787"),
        ("http://[::1]:1/under/mcp/", "http://[::1]:1/under"),
    ],
)
def test_address_of_a_server_is_taken_in_its_forms(url: str, base: str) -> None:
    assert parse_url(url) == base


@pytest.mark.parametrize(
    "url",
    ["", "memory", "ftp://x", "http://", "http://u:geheim@x", "http://x?token=geheim", "http://[x"],
)
def test_address_that_is_none_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_url(url)
    assert "geheim" not in str(caught.value)


async def _lines(*messages: Answer | bytes) -> AsyncIterator[bytes]:
    for message in messages:
        yield message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


async def _relayed(
    answer: Callable[[httpx.Request], httpx.Response], *messages: Answer | bytes
) -> list[Any]:
    written: list[bytes] = []

    async def write(line: bytes) -> None:
        written.append(line)

    async with _server(answer) as server:
        await Relay(server, write).run(_lines(*messages))
    return [json.loads(line) for line in written]


def _echo(request: httpx.Request) -> httpx.Response:
    """Answers with what arrived: the message and the headers of the protocol."""
    message = json.loads(request.content)
    if "id" not in message:
        return httpx.Response(202)
    headers = {name: value for name, value in request.headers.items() if name.startswith("mcp-")}
    result: Answer = {"got": message.get("params"), "headers": dict(headers)}
    if message["method"] == "initialize":
        result["protocolVersion"] = "2025-06-18"
    return httpx.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": result})


async def test_relay_remembers_what_the_first_request_settled() -> None:
    hello: Answer = {"clientInfo": {"name": "小红"}, "protocolVersion": "2025-06-18"}
    answers = await _relayed(
        _echo,
        {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        b"\n",
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    )
    assert [each["id"] for each in answers] == ["a", 2]
    assert answers[0]["result"]["headers"] == {}
    later = answers[1]["result"]
    assert later["headers"] == {"mcp-protocol-version": "2025-06-18"}
    assert later["got"] == {"_meta": {"io.modelcontextprotocol/clientInfo": {"name": "小红"}}}


async def test_relay_adds_the_headers_of_the_current_revision() -> None:
    meta: Answer = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    params: Answer = {"_meta": meta, "name": "工具"}
    message: Answer = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    [answer] = await _relayed(_echo, message)
    assert answer["result"]["headers"] == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "=?base64?5bel5YW3?=",
    }


async def test_relay_tells_of_failures_in_the_protocol_s_form() -> None:
    message: Answer = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
    [answer] = await _relayed(_refuse, message, {"jsonrpc": "2.0", "method": "notifications/x"})
    assert answer["id"] == 7
    assert answer["error"]["data"]["code"] == "store_unavailable"


async def test_relay_hands_on_what_is_no_message() -> None:
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}}
    answers = await _relayed(lambda _: httpx.Response(400, json=refused), b"{nonsense\n", b"[1]\n")
    assert answers == [refused, refused]


def _echo_batch(request: httpx.Request) -> httpx.Response:
    sent = json.loads(request.content)
    if not isinstance(sent, list):
        hello: Answer = {"protocolVersion": "2025-03-26"}
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": sent["id"], "result": hello})
    version = request.headers.get("mcp-protocol-version")
    said = [
        {"jsonrpc": "2.0", "id": each["id"], "result": {"got": each, "version": version}}
        for each in sent
        if isinstance(each, dict) and "id" in each
    ]
    return httpx.Response(200, json=said) if said else httpx.Response(202)


async def test_relay_passes_a_batch_on_and_its_answers_back_as_one() -> None:
    hello: Answer = {"clientInfo": {"name": "小红"}, "protocolVersion": "2025-03-26"}
    note: Answer = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    batch = [{"jsonrpc": "2.0", "id": one, "method": "tools/list"} for one in (1, "二")]
    answers = await _relayed(
        _echo_batch,
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        json.dumps([note, 7, *batch]).encode() + b"\n",
        json.dumps([note]).encode() + b"\n",
    )
    assert [each["id"] for each in answers[1]] == [1, "二"]
    first = answers[1][0]["result"]
    assert first["version"] == "2025-03-26"
    assert first["got"]["params"]["_meta"] == {
        "io.modelcontextprotocol/clientInfo": {"name": "小红"}
    }
    assert len(answers) == 2


async def test_relay_answers_every_request_of_a_batch_that_fails() -> None:
    batch = [{"jsonrpc": "2.0", "id": one, "method": "tools/list"} for one in (1, 2)]
    lines = (json.dumps(batch).encode() + b"\n", b'[{"jsonrpc":"2.0","method":"n"}]\n')
    [answers] = await _relayed(_refuse, *lines)
    assert [each["id"] for each in answers] == [1, 2]
    assert {each["error"]["data"]["code"] for each in answers} == {"store_unavailable"}


async def test_relay_gives_up_what_the_client_cancels() -> None:
    asked = asyncio.Event()

    async def never(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        if message.get("id") == 1:
            asked.set()
            await asyncio.Event().wait()
        return _echo(request)

    async def lines() -> AsyncIterator[bytes]:
        async for line in _lines({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}):
            yield line
        await asked.wait()
        cancel: Answer = {"requestId": 1}
        async for line in _lines(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ):
            yield line

    written: list[Any] = []

    async def write(line: bytes) -> None:
        written.append(json.loads(line))

    place = Place(url=URL, token=KEY)
    async with RemoteServer(place, transport=httpx.MockTransport(never)) as server:
        await asyncio.wait_for(Relay(server, write).run(lines()), 5)
    assert [message["id"] for message in written] == [2]


def test_remote_commands_show_themselves_to_people(remote: Callable[..., Any]) -> None:
    remote("topics", "add", "健康")
    for command in (("doctor",), ("settings",), ("verify",), ("rebuild",), ("topics",), ("keys",)):
        shown = remote(*command)
        assert shown.code == 0, shown.err
        assert shown.out
    assert "rmb_" in remote("keys", "create", "看").out
