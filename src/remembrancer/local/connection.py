"""One SQLite connection, set up so that it refuses what D1 refuses, and how a statement runs.

It knows transactions, time limits and SQLite's own ceilings; not threads, not which connection
writes. Only the drivers of `local` use it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.limits import (
    SQL_BOUND_VALUES_MAX,
    SQL_LIKE_PATTERN_BYTES_MAX,
    SQL_STATEMENT_BYTES_MAX,
)
from remembrancer.core.sqlcheck import (
    SQL_COLUMNS_MAX,
    SQL_COMPOUND_TERMS_MAX,
    SQL_EXPRESSION_DEPTH_MAX,
    SQL_ROW_BYTES_MAX,
    statement_shape,
)
from remembrancer.local.errors import patiently
from remembrancer.ports.sql import Outcome, Row, SqlValue, Statement

MEMORY: Final = ":memory:"
"""The path of a database that lives as long as its one connection."""

BUSY_TRY_S: Final = 0.25
"""Seconds SQLite itself waits for a lock before our own loop looks at the clock. Our choice."""

CACHED_STATEMENTS: Final = 256
"""Prepared statements each connection keeps. Our choice; the store has fewer texts."""

PAGE_CACHE_KIB: Final = 16_384
"""Page cache of a connection that reads, in KiB. Our choice, within the RSS budget of DESIGN 14."""

WRITER_CACHE_KIB: Final = 4_096
"""Page cache of a connection that writes, in KiB: merging the index of words would fill any with
pages that nobody asks for again. Our choice."""

JOURNAL_BYTES_KEPT: Final = 16 * 1024 * 1024
"""Bytes the write-ahead log may keep on disk after a checkpoint. Our choice."""

STEPS_BETWEEN_CHECKS: Final = 100_000
"""Instructions of SQLite between two looks at the clock; about a millisecond. Our choice."""

_CEILINGS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, SQL_ROW_BYTES_MAX),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, SQL_STATEMENT_BYTES_MAX),
    (sqlite3.SQLITE_LIMIT_COLUMN, SQL_COLUMNS_MAX),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, SQL_EXPRESSION_DEPTH_MAX),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, SQL_COMPOUND_TERMS_MAX),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, SQL_LIKE_PATTERN_BYTES_MAX),
    (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, SQL_BOUND_VALUES_MAX),
)

_making: Final = threading.Lock()
"""Held while a file is made, so that no connection of this process has it open by then."""

_CHANGING: Final = frozenset({"insert", "update", "delete", "replace"})

Synchronous = Literal["OFF", "NORMAL", "FULL"]
"""When SQLite waits for the disk: FULL at every commit, NORMAL at checkpoints, OFF never."""


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """How a database is opened.

    *Shape:* `threads` reading threads beside the writer's; 0 runs everything where it is called.
    `numbers_as_d1` binds integers as floating numbers, as D1 does, so that `7 / ?` fails here too.
    *Units:* seconds.
    """

    threads: int = 2
    synchronous: Synchronous = "FULL"
    numbers_as_d1: bool = False
    busy_wait_s: float = 30.0
    call_s_max: float = 30.0


class SqliteConnection:
    """A configured connection; one thread uses it at a time."""

    def __init__(self, path: str, options: SqliteOptions, *, is_reader: bool = False) -> None:
        self._options = options
        self._deadline_s = float("inf")
        if path != MEMORY:
            make_private(Path(path))
        self.raw = sqlite3.connect(
            path,
            timeout=BUSY_TRY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=CACHED_STATEMENTS,
        )
        try:
            patiently(lambda: self._set_up(is_reader=is_reader), options.busy_wait_s)
        except sqlite3.Error:
            self.raw.close()
            raise

    def _set_up(self, *, is_reader: bool) -> None:
        """Set what SQLite keeps per connection; called again when the database was busy."""
        raw = self.raw
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute(f"PRAGMA synchronous = {self._options.synchronous}")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("PRAGMA secure_delete = ON")
        raw.execute("PRAGMA temp_store = MEMORY")
        raw.execute("PRAGMA trusted_schema = OFF")
        kib = PAGE_CACHE_KIB if is_reader else WRITER_CACHE_KIB
        raw.execute(f"PRAGMA cache_size = -{kib}")
        raw.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES_KEPT}")
        if is_reader:
            raw.execute("PRAGMA query_only = ON")
        for category, ceiling in _CEILINGS:
            raw.setlimit(category, ceiling)
        raw.set_progress_handler(self._is_late, STEPS_BETWEEN_CHECKS)

    def _is_late(self) -> bool:
        """SQLite asks this now and then; True interrupts the statement."""
        return time.monotonic() > self._deadline_s

    def start_clock(self) -> None:
        """Give the call that starts now its full time."""
        self._deadline_s = time.monotonic() + self._options.call_s_max

    def stop_clock(self) -> None:
        """End the time limit, so that rolling back is never interrupted."""
        self._deadline_s = float("inf")

    def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run reading statements on one snapshot."""
        self.start_clock()
        if len(statements) == 1:  # one statement is a snapshot of its own
            return [self.run(statements[0])]
        try:
            self.raw.execute("BEGIN")
            return [self.run(statement) for statement in statements]
        finally:
            self.roll_back()

    def run(self, statement: Statement) -> Outcome:
        """Run one statement and collect its rows."""
        as_d1 = self._options.numbers_as_d1
        params = _floating(statement.params) if as_d1 else statement.params
        cursor = self.raw.execute(statement.sql, params)
        rows: list[Row] = []
        if cursor.description is not None:
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
            if as_d1:
                rows = [_whole(row) for row in rows]
        changes = 0
        if statement_shape(statement.sql).verb in _CHANGING:
            changes = cursor.rowcount
            if changes < 0:  # the module counts only statements that begin with their verb
                changes = self.raw.execute("SELECT changes()").fetchone()[0]
        cursor.close()
        return Outcome(rows=rows, changes=changes)

    def roll_back(self) -> None:
        """Leave the transaction, if there is one, without a trace."""
        self.stop_clock()
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    def close(self) -> None:
        """Close it; a second close is no error."""
        self.raw.close()


def make_private(path: Path) -> None:
    """Create the file for its owner alone; SQLite gives its log files the same mode.

    A file that is there is never opened: closing a descriptor would drop every lock that this
    process holds on it, and another process would take itself for the last one and delete the log.
    Source: SQLite, "How To Corrupt An SQLite Database File", section 2.2.
    """
    with _making:
        if path.is_file():
            return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Exclusive, unless it is no file at all, and the system shall say what is wrong.
            exclusive = os.O_EXCL if not path.is_dir() else 0
            os.close(os.open(path, os.O_CREAT | exclusive | os.O_RDWR, 0o600))
        except OSError as error:
            if path.is_file():
                return  # another process was faster
            raise StoreUnavailable(
                f"the database file {str(path)!r} cannot be opened: {error.strerror}",
                hint="check the path and its permissions",
            ) from error


def _floating(params: tuple[SqlValue, ...]) -> tuple[SqlValue, ...]:
    """Bind integers as D1 binds a JavaScript number."""
    return tuple(float(value) if isinstance(value, int) else value for value in params)


def _whole(row: Row) -> Row:
    """Read whole numbers as integers, as a JavaScript number arrives in Python."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in row.items()
    }
