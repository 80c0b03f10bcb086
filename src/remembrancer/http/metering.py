"""Metering: the database as one request sees it, with its round trips counted.

The count goes into the request's log line and is what the budgets hold. Not a cache, no limits.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.ports.sql import Outcome, SqlStore, Statement


class MeteredSql:
    """A SqlStore that counts what passes through it."""

    def __init__(self, inner: SqlStore) -> None:
        self._inner = inner
        self.query_count = 0
        self.statement_count = 0

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Count one round trip and read."""
        self._count(statements)
        return await self._inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Count one round trip and write."""
        self._count(statements)
        return await self._inner.write(statements)

    def session(self, bookmark: str | None) -> SqlStore:
        """Return the inner store's session, uncounted: a request has its own already."""
        return self._inner.session(bookmark)

    def bookmark(self) -> str | None:
        """Return the bookmark after the last call of this request."""
        return self._inner.bookmark()

    async def scrub(self) -> None:
        """Pass it on."""
        await self._inner.scrub()

    def _count(self, statements: Sequence[Statement]) -> None:
        self.query_count += 1
        self.statement_count += len(statements)
