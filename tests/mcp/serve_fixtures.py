"""Serves the conformance fixtures on loopback without a key: `python -m tests.mcp.serve_fixtures`.

Prints its port on one line when it listens, and stops when its standard input ends.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp
from tests.mcp.fixtures import fixture_server

from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.ids import Namespace
from remembrancer.core.values import Caller
from remembrancer.http.mcp import McpEndpoint

_HOST = "127.0.0.1"


def fixture_app() -> ASGIApp:
    """The fixtures behind `/mcp`; every caller may do everything."""
    numbers = itertools.count(1)

    async def authenticate(request: Request) -> Caller:
        return Caller(Namespace("fixtures"), "user", f"req_{next(numbers)}", frozenset[str](SCOPES))

    endpoint = McpEndpoint(fixture_server(), authenticate, server_host=_HOST)
    return Starlette(routes=[Route("/mcp", endpoint)])


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
