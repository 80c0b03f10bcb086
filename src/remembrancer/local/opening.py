"""Opening the stores of a data folder, and closing them again. `local.wire` imports it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from remembrancer.local.blobs import DiskBlobs
from remembrancer.local.connection import SqliteOptions
from remembrancer.local.folder import DataFolder
from remembrancer.local.indexes import LocalIndexes
from remembrancer.local.kv import SqliteKeyValue
from remembrancer.local.migrate import migrate
from remembrancer.local.outbound import HttpOutbound, WorkersAiAccount
from remembrancer.local.runtime import LocalRuntime
from remembrancer.local.sqlite import SqliteStore

SERVER_THREADS: Final = 2
"""Reading threads of a server. Our choice; SQLite answers most reads in under a millisecond."""


@dataclass(frozen=True, slots=True)
class Stores:
    """What is kept in a data folder, open, and the way out to models' servers."""

    sql: SqliteStore
    kv: SqliteKeyValue
    blobs: DiskBlobs
    indexes: LocalIndexes
    outbound: HttpOutbound


@asynccontextmanager
async def open_stores(
    folder: DataFolder,
    runtime: LocalRuntime,
    workers_ai: tuple[str, str] | None = None,
    *,
    is_server: bool,
) -> AsyncIterator[Stores]:
    """Open the database, migrated, cache, vector files, artifacts and the way out to models.

    *Shape:* only a server gets threads; elsewhere all runs where it is called; `workers_ai` is a
    Cloudflare account and its token.
    *Raises:* StoreUnavailable.
    *Promise:* work after answers is finished before they close.
    """
    threads = SERVER_THREADS if is_server else 0
    store = await SqliteStore.open(folder.database, SqliteOptions(threads=threads))
    kv = SqliteKeyValue(folder.cache, runtime, threads=threads)
    indexes = LocalIndexes(folder, threads=min(threads, 1))
    blobs = DiskBlobs(folder.artifacts, threads=threads)
    outbound = HttpOutbound(None if workers_ai is None else WorkersAiAccount(*workers_ai))
    try:
        await migrate(store)
        if is_server:
            # One that was killed between forgetting and its scrub left the text in the log.
            await store.scrub()
        yield Stores(store, kv, blobs, indexes, outbound)
    finally:
        await runtime.drain()
        await outbound.close()
        indexes.close()
        blobs.close()
        kv.close()
        store.close()
