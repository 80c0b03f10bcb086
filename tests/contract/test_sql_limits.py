"""What every SQL driver refuses: D1's limits at n and n + 1, and what no batch may hold."""

from __future__ import annotations

import math

import pytest
from tests.contract.tables import rows, run, with_tables

from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.limits import (
    INTEGER_MAX,
    SQL_BOUND_VALUES_MAX,
    SQL_LIKE_PATTERN_BYTES_MAX,
    SQL_STATEMENT_BYTES_MAX,
    SQL_VALUE_BYTES_MAX,
)
from remembrancer.core.sqlcheck import (
    SQL_COLUMNS_MAX,
    SQL_COMPOUND_TERMS_MAX,
    SQL_EXPRESSION_DEPTH_MAX,
)
from remembrancer.ports.sql import SqlStore, SqlValue, Statement

INSERT_TEXT = "INSERT INTO things(id, t) VALUES ('x', ?)"


async def test_values_at_the_limit_are_bound(sql: SqlStore) -> None:
    marks = ", ".join("?" for _ in range(SQL_BOUND_VALUES_MAX))
    found = await rows(sql, f"SELECT 1 AS yes WHERE 99 IN ({marks})", *range(SQL_BOUND_VALUES_MAX))
    assert found == [{"yes": 1}]


async def test_values_over_the_limit_are_refused(sql: SqlStore) -> None:
    marks = ", ".join("?" for _ in range(SQL_BOUND_VALUES_MAX + 1))
    statement = f"SELECT 1 AS yes WHERE 99 IN ({marks})"
    with pytest.raises(InvalidInput, match="101 bound values"):
        await rows(sql, statement, *range(SQL_BOUND_VALUES_MAX + 1))


def statement_of(size: int) -> str:
    """A statement of so many bytes, not all of them ASCII."""
    head = "SELECT '荔枝' AS fruit"
    return head + " " * (size - len(head.encode()))


async def test_statement_at_the_limit_runs(sql: SqlStore) -> None:
    assert await rows(sql, statement_of(SQL_STATEMENT_BYTES_MAX)) == [{"fruit": "荔枝"}]


async def test_statement_over_the_limit_is_refused(sql: SqlStore) -> None:
    with pytest.raises(InvalidInput, match="100001 bytes"):
        await rows(sql, statement_of(SQL_STATEMENT_BYTES_MAX + 1))


LARGEST: list[tuple[str, str, str | bytes]] = [
    ("text", "t", "x" * SQL_VALUE_BYTES_MAX),
    ("chinese", "t", "枝" * (SQL_VALUE_BYTES_MAX // 3) + "xx"),
    ("blob", "b", b"\xff" * SQL_VALUE_BYTES_MAX),
]


@pytest.mark.parametrize(("kind", "column", "value"), LARGEST, ids=[each[0] for each in LARGEST])
async def test_value_at_the_limit_is_stored(
    sql: SqlStore, kind: str, column: str, value: SqlValue
) -> None:
    await with_tables(sql)
    await run(sql, f"INSERT INTO things(id, {column}) VALUES ('x', ?)", value)
    assert await rows(
        sql, f"SELECT length(CAST({column} AS BLOB)) AS size FROM things WHERE {column} = ?", value
    ) == [{"size": SQL_VALUE_BYTES_MAX}]


@pytest.mark.parametrize(("kind", "column", "value"), LARGEST, ids=[each[0] for each in LARGEST])
async def test_value_over_the_limit_is_refused(
    sql: SqlStore, kind: str, column: str, value: str | bytes
) -> None:
    await with_tables(sql)
    longer = value + "x" if isinstance(value, str) else value + b"x"
    with pytest.raises(InvalidInput, match="2000001 bytes"):
        await run(sql, f"INSERT INTO things(id, {column}) VALUES ('x', ?)", longer)
    assert await rows(sql, "SELECT id FROM things") == []


async def test_row_over_the_engines_ceiling_is_refused(sql: SqlStore) -> None:
    await with_tables(sql)
    with pytest.raises(InvalidInput):
        await run(
            sql,
            "INSERT INTO things(id, t, b) VALUES ('x', ?, ?)",
            "x" * 1_500_000,
            b"x" * 1_500_000,
        )
    assert await rows(sql, "SELECT id FROM things") == []


REFUSED_VALUES: list[tuple[str, object, type[RemembrancerError]]] = [
    ("integer-over", INTEGER_MAX + 1, InvalidInput),
    ("integer-under", -INTEGER_MAX - 1, InvalidInput),
    ("not-a-number", math.nan, InvalidInput),
    ("infinite", math.inf, InvalidInput),
    ("surrogate", "a\ud800b", InvalidInput),
    ("surrogate-pair-halves", "\ud83d\ude00", InvalidInput),
    ("true", True, RemembrancerError),
    ("list", ["a"], RemembrancerError),
    ("dict", {"a": 1}, RemembrancerError),
    ("bytearray", bytearray(b"a"), RemembrancerError),
]


@pytest.mark.parametrize(
    ("value", "error"), [case[1:] for case in REFUSED_VALUES], ids=[c[0] for c in REFUSED_VALUES]
)
async def test_value_that_cannot_be_kept_is_refused(
    sql: SqlStore, value: SqlValue, error: type[RemembrancerError]
) -> None:
    await with_tables(sql)
    with pytest.raises(RemembrancerError) as raised:
        await sql.write([Statement("DELETE FROM things"), Statement(INSERT_TEXT, (value,))])
    assert type(raised.value) is error
    with pytest.raises(RemembrancerError):
        await rows(sql, "SELECT ? AS a", value)


@pytest.mark.parametrize("operator", ["LIKE", "GLOB"])
async def test_bound_pattern_is_limited(sql: SqlStore, operator: str) -> None:
    pattern = "x" * SQL_LIKE_PATTERN_BYTES_MAX
    assert await rows(sql, f"SELECT 'a' {operator} ? AS hit", pattern) == [{"hit": 0}]
    with pytest.raises(InvalidInput):
        await rows(sql, f"SELECT 'a' {operator} ? AS hit", pattern + "x")


@pytest.mark.parametrize("operator", ["LIKE", "not like", "GLOB"])
async def test_literal_pattern_is_limited(sql: SqlStore, operator: str) -> None:
    pattern = "''" + "枝" * 16
    assert await rows(sql, f"SELECT 'a' {operator} '{pattern}x' AS hit")
    with pytest.raises(InvalidInput, match="51 bytes"):
        await rows(sql, f"SELECT 'a' {operator} '{pattern}xx' AS hit")


def compound(terms: int) -> str:
    """A SELECT of so many terms."""
    return " UNION ALL ".join("SELECT 1 AS a" for _ in range(terms))


def columns(count: int) -> str:
    """A SELECT of so many columns."""
    return "SELECT " + ", ".join(f"1 AS a{number}" for number in range(count))


def chain(terms: int) -> str:
    """A condition as deep as it has terms."""
    return "SELECT 1 AS a WHERE " + " AND ".join("1 = 1" for _ in range(terms))


@pytest.mark.parametrize(
    ("largest", "larger"),
    [
        (compound(SQL_COMPOUND_TERMS_MAX), compound(SQL_COMPOUND_TERMS_MAX + 1)),
        (columns(SQL_COLUMNS_MAX), columns(SQL_COLUMNS_MAX + 1)),
        (chain(SQL_EXPRESSION_DEPTH_MAX - 1), chain(SQL_EXPRESSION_DEPTH_MAX + 1)),
    ],
    ids=["compound-terms", "columns", "expression-depth"],
)
async def test_shape_over_the_engines_ceiling_is_a_defect(
    sql: SqlStore, largest: str, larger: str
) -> None:
    assert await rows(sql, largest)
    with pytest.raises(RemembrancerError) as raised:
        await rows(sql, larger)
    assert raised.value.code == "internal_error"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO things(id) VALUES ('x')",
        "WITH new(id) AS (SELECT 'x') INSERT INTO things(id) SELECT id FROM new",
        "/* SELECT */ UPDATE things SET i = 1",
        "-- SELECT\nDELETE FROM things",
        "REPLACE INTO things(id) VALUES ('x')",
        "CREATE TABLE more(id TEXT) STRICT",
        "DROP TABLE things",
        "INSERT INTO things(id) VALUES ('x') RETURNING id",
    ],
)
async def test_write_through_read_is_refused(sql: SqlStore, statement: str) -> None:
    await with_tables(sql)
    await run(sql, "INSERT INTO things(id) VALUES ('kept')")
    with pytest.raises(RemembrancerError, match="a read cannot hold"):
        await sql.read([Statement("SELECT 1 AS a"), Statement(statement)])
    assert await rows(sql, "SELECT id, i FROM things") == [{"id": "kept", "i": None}]


@pytest.mark.parametrize(
    "statement",
    [
        "BEGIN",
        "begin immediate",
        "COMMIT",
        "END",
        "ROLLBACK",
        "SAVEPOINT a",
        "RELEASE a",
        "/* x */ PRAGMA journal_mode = DELETE",
        "PRAGMA table_info(things)",
        "ATTACH ':memory:' AS other",
        "DETACH other",
        "VACUUM",
        "CREATE TEMP TABLE t(a)",
        "CREATE TEMPORARY VIEW v AS SELECT 1",
        "",
        " ; ",
        "-- only a comment",
        "SELECT 1 AS a; SELECT 2 AS a",
        "SELECT 1 AS a; -- end",
        "SELECT :name AS a",
        "SELECT ? AS a",
        "WITH a AS (SELECT 1) PRAGMA user_version",
    ],
)
async def test_statement_that_no_batch_may_hold_is_a_defect(sql: SqlStore, statement: str) -> None:
    await with_tables(sql)
    with pytest.raises(RemembrancerError) as raised:
        await sql.write([Statement("INSERT INTO things(id) VALUES ('x')"), Statement(statement)])
    assert raised.value.code == "internal_error"
    assert await rows(sql, "SELECT id FROM things") == []


@pytest.mark.parametrize(
    "statement",
    ["SELECT 1 AS a;", " SELECT 1 AS a -- ; BEGIN", "VALUES (1)", "EXPLAIN QUERY PLAN SELECT 1"],
)
async def test_reading_statement_of_any_form_is_taken(sql: SqlStore, statement: str) -> None:
    assert await rows(sql, statement)
