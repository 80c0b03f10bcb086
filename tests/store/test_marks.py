"""Marks: few rows are bound value by value, many as one JSON array, and both read alike."""

from __future__ import annotations

import pytest

from remembrancer.core.ids import Namespace
from remembrancer.ports.sql import SqlValue, Statement
from remembrancer.store.marks import LISTED_VALUES_MAX, Marks
from remembrancer.testing.stores import memory_store

ME = Namespace("me")


@pytest.mark.parametrize("count", [0, 1, 2, LISTED_VALUES_MAX // 3, LISTED_VALUES_MAX // 3 + 1])
async def test_rows_of_any_count_come_back_in_order(count: int) -> None:
    rows: list[list[SqlValue]] = [[f"值 {number}", number, None] for number in range(count)]
    marks = Marks(ME)
    source = marks.rows(rows)
    columns = "column1, column2, column3" if rows else "column1"
    [found] = await memory_store().read(
        [Statement(f"SELECT ?1 AS namespace, {columns} FROM {source}", marks.values)]
    )
    assert [list(row.values())[1:] for row in found.rows] == rows


@pytest.mark.parametrize("count", [2, LISTED_VALUES_MAX])
async def test_text_comes_back_with_its_nuls(count: int) -> None:
    rows: list[list[SqlValue]] = [
        [number, f"a\0\ue000b\\u0000 {number}\0", None if number else "\0"]
        for number in range(count)
    ]
    marks = Marks(ME)
    source = marks.rows(rows)
    [found] = await memory_store().read(
        [Statement(f"SELECT ?1 AS me, * FROM {source}", marks.values)]
    )
    assert [list(row.values())[1:] for row in found.rows] == rows


def test_few_rows_are_bound_singly_and_many_as_one_array() -> None:
    few, many = Marks(ME), Marks(ME)
    assert "json_each" not in few.rows([["a"]] * LISTED_VALUES_MAX)
    assert len(few.values) == LISTED_VALUES_MAX + 1
    assert "json_each" in many.rows([["a"]] * (LISTED_VALUES_MAX + 1))
    assert len(many.values) == 2


def test_second_list_is_an_array_when_both_would_bind_too_much() -> None:
    marks = Marks(ME)
    assert "json_each" not in marks.many(["a"] * LISTED_VALUES_MAX)
    assert "json_each" in marks.many(["b"])
    assert len(marks.values) == LISTED_VALUES_MAX + 2


@pytest.mark.parametrize("count", [1, 2, LISTED_VALUES_MAX // 2, LISTED_VALUES_MAX // 2 + 1])
async def test_keys_of_any_count_find_their_rows_and_no_others(count: int) -> None:
    sql = memory_store()
    pairs: list[list[SqlValue]] = [[f"标签 {number}", f"itm_{number}"] for number in range(40)]
    marks, others = Marks(ME), Marks(Namespace("others"))
    for namespace in (marks, others):
        await sql.write(
            [
                Statement(
                    "INSERT INTO item_tags (namespace, tag, item_id, name)"
                    f" SELECT ?1, column1, column2, column1 FROM {namespace.rows(pairs)}",
                    namespace.values,
                )
            ]
        )
    chosen = Marks(ME)
    keys = chosen.keys(("tag", "item_id"), pairs[:count])
    [gone] = await sql.write([Statement(f"DELETE FROM item_tags WHERE {keys}", chosen.values)])
    assert gone.changes == count
    [left] = await sql.read([Statement("SELECT namespace, tag FROM item_tags")])
    mine = {str(row["tag"]) for row in left.rows if row["namespace"] == ME}
    assert mine == {str(tag) for tag, _ in pairs[count:]}
    assert len(left.rows) == len(pairs) * 2 - count


async def test_many_serves_as_a_set_and_as_a_source() -> None:
    marks = Marks(ME)
    mark = marks.add("乙")
    [found] = await memory_store().read(
        [
            Statement(
                f"SELECT ?1 AS namespace, value, {mark} IN {marks.many(['甲', '乙'])} AS is_in"
                f" FROM {marks.many(['one'])} AS chosen",
                marks.values,
            )
        ]
    )
    assert found.rows == [{"namespace": "me", "value": "one", "is_in": 1}]
