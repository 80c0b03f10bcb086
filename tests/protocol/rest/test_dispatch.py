"""The steps before a handler: origin, key, namespace, rate, conditions, body."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from tests.protocol.rest.doors import OWNER, Served, Wire, error_of, http_scope, serve

from remembrancer.core.values import Caller
from remembrancer.http.answers import Answer
from remembrancer.http.bodies import DRAIN_BYTES_MAX
from remembrancer.http.calls import Call
from remembrancer.http.errors import RateLimited
from remembrancer.http.origins import is_loopback
from remembrancer.http.parsing import Body, Query
from remembrancer.http.rate_limit import BUCKETS_MAX, RateLimiter
from remembrancer.http.route_table import Route


class EchoQuery(Query):
    """A query of every kind."""

    number: int | None = Field(None, ge=1, le=9)
    words: list[str] = Field(default_factory=list)
    text: str = ""


class EchoBody(Body):
    """A body of every kind."""

    text: str = ""
    number: int = 0
    ratio: float = 0.5
    flag: bool = False
    parts: list[str] = Field(default_factory=list)


async def _echo(call: Call[EchoQuery, EchoBody]) -> Answer:
    caller = call.caller
    body: dict[str, Any] = {
        "namespace": caller.namespace,
        "actor": caller.actor,
        "key": caller.key_id,
        "path": dict(call.path),
        "query": call.query.model_dump(),
        "body": call.body.model_dump(),
        "expected": call.expected_version,
        "idempotency": _shown(caller),
    }
    return Answer(body, version=3)


def _shown(caller: Caller) -> list[str] | None:
    if caller.idempotency is None:
        return None
    return [caller.idempotency.key, caller.idempotency.request_hash]


async def _raw(call: Call[None, None]) -> Answer:
    return Answer({"bytes": len(call.raw), "key": call.caller.key_id})


ECHO = (
    Route(
        method="PUT",
        path="/echo/{name}",
        name="echo",
        area="test",
        summary="Says it again",
        params={"name": "A name."},
        scope="memory:write",
        query=EchoQuery,
        body=EchoBody,
        if_match=True,
        handler=_echo,
    ),
    Route(
        method="POST",
        path="/raw",
        name="raw",
        area="test",
        summary="Counts bytes",
        scope="memory:read",
        raw_body=("*/*",),
        query_token=True,
        handler=_raw,
    ),
)


async def _put(
    served: Served, url: str = "/echo/x", *, peer: str = "203.0.113.9", **options: Any
) -> httpx.Response:
    options.setdefault("headers", {})
    options["headers"] = {**OWNER, "content-type": "application/json", **options["headers"]}
    async with served.client(peer=peer) as client:
        return await client.put(url, **options)


async def test_call_is_parsed_in_both_scripts_and_answered_with_an_etag() -> None:
    served = serve(routes=ECHO)
    url = "/echo/%E8%AE%B0%E5%BF%86?number=5&words=a&words=二&text=%E4%BD%A0%20ok"
    response = await _put(served, url, json={"text": "请记住", "number": 2, "parts": ["一"]})
    assert response.status_code == 200
    assert response.headers["etag"] == '"3"'
    body = response.json()
    assert body["path"] == {"name": "记忆"}
    assert body["query"] == {"number": 5, "words": ["a", "二"], "text": "你 ok"}
    assert body["body"]["text"] == "请记住"
    assert body["actor"] == "user"
    assert body["namespace"] == "default"


async def test_call_raw_utf8_in_the_query_is_understood() -> None:
    scope = http_scope("PUT", "/echo/x", OWNER)
    scope["query_string"] = "text=下周五".encode()
    wire = Wire([b"{}"])
    await serve(routes=ECHO).asgi(scope, wire.receive, wire.send)
    assert "下周五".encode() in wire.sent[1]["body"]


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("/echo/x?number=0", "number is '0'"),
        ("/echo/x?number=ten", "number is 'ten'"),
        ("/echo/x?number=1&number=2", "'number' is given twice"),
        ("/echo/x?other=1", "unknown parameter 'other'"),
        ("/echo/x?text=%ff", "not UTF-8"),
        ("/echo/%ff", "name in the path"),
        ("/echo/a%00b", "name in the path"),
        ("/echo/x?" + "&".join("words=a" for _ in range(101)), "more than 100"),
    ],
)
async def test_call_with_a_wrong_address_is_invalid_and_says_what(url: str, named: str) -> None:
    error = error_of(await _put(serve(routes=ECHO), url, json={}), status=400, code="invalid_input")
    assert named in error["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"number": "5"}, "number"),
        ({"number": 1.5}, "number"),
        ({"flag": "yes"}, "flag"),
        ({"text": 7}, "text"),
        ({"text": None}, "text"),
        ({"parts": "a"}, "parts"),
        ({"parts": ["a", 2]}, "parts[1]"),
        ({"other": 1}, "other"),
        ({"ratio": True}, "ratio"),
    ],
)
async def test_call_with_a_wrong_type_is_invalid_and_names_the_field(
    body: dict[str, Any], field: str
) -> None:
    response = await _put(serve(routes=ECHO), json=body)
    error = error_of(response, status=400, code="invalid_input")
    assert error["details"]["field"] == field
    assert field.split("[", maxsplit=1)[0] in error["message"]


async def test_call_with_many_faults_lists_them() -> None:
    response = await _put(serve(routes=ECHO), json={"number": "5", "text": 7})
    error = error_of(response, status=400, code="invalid_input")
    assert len(error["details"]["faults"]) == 2


async def test_call_with_a_huge_wrong_value_repeats_only_its_beginning() -> None:
    response = await _put(serve(routes=ECHO), json={"number": "x" * 100_000})
    error = error_of(response, status=400, code="invalid_input")
    assert len(response.content) < 1_000
    assert "…" in error["message"]


async def test_call_without_a_media_type_and_with_an_empty_body_is_taken() -> None:
    async with serve(routes=ECHO).client() as client:
        bare = await client.put("/echo/x", headers=OWNER, content=b'{"number": 4}')
        empty = await client.put("/echo/x", headers=OWNER)
    assert bare.json()["body"]["number"] == 4
    assert empty.json()["body"]["ratio"] == 0.5


@pytest.mark.parametrize("kind", ["application/json; charset=UTF-8", "application/merge+json"])
async def test_call_with_a_json_media_type_is_taken(kind: str) -> None:
    response = await _put(serve(routes=ECHO), headers={"content-type": kind}, content=b"{}")
    assert response.status_code == 200


# --- keys and namespaces ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer sk-owner"},
        {"authorization": "bearer sk-owner"},
        {"x-api-key": "sk-owner"},
        {"authorization": "", "x-api-key": "sk-owner"},
    ],
)
async def test_key_in_either_header_is_taken(headers: dict[str, str]) -> None:
    async with serve(routes=ECHO).client() as client:
        response = await client.put("/echo/x", headers=headers)
    assert response.json()["key"] == "CHATBOX_API_KEY"


async def test_key_in_the_query_is_taken_only_where_the_route_and_the_setting_allow() -> None:
    async with serve(routes=ECHO).client() as client:
        taken = await client.post("/raw?token=sk-mcp", content=b"abc")
        refused = await client.put("/echo/x?token=sk-owner")
        beside = await client.put("/echo/x?token=anything", headers=OWNER)
    async with serve({"MCP_QUERY_TOKEN_ENABLED": "false"}, routes=ECHO).client() as client:
        off = await client.post("/raw?token=sk-mcp")
    assert taken.json() == {"bytes": 3, "key": "MEMORY_MCP_API_KEY"}
    assert "?token=" in error_of(refused, status=401, code="unauthenticated")["message"]
    assert beside.status_code == 200
    error_of(off, status=401, code="unauthenticated")
    assert "sk-" not in refused.text + off.text


@pytest.mark.parametrize("where", ["query", "header"])
async def test_namespace_is_for_admins_only(where: str) -> None:
    served = serve(routes=ECHO)
    url = "/echo/x?namespace=team" if where == "query" else "/echo/x"
    named = {"x-remembrancer-namespace": "team"} if where == "header" else {}
    owner = await _put(served, url, headers=named)
    agent = await _put(served, url, headers={"authorization": "Bearer sk-mcp", **named})
    assert owner.json()["namespace"] == "team"
    assert "'team'" in error_of(agent, status=403, code="forbidden")["message"]


async def test_namespace_own_or_empty_is_no_request_and_a_bad_name_is_invalid() -> None:
    served = serve(routes=ECHO)
    agent = {"authorization": "Bearer sk-mcp"}
    own = await _put(served, "/echo/x?namespace=default", headers=agent)
    empty = await _put(served, "/echo/x?namespace=", headers=agent)
    bad = await _put(served, "/echo/x?namespace=../etc")
    assert own.json()["namespace"] == empty.json()["namespace"] == "default"
    error_of(bad, status=400, code="invalid_input")


# --- origins ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        (None, False),
        ("", False),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("127.8.9.1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("localhost.example", False),
        ("本机", False),
    ],
)
def test_is_loopback_knows_this_machine(host: str | None, is_own: bool) -> None:
    assert is_loopback(host) is is_own


@pytest.mark.parametrize(
    "origin",
    [
        "http://remembrancer.example",
        "http://localhost:5173",
        "http://127.0.0.1",
        "http://[::1]:8000",
        "http://app.localhost",
        "https://chat.example",
        "HTTPS://CHAT.example",
    ],
)
async def test_origin_own_local_or_listed_is_told_that_it_may(origin: str) -> None:
    served = serve({"ALLOWED_ORIGINS": "https://chat.example"}, routes=ECHO)
    response = await _put(served, headers={"origin": origin})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == origin
    assert "origin" in response.headers["vary"]
    assert "x-request-id" in response.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://chat.example.evil.example",
        "http://remembrancer.example:8080",
        "null",
        "",
        "http://[bad",
        "file://localhost",
        "http://localhost.evil.example",
    ],
)
@pytest.mark.parametrize("path", ["/echo/x", "/nothing"])
async def test_origin_foreign_is_refused_before_anything_else(origin: str, path: str) -> None:
    served = serve({"ALLOWED_ORIGINS": "https://chat.example"}, routes=ECHO)
    response = await _put(served, path, headers={"origin": origin, "authorization": ""})
    error = error_of(response, status=403, code="forbidden")
    assert "ALLOWED_ORIGINS" in error["hint"]
    assert "access-control-allow-origin" not in response.headers


async def test_origin_equal_to_host_does_not_count_where_the_server_is_on_loopback() -> None:
    headers = {**OWNER, "origin": "http://evil.example", "host": "evil.example"}
    scope = {**http_scope("PUT", "/echo/x", headers), "server": ("127.0.0.1", 8000)}
    wire = Wire([b"{}"])
    await serve(routes=ECHO).asgi(scope, wire.receive, wire.send)
    assert wire.status == 403


async def test_origin_star_allows_any_page() -> None:
    served = serve({"ALLOWED_ORIGINS": "*"}, routes=ECHO)
    response = await _put(served, headers={"origin": "null"})
    assert response.headers["access-control-allow-origin"] == "null"


async def test_preflight_of_an_allowed_page_tells_methods_and_headers_without_a_key() -> None:
    headers = {
        "origin": "http://localhost:5173",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "authorization, if-match",
    }
    async with serve(routes=ECHO).client() as client:
        response = await client.options("/echo/x", headers=headers)
    assert response.status_code == 204
    assert "PUT" in response.headers["access-control-allow-methods"]
    allowed = response.headers["access-control-allow-headers"].split(", ")
    assert {"authorization", "idempotency-key", "if-match", "content-type"} <= set(allowed)
    assert response.headers["access-control-max-age"] == "600"


# --- the rate limit --------------------------------------------------------------------------


async def test_rate_over_the_limit_is_429_and_refills() -> None:
    served = serve({"RATE_LIMIT_PER_MINUTE": "2"}, routes=ECHO)
    assert [(await _put(served)).status_code for _ in range(2)] == [200, 200]
    refused = await _put(served)
    error = error_of(refused, status=429, code="rate_limited")
    assert refused.headers["retry-after"] == "30"
    assert error["type"] == "rate_limit_error"
    assert (await _put(served, headers={"authorization": "Bearer sk-mcp"})).status_code == 200
    served.runtime.advance(30_000)
    assert (await _put(served)).status_code == 200


@pytest.mark.parametrize(
    ("peer", "headers", "is_limited"),
    [
        ("127.0.0.1", {}, False),
        ("::1", {}, False),
        ("127.0.0.1", {"x-forwarded-for": "198.51.100.7"}, True),
        ("127.0.0.1", {"authorization": "Bearer sk-debug"}, True),
        ("192.0.2.1", {}, True),
    ],
    ids=["loopback", "loopback-v6", "behind-a-proxy", "not-the-owner", "remote"],
)
async def test_rate_does_not_bind_the_owner_on_their_own_machine(
    peer: str, headers: dict[str, str], is_limited: bool
) -> None:
    served = serve({"RATE_LIMIT_PER_MINUTE": "1"}, routes=ECHO)
    statuses = [(await _put(served, peer=peer, headers=headers)).status_code for _ in range(3)]
    assert statuses == ([200, 429, 429] if is_limited else [200, 200, 200])


def test_rate_limiter_zero_means_no_limit() -> None:
    limiter = RateLimiter(0)
    for _ in range(5):
        limiter.take("key", 0)


def test_rate_limiter_forgets_the_key_that_rested_longest() -> None:
    limiter = RateLimiter(1)
    limiter.take("first", 0)
    for number in range(BUCKETS_MAX):
        limiter.take(str(number), 0)
    limiter.take("first", 0)
    with pytest.raises(RateLimited):
        limiter.take(str(BUCKETS_MAX - 1), 0)


@given(st.integers(1, 1_000), st.lists(st.integers(-5_000, 5_000), max_size=200))
def test_rate_limiter_never_grants_more_than_the_bucket_and_its_refill(
    per_minute: int, steps: list[int]
) -> None:
    limiter = RateLimiter(per_minute)
    now_ms, newest_ms, granted = 10**12, 10**12, 0
    waits: list[int] = []
    for step in steps:
        now_ms += step
        newest_ms = max(newest_ms, now_ms)
        try:
            limiter.take("key", now_ms)
        except RateLimited as error:
            waits.append(error.retry_after_s)
        else:
            granted += 1
    assert all(wait_s >= 1 for wait_s in waits)
    assert granted <= per_minute + (newest_ms - 10**12) * per_minute / 60_000 + 1


# --- conditions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "expected"), [('"7"', 7), ('W/"7"', 7), ("7", 7), ("*", None), ("", None)]
)
async def test_if_match_is_a_version_or_any(sent: str, expected: int | None) -> None:
    response = await _put(serve(routes=ECHO), headers={"if-match": sent})
    assert response.json()["expected"] == expected


@pytest.mark.parametrize("sent", ['"abc"', '"1", "2"', '"-1"', '"', '"12345678901234567"'])
async def test_if_match_that_is_not_one_version_is_invalid(sent: str) -> None:
    response = await _put(serve(routes=ECHO), headers={"if-match": sent})
    assert error_of(response, status=400, code="invalid_input")["details"]["field"] == "if-match"


async def test_idempotency_hash_depends_on_what_is_asked_only() -> None:
    served = serve(routes=ECHO)

    async def asked(url: str = "/echo/x?text=a&number=1", content: bytes = b"{}") -> str:
        response = await _put(served, url, headers={"idempotency-key": "k1"}, content=content)
        key, request_hash = response.json()["idempotency"]
        assert key == "k1"
        return str(request_hash)

    same = {
        await asked(),
        await asked("/echo/x?number=1&text=a&token=secret"),
        await asked(content=b" { } "),
    }
    assert len(same) == 1
    both = {await asked(content=b'{"text": "a", "number": 1}')}
    both |= {await asked(content=b'{"number":1,"text":"\\u0061"}')}
    assert len(both) == 1
    others = {
        await asked("/echo/y?text=a&number=1"),
        await asked("/echo/x?text=b&number=1"),
        await asked(content='{"text": "记"}'.encode()),
    }
    assert len(others | same | both) == 5


@pytest.mark.parametrize("sent", ["", " ", "x" * 256, "a\tb"])
async def test_idempotency_key_of_a_wrong_form_is_invalid(sent: str) -> None:
    response = await _put(serve(routes=ECHO), headers={"idempotency-key": sent})
    error = error_of(response, status=400, code="invalid_input")
    assert error["details"]["field"] == "idempotency-key"


async def test_idempotency_key_of_255_characters_is_taken() -> None:
    response = await _put(serve(routes=ECHO), headers={"idempotency-key": "x" * 255})
    assert response.json()["idempotency"][0] == "x" * 255


@pytest.mark.parametrize("sent", ["x" * 513, "a\tb"])
async def test_bookmark_of_a_wrong_form_is_invalid(sent: str) -> None:
    response = await _put(serve(routes=ECHO), headers={"x-remembrancer-bookmark": sent})
    error_of(response, status=400, code="invalid_input")


# --- bodies ----------------------------------------------------------------------------------


async def test_body_streamed_over_the_cap_is_refused_without_being_kept_whole() -> None:
    served = serve({"BODY_BYTES_MAX": "65536"}, routes=ECHO)
    wire = Wire([b"x" * 65_536] * 1_000)
    await served.asgi(http_scope("POST", "/raw", OWNER), wire.receive, wire.send)
    assert wire.status == 413
    # Read to the end of what is dropped for an ordinary client's sake, and no further.
    assert wire.received == (65_536 + DRAIN_BYTES_MAX) // 65_536 + 1


async def test_body_announced_far_over_the_cap_is_refused_unread() -> None:
    headers = {**OWNER, "content-length": str(10**12)}
    wire = Wire([b"x"])
    await serve(routes=ECHO).asgi(http_scope("POST", "/raw", headers), wire.receive, wire.send)
    assert (wire.status, wire.received) == (413, 0)


@pytest.mark.parametrize(("size", "status"), [(65_536, 200), (65_537, 413)])
async def test_body_at_the_cap_is_taken_and_one_byte_more_is_not(size: int, status: int) -> None:
    served = serve({"BODY_BYTES_MAX": "65536"}, routes=ECHO)
    wire = Wire([b"x" * (size - 1), b"x"])
    await served.asgi(http_scope("POST", "/raw", OWNER), wire.receive, wire.send)
    assert wire.status == status


async def test_body_that_lies_about_its_length_is_capped_all_the_same() -> None:
    headers = {**OWNER, "content-length": "3"}
    served = serve({"BODY_BYTES_MAX": "65536"}, routes=ECHO)
    wire = Wire([b"x" * 70_000])
    await served.asgi(http_scope("POST", "/raw", headers), wire.receive, wire.send)
    assert wire.status == 413


@pytest.mark.parametrize("length", ["-1", "abc", "1e3", "٣"])
async def test_body_with_a_broken_length_is_invalid(length: str) -> None:
    headers = {**OWNER, "content-length": length}
    wire = Wire([b"x"])
    scope = http_scope("POST", "/raw", OWNER)
    scope["headers"].append((b"content-length", headers["content-length"].encode()))
    await serve(routes=ECHO).asgi(scope, wire.receive, wire.send)
    assert wire.status == 400


async def test_body_of_a_client_that_leaves_is_not_answered() -> None:
    wire = Wire([])
    await serve(routes=ECHO).asgi(http_scope("POST", "/raw", OWNER), wire.receive, wire.send)
    assert wire.sent == []


# --- anything at all -------------------------------------------------------------------------

HEADER_NAMES = st.sampled_from(
    [
        "authorization",
        "content-length",
        "content-type",
        "host",
        "idempotency-key",
        "if-match",
        "origin",
        "x-api-key",
        "x-forwarded-proto",
        "x-remembrancer-bookmark",
        "x-remembrancer-namespace",
        "x-request-id",
    ]
)


@given(
    st.lists(st.tuples(HEADER_NAMES, st.binary(max_size=40)), max_size=6),
    st.lists(st.binary(max_size=60), max_size=3),
    st.binary(max_size=60),
    st.text(max_size=20),
    st.booleans(),
)
async def test_request_whatever_is_in_it_never_is_a_server_fault(
    headers: list[tuple[str, bytes]],
    chunks: list[bytes],
    query: bytes,
    name: str,
    has_key: bool,
) -> None:
    scope = http_scope("PUT", f"/echo/{name}", OWNER if has_key else {})
    scope["headers"] += [(key.encode(), value) for key, value in headers]
    scope["query_string"] = query
    wire = Wire(chunks)
    await serve(routes=ECHO).asgi(scope, wire.receive, wire.send)
    assert not wire.sent or wire.status < 500
