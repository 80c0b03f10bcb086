"""Stores for tests: a fresh database in memory, and one that counts what passes through it.

Real SQLite, never a mock. Tests of every ring and `scripts/bench` import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from remembrancer.local.connection import MEMORY, SqliteOptions
from remembrancer.local.migrate import apply_migrations, load_migrations
from remembrancer.local.sqlite import SqliteStore
from remembrancer.ports.sql import Outcome, SqlStore, Statement


def memory_store(*, is_migrated: bool = True, numbers_as_d1: bool = True) -> SqliteStore:
    """Return a fresh database in memory with every migration applied.

    *Promise:* runs inline and needs no close; integers are bound as D1 binds them, so that
    arithmetic on a bound value fails here as it would there.
    """
    store = SqliteStore(MEMORY, SqliteOptions(threads=0, numbers_as_d1=numbers_as_d1))
    if is_migrated:
        store.with_writer_now(lambda raw: raw.deserialize(_migrated_image()))
    return store


@cache
def _migrated_image() -> bytes:
    """A migrated database's bytes: copying them is quicker than migrating for every test."""
    store = SqliteStore(MEMORY, SqliteOptions(threads=0))
    migrations = load_migrations()
    store.with_writer_now(lambda raw: apply_migrations(raw, migrations))
    return store.with_writer_now(lambda raw: raw.serialize())


@dataclass(frozen=True, slots=True)
class Call:
    """One round trip: which way, and the texts it carried."""

    kind: Literal["read", "write"]
    sql: tuple[str, ...]


@dataclass(slots=True)
class Counts:
    """What passed through a counting store and its sessions.

    *Shape:* `rows_read` and `rows_written` stay 0 over a platform that does not count them.
    """

    calls: list[Call] = field(default_factory=list)
    rows_read: int = 0
    rows_written: int = 0

    @property
    def round_trips(self) -> int:
        """Calls in all; a batch is one."""
        return len(self.calls)

    @property
    def reads(self) -> int:
        """Calls that read."""
        return sum(call.kind == "read" for call in self.calls)

    @property
    def writes(self) -> int:
        """Calls that wrote."""
        return sum(call.kind == "write" for call in self.calls)

    @property
    def statements(self) -> int:
        """Statements in all calls together."""
        return sum(len(call.sql) for call in self.calls)

    @property
    def log(self) -> list[str]:
        """Every statement's text, in order."""
        return [sql for call in self.calls for sql in call.sql]

    def reset(self) -> None:
        """Begin to count anew."""
        self.calls.clear()
        self.rows_read = 0
        self.rows_written = 0


class CountingStore:
    """The SQL port around another store, counting; failing calls count as well."""

    def __init__(self, inner: SqlStore, counts: Counts | None = None) -> None:
        self.inner = inner
        self.counts = counts if counts is not None else Counts()

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Count, then read."""
        self.counts.calls.append(Call("read", tuple(each.sql for each in statements)))
        return self._counted(await self.inner.read(statements))

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Count, then write."""
        self.counts.calls.append(Call("write", tuple(each.sql for each in statements)))
        return self._counted(await self.inner.write(statements))

    def session(self, bookmark: str | None) -> CountingStore:
        """Return a session of the inner store that counts into the same numbers."""
        return CountingStore(self.inner.session(bookmark), self.counts)

    def bookmark(self) -> str | None:
        """Return the inner store's bookmark."""
        return self.inner.bookmark()

    async def scrub(self) -> None:
        """Pass it on."""
        await self.inner.scrub()

    def _counted(self, outcomes: list[Outcome]) -> list[Outcome]:
        for outcome in outcomes:
            self.counts.rows_read += outcome.rows_read or 0
            self.counts.rows_written += outcome.rows_written or 0
        return outcomes
