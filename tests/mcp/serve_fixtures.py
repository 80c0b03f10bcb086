"""Serves the conformance fixtures on loopback without a key: `python -m tests.mcp.serve_fixtures`.

Prints its port on one line when it listens, and stops when its standard input ends.
"""

from __future__ import annotations

import asyncio
import socket
import sys

import uvicorn
from tests.mcp.fixture_app import fixture_app

_HOST = "127.0.0.1"


async def serve() -> None:
    """Serve on a free port until standard input ends."""
    listening = socket.socket()
    listening.bind((_HOST, 0))
    listening.listen()  # before the port is told: who connects at once must find it
    # None is closed for being idle, just when a client asks again.
    config = uvicorn.Config(
        fixture_app(), log_level="error", lifespan="off", timeout_keep_alive=3_600
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listening]))
    print(listening.getsockname()[1], flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await running


if __name__ == "__main__":
    asyncio.run(serve())
