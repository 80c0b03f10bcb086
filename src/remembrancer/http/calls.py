"""Calls: one request as a handler sees it, parsed, authenticated and authorised.

Handlers get nothing else: no raw query string, no unchecked header.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.datastructures import Headers

from remembrancer.app.state import App
from remembrancer.core.values import Caller

if TYPE_CHECKING:
    from remembrancer.http.route_table import RouteTable

Q = TypeVar("Q")
B = TypeVar("B")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Q, B]):
    """One request.

    *Shape:* `app` sees the database through this request's session; `visitor` is the caller, None
    only on open routes; `path` holds the path's parameters, decoded; `query` and `body` are the
    route's models, None where it has none; `raw` is the body's bytes where the route has a body;
    `expected_version` comes from `If-Match`; `base_url` is how the client reached this server,
    without a slash at the end; `count` counts one more request of this key, for a body that holds
    several; it raises LimitExceeded when there are too many, also for the database.
    """

    app: App
    table: RouteTable
    visitor: Caller | None
    path: Mapping[str, str]
    query: Q
    body: B
    raw: bytes
    headers: Headers
    request_id: str
    base_url: str
    expected_version: int | None
    count: Callable[[], None]

    @property
    def caller(self) -> Caller:
        """Who asks; only for routes that need a key."""
        assert self.visitor is not None
        return self.visitor
