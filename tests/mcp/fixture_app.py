"""The conformance fixtures behind the product's own door, on a route that asks for no key."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp
from tests.mcp.fixtures import fixture_server
from tests.protocol.rest.doors import serve as serve_routes

from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.ids import Namespace
from remembrancer.core.values import Caller
from remembrancer.http.bodies import JSON_TYPES
from remembrancer.http.calls import Call as HttpCall
from remembrancer.http.mcp import McpQuery, answer_post
from remembrancer.http.route_table import Route
from remembrancer.mcp.call import Call


def fixture_app() -> ASGIApp:
    """The ASGI app that serves the fixtures under `/mcp`."""
    server = fixture_server()

    async def handle(call: HttpCall[McpQuery, None]) -> Response:
        caller = Caller(Namespace("fixtures"), "user", call.request_id, frozenset[str](SCOPES))
        own = Call(None, caller)
        tools = call.query.tools
        return await answer_post(server, own, body=call.raw, headers=call.headers, tools=tools)

    route = Route(
        method="POST",
        path="/mcp",
        name="mcp",
        area="mcp",
        summary="Fixtures",
        scope=None,
        query=McpQuery,
        raw_body=JSON_TYPES,
        response={"type": "object"},
        handler=handle,
    )
    return serve_routes(routes=[route]).asgi
