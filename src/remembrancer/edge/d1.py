"""The SQL port over D1: each call is one batch, which the platform runs as one transaction.

It checks what D1 would refuse before sending, as the local driver does, so that both say it in
the same words. It knows no table. `edge.wire` imports it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Final, Protocol

from remembrancer.core.sqlcheck import check_statement, statement_shape
from remembrancer.edge.convert import bindable, is_absent, js_array, json_value
from remembrancer.edge.errors import d1_errors
from remembrancer.ports.sql import Outcome, Row, Statement

PRIMARY: Final = "first-primary"
"""What D1 calls a session without a bookmark whose first query goes to the primary database."""


class Prepared(Protocol):
    """D1PreparedStatement."""

    def bind(self, *values: object) -> Prepared: ...


class Session(Protocol):
    """D1DatabaseSession."""

    def prepare(self, sql: str) -> Prepared: ...

    def batch(self, statements: object) -> Awaitable[object]: ...

    def getBookmark(self) -> str | None: ...  # noqa: N802 - the platform's name


class Database(Protocol):
    """D1Database."""

    def withSession(self, start: str) -> Session: ...  # noqa: N802 - the platform's name


class D1Store:
    """A D1 database, or one session on it, behind the SQL port.

    *Shape:* every use is a session; the platform is asked for it at the first call. What `session`
    returns is one session for all its calls, so that it reads what it wrote.
    """

    def __init__(self, database: Database, start: str = PRIMARY) -> None:
        self._database = database
        self._start = start
        self._open: Session | None = None

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run reading statements on one snapshot; see the port."""
        for each in statements:
            check_statement(each.sql, each.params, is_reading=True)
        return await self._send(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Run statements as one transaction; see the port."""
        for each in statements:
            check_statement(each.sql, each.params)
        return await self._send(statements)

    def session(self, bookmark: str | None) -> D1Store:
        """Return the database as one request sees it; see the port."""
        return D1Store(self._database, bookmark or PRIMARY)

    def bookmark(self) -> str | None:
        """Return where the last call left this session; None before the first."""
        found = None if self._open is None else self._open.getBookmark()
        return None if is_absent(found) else found

    async def scrub(self) -> None:
        """Do nothing: D1's log and backups are the platform's, and end with its time travel."""

    async def _send(self, statements: Sequence[Statement]) -> list[Outcome]:
        if not statements:  # D1 refuses an empty batch
            return []
        with d1_errors():
            if self._open is None:
                self._open = self._database.withSession(self._start)
            prepare = self._open.prepare
            prepared = [
                prepare(each.sql).bind(*[bindable(value) for value in each.params])
                for each in statements
            ]
            results = json_value(await self._open.batch(js_array(prepared)))
        return [
            Outcome(
                rows=[_row(row) for row in result["results"]],
                changes=0 if statement_shape(each.sql).is_reading else result["meta"]["changes"],
                rows_read=result["meta"]["rows_read"],
                rows_written=result["meta"]["rows_written"],
            )
            for each, result in zip(statements, results, strict=True)
        ]


def _row(row: dict[str, object]) -> Row:
    """Return a row of the port's values: D1 gives a blob as a list of its bytes."""
    return {
        name: bytes(value) if isinstance(value, list) else value  # type: ignore[misc] # JSON's other values are SQL's
        for name, value in row.items()
    }
