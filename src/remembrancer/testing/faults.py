"""A faulty database on purpose: calls that fail, answers that get lost, crashes inside a batch.

It wraps a real store, so that what a test sees afterwards is what a real fault leaves behind.
Tests of every ring import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.core.errors import StoreUnavailable
from remembrancer.local.sqlite import Moment, SqliteStore
from remembrancer.ports.sql import Outcome, SqlStore, Statement


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """Where a batch dies: before or after its statement `statement` (from 0), inside the batch.

    *Shape:* `write` is the number of the batch, from 1, counted since the faults were made.
    """

    statement: int
    moment: Moment = "before"
    write: int = 1


@dataclass(slots=True)
class Faults:
    """What goes wrong and when, for a store and its sessions; 0 and None turn a fault off.

    *Shape:* `fail_every` n: each n-th call fails before it reaches the database.
    `lose_answer_every` n: each n-th write is done, but its caller hears StoreUnavailable.
    `deliver_twice_every` n: each n-th write arrives twice; the caller hears the second answer,
    a Conflict included. `crash`: one batch dies between two statements; `has_crashed` says that
    the point was reached. `calls` and `writes` count.
    """

    fail_every: int = 0
    lose_answer_every: int = 0
    deliver_twice_every: int = 0
    crash: CrashPoint | None = None
    has_crashed: bool = False
    calls: int = 0
    writes: int = 0


class FaultyStore:
    """The SQL port around another store, failing as its `faults` say.

    *Shape:* crash points need a SqliteStore inside, whose transaction they enter.
    """

    def __init__(self, inner: SqlStore, faults: Faults | None = None) -> None:
        self.inner = inner
        self.faults = faults if faults is not None else Faults()

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Read, unless this call's turn to fail has come."""
        self._count_call()
        return await self.inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Write, with the faults of this batch."""
        self._count_call()
        faults = self.faults
        faults.writes += 1
        if faults.crash is not None and faults.crash.write == faults.writes:
            return await self._write_and_crash(statements, faults.crash)
        outcomes = await self.inner.write(statements)
        if _is_due(faults.deliver_twice_every, faults.writes):
            outcomes = await self.inner.write(statements)
        if _is_due(faults.lose_answer_every, faults.writes):
            raise StoreUnavailable("the answer was lost on purpose; the write was done")
        return outcomes

    def session(self, bookmark: str | None) -> FaultyStore:
        """Return a session of the inner store with the same faults."""
        return FaultyStore(self.inner.session(bookmark), self.faults)

    def bookmark(self) -> str | None:
        """Return the inner store's bookmark."""
        return self.inner.bookmark()

    async def scrub(self) -> None:
        """Pass it on."""
        await self.inner.scrub()

    async def _write_and_crash(
        self, statements: Sequence[Statement], point: CrashPoint
    ) -> list[Outcome]:
        store = self.inner
        if not isinstance(store, SqliteStore):
            raise TypeError("a crash point needs a SqliteStore inside")

        def crash(moment: Moment, index: int, statement: Statement) -> None:
            del statement
            if (moment, index) == (point.moment, point.statement):
                self.faults.has_crashed = True
                raise StoreUnavailable(f"crashed on purpose {moment} statement {index}")

        store.on_statement = crash
        try:
            return await store.write(statements)
        finally:
            store.on_statement = None

    def _count_call(self) -> None:
        self.faults.calls += 1
        if _is_due(self.faults.fail_every, self.faults.calls):
            raise StoreUnavailable("the database fails on purpose")


def _is_due(every: int, count: int) -> bool:
    return every > 0 and count % every == 0
