"""The key-value port over a small SQLite file of its own: a cache, and nothing but a cache.

The file is never waited for at a commit, may be deleted at any time, and is made anew when it is
broken. It is not in the ledger's file, so that a cache never waits for the ledger's writer.
`local.wire` imports it.
"""

from __future__ import annotations

import logging
import sqlite3
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.kvcheck import check_entry, check_key
from remembrancer.local.connection import MEMORY, make_private
from remembrancer.local.errors import is_busy
from remembrancer.local.lanes import Lane
from remembrancer.ports.runtime import Runtime

T = TypeVar("T")

logger = logging.getLogger(__name__)

CACHE_WAIT_S: Final = 1.0
"""Seconds to wait for another process; a cache is not worth more. Our choice."""

PUTS_BETWEEN_PURGES: Final = 100
"""Stored values between two removals of expired ones. Our choice."""

# The 1 is the table's version: a changed shape takes a new name, and old entries expire unseen.
_SET_UP: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = OFF",
    "PRAGMA secure_delete = ON",
    """CREATE TABLE IF NOT EXISTS cache_entries_1(
    key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_ms INTEGER NOT NULL) STRICT""",
    "CREATE INDEX IF NOT EXISTS cache_entries_1_expiry ON cache_entries_1(expires_ms)",
)


class SqliteKeyValue:
    """A cache with expiry, measured by the runtime's clock."""

    def __init__(self, path: str | Path, runtime: Runtime, *, threads: int = 1) -> None:
        self._path = str(path)
        self._runtime = runtime
        self._lane = Lane(min(threads, 1), "sqlite-cache")
        self._open: list[sqlite3.Connection] = []
        self._puts = 0
        self._close_all = weakref.finalize(self, _close_all, self._open)

    async def get(self, key: str) -> str | None:
        """Return the value, or None when it is absent or expired, or the cache does not answer."""
        check_key(key)
        now_ms = self._runtime.now_ms()

        def find(raw: sqlite3.Connection) -> str | None:
            row = raw.execute(
                "SELECT value FROM cache_entries_1 WHERE key = ? AND expires_ms > ?", (key, now_ms)
            ).fetchone()
            return None if row is None else str(row[0])

        try:
            return await self._lane.run(lambda: self._tried(find))
        except StoreUnavailable as error:
            logger.warning("the cache was not read: %s", error.message)
            return None

    async def put(self, key: str, value: str, *, ttl_s: int) -> None:
        """Store the value; the last writer wins."""
        check_entry(key, value, ttl_s)
        now_ms = self._runtime.now_ms()
        self._puts += 1
        is_purge_due = self._puts % PUTS_BETWEEN_PURGES == 0

        def store(raw: sqlite3.Connection) -> None:
            raw.execute(
                "INSERT INTO cache_entries_1(key, value, expires_ms) VALUES (?1, ?2, ?3) "
                "ON CONFLICT(key) DO UPDATE SET value = ?2, expires_ms = ?3",
                (key, value, now_ms + ttl_s * 1_000),
            )
            if is_purge_due:
                raw.execute("DELETE FROM cache_entries_1 WHERE expires_ms <= ?", (now_ms,))

        await self._lane.run(lambda: self._tried(store))

    async def delete(self, key: str) -> None:
        """Remove the value, from the log as well; a missing key is no error."""
        check_key(key)

        def remove(raw: sqlite3.Connection) -> None:
            raw.execute("DELETE FROM cache_entries_1 WHERE key = ?", (key,))
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        await self._lane.run(lambda: self._tried(remove))

    def close(self) -> None:
        """Wait for running calls and close the file."""
        self._lane.close()
        self._close_all()

    def _tried(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work; over a broken file, once more over a new one."""
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            if is_busy(error):
                raise StoreUnavailable("the cache is busy", hint="try again") from error
            logger.info("the cache file is made anew: %s", error)
        self._remove()
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"the cache file {self._path!r} cannot be used", hint="check its folder"
            ) from error

    def _connection(self) -> sqlite3.Connection:
        if self._open:
            return self._open[0]
        if self._path != MEMORY:
            make_private(Path(self._path))
        raw = sqlite3.connect(
            self._path, timeout=CACHE_WAIT_S, isolation_level=None, check_same_thread=False
        )
        self._open.append(raw)
        for statement in _SET_UP:
            raw.execute(statement)
        return raw

    def _remove(self) -> None:
        _close_all(self._open)
        if self._path == MEMORY:
            return
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(self._path + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"the cache file {self._path!r} cannot be replaced: {error.strerror}",
                hint="check its folder",
            ) from error


def _close_all(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
