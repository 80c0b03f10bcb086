"""Dispatch: the steps of one request, in their order, each of which may refuse.

origin → path → preflight → key → method → rate → scope → conditions → body → handler → answer.
It raises ours; `asgi.py` turns them into responses and is the only place that catches broadly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from remembrancer.app.access import authenticate, require
from remembrancer.app.state import App
from remembrancer.core.access.profiles import OWNER_KEY
from remembrancer.core.access.tokens import bearer_from
from remembrancer.core.errors import InvalidInput, NotFound, Unauthenticated
from remembrancer.core.values import Caller
from remembrancer.http import bodies, conditions, origins, parsing
from remembrancer.http.answers import Answer, render
from remembrancer.http.calls import Call
from remembrancer.http.errors import DoorError
from remembrancer.http.headers import RequestHeaders
from remembrancer.http.rate_limit import RateLimiter
from remembrancer.http.request_log import RequestLine
from remembrancer.http.route_table import AnyRoute, Found, RouteTable

FORWARDING_HEADERS: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "cf-connecting-ip")
"""Headers that tell of a proxy in between, so that a loopback peer is not the client."""

RESERVED: Final = ("token", "namespace")
"""Parameters that belong to the door, not to a route."""


@dataclass(frozen=True, slots=True)
class Door:
    """What all requests share."""

    app: App
    table: RouteTable
    limiter: RateLimiter


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request on its way: Starlette's view, its headers, its ids and its log line.

    *Shape:* `app` is the door's, with this request's database session; `cause` is never the
    client's, so that undoing one request cannot take back another.
    """

    request: Request
    headers: RequestHeaders
    app: App
    request_id: str
    cause: str
    line: RequestLine


async def dispatch(door: Door, exchange: Exchange) -> Response:
    """Return the response of a request. *Raises:* RemembrancerError, ClientDisconnect."""
    request = exchange.request
    scope = request.scope
    found = door.table.find(_route_path(scope))
    if found is None:
        raise NotFound("this server has no such path", hint="see / for what it serves")
    if request.method == "OPTIONS":
        return _options(found, exchange.headers)
    route = found.by_method.get("GET" if request.method == "HEAD" else request.method)
    query = (
        b"" if route is not None and parsing.reads_nothing(route.query) else scope["query_string"]
    )
    pairs = parsing.split_query(query)
    visitor = await _visitor(exchange, found, route, pairs)
    if route is None:
        raise DoorError(
            "method_not_allowed",
            f"{request.method[:20]!r} is not served on this path",
            hint=f"use {', '.join(found.allow)}",
            allow=found.allow,
        )
    exchange.line.route = route.name
    if visitor is not None:
        exchange.line.key = visitor.key_id
        exchange.line.namespace = visitor.namespace
        _count(door, exchange, visitor)
        if route.scope is not None:
            require(visitor, route.scope)
    call = await _read_call(door, exchange, route, found.params, (visitor, pairs))
    answer = await route.handler(call)
    return render(answer) if isinstance(answer, Answer) else answer


def _route_path(scope: Mapping[str, Any]) -> str:
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root + "/") else path


def _options(found: Found, headers: Headers) -> Response:
    allow = {"allow": ", ".join(found.allow)}
    if "origin" in headers and "access-control-request-method" in headers:
        return Response(status_code=204, headers=allow | origins.preflight_headers(found.allow))
    return Response(status_code=204, headers=allow)


async def _visitor(
    exchange: Exchange,
    found: Found,
    route: AnyRoute | None,
    pairs: Sequence[tuple[str, str]],
) -> Caller | None:
    """Return who asks; None on an open route.

    On a wrong method the key is checked first where the path has no open route, so that a client
    learns of a missing key rather than of a missing method.
    """
    routes = [route] if route is not None else list(found.by_method.values())
    if not any(each.needs_key or each.greets for each in routes):
        return None
    is_enabled = exchange.app.settings.mcp_query_token_enabled
    takes_query = is_enabled and any(each.query_token for each in routes)
    query_token = _last(pairs, "token") if takes_query else None
    namespace = exchange.headers.get("x-remembrancer-namespace") or _last(pairs, "namespace")
    try:
        token = bearer_from(exchange.headers, query_token)
        return await authenticate(
            exchange.app, token, cause=exchange.cause, requested_namespace=namespace or None
        )
    except Unauthenticated as error:
        if not all(each.needs_key for each in routes):
            return None
        if not takes_query and _last(pairs, "token") is not None:
            raise Unauthenticated(
                "this path does not take a key as ?token=",
                hint="send 'Authorization: Bearer <key>'",
            ) from error
        raise


def _last(pairs: Sequence[tuple[str, str]], name: str) -> str | None:
    for key, value in reversed(pairs):
        if key == name:
            return value
    return None


def _count(door: Door, exchange: Exchange, visitor: Caller | None) -> None:
    if exchange.app.spending.is_over:
        # What came before in this body was too much: what follows is not begun.
        raise exchange.app.spending.refusal()
    if visitor is not None and not _is_unlimited(visitor, exchange):
        key = f"{visitor.namespace} {visitor.key_id}"
        door.limiter.take(key, exchange.app.runtime.now_ms())


def _is_unlimited(visitor: Caller, exchange: Exchange) -> bool:
    """Tell whether this is the owner on their own machine, whom no rate limit binds."""
    client = exchange.request.client
    if visitor.key_id != OWNER_KEY or client is None:
        return False
    if any(name in exchange.headers for name in FORWARDING_HEADERS):
        return False
    return origins.is_loopback(client.host)


async def _read_call(
    door: Door,
    exchange: Exchange,
    route: AnyRoute,
    params: Mapping[str, str],
    asked: tuple[Caller | None, Sequence[tuple[str, str]]],
) -> Call[Any, Any]:
    visitor, pairs = asked
    version = _expected_version(exchange, route)
    own = route.query.model_fields if route.query is not None else {}
    kept = [pair for pair in pairs if pair[0] not in RESERVED or pair[0] in own]
    query = parsing.parse_query(route.query, kept)
    _check_path(params)
    raw = b""
    if route.has_body:
        raw = await _read_body(exchange, route)
    body = parsing.parse_body(route.body, raw) if route.body is not None else None
    if visitor is not None and route.is_unsafe:
        visitor = _with_idempotency(visitor, exchange, route, pairs, raw)
    return Call(
        app=exchange.app,
        table=door.table,
        visitor=visitor,
        path=params,
        query=query,
        body=body,
        raw=raw,
        headers=exchange.headers,
        request_id=exchange.request_id,
        base_url=_base_url(exchange),
        expected_version=version,
        count=lambda: _count(door, exchange, visitor),
    )


def _expected_version(exchange: Exchange, route: AnyRoute) -> int | None:
    if not route.is_unsafe:
        return None
    version = conditions.expected_version_from(exchange.headers)
    if version is not None and not route.if_match:
        # Whoever sends it relies on it: what must not happen in that case is not done.
        raise InvalidInput("if-match is not looked at here", hint="leave it out", field="if-match")
    return version


async def _read_body(exchange: Exchange, route: AnyRoute) -> bytes:
    bytes_max = route.body_bytes_max(exchange.app)
    raw = await bodies.read_body(exchange.request.receive, exchange.headers, bytes_max=bytes_max)
    if raw:
        accepted = route.raw_body or bodies.JSON_TYPES
        bodies.check_media_type(exchange.headers, accepted)
    return raw


def _check_path(params: Mapping[str, str]) -> None:
    for name, text in params.items():
        if "\0" in text or "\ufffd" in text:
            raise InvalidInput(
                f"{name} in the path is {text[:60]!r}, which is not text in UTF-8",
                hint="percent-encode it as UTF-8",
                field=name,
            )


def _with_idempotency(
    visitor: Caller,
    exchange: Exchange,
    route: AnyRoute,
    pairs: Sequence[tuple[str, str]],
    raw: bytes,
) -> Caller:
    if "idempotency-key" not in exchange.headers:
        return visitor
    is_json = route.body is not None and bool(raw.strip())
    idempotency = conditions.idempotency_from(
        exchange.headers,
        method=route.method,
        path=_route_path(exchange.request.scope),
        query=[pair for pair in pairs if pair[0] != "token"],
        body=parsing.parse_json(raw) if is_json else raw,
    )
    return replace(visitor, idempotency=idempotency)


def _base_url(exchange: Exchange) -> str:
    scope = exchange.request.scope
    host = exchange.headers.get("host") or "localhost"
    scheme = exchange.headers.get("x-forwarded-proto", scope.get("scheme", "http"))
    return f"{'https' if scheme == 'https' else 'http'}://{host}{scope.get('root_path', '')}"
