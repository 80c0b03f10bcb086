"""The SQL port over SQLite: one writer, a few readers, and D1's limits.

A batch is one `BEGIN IMMEDIATE` transaction; a read is one snapshot. Another process may use the
same file; a lock is waited for, never reported. It knows no table and no migration. `local.wire`,
`local` modules and `testing` import it.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from remembrancer.core.errors import CorruptData, RemembrancerError, StoreUnavailable
from remembrancer.core.sqlcheck import check_statement
from remembrancer.local.connection import MEMORY, SqliteConnection, SqliteOptions
from remembrancer.local.errors import patiently, translate
from remembrancer.local.lanes import Lane
from remembrancer.ports.sql import Outcome, SqlStore, Statement

T = TypeVar("T")

Moment = Literal["before", "after"]
"""On which side of a statement a hook is called."""

StatementHook = Callable[[Moment, int, Statement], None]
"""Called around each statement of a write batch, inside its transaction; may raise."""


class SqliteStore:
    """A database file, or one in memory, behind the SQL port.

    *Shape:* `on_statement` lets a test fail between any two statements of a batch. Opening is
    lazy: the first call, or `open`, makes the connections.
    """

    def __init__(self, path: str | Path, options: SqliteOptions | None = None) -> None:
        self._options = options or SqliteOptions()
        self.path = str(path)
        threads = 0 if self.path == MEMORY else self._options.threads
        self._is_inline = threads == 0
        self._write_lane = Lane(min(threads, 1), "sqlite-write")
        self._read_lane = Lane(threads, "sqlite-read")
        self._writer: SqliteConnection | None = None
        self._idle: list[SqliteConnection] = []
        self._all: list[SqliteConnection] = []
        self.on_statement: StatementHook | None = None
        self._damage: str | None = None
        self._close_all = weakref.finalize(self, _close_all, self._all)

    @classmethod
    async def open(cls, path: str | Path, options: SqliteOptions | None = None) -> SqliteStore:
        """Open the file now, so that a wrong path or a damaged file is reported at the start."""
        store = cls(path, options)
        await store.with_writer(lambda raw: raw.execute("SELECT count(*) FROM sqlite_schema"))
        return store

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run reading statements on one snapshot; see the port."""
        for statement in statements:
            check_statement(statement.sql, statement.params, is_reading=True)
        if not statements:
            return []
        return await self._read_lane.run(lambda: self._read_now(statements))

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run statements as one transaction; see the port."""
        for statement in statements:
            check_statement(statement.sql, statement.params)
        if not statements:
            return []
        return await self._write_lane.run(lambda: self._write_now(statements))

    def session(self, bookmark: str | None) -> SqlStore:
        """Return the store itself: one machine has nothing to lag behind."""
        del bookmark
        return self

    def bookmark(self) -> str | None:
        """Return None: there is none."""
        return None

    async def scrub(self) -> None:
        """Fold the write-ahead log into the file and cut it.

        Deleted rows are overwritten when they are deleted (`secure_delete`); what is left of them
        is in the log. A reader in another process can hold the log back; its next end frees it.
        """
        await self.with_writer(
            lambda raw: raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        )

    async def with_writer(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run local work, such as migrating or a backup, on the writing connection.

        *Raises:* as `write`; the work begins and ends its own transactions.
        """
        return await self._write_lane.run(lambda: self.with_writer_now(work))

    def with_writer_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """As `with_writer`, run where it is called: for a store without threads."""
        try:
            writer = self._open_writer()
            try:
                return work(writer.raw)
            finally:
                writer.roll_back()
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def damage(self) -> str | None:
        """Return what was found broken in the file, None while nothing was.

        It stays until the file is opened anew: a later call that works reads another page.
        """
        return self._damage

    def note_damage(self, what: str) -> None:
        """Keep the first thing that was found broken."""
        self._damage = self._damage or what

    def close(self) -> None:
        """Wait for running calls, then close every connection."""
        self._read_lane.close()
        self._write_lane.close()
        self._close_all()
        self._writer = None
        self._idle.clear()

    def _read_now(self, statements: Sequence[Statement]) -> list[Outcome]:
        try:
            reader = self._take_reader()
            try:
                return patiently(lambda: reader.read(statements), self._options.busy_wait_s)
            finally:
                self._give_back(reader)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.Error) -> RemembrancerError:
        ours = translate(error)
        if isinstance(ours, CorruptData):
            self.note_damage(str(error))
        return ours

    def _write_now(self, statements: Sequence[Statement]) -> list[Outcome]:
        try:
            writer = self._open_writer()
            patiently(lambda: writer.raw.execute("BEGIN IMMEDIATE"), self._options.busy_wait_s)
            try:
                writer.start_clock()
                outcomes = [self._step(writer, *numbered) for numbered in enumerate(statements)]
                writer.stop_clock()
                writer.raw.execute("COMMIT")
            finally:
                writer.roll_back()
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return outcomes

    def _step(self, writer: SqliteConnection, index: int, statement: Statement) -> Outcome:
        hook = self.on_statement
        if hook is not None:
            hook("before", index, statement)
        outcome = writer.run(statement)
        if hook is not None:
            hook("after", index, statement)
        return outcome

    def _failed(self, error: sqlite3.Error) -> RemembrancerError:
        """Translate; a writer on a failing file is replaced, so that a repaired disk helps."""
        ours = self._translated(error)
        if isinstance(ours, StoreUnavailable | CorruptData) and self.path != MEMORY:
            writer, self._writer = self._writer, None
            if writer is not None:
                self._all.remove(writer)
                writer.close()
        return ours

    def _open_writer(self) -> SqliteConnection:
        if self._writer is None:
            self._writer = SqliteConnection(self.path, self._options)
            self._all.append(self._writer)
        return self._writer

    def _take_reader(self) -> SqliteConnection:
        """Take the reader used last, whose cache is warm; without threads the writer reads too."""
        if self._is_inline:
            # Not made read-only: the verb of each statement was checked, and the switch would
            # make SQLite prepare every statement anew.
            return self._open_writer()
        if self._idle:
            return self._idle.pop()
        reader = SqliteConnection(self.path, self._options, is_reader=True)
        self._all.append(reader)
        return reader

    def _give_back(self, reader: SqliteConnection) -> None:
        if not self._is_inline:
            self._idle.append(reader)


def _close_all(connections: list[SqliteConnection]) -> None:
    """Close the readers first, so that the writer's close folds the log into the file."""
    while connections:
        connections.pop().close()
