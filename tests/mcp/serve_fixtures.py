"""Serves the conformance fixtures on loopback without a key: `python -m tests.mcp.serve_fixtures`.

Prints its port on one line when it listens, and stops when its standard input ends.
"""

from __future__ import annotations

import asyncio
import socket
import sys

import uvicorn
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

_HOST = "127.0.0.1"


def fixture_app() -> ASGIApp:
    """The fixtures behind the product's own door, on a route that asks for no key."""
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


async def serve() -> None:
    """Serve on a free port until standard input ends."""
    listening = socket.socket()
    listening.bind((_HOST, 0))
    config = uvicorn.Config(fixture_app(), log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listening]))
    print(listening.getsockname()[1], flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await running


if __name__ == "__main__":
    asyncio.run(serve())
