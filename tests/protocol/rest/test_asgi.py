"""The ASGI app around every request: ids, headers, log lines, the outermost catch."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.responses import StreamingResponse
from tests.protocol.rest.doors import OWNER, Wire, error_of, http_scope, serve

from remembrancer.core.errors import CODES, CorruptData, StoreUnavailable
from remembrancer.http.answers import Answer
from remembrancer.http.asgi import SECURITY_HEADERS
from remembrancer.http.calls import Call
from remembrancer.http.request_log import LOGGER
from remembrancer.http.route_table import Route

MEMORY = "我的测试暗号是苹果星星 and a secret phrase"


async def _break(call: Call[None, None]) -> Answer:
    if call.path["how"] == "store":
        raise StoreUnavailable("the database did not answer")
    if call.path["how"] == "corrupt":
        raise CorruptData("a row is not what was written")
    if call.path["how"] == "chained":
        try:
            raise KeyError(MEMORY)
        except KeyError as error:
            raise RuntimeError(MEMORY) from error
    raise ValueError(MEMORY)


async def _chunks() -> AsyncIterator[bytes]:
    yield b"data: one\n\n"
    raise ValueError(MEMORY)


async def _stream(_: Call[None, None]) -> StreamingResponse:
    return StreamingResponse(_chunks(), media_type="text/event-stream")


BROKEN = (
    Route(
        method="GET",
        path="/break/{how}",
        name="break",
        area="test",
        summary="Fails",
        params={"how": "How."},
        scope="memory:read",
        handler=_break,
    ),
    Route(
        method="GET",
        path="/stream",
        name="stream",
        area="test",
        summary="Fails half way",
        scope=None,
        handler=_stream,
    ),
)


def _lines(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    parsed = [json.loads(record.getMessage()) for record in caplog.records]
    return [line for line in parsed if line["event"] == event]


@pytest.mark.parametrize("path", ["/health", "/nothing", "/docs", "/v1/keys"])
async def test_answer_any_has_security_headers_and_a_request_id(path: str) -> None:
    served = serve()
    async with served.client() as client:
        response = await client.get(path)
    for name in SECURITY_HEADERS:
        assert name in response.headers
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-request-id"].startswith("req_")


async def test_answer_private_is_not_stored() -> None:
    async with serve().client() as client:
        response = await client.get("/v1/keys", headers=OWNER)
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [
        ("abc-123._X", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("two words", False),
        ("a\tb", False),
        ('{"a":1}', False),
    ],
)
async def test_request_id_fit_for_a_log_is_kept_else_replaced(sent: str, is_kept: bool) -> None:
    async with serve().client() as client:
        response = await client.get("/health", headers={"x-request-id": sent})
    assert (response.headers["x-request-id"] == sent) is is_kept


async def test_change_behind_a_proxy_that_numbers_requests_tells_what_undo_takes() -> None:
    async with serve().client() as client:
        numbered = {**OWNER, "x-request-id": "proxy-1"}
        made = await client.post("/v1/items", json={"title": "代理后面"}, headers=numbered)
        cause = made.headers["x-remembrancer-cause"]
        undone = await client.post("/v1/undo", json={"cause": cause}, headers=OWNER)
        plain = await client.post("/v1/items", json={"title": "直接"}, headers=OWNER)
    assert made.headers["x-request-id"] == "proxy-1"
    assert undone.status_code == 200, undone.text
    assert plain.headers["x-remembrancer-cause"] == plain.headers["x-request-id"]


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("any", "internal_error"),
        ("chained", "internal_error"),
        ("store", "store_unavailable"),
        ("corrupt", "corrupt_data"),
    ],
)
async def test_defect_is_answered_in_our_shape_and_logged_without_its_text(
    how: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER.name)
    async with serve(routes=BROKEN).client() as client:
        response = await client.get(f"/break/{how}", headers=OWNER)
    error = error_of(response, status=CODES[code].http, code=code)
    assert MEMORY not in response.text
    [defect] = _lines(caplog, "defect")
    assert defect["id"] == error["request_id"]
    assert any("_break" in frame for frame in defect["chain"][0]["at"])
    assert len(defect["chain"]) == (2 if how == "chained" else 1)
    assert "苹果" not in caplog.text
    assert "secret phrase" not in caplog.text


async def test_defect_after_the_answer_began_ends_the_stream_without_a_second_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, LOGGER.name)
    wire = Wire([b""])
    await serve(routes=BROKEN).asgi(http_scope("GET", "/stream"), wire.receive, wire.send)
    starts = [message for message in wire.sent if message["type"] == "http.response.start"]
    assert len(starts) == 1
    assert wire.sent[-1]["more_body"] is True
    [line] = _lines(caplog, "request")
    assert line["error"] == "internal_error"
    assert "secret phrase" not in caplog.text


async def test_log_has_one_line_per_request_without_query_path_token_or_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, LOGGER.name)
    async with serve().client() as client:
        await client.get("/v1/keys?limit=7&cursor=记忆", headers={**OWNER, "x-request-id": "mine"})
        await client.get("/苹果星星?token=sk-owner", headers=OWNER)
    first, second = _lines(caplog, "request")
    assert first["id"] == "mine"
    assert first["cause"].startswith("req_")
    assert first["route"] == "list_keys"
    assert first["status"] == 400
    assert first["error"] == "invalid_input"
    assert first["key"] == "CHATBOX_API_KEY"
    assert first["queries"] == 0
    assert first["ms"] == 0
    assert second["route"] == "-"
    assert second["status"] == 404
    assert "cause" not in second
    for text in ("sk-owner", "limit", "记忆", "苹果", "\\u"):
        assert text not in caplog.text


async def test_log_counts_queries_and_statements(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER.name)
    async with serve().client() as client:
        await client.get("/health")
    [line] = _lines(caplog, "request")
    assert (line["queries"], line["statements"], line["status"]) == (1, 6, 200)


@pytest.mark.parametrize("method", ["TRACE", "FOO", "POST"])
async def test_method_unknown_is_405_with_allow(method: str) -> None:
    async with serve().client() as client:
        response = await client.request(method, "/health")
    error = error_of(response, status=405, code="method_not_allowed")
    assert response.headers["allow"] == "GET, HEAD, OPTIONS"
    assert "GET" in error["hint"]


async def test_head_answers_like_get_without_a_body() -> None:
    async with serve().client() as client:
        get, head = await client.get("/health"), await client.head("/health")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"]


async def test_options_without_an_origin_tells_the_methods() -> None:
    async with serve().client() as client:
        response = await client.options("/v1/keys")
    assert response.status_code == 204
    assert response.headers["allow"] == "GET, HEAD, OPTIONS, POST"


async def test_lifespan_start_and_stop_are_answered() -> None:
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent: list[str] = []

    async def receive() -> dict[str, str]:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await serve().asgi({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_websocket_is_closed() -> None:
    wire = Wire([])
    await serve().asgi({"type": "websocket"}, wire.receive, wire.send)
    assert wire.sent == [{"type": "websocket.close", "code": 1000}]
