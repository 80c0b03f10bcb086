"""What holds for every route of the table: who may call, and one shape for every error."""

from __future__ import annotations

import pytest
from tests.protocol.rest.doors import KEYS, OWNER, error_of, serve

from remembrancer.core.access.profiles import PROFILES
from remembrancer.core.errors import CODES
from remembrancer.http.route_table import AnyRoute, path_params
from remembrancer.http.routes import every_route

ROUTES = every_route()
LISTED = [route for route in ROUTES if route.is_listed]
SCOPED = [route for route in ROUTES if route.scope is not None]
PATHS = [(route, path) for route in ROUTES for path in (route.path, *route.aliases)]


def _name(value: object) -> str | None:
    return value.name if hasattr(value, "name") else None


def _fill(path: str) -> str:
    for name in path_params(path):
        path = path.replace(f"{{{name}:path}}", "nothing").replace(f"{{{name}}}", "nothing")
    return path


@pytest.mark.parametrize("route", SCOPED, ids=_name)
@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer sk-wrong"}, {"x-api-key": "rmb_" + "a" * 43}],
    ids=["none", "wrong", "unknown-made-key"],
)
async def test_route_with_a_scope_refuses_a_missing_or_unknown_key(
    route: AnyRoute, headers: dict[str, str]
) -> None:
    async with serve().client() as client:
        response = await client.request(route.method, _fill(route.path), headers=headers)
    error = error_of(response, status=401, code="unauthenticated")
    assert response.headers["www-authenticate"] == 'Bearer realm="remembrancer"'
    assert error["type"] == "authentication_error"
    assert "sk-wrong" not in response.text


@pytest.mark.parametrize("route", SCOPED, ids=_name)
async def test_route_with_a_scope_refuses_keys_that_lack_it(route: AnyRoute) -> None:
    lacking = [name for name, grant in PROFILES.items() if route.scope not in grant.scopes]
    async with serve().client() as client:
        for variable in lacking:
            headers = {"x-api-key": KEYS[variable]}
            response = await client.request(route.method, _fill(route.path), headers=headers)
            error = error_of(response, status=403, code="forbidden")
            assert repr(route.scope) in error["message"]


def _is_open(route: AnyRoute) -> bool:
    return route.query is not None and route.query.model_config["extra"] == "ignore"


def test_only_links_to_the_panel_and_chat_clients_may_add_parameters() -> None:
    assert {route.area for route in LISTED if _is_open(route)} == {"panel", "chat"}


# What clients add to a chat is passed over: see chat/test_browser_clients.
@pytest.mark.parametrize("route", [r for r in LISTED if not _is_open(r)], ids=_name)
async def test_route_refuses_an_unknown_parameter_by_name(route: AnyRoute) -> None:
    async with serve().client() as client:
        response = await client.request(
            route.method, _fill(route.path) + "?nonsense=无", headers=OWNER
        )
    error = error_of(response, status=400, code="invalid_input")
    assert "'nonsense'" in error["message"]


@pytest.mark.parametrize("route", [r for r in SCOPED if r.is_unsafe and not r.if_match], ids=_name)
async def test_route_that_keeps_no_condition_refuses_one(route: AnyRoute) -> None:
    async with serve().client() as client:
        for value, is_refused in (('"3"', True), ("*", False)):
            headers = {**OWNER, "if-match": value}
            response = await client.request(route.method, _fill(route.path), headers=headers)
            field = "if-match"
            told = response.is_error and response.json()["error"].get("details", {}).get("field")
            assert (told == field) is is_refused, response.text


@pytest.mark.parametrize("route", [r for r in LISTED if r.body is not None], ids=_name)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b'{"a": NaN}', "invalid_json"),
        (b'"\\ud800"', "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"[]", "invalid_input"),
        (b"null", "invalid_input"),
        ('{"\u4e0d\u5b58\u5728": 1}'.encode(), "invalid_input"),
    ],
    ids=["cut", "not-utf8", "nan", "lone-surrogate", "deep", "list", "null", "unknown-field"],
)
async def test_route_with_a_body_refuses_what_is_not_its_body(
    route: AnyRoute, body: bytes, code: str
) -> None:
    headers = {**OWNER, "content-type": "application/json"}
    async with serve().client() as client:
        response = await client.request(
            route.method, _fill(route.path), headers=headers, content=body
        )
    error_of(response, status=400, code=code)


@pytest.mark.parametrize("route", [r for r in LISTED if r.body is not None], ids=_name)
@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=gbk"],
)
async def test_route_with_a_body_refuses_another_media_type(
    route: AnyRoute, media_type: str
) -> None:
    headers = {**OWNER, "content-type": media_type}
    async with serve().client() as client:
        response = await client.request(
            route.method, _fill(route.path), headers=headers, content=b"{}"
        )
    error = error_of(response, status=415, code="unsupported_media_type")
    assert "application/json" in error["hint"]


@pytest.mark.parametrize("route", [r for r in LISTED if r.has_body], ids=_name)
async def test_route_with_a_body_refuses_one_over_the_cap(route: AnyRoute) -> None:
    served = serve({"BODY_BYTES_MAX": "65536", "CHAT_BODY_BYTES_MAX": "65536"})
    headers = {**OWNER, "content-type": (route.raw_body or ("application/json",))[0]}
    cap = route.body_bytes_max(served.app)
    async with served.client() as client:
        response = await client.request(
            route.method, _fill(route.path), headers=headers, content=b" " * (cap + 1)
        )
    error_of(response, status=413, code="payload_too_large")


@pytest.mark.parametrize(("route", "path"), PATHS, ids=_name)
async def test_route_with_a_wrong_method_tells_the_right_ones_after_the_key(
    route: AnyRoute, path: str
) -> None:
    served = serve()
    async with served.client() as client:
        response = await client.request("PROPFIND", _fill(path), headers=OWNER)
        bare = await client.request("PROPFIND", _fill(path))
    error_of(response, status=405, code="method_not_allowed")
    assert route.method in response.headers["allow"].split(", ")
    assert bare.status_code in (401, 405)


@pytest.mark.parametrize("route", LISTED, ids=_name)
def test_route_declares_codes_of_the_table_and_a_lower_case_name(route: AnyRoute) -> None:
    assert set(route.error_codes) <= set(CODES)
    assert route.name == route.name.lower()
    assert route.name.isidentifier()
