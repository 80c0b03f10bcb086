"""The route table: every route is one declaration, and everything is made from it.

The matching of requests, the checks before a handler, `/openapi.json`, `/docs` and the reference
all read the same `Route`. Not the list of routes itself (`routes.py`) and not the steps of a
request (`dispatch.py`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Generic, Literal

from starlette.responses import Response

from remembrancer.app.state import App
from remembrancer.core.access.scopes import Scope
from remembrancer.core.errors import CODES
from remembrancer.http.answers import Answer
from remembrancer.http.calls import B, Call, Q
from remembrancer.http.shapes import Shape

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
"""A method of a route; HEAD and OPTIONS are answered from the table."""

UNSAFE_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods that may change something; they take an idempotency key and return a bookmark."""

Handler = Callable[[Call[Q, B]], Awaitable[Answer | Response]]
"""A route's own code: one call in, one answer out; it raises ours for anything else."""

Schema = Mapping[str, object]
"""A JSON schema, where a pydantic model would say no more."""


def usual_bytes_max(app: App) -> int:
    """Return the bytes that a body may have, unless a route says otherwise."""
    return app.settings.body_bytes_max


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[Q, B]):
    """One method on one path.

    *Shape:* `path` in Starlette's form (`/v1/items/{item_id}`); `name` unique, the operation id;
    `area` groups routes in the reference; `scope` is None for an open route, which reads a key
    only when `greets` is set, and where `any_key` says that a key of any scope will do; `query`
    and `body` are models that refuse unknown fields; a route with `raw_body` (media types, `*/*`
    for any) gets bytes instead; `body_bytes_max` of either at most; `response` is a shape or a
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
    body_bytes_max: Callable[[App], int] = usual_bytes_max
    response: type[Shape] | Schema | None = None
    media_type: str = "application/json"
    statuses: tuple[int, ...] = (200,)
    errors: tuple[str, ...] = ()
    if_match: bool = False
    query_token: bool = False
    greets: bool = False
    any_key: bool = False
    is_listed: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """The path and its aliases."""
        return (self.path, *self.aliases)

    @property
    def needs_key(self) -> bool:
        """Whether nobody is let in without a key."""
        return self.scope is not None or self.any_key

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
        if self.needs_key or self.greets:
            codes |= {"unauthenticated", "rate_limited", "store_unavailable", "timed_out"}
        if "{" in self.path:
            codes.add("not_found")
        if self.has_body:
            codes |= {"payload_too_large", "unsupported_media_type", "limit_exceeded"}
        if self.body is not None:
            codes.add("invalid_json")
        if self.is_unsafe and self.needs_key:
            codes |= {"conflict", "idempotency_key_reused"}
        if self.if_match:
            codes.add("version_conflict")
        return tuple(code for code in CODES if code in codes)


# Any: a table mixes routes of all models; each route was checked where it was declared.
AnyRoute = Route[Any, Any]
"""A route of whatever models."""


@dataclass(frozen=True, slots=True)
class Area:
    """The routes of one module, which is imported when a request asks for one of its paths.

    So a start pays for no models, handlers and use cases that nobody has asked for yet.

    *Shape:* `module` holds them as its `ROUTES`; `paths` names the paths of them all, aliases
    included, so that a request finds its module before that is imported.
    """

    module: str
    paths: tuple[str, ...]

    def load(self) -> tuple[AnyRoute, ...]:
        """Import the module and return its routes."""
        routes: tuple[AnyRoute, ...] = import_module(self.module).ROUTES
        served = {path for route in routes for path in route.paths}
        wrong = served ^ set(self.paths)
        assert not wrong, f"{self.module}: its area and its routes differ in {sorted(wrong)}"
        return routes


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


_PARAM: Final = re.compile(r"{([a-z_]+)(:path)?}")


class RouteTable:
    """All routes, checked for clashes, findable by path; those of an area once they are needed.

    *Shape:* `documents` keeps what was rendered from the table once, by name.
    """

    def __init__(self, parts: Iterable[AnyRoute | Area]) -> None:
        self._parts: tuple[AnyRoute | Area, ...] = tuple(parts)
        self.documents: dict[str, bytes] = {}
        self._routes: dict[str, AnyRoute] = {}
        self._by_path: dict[str, dict[str, AnyRoute]] = {}
        self._areas: dict[str, Area] = {}
        for part in self._parts:
            if isinstance(part, Area):
                for path in part.paths:
                    assert path not in self._areas, f"two areas have the path {path}"
                    self._areas[path] = part
            else:
                self._add(part)
        # Literal segments before parameters, so that /items/search is never an item's id.
        dynamic = [path.split("/") for path in self.paths if "{" in path]
        self._patterns = sorted(dynamic, key=lambda parts: [part[:1] == "{" for part in parts])

    @property
    def paths(self) -> frozenset[str]:
        """Every path, aliases included; no area is imported for it."""
        return frozenset(self._by_path) | frozenset(self._areas)

    @property
    def routes(self) -> tuple[AnyRoute, ...]:
        """Every route in the order of declaration; this imports every area."""
        self.load(*self._areas)
        loaded = (part.load() if isinstance(part, Area) else (part,) for part in self._parts)
        return tuple(route for routes in loaded for route in routes)

    def load(self, *paths: str) -> None:
        """Import the areas of these paths now rather than at their first request."""
        for path in paths:
            area = self._areas.get(path)
            if area is None:
                continue
            for route in area.load():
                self._add(route)
            # After the routes: an import that failed is tried again.
            for each in area.paths:
                self._areas.pop(each, None)

    def find(self, path: str) -> Found | None:
        """Return the routes of a request's path; a slash at the end makes no difference."""
        if len(path) > 1 and path.endswith("/"):
            path = path[:-1]
        if "{" not in path and (path in self._by_path or path in self._areas):
            return Found(self._methods(path), {})
        parts = path.split("/")
        for pattern in self._patterns:
            params = _match(pattern, parts)
            if params is not None:
                return Found(self._methods("/".join(pattern)), params)
        return None

    def _methods(self, path: str) -> Mapping[str, AnyRoute]:
        self.load(path)
        return self._by_path[path]

    def _add(self, route: AnyRoute) -> None:
        _check(route)
        assert route.name not in self._routes, f"two routes have the name {route.name}"
        self._routes[route.name] = route
        for path in route.paths:
            by_method = self._by_path.setdefault(path, {})
            assert route.method not in by_method, f"two routes for {route.method} {path}"
            by_method[route.method] = route


def _match(pattern: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    """Return the parameters of a path; None when the pattern is not its own."""
    has_tail = pattern[-1].endswith(":path}")
    if len(parts) != len(pattern) and (not has_tail or len(parts) < len(pattern)):
        return None
    params: dict[str, str] = {}
    for place, part in enumerate(pattern):
        if part[:1] != "{":
            if part != parts[place]:
                return None
        elif part.endswith(":path}"):
            params[part[1:-6]] = "/".join(parts[place:])
        elif parts[place]:
            params[part[1:-1]] = parts[place]
        else:
            return None
    return params


def path_params(path: str) -> list[str]:
    """Return the names of a path's parameters, in order."""
    return [name for name, _ in _PARAM.findall(path)]


def _check(route: AnyRoute) -> None:
    where = f"{route.method} {route.path}"
    assert set(path_params(route.path)) == set(route.params), f"{where}: say what each param is"
    assert _is_matched(route.path), f"{where}: a parameter is a whole segment, a path the last"
    assert not (route.body and route.raw_body), f"{where}: a body is a model or bytes"
    assert route.method in UNSAFE_METHODS or not route.has_body, f"{where}: GET has no body"
    assert all(code in CODES for code in route.errors), f"{where}: an error code is unknown"
    assert route.summary and route.statuses, f"{where}: say what it does and answers"


def _is_matched(path: str) -> bool:
    params = [part for part in path.split("/") if "{" in part]
    is_whole = all(_PARAM.fullmatch(part) for part in params)
    return is_whole and ":path}" not in path[: path.rfind("/")]
