"""The route table: every route is one declaration, and everything is made from it.

The matching of requests, the checks before a handler, `/openapi.json`, `/docs` and the reference
all read the same `Route`. Not the list of routes itself (`routes.py`) and not the steps of a
request (`dispatch.py`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal

from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import compile_path

from remembrancer.core.access.scopes import Scope
from remembrancer.core.errors import CODES
from remembrancer.http.answers import Answer
from remembrancer.http.calls import B, Call, Q

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
"""A method of a route; HEAD and OPTIONS are answered from the table."""

UNSAFE_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods that may change something; they take an idempotency key and return a bookmark."""

Handler = Callable[[Call[Q, B]], Awaitable[Answer | Response]]
"""A route's own code: one call in, one answer out; it raises ours for anything else."""

Schema = Mapping[str, object]
"""A JSON schema, where a pydantic model would say no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[Q, B]):
    """One method on one path.

    *Shape:* `path` in Starlette's form (`/v1/items/{item_id}`); `name` unique, the operation id;
    `area` groups routes in the reference; `scope` is None for an open route, which reads a key
    only when `greets` is set; `query` and `body` are models that refuse unknown fields; a route
    with `raw_body` (media types, `*/*` for any) gets bytes instead; `response` is a model or a
    schema, None when there is no body; `params` says what each path parameter is; `errors` lists
    codes beyond those that the table adds; `query_token` lets the key come as `?token=`.
    """

    method: Method
    path: str
    name: str
    area: str
    summary: str
    handler: Handler[Q, B]
    scope: Scope | None
    description: str = ""
    aliases: tuple[str, ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    query: type[Q] | None = None
    body: type[B] | None = None
    raw_body: tuple[str, ...] = ()
    body_bytes_max: int | None = None
    response: type[BaseModel] | Schema | None = None
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (200,)
    errors: tuple[str, ...] = ()
    if_match: bool = False
    query_token: bool = False
    greets: bool = False
    is_listed: bool = True

    @property
    def has_body(self) -> bool:
        """Whether a request's body is read."""
        return self.body is not None or bool(self.raw_body)

    @property
    def is_unsafe(self) -> bool:
        """Whether a request may change something."""
        return self.method in UNSAFE_METHODS

    @property
    def error_codes(self) -> tuple[str, ...]:
        """Every code that this route may answer, in the order of the table of codes."""
        codes = {"invalid_input", "forbidden", "internal_error", "corrupt_data", *self.errors}
        if self.scope is not None or self.greets:
            codes |= {"unauthenticated", "rate_limited", "store_unavailable", "timed_out"}
        if "{" in self.path:
            codes.add("not_found")
        if self.has_body:
            codes |= {"payload_too_large", "unsupported_media_type", "limit_exceeded"}
        if self.body is not None:
            codes.add("invalid_json")
        if self.is_unsafe and self.scope is not None:
            codes |= {"conflict", "idempotency_key_reused"}
        if self.if_match:
            codes.add("version_conflict")
        return tuple(code for code in CODES if code in codes)


# Any: a table mixes routes of all models; each route was checked where it was declared.
AnyRoute = Route[Any, Any]
"""A route of whatever models."""


@dataclass(frozen=True, slots=True)
class Found:
    """A path of the table: its routes by method, and the parameters of this request."""

    by_method: Mapping[str, AnyRoute]
    params: Mapping[str, str]

    @property
    def allow(self) -> tuple[str, ...]:
        """The methods that the path answers, HEAD and OPTIONS included."""
        methods = set(self.by_method) | {"OPTIONS"}
        if "GET" in methods:
            methods.add("HEAD")
        return tuple(sorted(methods))


_PARAM: Final = re.compile(r"{([a-z_]+)(:[a-z]+)?}")


class RouteTable:
    """All routes, checked for clashes, findable by path.

    *Shape:* `documents` keeps what was rendered from the table once, by name.
    """

    def __init__(self, routes: Iterable[AnyRoute]) -> None:
        self.routes: tuple[AnyRoute, ...] = tuple(routes)
        self.by_name = {route.name: route for route in self.routes}
        assert len(self.by_name) == len(self.routes), "two routes have the same name"
        self.documents: dict[str, bytes] = {}
        self._static: dict[str, dict[str, AnyRoute]] = {}
        self._dynamic: dict[str, dict[str, AnyRoute]] = {}
        for route in self.routes:
            _check(route)
            for path in (route.path, *route.aliases):
                self._add(path, route)
        # Literal segments before parameters, so that /items/search is never an item's id.
        ordered = sorted(
            self._dynamic, key=lambda path: [part[:1] == "{" for part in path.split("/")]
        )
        self._patterns = [(compile_path(path)[0], self._dynamic[path]) for path in ordered]

    def find(self, path: str) -> Found | None:
        """Return the routes of a request's path; a slash at the end makes no difference."""
        if len(path) > 1 and path.endswith("/"):
            path = path[:-1]
        known = self._static.get(path)
        if known is not None:
            return Found(known, {})
        for pattern, by_method in self._patterns:
            match = pattern.match(path)
            if match is not None:
                return Found(by_method, match.groupdict())
        return None

    def _add(self, path: str, route: AnyRoute) -> None:
        group = self._dynamic if "{" in path else self._static
        by_method = group.setdefault(path, {})
        assert route.method not in by_method, f"two routes for {route.method} {path}"
        by_method[route.method] = route


def path_params(path: str) -> list[str]:
    """Return the names of a path's parameters, in order."""
    return [name for name, _ in _PARAM.findall(path)]


def _check(route: AnyRoute) -> None:
    where = f"{route.method} {route.path}"
    assert set(path_params(route.path)) == set(route.params), f"{where}: say what each param is"
    assert not (route.body and route.raw_body), f"{where}: a body is a model or bytes"
    assert route.method in UNSAFE_METHODS or not route.has_body, f"{where}: GET has no body"
    assert all(code in CODES for code in route.errors), f"{where}: an error code is unknown"
    assert route.summary and route.statuses, f"{where}: say what it does and answers"
