"""The open routes: health, what is served here, and the browser's question for an icon."""

from __future__ import annotations

from typing import Final, Literal

from remembrancer.app.health import check_health
from remembrancer.core.product import NAME, VERSION
from remembrancer.core.values import JSON
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Flag, Query, Shape
from remembrancer.http.route_table import Route

DOORS: Final = {
    "mcp": "/mcp",
    "rest": "/v1/items",
    "chat": "/v1/chat/completions",
    "panel": "/admin",
    "openapi": "/openapi.json",
    "docs": "/docs",
    "health": "/health",
}
"""Door → its path; `/` names those that are served."""


class HealthQuery(Query):
    """How to ask for health."""

    strict: Flag = False


class HealthAnswer(Shape):
    """Whether the work gets done; `details` only for keys with the scope debug:read."""

    status: Literal["ok", "degraded"]
    reasons: list[str]
    details: dict[str, dict[str, str | int]] | None = None


class Welcome(Shape):
    """What is served here; nothing private."""

    name: str
    version: str
    doors: dict[str, str]


async def _health(call: Call[HealthQuery, None]) -> Answer:
    health = await check_health(call.app)
    body: dict[str, JSON] = {"status": health.status, "reasons": list(health.reasons)}
    if call.visitor is not None and "debug:read" in call.visitor.scopes:
        body["details"] = health.details
    is_refused = call.query.strict and health.status == "degraded"
    return Answer(body, status=503 if is_refused else 200)


async def _welcome(call: Call[None, None]) -> Answer:
    doors = {name: call.base_url + path for name, path in DOORS.items() if path in call.table.paths}
    return Answer({"name": NAME, "version": VERSION, "doors": doors})


async def _icon(_: Call[None, None]) -> Answer:
    return Answer(status=204, headers={"cache-control": "public, max-age=86400"})


ROUTES: Final = (
    Route(
        method="GET",
        path="/",
        name="welcome",
        area="health",
        summary="What is served here",
        scope=None,
        response=Welcome,
        handler=_welcome,
    ),
    Route(
        method="GET",
        path="/health",
        name="health",
        area="health",
        summary="Whether the work gets done",
        description="200 when the store answers. With `strict`, `degraded` answers 503. Details "
        "are shown to keys with the scope debug:read.",
        scope=None,
        greets=True,
        query=HealthQuery,
        response=HealthAnswer,
        statuses=(200, 503),
        handler=_health,
    ),
    Route(
        method="GET",
        path="/favicon.ico",
        name="icon",
        area="health",
        summary="No icon",
        scope=None,
        statuses=(204,),
        is_listed=False,
        handler=_icon,
    ),
)
"""The open routes."""
