"""The SQL port: statements with bound values, read in one round trip or written as one batch.

What it promises is the weaker of D1 and SQLite: no interactive transaction, no cursor, a batch
is all or nothing. It is not a query builder and knows no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

SqlValue = None | int | float | str | bytes
"""What can be bound: no bool (bind 0 or 1), integers within ±(2⁵³ - 1)."""

Row = dict[str, SqlValue]
"""One row: column name → value."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement and its bound values, in order of the `?` marks."""

    sql: str
    params: tuple[SqlValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one statement gave.

    *Shape:* `rows` empty for a write without RETURNING; `changes` rows changed; `rows_read` and
    `rows_written` as the platform counts them (None where it does not count).
    """

    rows: list[Row] = field(default_factory=list)
    changes: int = 0
    rows_read: int | None = None
    rows_written: int | None = None


class SqlStore(Protocol):
    """A database that speaks SQLite's dialect."""

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run reading statements in one round trip, all on one snapshot.

        *Shape:* one outcome per statement, in order. *Promise:* one round trip; sees every write
        that was answered before it, unless the session is behind its bookmark.
        *Raises:* StoreUnavailable, TimedOut, InvalidInput (over a platform limit).
        """
        ...

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run statements as one atomic batch: all or nothing.

        *Promise:* durable when it returns; a UNIQUE clash anywhere undoes the whole batch.
        *Raises:* Conflict (a UNIQUE or CHECK clash; `details["constraint"]` names the columns),
        StoreUnavailable, TimedOut, InvalidInput (over a platform limit).
        """
        ...

    def session(self, bookmark: str | None) -> SqlStore:
        """Return the store as one request sees it: at least as new as the bookmark.

        Without a bookmark every read goes to the primary.
        """
        ...

    def bookmark(self) -> str | None:
        """Return the bookmark after the last call of this session; None where there is none."""
        ...

    async def scrub(self) -> None:
        """Make the bytes of deleted rows unreadable, as far as the platform lets us.

        *Promise:* safe to repeat; changes no row. Locally the log is folded in and cut; D1 keeps
        its own backups for as long as its time travel reaches.
        """
        ...
