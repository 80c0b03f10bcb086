"""Serves the product on an empty store without a key: `python -m tests.mcp.serve_product`.

The real application on a real store, behind a shim that adds the owner's key to each request: the
conformance suite sends none. Prints its port on one line when it listens, and stops when its
standard input ends.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from remembrancer.local.server import KEEP_ALIVE_S, _Bounded, bind
from remembrancer.local.wire import make_asgi, open_app

KEY = "sk-conformance"


def with_key(app: ASGIApp) -> ASGIApp:
    """The app as the key's holder sees it; everything else of a request stays as it came."""

    async def keyed(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [*scope["headers"], (b"authorization", f"Bearer {KEY}".encode())]
        await app({**scope, "headers": headers}, receive, send)

    return keyed


async def serve(folder: str) -> None:
    """Serve on a free port until standard input ends."""
    environ = {"CHATBOX_API_KEY": KEY}
    async with open_app(folder, environ, is_server=True) as local:
        listening = bind("127.0.0.1", 0)
        # The product's own way of reading HTTP, as `remembrancer serve` has it.
        app = with_key(make_asgi(local))
        config = uvicorn.Config(
            app, http=_Bounded, log_level="error", lifespan="off", timeout_keep_alive=KEEP_ALIVE_S
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listening]))
        print(listening.getsockname()[1], flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        await running


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(serve(made))
