"""The composition of one machine: ports over SQLite, the app over the ports, doors over the app.

The only module of this side that sees every ring, and what the command line stands on.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from remembrancer.app.access import local_owner
from remembrancer.app.settings import Settings, load_settings
from remembrancer.app.state import App
from remembrancer.core.access.profiles import DEFAULT_NAMESPACE, OWNER_KEY
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ids import Namespace, is_namespace
from remembrancer.core.values import Caller
from remembrancer.local.connection import SqliteOptions
from remembrancer.local.folder import DATA_VARIABLE, DataFolder, find_folder
from remembrancer.local.kv import SqliteKeyValue
from remembrancer.local.migrate import migrate
from remembrancer.local.runtime import LocalRuntime
from remembrancer.local.sqlite import SqliteStore

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SERVER_THREADS: Final = 2
"""Reading threads of a server; a one-shot command has none. Our choice."""


def environment() -> Mapping[str, str]:
    """Return the process's environment; nothing else of the command line reads it."""
    return os.environ


@dataclass(frozen=True, slots=True)
class LocalApp:
    """An app on this machine's store, and what its doors need beside it."""

    app: App
    store: SqliteStore
    runtime: LocalRuntime
    folder: DataFolder

    def owner(self, namespace: str | None = None) -> Caller:
        """Return the owner as a caller with a fresh cause. *Raises:* InvalidInput."""
        if namespace is not None and not is_namespace(namespace):
            raise InvalidInput(
                f"namespace is {namespace[:64]!r}, which cannot name one",
                hint="use 1 to 64 of letters, digits, '.', '_' and '-'",
                field="namespace",
            )
        chosen = Namespace(namespace) if namespace is not None else DEFAULT_NAMESPACE
        return local_owner(self.runtime.new_id("run"), namespace=chosen)

    @property
    def owner_key(self) -> str | None:
        """The owner's key, set or made; None when there is none yet. A secret."""
        return self.app.settings.environment_keys().get(OWNER_KEY)

    @property
    def key_source(self) -> str:
        """Where the owner's key came from."""
        return self.app.settings.source_of(OWNER_KEY)

    @property
    def has_panel(self) -> bool:
        """Whether the panel was built."""
        return False


@asynccontextmanager
async def open_app(
    data: str | None, environ: Mapping[str, str], *, is_server: bool = False
) -> AsyncIterator[LocalApp]:
    """Open the store in a data folder, migrated, and close it when the block ends.

    *Shape:* `data` is the command line's folder. A server gets threads, and a key for its owner.
    *Raises:* InvalidInput for a wrong setting, StoreUnavailable.
    *Promise:* beside other processes on the same folder; work after answers is finished first.
    """
    folder = find_folder(data, environ)
    runtime = LocalRuntime()
    settings = read_settings(folder, environ, is_named=data is not None)
    folder.make()
    if is_server and OWNER_KEY not in settings.environment_keys():
        folder.make_key(runtime.random_bytes)
        settings = read_settings(folder, environ, is_named=data is not None)
    threads = SERVER_THREADS if is_server else 0
    store = await SqliteStore.open(folder.database, SqliteOptions(threads=threads))
    kv = SqliteKeyValue(folder.cache, runtime, threads=threads)
    try:
        await migrate(store)
        app = App(store, kv, runtime, settings)
        try:
            yield LocalApp(app, store, runtime, folder)
        finally:
            await runtime.drain()
    finally:
        kv.close()
        store.close()


def read_settings(folder: DataFolder, environ: Mapping[str, str], *, is_named: bool) -> Settings:
    """Parse the settings of a data folder. *Raises:* InvalidInput, StoreUnavailable."""
    key = None if environ.get(OWNER_KEY, "").strip() else folder.read_key()
    return load_settings(
        environ,
        overrides={DATA_VARIABLE: str(folder.path)} if is_named else {},
        stored={OWNER_KEY: key} if key is not None else {},
    )


def make_asgi(local: LocalApp) -> ASGIApp:
    """Return the ASGI app with every route."""
    # Here and not above: a command that serves nothing does without the web framework.
    from remembrancer.http.asgi import create_asgi
    from remembrancer.http.routes import ROUTES

    return create_asgi(local.app, routes=ROUTES)


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens."""

    host: str
    port: int
    is_loopback: bool


async def serve(
    local: LocalApp, host: str, port: int, on_ready: Callable[[Listening], None]
) -> None:
    """Serve HTTP until a signal asks to stop. *Raises:* Conflict, InvalidInput (the address)."""
    from remembrancer.local import server
    from remembrancer.local.logs import log_to_stderr

    with server.bind(host, port) as listening:
        address = listening.getsockname()
        place = Listening(host, int(address[1]), server.is_loopback(listening))
        log_to_stderr()
        await server.run(make_asgi(local), listening, on_ready=lambda: on_ready(place))
