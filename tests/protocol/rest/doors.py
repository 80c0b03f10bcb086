"""Factories for tests of the HTTP door: an app on a fresh database, and clients in-process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp

from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.http.asgi import create_asgi
from remembrancer.http.route_table import AnyRoute, Area
from remembrancer.http.routes import AREAS
from remembrancer.ports.assets import Assets
from remembrancer.ports.sql import SqlStore
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

if TYPE_CHECKING:
    import httpx

KEYS = {
    "CHATBOX_API_KEY": "sk-owner",
    "IM_API_KEY": "sk-im",
    "DEBUG_API_KEY": "sk-debug",
    "MEMORY_MCP_API_KEY": "sk-mcp",
    "GUIDE_DOG_API_KEY": "sk-dog",
}
OWNER = {"authorization": "Bearer sk-owner"}
DOG = {"authorization": "Bearer sk-dog"}


@dataclass(slots=True)
class Served:
    """An app and what serves it."""

    app: App
    asgi: ASGIApp
    runtime: FixedRuntime
    kv: MemoryKeyValue

    @asynccontextmanager
    async def client(
        self, *, peer: str = "203.0.113.9", base_url: str = "http://remembrancer.example"
    ) -> AsyncIterator[httpx.AsyncClient]:
        """A client that speaks to the app in-process, from this address."""
        import httpx  # noqa: PLC0415 - the edge serves these fixtures too and has none

        transport = httpx.ASGITransport(self.asgi, client=(peer, 4711))
        async with httpx.AsyncClient(transport=transport, base_url=base_url) as client:
            yield client


def serve(
    environ: Mapping[str, str] | None = None,
    *,
    routes: Iterable[AnyRoute | Area] = AREAS,
    sql: SqlStore | None = None,
    assets: Assets | None = None,
) -> Served:
    """An app with every environment key set; `environ` adds to or overrides them."""
    runtime = FixedRuntime()
    kv = MemoryKeyValue(runtime)
    app = App(
        sql=sql if sql is not None else memory_store(),
        kv=kv,
        runtime=runtime,
        settings=load_settings({**KEYS, **(environ or {})}),
        assets=assets,
    )
    return Served(app, create_asgi(app, routes=routes), runtime, kv)


def error_of(response: httpx.Response, *, status: int, code: str) -> dict[str, Any]:
    """The error object of a response, checked for its one shape."""
    assert response.status_code == status, response.text
    body = response.json()
    # Anthropic's clients read an envelope of their own around the same error.
    assert list(body) in (["error"], ["type", "error", "request_id"])
    error: dict[str, Any] = body["error"]
    assert set(error) - {"details"} == {"code", "message", "type", "hint", "request_id"}
    assert error["code"] == code, error
    assert error["request_id"] == response.headers["x-request-id"]
    assert error["message"]
    assert response.headers["content-type"] == "application/json"
    return error


@dataclass(slots=True)
class Wire:
    """The ASGI side of one request, by hand: what the server sends, and what it still read."""

    chunks: Sequence[bytes]
    sent: list[dict[str, Any]] = field(default_factory=list)
    received: int = 0

    async def receive(self) -> dict[str, Any]:
        """The next piece of the body, then a disconnect."""
        if self.received >= len(self.chunks):
            return {"type": "http.disconnect"}
        chunk = self.chunks[self.received]
        self.received += 1
        is_more = self.received < len(self.chunks)
        return {"type": "http.request", "body": chunk, "more_body": is_more}

    async def send(self, message: Any) -> None:
        """Keeps what the app sends."""
        self.sent.append(message)

    @property
    def status(self) -> int:
        """The status that was sent."""
        status: int = self.sent[0]["status"]
        return status


def http_scope(method: str, path: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The scope of one request, as a server would make it."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()],
        "client": ("203.0.113.9", 4711),
        "server": ("remembrancer.example", 80),
    }
