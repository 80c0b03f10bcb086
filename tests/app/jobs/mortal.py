"""A process that is killed at one of its calls to the database: nothing it does comes after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tests.builders import NAMESPACE, Bench

from remembrancer.app.jobs.frame import Job
from remembrancer.app.jobs.running import run
from remembrancer.core.errors import StoreUnavailable
from remembrancer.ports.sql import Outcome, SqlStore, Statement

How = Literal["killed before", "killed after", "refused", "answer lost", "delivered twice"]
"""What happens at the chosen call. Killed: it and all later calls never return to the process."""

HOWS: tuple[How, ...] = ("killed before", "killed after", "refused", "answer lost")


class Killed(BaseException):
    """The process is gone: no handler of its own sees this."""


@dataclass(slots=True)
class Mortal:
    """The SQL port around another store, with one fault at call `at`, from 1."""

    inner: SqlStore
    at: int
    how: How
    calls: int = 0
    is_dead: bool = False

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        return await self._call(self.inner.read, statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        return await self._call(self.inner.write, statements)

    async def _call(
        self,
        call: Callable[[Sequence[Statement]], Awaitable[list[Outcome]]],
        statements: Sequence[Statement],
    ) -> list[Outcome]:
        self.calls += 1
        is_due = self.calls == self.at
        if self.is_dead or (is_due and self.how == "killed before"):
            self.is_dead = True
            raise Killed
        if is_due and self.how == "refused":
            raise StoreUnavailable("refused on purpose")
        outcomes = await call(statements)
        if is_due and self.how == "delivered twice":
            outcomes = await call(statements)
        if is_due and self.how == "killed after":
            self.is_dead = True
            raise Killed
        if is_due and self.how == "answer lost":
            raise StoreUnavailable("the answer was lost on purpose")
        return outcomes

    def session(self, bookmark: str | None) -> SqlStore:
        del bookmark
        return self

    def bookmark(self) -> str | None:
        return None

    async def scrub(self) -> None:
        await self.inner.scrub()


async def disturbed(bench: Bench, job: Job, at: int, how: How) -> bool:
    """Run a job with a fault; tell whether its call was reached."""
    sound = bench.sql
    mortal = Mortal(sound, at, how)
    bench.sql = mortal
    try:
        await run(bench.app, job, NAMESPACE, trigger="cron")
    except (Killed, StoreUnavailable):
        pass
    finally:
        bench.sql = sound
    return mortal.calls >= at
