"""Bookmarks: a write returns one, and a read that sends it is not behind it."""

from __future__ import annotations

from collections.abc import Sequence

from tests.protocol.rest.doors import OWNER, serve

from remembrancer.app.spending import MeteredSql, Spending, Writes
from remembrancer.ports.sql import Outcome, SqlStore, Statement
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store


class Replicated:
    """A store whose sessions have bookmarks; it notes which were asked for."""

    def __init__(self) -> None:
        self.inner = memory_store()
        self.asked: list[str | None] = []

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Reads."""
        return await self.inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        """Writes."""
        return await self.inner.write(statements)

    def session(self, bookmark: str | None) -> SqlStore:
        """Notes the bookmark."""
        self.asked.append(bookmark)
        return self

    def bookmark(self) -> str | None:
        """Always the same."""
        return "00000085-0000024c"

    async def scrub(self) -> None:
        return


async def test_bookmark_is_returned_by_a_write_and_taken_by_a_read() -> None:
    store = Replicated()
    async with serve(sql=store).client() as client:
        body = {"name": "n", "scopes": ["memory:read"]}
        written = await client.post("/v1/keys", headers=OWNER, json=body)
        bookmark = written.headers["x-remembrancer-bookmark"]
        read = await client.get("/v1/keys", headers={**OWNER, "x-remembrancer-bookmark": bookmark})
        await client.get("/v1/keys", headers={**OWNER, "x-remembrancer-bookmark": " "})
    assert store.asked == [None, bookmark, None]
    assert "x-remembrancer-bookmark" not in read.headers


async def test_bookmark_is_not_returned_by_a_store_without_one() -> None:
    async with serve().client() as client:
        body = {"name": "n", "scopes": ["memory:read"]}
        written = await client.post("/v1/keys", headers=OWNER, json=body)
    assert written.status_code == 201
    assert "x-remembrancer-bookmark" not in written.headers


async def test_metered_store_counts_its_sessions_calls_as_its_own() -> None:
    spending = Spending()
    store = MeteredSql(memory_store(), spending, Writes(), FixedRuntime())
    ping = Statement("SELECT 1 AS one")
    await store.session(None).read([ping])
    await store.read([ping, ping])
    assert (spending.queries, spending.statements) == (2, 3)
    assert spending.affords(1_000_000)
