"""The SQL port's promises, over every implementation, real D1 among them."""

from __future__ import annotations

import asyncio

import pytest
from tests.contract.tables import rows, run, with_tables

from remembrancer.core.errors import Conflict, RemembrancerError
from remembrancer.ports.sql import SqlStore, SqlValue, Statement

INSERT_THING = "INSERT INTO things(id) VALUES (?)"
INSERT_PART = "INSERT INTO parts(id, thing, name) VALUES (?, ?, ?)"

VALUES: list[tuple[str, str, SqlValue]] = [
    ("text-empty", "t", ""),
    ("text-chinese", "t", "记住：属兔，不吃香菜。"),
    ("text-emoji", "t", "👩‍👩‍👧‍👦🏳️‍🌈"),
    ("text-nul", "t", "a\0b"),
    ("text-quotes", "t", 'it\'s "so" -- ; /* ? */ :a @b $c'),
    ("text-lines", "t", "a\r\nb\tc\u2028d"),
    ("text-of-digits", "t", "0012"),
    ("text-not-normal", "t", "é e\u0301 ﬁ"),
    ("integer-zero", "i", 0),
    ("integer-negative", "i", -1),
    ("integer-largest", "i", 2**53 - 1),
    ("integer-smallest", "i", -(2**53) + 1),
    ("real", "r", 1.5),
    ("real-whole", "r", 2.0),
    ("real-tiny", "r", 5e-324),
    ("real-huge", "r", 1.7976931348623157e308),
    ("blob", "b", bytes(range(256))),
    ("blob-empty", "b", b""),
    ("null", "t", None),
]


@pytest.mark.parametrize(
    ("column", "value"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES]
)
async def test_value_written_comes_back_equal(sql: SqlStore, column: str, value: SqlValue) -> None:
    await with_tables(sql)
    await run(sql, f"INSERT INTO things(id, {column}) VALUES ('x', ?)", value)
    assert await rows(sql, f"SELECT {column} AS got FROM things WHERE {column} IS ?", value) == [
        {"got": value}
    ]


async def test_integer_in_a_strict_column_is_an_integer(sql: SqlStore) -> None:
    await with_tables(sql)
    await run(sql, "INSERT INTO things(id, i) VALUES ('x', ?)", 7)
    (row,) = await rows(sql, "SELECT typeof(i) AS kind, i / 2 AS half, i FROM things")
    assert row == {"kind": "integer", "half": 3, "i": 7}
    assert type(row["i"]) is int


async def test_read_answers_one_outcome_per_statement_in_order(sql: SqlStore) -> None:
    await with_tables(sql)
    await sql.write([Statement(INSERT_THING, (name,)) for name in ("c", "a", "b")])
    found = await sql.read(
        [
            Statement("SELECT id FROM things ORDER BY id"),
            Statement("SELECT count(*) AS n FROM things WHERE id > ?", ("a",)),
            Statement("SELECT id FROM things WHERE id = 'none'"),
        ]
    )
    assert [outcome.rows for outcome in found] == [
        [{"id": "a"}, {"id": "b"}, {"id": "c"}],
        [{"n": 2}],
        [],
    ]
    assert [outcome.changes for outcome in found] == [0, 0, 0]


async def test_empty_batch_answers_nothing(sql: SqlStore) -> None:
    assert await sql.read([]) == []
    assert await sql.write([]) == []


async def test_numbered_mark_used_twice_takes_one_value(sql: SqlStore) -> None:
    assert await rows(sql, "SELECT ?1 AS a, ?2 AS b, ?1 AS c", "x", "y") == [
        {"a": "x", "b": "y", "c": "x"}
    ]


async def test_column_named_twice_keeps_the_last(sql: SqlStore) -> None:
    assert await rows(sql, "SELECT 'first' AS a, 'last' AS a") == [{"a": "last"}]


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("INSERT INTO things(id) VALUES ('x'), ('y')", 2),
        ("INSERT INTO things(id) SELECT id || '2' FROM things", 3),
        ("WITH new(id) AS (SELECT 'x') INSERT INTO things(id) SELECT id FROM new", 1),
        ("INSERT INTO things(id) VALUES ('a') ON CONFLICT DO NOTHING", 0),
        ("INSERT INTO things(id) VALUES ('a') ON CONFLICT(id) DO UPDATE SET t = 'x'", 1),
        ("INSERT INTO things(id) VALUES ('z') RETURNING id", 1),
        ("REPLACE INTO things(id) VALUES ('z')", 1),
        ("UPDATE things SET i = 1", 3),
        ("UPDATE things SET i = 1 WHERE id = 'none'", 0),
        ("DELETE FROM things WHERE id <> 'a'", 2),
        ("DELETE FROM things WHERE id = 'none' RETURNING id", 0),
    ],
)
async def test_write_says_how_many_rows_changed(
    sql: SqlStore, statement: str, changes: int
) -> None:
    await with_tables(sql)
    await sql.write([Statement(INSERT_THING, (name,)) for name in ("a", "b", "c")])
    assert await run(sql, statement) == changes


async def test_returning_answers_rows_of_the_write(sql: SqlStore) -> None:
    await with_tables(sql)
    inserted, read = await sql.write(
        [
            Statement("INSERT INTO things(id, i) VALUES ('a', 1), ('b', 2) RETURNING id, i"),
            Statement("SELECT count(*) AS n FROM things"),
        ]
    )
    assert sorted(inserted.rows, key=lambda row: str(row["id"])) == [
        {"id": "a", "i": 1},
        {"id": "b", "i": 2},
    ]
    assert read.rows == [{"n": 2}]


async def test_read_after_a_write_sees_it(sql: SqlStore) -> None:
    await with_tables(sql)
    for number in range(20):
        await run(sql, INSERT_THING, f"thing-{number:02}")
        assert await rows(sql, "SELECT count(*) AS n FROM things") == [{"n": number + 1}]


CLASHES: list[tuple[str, Statement, str, str]] = [
    ("primary-key", Statement(INSERT_THING, ("a",)), "things.id", "UNIQUE"),
    ("unique", Statement(INSERT_PART, ("p2", "a", "wheel")), "parts.thing, parts.name", "UNIQUE"),
    ("check", Statement(INSERT_PART, ("p3", "a", "odd")), "name_is_plain", "CHECK"),
    ("not-null", Statement(INSERT_PART, ("p4", None, "x")), "parts.thing", "NOT NULL"),
    ("foreign-key", Statement(INSERT_PART, ("p5", "none", "x")), "FOREIGN KEY", "FOREIGN KEY"),
    ("trigger", Statement("DELETE FROM counters"), "counters stay", "TRIGGER"),
]


@pytest.mark.parametrize(
    ("clash", "constraint", "kind"), [case[1:] for case in CLASHES], ids=[c[0] for c in CLASHES]
)
@pytest.mark.parametrize("place", [0, 2, 4], ids=["first", "middle", "last"])
async def test_clash_anywhere_undoes_the_whole_batch(
    sql: SqlStore, clash: Statement, constraint: str, kind: str, place: int
) -> None:
    await with_tables(sql)
    trigger = (
        "CREATE TRIGGER stay BEFORE DELETE ON counters "
        "BEGIN SELECT RAISE(ABORT, 'counters stay'); END"
    )
    await sql.write(
        [
            Statement(trigger),
            Statement("INSERT INTO counters(id, count) VALUES ('c', 0)"),
            Statement(INSERT_THING, ("a",)),
            Statement(INSERT_PART, ("p1", "a", "wheel")),
        ]
    )
    batch = [Statement(INSERT_THING, (f"new-{number}",)) for number in range(4)]
    batch.insert(place, clash)
    with pytest.raises(Conflict) as raised:
        await sql.write(batch)
    assert raised.value.code == "conflict"
    assert raised.value.details == {"constraint": constraint, "kind": kind}
    assert raised.value.__cause__ is not None
    assert await rows(sql, "SELECT id FROM things") == [{"id": "a"}]
    assert await rows(sql, "SELECT id FROM parts") == [{"id": "p1"}]


@pytest.mark.parametrize(
    "defect",
    [
        Statement("INSERT INTO things(id, i) VALUES ('x', 'no number')"),
        Statement("SELECT * FROM no_such_table"),
        Statement("SELECT no_such_column FROM things"),
        Statement("SELECT id FROM"),
        Statement("SELECT id FROM texts WHERE texts MATCH ?", ('"open',)),
        Statement("SELECT json_extract('{', '$')"),
    ],
    ids=["wrong-type", "no-table", "no-column", "syntax", "search-syntax", "malformed-json"],
)
async def test_defect_in_a_batch_is_no_conflict_and_undoes_it(
    sql: SqlStore, defect: Statement
) -> None:
    await with_tables(sql)
    with pytest.raises(RemembrancerError) as raised:
        await sql.write([Statement(INSERT_THING, ("new",)), defect])
    assert type(raised.value) is RemembrancerError
    assert raised.value.code == "internal_error"
    assert "open" not in raised.value.message
    assert await rows(sql, "SELECT id FROM things") == []


async def test_full_text_search_finds_chinese_and_english(sql: SqlStore) -> None:
    await with_tables(sql)
    await run(sql, "INSERT INTO texts(body) VALUES (?), (?)", "我最喜欢的水果是荔枝", "lychees")
    found = await rows(sql, "SELECT body FROM texts WHERE texts MATCH ?", '"的水果"')
    assert found == [{"body": "我最喜欢的水果是荔枝"}]
    assert await rows(sql, "SELECT body FROM texts WHERE texts MATCH ?", '"ychee"') == [
        {"body": "lychees"}
    ]


async def test_two_statements_of_a_read_see_one_snapshot(sql: SqlStore) -> None:
    await with_tables(sql)
    await run(sql, "INSERT INTO counters(id, count) VALUES ('a', 500), ('b', 500)")

    async def move(times: int) -> None:
        for _ in range(times):
            await sql.write(
                [
                    Statement("UPDATE counters SET count = count - 1 WHERE id = 'a'"),
                    Statement("UPDATE counters SET count = count + 1 WHERE id = 'b'"),
                ]
            )

    async def watch(times: int) -> list[int]:
        sums = []
        for _ in range(times):
            answer = await sql.read(
                [
                    Statement("SELECT count FROM counters WHERE id = 'a'"),
                    Statement("SELECT count FROM counters WHERE id = 'b'"),
                ]
            )
            sums.append(sum(int(str(outcome.rows[0]["count"])) for outcome in answer))
        return sums

    watched = await asyncio.gather(move(20), move(20), watch(30), watch(30))
    assert set(watched[2]) | set(watched[3]) == {1000}


async def test_eight_concurrent_writers_lose_nothing(sql: SqlStore) -> None:
    await with_tables(sql)
    await run(sql, "INSERT INTO counters(id, count) VALUES ('all', 0)")

    async def work(writer: int) -> None:
        for number in range(15):
            await sql.write(
                [
                    Statement(INSERT_THING, (f"{writer}-{number}",)),
                    Statement("UPDATE counters SET count = count + 1 WHERE id = 'all'"),
                ]
            )

    await asyncio.gather(*(work(writer) for writer in range(8)))
    assert await rows(sql, "SELECT count FROM counters") == [{"count": 120}]
    assert await rows(sql, "SELECT count(*) AS n FROM things") == [{"n": 120}]


async def test_eight_writers_of_one_version_have_one_winner(sql: SqlStore) -> None:
    await with_tables(sql)
    await run(sql, INSERT_THING, "stream")

    async def append(writer: int) -> str:
        try:
            await run(sql, INSERT_PART, f"event-{writer}", "stream", "version-1")
        except Conflict:
            return "lost"
        return "won"

    results = await asyncio.gather(*(append(writer) for writer in range(8)))
    assert sorted(results) == ["lost"] * 7 + ["won"]


async def test_session_without_bookmark_reads_its_own_write(sql: SqlStore) -> None:
    await with_tables(sql)
    session = sql.session(None)
    await run(session, INSERT_THING, "a")
    assert await rows(session, "SELECT id FROM things") == [{"id": "a"}]


async def test_session_with_a_bookmark_is_as_new_as_it(sql: SqlStore) -> None:
    await with_tables(sql)
    writer = sql.session(None)
    await run(writer, INSERT_THING, "a")
    reader = sql.session(writer.bookmark())
    assert await rows(reader, "SELECT id FROM things") == [{"id": "a"}]
