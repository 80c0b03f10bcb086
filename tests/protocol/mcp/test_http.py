"""The HTTP side: status, headers and form of every answer, through the ASGI app in-process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.responses import Response
from starlette.types import ASGIApp
from tests.protocol.mcp.sample import SampleApp, body, envelope, sample_server
from tests.protocol.rest.doors import OWNER, http_scope, serve

from remembrancer.app.state import App
from remembrancer.core.values import JSON, Caller
from remembrancer.http import mcp as door
from remembrancer.http.calls import Call as HttpCall
from remembrancer.http.mcp import McpQuery, answer_post, mcp_route
from remembrancer.http.route_table import Route
from remembrancer.mcp.arguments import NoArguments
from remembrancer.mcp.call import Call
from remembrancer.mcp.classify import MODERN
from remembrancer.mcp.dispatch import McpServer
from remembrancer.mcp.jsonrpc import Message
from remembrancer.mcp.registry import Registry, Tool

BOTH = "application/json, text/event-stream"


async def _whose(app: App, caller: Caller, arguments: NoArguments) -> dict[str, object]:
    return {"namespace": caller.namespace, "at_ms": app.runtime.now_ms()}


def _own_route() -> Route[McpQuery, None]:
    tool: Tool[App, NoArguments] = Tool("whose", "Whose", "Tells.", _whose, NoArguments)
    return mcp_route(McpServer(Registry([tool]), name="own", version="1"))


def _sample_asgi(app: SampleApp | None = None) -> ASGIApp:
    """The sample's server behind the real route and all that stands before it."""
    server, held = sample_server(), app or SampleApp()

    async def handle(call: HttpCall[McpQuery, None]) -> Response:
        own = Call(held, call.caller)
        tools = call.query.tools
        return await answer_post(server, own, body=call.raw, headers=call.headers, tools=tools)

    return serve(routes=[replace(_own_route(), handler=handle)]).asgi


@asynccontextmanager
async def _client(asgi: ASGIApp | None = None) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(asgi or _sample_asgi())
    async with httpx.AsyncClient(
        transport=transport,
        base_url="http://127.0.0.1:8787",
        headers={**OWNER, "accept": BOTH, "content-type": "application/json"},
    ) as client:
        yield client


def _modern(method: str, **params: JSON) -> tuple[Message, dict[str, str]]:
    meta = params.pop("_meta", {})
    assert isinstance(meta, dict)
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    name = params.get("name", params.get("uri"))
    if isinstance(name, str):
        headers["mcp-name"] = name
    return body(method, {**params, "_meta": envelope(**meta)}), headers


@pytest.mark.parametrize("path", ["/mcp", "/memory-mcp", "/mcp?token=sk-mcp&tools=all"])
async def test_route_gives_tools_the_app_and_the_caller(path: str) -> None:
    message = body("tools/call", {"name": "whose"})
    served = serve(routes=[_own_route()])
    headers = {"authorization": ""} if "token" in path else {}
    async with _client(served.asgi) as client:
        answer = await client.post(path, json=message, headers=headers)
    assert answer.json()["result"]["structuredContent"] == {
        "namespace": "default",
        "at_ms": served.runtime.at_ms,
    }


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://localhost:3000", 200), ("https://evil.example", 403)],
    ids=["local", "foreign"],
)
async def test_foreign_page_is_refused_before_the_key_is_read(origin: str, status: int) -> None:
    for key, expected in (("Bearer sk-owner", status), ("", max(status, 401))):
        async with _client() as client:
            answer = await client.post(
                "/mcp", json=body("ping"), headers={"origin": origin, "authorization": key}
            )
        assert answer.status_code == expected


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_missing_key_is_asked_for_before_the_method(method: str) -> None:
    async with _client() as client:
        answer = await client.request(method, "/mcp", headers={"authorization": "Bearer bad"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="remembrancer"'
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_other_methods_are_not_allowed(method: str) -> None:
    async with _client() as client:
        answer = await client.request(method, "/mcp")
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]
    assert "GET" not in answer.headers["allow"]


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
    ],
)
async def test_discovery_of_an_authority_is_plainly_not_found(path: str) -> None:
    async with _client() as client:
        for method in ("GET", "POST"):
            answer = await client.request(method, path, headers={"authorization": ""})
            assert answer.status_code == 404
            assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"", -32700, id="empty"),
        pytest.param(b"{", -32700, id="cut"),
        pytest.param(b"\xff\xfe", -32700, id="not-utf8"),
        pytest.param(b'{"a":NaN}', -32700, id="nan"),
        pytest.param(b'{"a":"\\ud800"}', -32700, id="lone-surrogate"),
        pytest.param(b"[" * 200_000, -32700, id="deep"),
        pytest.param(b'{"a":' * 200 + b"1" + b"}" * 200, -32600, id="nested-to-the-limit"),
        pytest.param(b'{"a":' * 200 + b"[]" + b"}" * 200, -32700, id="nested-too-deep"),
        pytest.param(b"1" * 5_000, -32700, id="long-number"),
        pytest.param(b'{"a":-1e999}', -32700, id="infinite-number"),
        pytest.param(b"[]", -32600, id="batch"),
        pytest.param(b"7", -32600, id="number"),
    ],
)
async def test_body_that_is_no_message_is_refused(content: bytes, code: int) -> None:
    async with _client() as client:
        answer = await client.post("/mcp", content=content)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code
    assert answer.json()["id"] is None


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/没有"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
    ids=["notification", "unknown", "response"],
)
async def test_message_that_wants_no_answer_is_accepted_empty(message: JSON) -> None:
    async with _client() as client:
        answer = await client.post("/mcp", json=message)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("version", [None, "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_legacy_call_works_without_initialize(version: str | None) -> None:
    headers = {"mcp-session-id": "gone", "last-event-id": "7"}
    if version is not None:
        headers["mcp-protocol-version"] = version
    message = body("tools/call", {"name": "look"}, id_="读")
    async with _client() as client:
        answer = await client.post("/mcp", json=message, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["id"] == "读"
    assert answer.json()["result"]["structuredContent"] == {"seen": 1}


STATUSES = {
    "unknown-modern": (_modern("tasks/get"), 404, -32601),
    "unknown-legacy": ((body("tasks/get"), {}), 200, -32601),
    "bad-params": (_modern("tools/call", name="nobody"), 200, -32602),
    "missing-capability": (_modern("tools/call", name="confirm"), 400, -32021),
    "unknown-version": ((body("ping"), {"mcp-protocol-version": "v9"}), 400, -32022),
    "no-meta": ((body("tools/list"), {"mcp-protocol-version": MODERN}), 400, -32602),
    "no-method-header": (
        (_modern("tools/list")[0], {"mcp-protocol-version": MODERN}),
        400,
        -32020,
    ),
    "resource": (_modern("resources/read", uri="memo://x"), 200, -32602),
}


@pytest.mark.parametrize(("sent", "status", "code"), STATUSES.values(), ids=STATUSES)
async def test_error_has_the_status_of_its_code(
    sent: tuple[Message, Mapping[str, str]], status: int, code: int
) -> None:
    async with _client() as client:
        for accept in (BOTH, "application/json"):
            answer = await client.post("/mcp", json=sent[0], headers={**sent[1], "accept": accept})
            assert answer.status_code == status
            assert answer.json()["error"]["code"] == code
            assert answer.json()["id"] == 1


async def test_routing_header_sent_twice_equals_nothing() -> None:
    message, headers = _modern("tools/list")
    async with _client() as client:
        once = await client.post("/mcp", json=message, headers=headers)
        twice = await client.post(
            "/mcp", json=message, headers=[*headers.items(), ("mcp-method", "tools/list")]
        )
    assert once.status_code == 200
    assert (twice.status_code, twice.json()["error"]["code"]) == (400, -32020)


async def test_toolsets_come_from_the_query() -> None:
    async with _client() as client:
        journal = await client.post("/mcp?tools=journal", json=body("tools/list"))
        wrong = await client.post("/mcp?tools=jurnal", json=body("tools/list", id_=9))
        batch = await client.post(
            "/mcp?tools=x", json=[body("ping")], headers={"mcp-protocol-version": "2025-03-26"}
        )
    assert [tool["name"] for tool in journal.json()["result"]["tools"]] == ["wait", "talk"]
    assert (wrong.status_code, wrong.json()["id"]) == (400, 9)
    assert "Did you mean 'journal'?" in wrong.json()["error"]["message"]
    assert (batch.status_code, batch.json()["id"]) == (400, None)


async def test_batch_of_its_revision_is_answered_as_one() -> None:
    headers = {"mcp-protocol-version": "2025-03-26"}
    note: JSON = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    sent: list[JSON] = [body("ping", id_=1), note, 7, body("没有", id_=2)]
    async with _client() as client:
        answer = await client.post("/mcp", json=sent, headers=headers)
        silent = await client.post("/mcp", json=[note], headers=headers)
    assert answer.status_code == 200
    assert [each["id"] for each in answer.json()] == [1, None, 2]
    assert silent.status_code == 202


async def test_each_request_of_a_batch_counts_against_the_rate() -> None:
    served = serve({"RATE_LIMIT_PER_MINUTE": "5"}, routes=[_own_route()])
    note: JSON = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    calls = [body("tools/call", {"name": "whose"}, id_=number) for number in range(4)]
    async with _client(served.asgi) as client:
        client.headers["authorization"] = "Bearer sk-mcp"
        four = await client.post("/mcp", json=[note, *calls])
        two = await client.post("/mcp", json=[note, *calls[:2], 7])
        none = await client.post("/mcp", json=[note])
        served.runtime.advance(12_000)
        later = await client.post("/mcp", json=[note])
    assert [("result" in each) for each in four.json()] == [True] * 4
    done, refused, broken = two.json()
    assert "result" in done
    assert (refused["id"], refused["error"]["data"]["code"]) == (1, "rate_limited")
    assert "wait 12 s" in refused["error"]["data"]["hint"]
    assert broken["error"]["code"] == -32600
    assert none.status_code == 429
    assert later.status_code == 202


def _events(text: str) -> list[Message]:
    frames = [frame for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    assert all(frame.startswith("event: message\ndata: ") for frame in frames)
    return [json.loads(frame.removeprefix("event: message\ndata: ")) for frame in frames]


async def test_messages_ahead_of_the_answer_make_it_a_stream() -> None:
    message = body("tools/call", {"name": "talk", "_meta": {"progressToken": "p"}})
    async with _client() as client:
        streamed = await client.post("/mcp", json=message)
        plain = await client.post("/mcp", json=message, headers={"accept": "application/json"})
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.headers["x-accel-buffering"] == "no"
    *said, answer = _events(streamed.text)
    assert [each["method"] for each in said] == [
        "notifications/progress",
        "notifications/message",
        "notifications/message",
    ]
    assert answer == plain.json()


class _Stream:
    """One request whose client leaves after some pieces of the stream."""

    def __init__(self, message: Message, headers: Mapping[str, str], *, pieces: int = 1) -> None:
        self._pieces = pieces
        self.scope = http_scope("POST", "/mcp", {**OWNER, "accept": BOTH, **headers})
        self._unread = [json.dumps(message).encode()]
        self.has_enough = asyncio.Event()
        self.sent: list[Mapping[str, Any]] = []

    async def receive(self) -> dict[str, object]:
        if self._unread:
            return {"type": "http.request", "body": self._unread.pop()}
        await self.has_enough.wait()
        return {"type": "http.disconnect"}

    async def send(self, event: Mapping[str, Any]) -> None:
        self.sent.append(event)
        if event["type"] == "http.response.body":
            self._pieces -= 1
        if self._pieces == 0:
            self.has_enough.set()


@pytest.mark.parametrize("is_modern", [True, False], ids=["modern", "legacy"])
async def test_client_that_leaves_cancels_only_in_the_current_revision(is_modern: bool) -> None:
    app = SampleApp()
    token: dict[str, JSON] = {"progressToken": 1}
    message, headers = (
        _modern("tools/call", name="wait", _meta=token)
        if is_modern
        else (body("tools/call", {"name": "wait", "_meta": token}), dict[str, str]())
    )
    stream = _Stream(message, headers)
    await asyncio.wait_for(_sample_asgi(app)(stream.scope, stream.receive, stream.send), 5)
    assert app.started.is_set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert app.ended == (["wait"] if is_modern else [])
    for task in set(door._unfinished):
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert app.ended == ["wait"]


async def test_long_silence_opens_the_stream_and_says_it_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(door, "SILENCE_S", 0.001)
    stream = _Stream(*_modern("tools/call", name="wait"), pieces=2)
    await asyncio.wait_for(_sample_asgi()(stream.scope, stream.receive, stream.send), 5)
    start, *pieces = stream.sent
    assert start["status"] == 200
    assert [piece["body"] for piece in pieces[:2]] == [b": keep-alive\n\n"] * 2


async def test_server_that_stops_before_the_first_word_leaves_the_request() -> None:
    app = SampleApp()
    message, headers = _modern("tools/call", name="wait")
    stream = _Stream(message, headers)
    asgi = _sample_asgi(app)
    serving = asyncio.ensure_future(asgi(stream.scope, stream.receive, stream.send))
    await asyncio.wait_for(app.started.wait(), 5)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await asyncio.sleep(0)
    assert app.ended == ["wait"]
