"""The statement check: what a text is, and what the message of a refusal may hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.sqlcheck import check_statement, statement_shape


@pytest.mark.parametrize(
    ("sql", "verb", "marks"),
    [
        ("SELECT 1", "select", 0),
        ("select ?, ?", "select", 2),
        ("SELECT ?1, ?2, ?1", "select", 2),
        ("SELECT ?3", "select", 3),
        ("SELECT ?, ?5, ?", "select", 6),
        ("SELECT '?', \"?\", `?`, [?], -- ?\n /* ? */ ?", "select", 1),
        ("SELECT 'it''s ?' || ?", "select", 1),
        ("SELECT x'00', ?", "select", 1),
        ("SELECT 1 /* open ?", "select", 0),
        ("/* INSERT */ SELECT 1", "select", 0),
        ("VALUES (?)", "values", 1),
        ("EXPLAIN QUERY PLAN DELETE FROM t", "explain", 0),
        ("WITH a AS (SELECT ?) SELECT * FROM a", "select", 1),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "insert", 0),
        ("WITH RECURSIVE a(x) AS (DELETE) SELECT replace(x, 1, 2) FROM a", "select", 0),
        ('WITH "delete" AS (SELECT 1) UPDATE t SET a = ?', "update", 1),
        ("REPLACE INTO t VALUES (?)", "replace", 1),
        ("CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END", "create", 0),
        ("CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END;", "create", 0),
        ("ALTER TABLE a RENAME TO b", "alter", 0),
        ("SELECT 名字 FROM 表 WHERE a = ?", "select", 1),
        ("SELECT 1 AS a;", "select", 0),
    ],
)
def test_shape_of_a_statement_is_read_from_its_text(sql: str, verb: str, marks: int) -> None:
    shape = statement_shape(sql)
    assert (shape.verb, shape.marks) == (verb, marks)
    assert shape.is_reading == (verb in ("select", "values", "explain"))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("PRAGMA x", "'pragma'"),
        ("WITH a AS (SELECT 1)", "''"),
        ("(SELECT 1)", "''"),
        ("CREATE TEMP TABLE a(b)", "temporary"),
        ("SELECT 1; SELECT 2", "text follows"),
        ("SELECT 1;;", "text follows"),
        ("SELECT 1; -- x", "comment follows"),
        ("SELECT :a", "':a'"),
        ("SELECT @a", "'@a'"),
        ("SELECT $a", "'$a'"),
        ("SELECT ?", "1 marks but 0 values"),
    ],
)
def test_statement_of_a_defect_is_refused_and_named(sql: str, message: str) -> None:
    with pytest.raises(RemembrancerError, match=message.replace("$", r"\$")) as raised:
        check_statement(sql, ())
    assert raised.value.code == "internal_error"


@pytest.mark.parametrize(
    "value",
    ["secret " * 300_000, "secret \udfff", b"secret " * 300_000],
    ids=["long", "bad", "blob"],
)
def test_refusal_never_shows_a_text(value: str | bytes) -> None:
    with pytest.raises(InvalidInput) as raised:
        check_statement("SELECT ?", (value,))
    assert "secret" not in raised.value.message
    assert raised.value.hint


def test_reading_statement_passes_the_check_of_a_read() -> None:
    check_statement("SELECT ?, ?, ?, ?, ?", (None, 1, 1.5, "a枝", b"b"), is_reading=True)
    with pytest.raises(RemembrancerError, match="'delete'"):
        check_statement("DELETE FROM t", (), is_reading=True)


@given(st.text(max_size=200), st.lists(st.one_of(st.none(), st.integers(), st.text()), max_size=4))
def test_any_text_is_taken_or_refused_with_our_error(sql: str, params: list[object]) -> None:
    try:
        check_statement(sql, params)
    except RemembrancerError as error:
        assert error.code in ("internal_error", "invalid_input")
