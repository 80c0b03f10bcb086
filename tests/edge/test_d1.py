"""The D1 driver: what it sends, what it makes of the answer, and of the platform's failures."""

from __future__ import annotations

import pytest
from tests.edge.databases import D1
from tests.edge.standins import JSNULL, JsBytes, JsException

from remembrancer.core.errors import (
    Conflict,
    InvalidInput,
    RemembrancerError,
    StoreUnavailable,
    TimedOut,
)
from remembrancer.edge.d1 import D1Store
from remembrancer.ports.sql import SqlValue, Statement
from remembrancer.testing.stores import memory_store

TABLE = "CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER, b BLOB) STRICT"


async def with_table(database: D1) -> D1Store:
    store = D1Store(database)
    await store.write([Statement(TABLE)])
    return store


async def test_values_are_bound_as_the_platform_takes_them() -> None:
    database = D1(memory_store(is_migrated=False))
    store = await with_table(database)
    values: tuple[SqlValue, ...] = ("荔枝", None, b"\0\xff")
    await store.write([Statement("INSERT INTO t VALUES (?, ?, ?)", values)])
    text, null, blob = database.bound
    assert text == "荔枝"
    assert null is JSNULL
    assert isinstance(blob, JsBytes) and blob.data == b"\0\xff"
    (found,) = await store.read([Statement("SELECT * FROM t")])
    assert found.rows == [{"id": "荔枝", "n": None, "b": b"\0\xff"}]


async def test_outcome_has_the_platforms_counts_and_no_changes_for_a_read() -> None:
    store = await with_table(D1(memory_store(is_migrated=False)))
    written, read = await store.write(
        [Statement("INSERT INTO t(id) VALUES ('a'), ('b')"), Statement("SELECT id FROM t")]
    )
    assert (written.changes, written.rows_read, written.rows_written) == (2, 1, 2)
    assert read.changes == 0
    assert [row["id"] for row in read.rows] == ["a", "b"]


async def test_session_begins_where_it_is_told_and_only_when_it_is_used() -> None:
    database = D1()
    store = D1Store(database)
    fresh, later = store.session(None), store.session("0000-1111")
    assert (fresh.bookmark(), database.starts) == (None, [])
    for session in (fresh, later, fresh):
        await session.read([Statement("SELECT 1 AS a")])
    assert database.starts == ["first-primary", "0000-1111"]
    assert (fresh.bookmark(), later.bookmark()) == ("bookmark-2", "bookmark-1")
    await store.scrub()


async def test_nothing_to_send_is_not_sent() -> None:
    database = D1()
    store = D1Store(database)
    assert await store.read([]) == await store.write([]) == []
    assert (database.calls, database.starts) == (0, [])


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        pytest.param(Statement("DELETE FROM t"), RemembrancerError, id="write-among-reads"),
        pytest.param(Statement("SELECT ? AS a", (2**53,)), InvalidInput, id="integer-too-large"),
        pytest.param(Statement("SELECT ? AS a"), RemembrancerError, id="value-missing"),
    ],
)
async def test_what_d1_would_refuse_is_not_sent(
    statement: Statement, error: type[RemembrancerError]
) -> None:
    database = D1()
    with pytest.raises(error):
        await D1Store(database).read([statement])
    assert database.calls == 0


FAILURES = [
    ("UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT", Conflict),
    ("NOT NULL constraint failed: t.id: SQLITE_CONSTRAINT_NOTNULL", Conflict),
    ("LIKE or GLOB pattern too complex: SQLITE_ERROR", InvalidInput),
    ("string or blob too big: SQLITE_TOOBIG", InvalidInput),
    ("D1 DB is overloaded. Requests queued for too long.", StoreUnavailable),
    ("D1 DB is overloaded. Too many requests queued.", StoreUnavailable),
    ("D1 DB storage operation exceeded timeout which caused object to be reset.", TimedOut),
    ("D1 DB reset because its code was updated.", RemembrancerError),
    ("Network connection lost.", StoreUnavailable),
    ("Internal error while starting up D1 DB storage caused object to be reset.", StoreUnavailable),
    ("Cannot resolve D1 DB due to transient issue on remote node.", StoreUnavailable),
    ("no such table: secret words", RemembrancerError),
]


@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize(("text", "error"), FAILURES, ids=[text[:24] for text, _ in FAILURES])
async def test_failure_of_any_call_is_one_of_ours(
    place: int, text: str, error: type[RemembrancerError]
) -> None:
    def fail(call: int) -> None:
        if call == place:
            raise JsException(f"D1_ERROR: {text}")

    store = D1Store(D1(fail=fail)).session(None)
    for call in (1, 2, 3):
        if call != place:
            await store.read([Statement("SELECT 1 AS a")])
            continue
        with pytest.raises(error) as raised:
            await store.read([Statement("SELECT 1 AS a")])
        assert isinstance(raised.value.__cause__, JsException)
        assert "secret" not in raised.value.message
