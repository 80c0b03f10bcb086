"""Measures processor time in Python per request; inside Pyodide only.

Everything that Python does for a request is a step of its event loop, so the steps are timed. What
JavaScript does in between (the harness's calls to its database) is not counted.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message

from remembrancer.edge.bridge import respond, scope_of
from remembrancer.edge.runtime import serving

_run = asyncio.Handle._run
_spent_s = 0.0


def _timed_run(handle: asyncio.Handle) -> None:
    global _spent_s  # noqa: PLW0603 - one meter for one loop
    before = time.perf_counter()
    try:
        _run(handle)
    finally:
        _spent_s += time.perf_counter() - before


def start() -> None:
    """Begin to count."""
    asyncio.Handle._run = _timed_run  # type: ignore[method-assign, assignment]


def take() -> float:
    """Milliseconds in Python since the last call."""
    global _spent_s
    spent_s, _spent_s = _spent_s, 0.0
    return spent_s * 1_000


async def _hello(_: Request) -> JSONResponse:
    return JSONResponse({"hello": "world"})


BARE = Starlette(routes=[Route("/", _hello)])
"""The least that a web app can be."""


async def bare(_: Any, context: Any, request: Any) -> object:
    """Answer a request with the least app, through the bridge."""
    with serving(context):
        return await respond(BARE, request)


async def bare_without_bridge(_: Any, __: Any, request: Any) -> object:
    """Answer a request with the least app, and drop the answer."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await BARE(scope_of(request), receive, send)
    return None
