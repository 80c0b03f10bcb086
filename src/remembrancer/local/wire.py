"""The composition of one machine: ports over SQLite, the app over the ports, doors over the app.

The only module of this side that sees every ring. A door is loaded only when it is opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from remembrancer.app.access import local_owner
from remembrancer.app.models.on_demand import with_upstream
from remembrancer.app.settings import Settings, load_settings
from remembrancer.app.state import App
from remembrancer.app.vectors.composing import indexed
from remembrancer.core.access.profiles import DEFAULT_NAMESPACE, OWNER_KEY
from remembrancer.core.ids import Namespace
from remembrancer.core.values import Caller
from remembrancer.local import transfer as transfer
from remembrancer.local.assets import LocalAssets
from remembrancer.local.checkup import examine as examine
from remembrancer.local.checkup import examine_damaged as examine_damaged
from remembrancer.local.folder import DATA_VARIABLE, DataFolder, find_folder
from remembrancer.local.folder import environment as environment
from remembrancer.local.opening import open_stores
from remembrancer.local.outbound import HttpOutbound
from remembrancer.local.runtime import LocalRuntime
from remembrancer.local.sqlite import SqliteStore
from remembrancer.local.stdio import standard_lines as standard_lines

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from remembrancer.http.route_table import AnyRoute, Area
    from remembrancer.local.server import Listening as Listening
    from remembrancer.mcp.dispatch import McpServer
    from remembrancer.mcp.jsonrpc import Message


@dataclass(frozen=True, slots=True)
class LocalApp:
    """An app on this machine's store, and what its doors need."""

    app: App
    store: SqliteStore
    runtime: LocalRuntime
    folder: DataFolder

    def owner(self, namespace: str | None = None) -> Caller:
        """Return the owner as a caller with a fresh cause. *Shape:* the namespace is checked."""
        chosen = Namespace(namespace or DEFAULT_NAMESPACE)
        return local_owner(self.runtime.new_id("req"), namespace=chosen)

    @property
    def owner_key(self) -> str:
        """The owner's key of a server, set or made. A secret."""
        return self.app.settings.environment_keys()[OWNER_KEY]

    async def exchange(self, message: Message, namespace: str | None = None) -> Message:
        """Return the answer to one MCP request of the owner's, as the HTTP door would give it."""
        from remembrancer.mcp.call import Call
        from remembrancer.mcp.classify import Request, classify

        request = classify(message, None)
        assert isinstance(request, Request)
        return await _mcp_server().handle(request, Call(self.app, self.owner(namespace)))


@asynccontextmanager
async def open_app(
    data: str | None, environ: Mapping[str, str], *, is_server: bool = False
) -> AsyncIterator[LocalApp]:
    """Open the store in a data folder, migrated, and close it when the block ends.

    *Shape:* `data` is the command line's folder. A server gets threads, and a key for its owner.
    *Raises:* InvalidInput for a wrong setting, StoreUnavailable.
    """
    folder = find_folder(data, environ)
    runtime = LocalRuntime()
    folder.make()
    if is_server and not environ.get(OWNER_KEY, "").strip():
        folder.make_key(runtime.random_bytes)
    settings = read_settings(folder, environ, is_named=data is not None)
    async with open_stores(folder, runtime, settings.workers_ai, is_server=is_server) as ports:
        bare = App(ports.sql, ports.kv, runtime, settings, blobs=ports.blobs)
        async with indexed(with_upstream(bare, ports.outbound), ports.indexes) as app:
            yield LocalApp(replace(app, damage=ports.sql.damage), ports.sql, runtime, folder)


def read_settings(folder: DataFolder, environ: Mapping[str, str], *, is_named: bool) -> Settings:
    """Parse the settings of a data folder. *Raises:* InvalidInput, StoreUnavailable."""
    key = None if environ.get(OWNER_KEY, "").strip() else folder.read_key()
    named = {DATA_VARIABLE: str(folder.path)} if is_named else {}
    return load_settings(environ, overrides=named, stored={OWNER_KEY: key} if key else {})


@cache
def _mcp_server() -> McpServer[App]:
    from remembrancer.mcp.catalogue import make_server

    return make_server()


def make_asgi(local: LocalApp) -> ASGIApp:
    """Return the ASGI app of every route, MCP's included."""
    from remembrancer.http.asgi import create_asgi

    return create_asgi(replace(local.app, assets=LocalAssets()), routes=_routes())


@cache
def _routes() -> Sequence[AnyRoute | Area]:
    from remembrancer.http.mcp import mcp_route
    from remembrancer.http.routes import AREAS

    return (*AREAS, mcp_route(_mcp_server()))


async def serve(
    local: LocalApp, host: str, port: int, on_ready: Callable[[Listening, bool], None]
) -> None:
    """Serve HTTP until a signal; `on_ready` hears where, and if a panel. *Raises:* Conflict."""
    from remembrancer.app.jobs.works import works_of
    from remembrancer.local import checkup, cron, jobs, server, warming

    local = replace(local, app=replace(local.app, queue=(queue := jobs.TaskQueue())))
    works = [*works_of(local.app, queue.consume, cron.tick_on), checkup.watch(local.store)]
    outbound = local.app.outbound
    if isinstance(outbound, HttpOutbound) and local.app.settings.ai_gateway_base_url is not None:
        works.append(warming.warm_up(outbound.load))
    has_panel = LocalAssets().is_built
    async with cron.at_work(*works):
        await server.run(make_asgi(local), host, port, on_ready=lambda at: on_ready(at, has_panel))


async def serve_stdio(local: LocalApp, namespace: str | None, tools: str | None) -> None:
    """Serve one MCP client on the standard streams until it ends. *Raises:* InvalidInput."""
    from remembrancer.mcp.call import Call
    from remembrancer.mcp.registry import parse_toolsets
    from remembrancer.mcp.stdio import serve_lines

    toolsets = parse_toolsets(tools)
    await serve_lines(
        *standard_lines(),
        server=_mcp_server(),
        new_call=lambda: Call(local.app, local.owner(namespace), toolsets),
    )
