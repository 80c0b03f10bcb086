"""Spending: what one request, message or line of the schedule has sent to the database, and may.

The counts go into the request's log line and are what the budgets hold. Where the platform bounds
the statements, one that would be too many is refused before it is sent: each batch is atomic, so
nothing is left half-done. Not a cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.core.errors import LimitExceeded, PlatformError
from remembrancer.ports.runtime import Runtime
from remembrancer.ports.sql import Outcome, SqlStore, Statement

FOLLOWING_STATEMENTS: Final = 2
"""Statements that are set aside in any request: that its key was used, and another look. Our
choice."""


class Spending:
    """What was sent so far.

    *Shape:* `statements_max` None where nothing is bounded; `reserved` statements are for what must
    still follow, whatever else could be tried; `is_over` once a batch was refused.
    """

    def __init__(self, statements_max: int | None = None) -> None:
        self.statements_max = statements_max
        self.queries = 0
        self.statements = 0
        self.reserved = FOLLOWING_STATEMENTS
        self.is_over = False

    def affords(self, statements: int) -> bool:
        """Tell whether so many statements may still be sent, beside those that are set aside."""
        most = self.statements_max
        return most is None or self.statements + statements + self.reserved <= most

    def spend(self, statements: int) -> None:
        """Count one round trip and its statements. *Raises:* LimitExceeded, when they are more than
        may be sent."""
        most = self.statements_max
        if most is not None and self.statements + statements > most:
            self.is_over = True
            raise self.refusal()
        self.queries += 1
        self.statements += statements

    def refusal(self) -> LimitExceeded:
        """Return the error that says how to come further."""
        return LimitExceeded(
            f"this is more than the {self.statements_max} database statements that one request may "
            "send here",
            hint="what was answered is done, the rest is not begun: ask for it in requests of its "
            "own, or for less at once",
            details={"statements_max": self.statements_max},
        )


class Writes:
    """How this process's last write went; all copies of an App share it, and health asks it.

    *Shape:* `failure` says what kept the last one from the database, None when nothing did.
    *Units:* `failed_at_ms` milliseconds UTC.
    """

    def __init__(self) -> None:
        self.failure: str | None = None
        self.failed_at_ms = 0


class MeteredSql:
    """A SqlStore that counts what passes through it, and lets no more through than may be spent."""

    def __init__(
        self, inner: SqlStore, spending: Spending, writes: Writes, runtime: Runtime
    ) -> None:
        self._inner = inner
        self._spending = spending
        self._writes = writes
        self._runtime = runtime

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Count one round trip and read. *Raises:* LimitExceeded."""
        self._spending.spend(len(statements))
        return await self._inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Count one round trip and write. *Raises:* LimitExceeded; nothing is written then."""
        self._spending.spend(len(statements))
        writes = self._writes
        try:
            outcomes = await self._inner.write(statements)
        except PlatformError as error:
            writes.failure, writes.failed_at_ms = error.message, self._runtime.now_ms()
            raise
        writes.failure = None
        return outcomes

    def session(self, bookmark: str | None) -> SqlStore:
        """Return the inner store's session, counted into the same numbers."""
        inner = self._inner.session(bookmark)
        return MeteredSql(inner, self._spending, self._writes, self._runtime)

    def bookmark(self) -> str | None:
        """Return the bookmark after the last call of this request."""
        return self._inner.bookmark()

    async def scrub(self) -> None:
        """Pass it on."""
        await self._inner.scrub()
