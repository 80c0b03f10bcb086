"""The first look: which rung of the ladder breaks, for every kind of message."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pytest
from tests.protocol.mcp.sample import body, envelope

from remembrancer.core.values import JSON
from remembrancer.mcp.classify import (
    BATCH_MAX,
    CAPABILITIES_KEY,
    LEGACY,
    MODERN,
    VERSION_KEY,
    Batch,
    Notification,
    Rejection,
    Request,
    Response,
    classify,
)

NO_HEADERS: Mapping[str, str] = {}


def _modern_headers(method: str, **more: str) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {"mcp-protocol-version": MODERN, "mcp-method": method, **named}


@pytest.mark.parametrize(
    ("message", "code", "id_"),
    [
        pytest.param("text", -32600, None, id="text"),
        pytest.param(None, -32600, None, id="null"),
        pytest.param(7, -32600, None, id="number"),
        pytest.param({}, -32600, None, id="empty"),
        pytest.param({"jsonrpc": "1.0", "id": 4, "method": "ping"}, -32600, 4, id="old"),
        pytest.param({"jsonrpc": "2.0", "id": 4}, -32600, 4, id="no-method"),
        pytest.param({"jsonrpc": "2.0", "id": "a", "method": 3}, -32600, "a", id="method-number"),
        pytest.param({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600, None, id="id-null"),
        pytest.param({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600, None, id="id-bool"),
        pytest.param({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600, None, id="id-float"),
        pytest.param({"jsonrpc": "2.0", "id": [1], "method": "ping"}, -32600, None, id="id-list"),
        pytest.param({**body("p"), "params": [1]}, -32602, 1, id="params"),
        pytest.param(body("ping", {"_meta": 3}), -32602, 1, id="meta"),
        pytest.param([], -32600, None, id="empty-batch"),
    ],
)
@pytest.mark.parametrize("headers", [None, NO_HEADERS], ids=["lines", "http"])
def test_classify_malformed_message_is_rejected(
    message: JSON, code: int, id_: JSON, headers: Mapping[str, str] | None
) -> None:
    rejection = classify(message, headers)
    assert isinstance(rejection, Rejection)
    assert (rejection.code, rejection.http_status, rejection.id) == (code, 400, id_)
    answer = rejection.answer()
    assert answer["id"] == id_
    assert isinstance(answer["error"], dict)


@pytest.mark.parametrize(
    ("headers", "meta", "version"),
    [
        pytest.param(None, {}, "2025-11-25", id="lines"),
        pytest.param({}, {}, "2025-03-26", id="no-header"),
        *(pytest.param({"mcp-protocol-version": v}, {}, v, id=f"header-{v}") for v in LEGACY),
        pytest.param(None, {VERSION_KEY: "2025-06-18"}, "2025-06-18", id="meta-lines"),
        pytest.param({}, {VERSION_KEY: "2025-06-18"}, "2025-06-18", id="meta-http"),
        pytest.param(
            {"mcp-protocol-version": "2025-06-18"},
            {VERSION_KEY: "2025-06-18"},
            "2025-06-18",
            id="meta-and-header",
        ),
    ],
)
def test_classify_legacy_request_keeps_its_version(
    headers: Mapping[str, str] | None, meta: dict[str, JSON], version: str
) -> None:
    request = classify(body("tools/call", {"name": "a", "_meta": meta}), headers)
    assert isinstance(request, Request)
    assert (request.version, request.is_modern) == (version, False)
    assert request.capabilities == {}
    assert request.client_name is None


@pytest.mark.parametrize("params", [None, {}], ids=["absent", "empty"])
def test_classify_request_without_params_has_empty_ones(params: dict[str, JSON] | None) -> None:
    request = classify(body("ping", params), NO_HEADERS)
    assert isinstance(request, Request)
    assert request.params == {}


def test_classify_null_params_are_taken_as_none() -> None:
    message: JSON = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}
    assert isinstance(classify(message, NO_HEADERS), Request)


@pytest.mark.parametrize("headers", [None, _modern_headers("tools/list")], ids=["lines", "http"])
def test_classify_modern_request_passes_every_rung(headers: Mapping[str, str] | None) -> None:
    meta = envelope(capabilities={"elicitation": {}})
    request = classify(body("tools/list", {"_meta": meta}), headers)
    assert isinstance(request, Request)
    assert request.is_modern
    assert request.client_name == "Tester 9"
    assert request.capabilities == {"elicitation": {}}
    assert request.headers == (None if headers is None else {})


@pytest.mark.parametrize("client", ["text", {"name": 7}, {}, None], ids=str)
def test_classify_malformed_client_info_is_no_name(client: JSON) -> None:
    request = classify(body("ping", {"_meta": envelope(client=client)}), None)
    assert isinstance(request, Request)
    assert request.client_name is None


def test_classify_initialize_params_give_the_client_name() -> None:
    request = classify(body("initialize", {"clientInfo": {"name": "Old"}}), None)
    assert isinstance(request, Request)
    assert request.client_name == "Old"


@pytest.mark.parametrize(
    ("meta", "headers", "code"),
    [
        pytest.param(None, _modern_headers("m"), -32602, id="no-meta"),
        pytest.param([], _modern_headers("m"), -32602, id="meta-list"),
        pytest.param({}, _modern_headers("m"), -32602, id="meta-empty"),
        pytest.param({VERSION_KEY: MODERN}, _modern_headers("m"), -32602, id="no-capabilities"),
        pytest.param({VERSION_KEY: MODERN}, None, -32602, id="no-capabilities-lines"),
        pytest.param({CAPABILITIES_KEY: {}}, _modern_headers("m"), -32602, id="no-version"),
        pytest.param({VERSION_KEY: MODERN, CAPABILITIES_KEY: 1}, None, -32602, id="capabilities"),
        pytest.param({VERSION_KEY: 7, CAPABILITIES_KEY: {}}, None, -32602, id="version-number"),
        pytest.param(envelope(), {}, -32020, id="no-headers"),
        pytest.param(envelope(), {"mcp-protocol-version": MODERN}, -32020, id="no-method-header"),
        pytest.param(envelope(), _modern_headers("other"), -32020, id="method-header"),
        pytest.param(
            envelope(), {"mcp-protocol-version": "2025-06-18"}, -32020, id="legacy-header"
        ),
        pytest.param(
            {VERSION_KEY: "2025-06-18"},
            {"mcp-protocol-version": "2025-11-25"},
            -32020,
            id="two-legacy-versions",
        ),
        pytest.param(
            {**envelope(), VERSION_KEY: "2031-01-01"}, _modern_headers("m"), -32020, id="disagree"
        ),
        pytest.param({**envelope(), VERSION_KEY: "2031-01-01"}, None, -32022, id="unknown-lines"),
        pytest.param(
            {**envelope(), VERSION_KEY: "v9"},
            {"mcp-protocol-version": "v9", "mcp-method": "m"},
            -32022,
            id="unknown-http",
        ),
        pytest.param({}, {"mcp-protocol-version": "v9"}, -32022, id="unknown-header"),
    ],
)
def test_classify_modern_ladder_stops_at_the_first_broken_rung(
    meta: JSON, headers: Mapping[str, str] | None, code: int
) -> None:
    params: dict[str, JSON] = {} if meta is None else {"_meta": meta}
    rejection = classify(body("m", params, id_="q"), headers)
    assert isinstance(rejection, Rejection)
    assert (rejection.code, rejection.http_status, rejection.id) == (code, 400, "q")


def test_classify_unsupported_version_names_what_is_served() -> None:
    inside = classify(body("m", {"_meta": {**envelope(), VERSION_KEY: "v9"}}), None)
    outside = classify(body("m"), {"mcp-protocol-version": "v9"})
    assert isinstance(inside, Rejection)
    assert isinstance(outside, Rejection)
    assert inside.data == {"supported": [MODERN], "requested": "v9"}
    assert outside.data == {"supported": [MODERN, *LEGACY], "requested": "v9"}


@pytest.mark.parametrize(
    ("method", "params", "header", "agrees"),
    [
        pytest.param("tools/call", {"name": "add"}, "add", True, id="tool"),
        pytest.param("tools/call", {"name": "add"}, "Add", False, id="case"),
        pytest.param("tools/call", {"name": "add"}, None, False, id="absent"),
        pytest.param("tools/call", {}, None, True, id="both-absent"),
        pytest.param("prompts/get", {"name": "问候"}, "问候", True, id="chinese-encoded"),
        pytest.param("resources/read", {"uri": "memo://今日"}, "memo://今日", True, id="uri"),
        pytest.param("resources/read", {"uri": "memo://a"}, "memo://b", False, id="other-uri"),
        pytest.param("tools/call", {"name": 3}, "3", False, id="name-number"),
    ],
)
def test_classify_name_header_must_equal_the_body(
    method: str, params: dict[str, JSON], header: str | None, agrees: bool
) -> None:
    headers = _modern_headers(method)
    if header is not None:
        encoded = base64.b64encode(header.encode()).decode()
        headers["mcp-name"] = header if header.isascii() else f"=?base64?{encoded}?="
    outcome = classify(body(method, {**params, "_meta": envelope()}), headers)
    assert isinstance(outcome, Request) is agrees
    if isinstance(outcome, Rejection):
        assert outcome.code == -32020


def test_classify_keeps_only_argument_headers() -> None:
    headers = _modern_headers("tools/list", mcp_param_region="eu", mcp_session_id="s")
    request = classify(body("tools/list", {"_meta": envelope()}), headers)
    assert isinstance(request, Request)
    assert request.headers == {"mcp-param-region": "eu"}


def test_classify_notification_needs_no_envelope() -> None:
    message: JSON = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for headers in (None, {}, {"mcp-protocol-version": MODERN}):
        assert isinstance(classify(message, headers), Notification)
    rejection = classify(message, {"mcp-protocol-version": "v9"})
    assert isinstance(rejection, Rejection)
    assert (rejection.code, rejection.id) == (-32022, None)


@pytest.mark.parametrize("member", ["result", "error"])
def test_classify_answer_is_a_response(member: str) -> None:
    assert isinstance(classify({"jsonrpc": "2.0", "id": 1, member: {}}, None), Response)


BATCHES = {"mcp-protocol-version": "2025-03-26"}


@pytest.mark.parametrize("headers", [BATCHES, {}], ids=["named", "older-than-the-header"])
def test_classify_batch_of_its_revision_is_taken_apart(headers: dict[str, str]) -> None:
    members: list[JSON] = [
        body("ping", id_=1),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        body("initialize", id_=2),
        [body("ping")],
        "text",
    ]
    batch = classify(members, headers)
    assert isinstance(batch, Batch)
    kinds = [type(message) for message in batch.messages]
    assert kinds == [Request, Notification, Rejection, Rejection, Rejection]


@pytest.mark.parametrize("count", [0, BATCH_MAX, BATCH_MAX + 1])
def test_classify_batch_size_is_limited(count: int) -> None:
    members: list[JSON] = [body("ping", id_=number) for number in range(count)]
    assert isinstance(classify(members, BATCHES), Batch) is (count == BATCH_MAX)


@pytest.mark.parametrize("version", [MODERN, *LEGACY[:2], None])
def test_classify_batch_of_another_revision_or_over_lines_is_rejected(version: str | None) -> None:
    headers = None if version is None else {"mcp-protocol-version": version}
    rejection = classify([body("ping")], headers)
    assert isinstance(rejection, Rejection)
    assert rejection.code == -32600
