"""Search terms against the real FTS5: found where they should be, never an error."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.text.segment import (
    FTS_TOKENIZER,
    index_terms,
    match_expression,
    query_terms,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
TYPED = st.text("aB3 中的ไक🎉🇨👍._-/@:'#+\"*(){}^~\u0301é", max_size=40)
SYNTAX = st.lists(
    st.sampled_from(
        [
            "AND",
            "OR",
            "NOT",
            "NEAR(",
            ")",
            "(",
            '"',
            "'",
            "*",
            "^",
            ":",
            "{",
            "}",
            "-",
            "+",
            "a",
            "猫",
        ]
    ),
    max_size=12,
).map(" ".join)

TEXTS = {
    1: "我的测试暗号是苹果星星-0428",
    2: "Fix the foo-bar parser in getUserName before release 3.14",
    3: "Learn C++ and C#, then node.js",
    4: "Python编程入门，周五开会",
    5: "Write to ann@example.com about a:b 🎉",
    6: "the cats were running to the table",
    7: "養了一隻貓，叫阿鹿",
    8: "猫粮快没了",
    9: "Ｗｉｆｉ密码是１２３４５６",
    10: "हिन्दी सीखना है",
    11: "明日の会議は三時から",
    12: "내일 회의 자료 준비",
    13: "3月5日下午 T恤 打折",
    14: "use not null and near misses",
    15: "𰻝𰻝面 café",
}


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE terms USING fts5(text, tokenize='{FTS_TOKENIZER}')")
    database.executemany(
        "INSERT INTO terms (rowid, text) VALUES (?, ?)",
        [(row, index_terms(text)) for row, text in TEXTS.items()],
    )
    yield database
    database.close()


@pytest.fixture(scope="module")
def tokenizer() -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE one USING fts5(text, tokenize='{FTS_TOKENIZER}')")
    database.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(one, 'instance')")
    yield database
    database.close()


def _find(index: sqlite3.Connection, expression: str) -> list[int]:
    found = index.execute(
        "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank, rowid", (expression,)
    )
    return [row for (row,) in found]


def _search(index: sqlite3.Connection, query: str) -> list[int]:
    return _find(index, match_expression([term.text for term in query_terms(query)]))


def _tokens(tokenizer: sqlite3.Connection, text: str) -> list[str]:
    tokenizer.execute("DELETE FROM one")
    tokenizer.execute("INSERT INTO one (text) VALUES (?)", (text,))
    return [term for (term,) in tokenizer.execute("SELECT term FROM seen ORDER BY offset")]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        pytest.param("苹果", [1], id="chinese_word_inside_a_text"),
        pytest.param("暗号是什么", [1], id="chinese_question"),
        pytest.param("星星", [1], id="doubled_character"),
        pytest.param("0428", [1], id="number"),
        pytest.param("０４２８", [1], id="full_width_number"),
        pytest.param("foo-bar", [2], id="kebab"),
        pytest.param("foobar", [2], id="kebab_as_one_word"),
        pytest.param("getUserName", [2], id="identifier"),
        pytest.param("username user", [2], id="identifier_part"),
        pytest.param("3.14", [2], id="decimal"),
        pytest.param("c++", [3], id="c_plus_plus"),
        pytest.param("C#", [3], id="c_sharp"),
        pytest.param("NodeJS", [3], id="dotted_as_one_word"),
        pytest.param("编程", [4], id="chinese_beside_latin"),
        pytest.param("Python编程", [4], id="mixed"),
        pytest.param("ann@example.com", [5], id="email"),
        pytest.param("a:b", [5], id="colon"),
        pytest.param("🎉", [5], id="emoji"),
        pytest.param("cat run", [6], id="stems"),
        pytest.param("'; DROP TABLE terms; --", [6], id="sql"),
        pytest.param("貓", [7], id="one_traditional_character"),
        pytest.param("猫", [8], id="one_character"),
        pytest.param("我的猫", [8], id="one_character_between_stop_words"),
        pytest.param("wifi", [9], id="full_width_word"),
        pytest.param("हिन्दी", [10], id="hindi"),
        pytest.param("会議", [11], id="japanese"),
        pytest.param("회의", [12], id="korean"),
        pytest.param("3月", [13, 2], id="measure_word"),
        pytest.param("T恤", [13], id="letter_and_character"),
        pytest.param("NEAR(", [14], id="near"),
        pytest.param("NOT", [14], id="not"),
        pytest.param("𰻝", [15], id="rare_character"),
        pytest.param("Cafe", [15], id="diacritics"),
        pytest.param("香蕉", [], id="nothing_there"),
        pytest.param("果", [1], id="inner_character"),
        pytest.param("", [], id="empty"),
        pytest.param(" \t\n", [], id="space"),
        pytest.param('"', [], id="quote"),
        pytest.param("*", [], id="star"),
        pytest.param("^", [], id="caret"),
        pytest.param("()", [], id="brackets"),
        pytest.param("。？！", [], id="chinese_signs"),
        pytest.param("text:zzz", [], id="column_filter"),
        pytest.param("zz*", [], id="prefix_query"),
        pytest.param("\x00\ud800", [], id="unbindable"),
    ],
)
def test_search_query_finds_its_rows_without_error(
    index: sqlite3.Connection, query: str, rows: list[int]
) -> None:
    assert _search(index, query) == rows


def test_search_with_singles_finds_a_character_inside_a_word(index: sqlite3.Connection) -> None:
    terms = [term.text for term in query_terms("喂猫饼干", with_singles=True)]
    assert _search(index, "喂猫饼干") == []
    assert _find(index, match_expression(terms)) == [8]


def test_search_exact_word_ranks_before_its_inflection() -> None:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE terms USING fts5(text, tokenize='{FTS_TOKENIZER}')")
    texts = ["he plans a trip", "she was planning a trip", "a plan for a trip", "nothing here now"]
    for row, text in enumerate([*texts, *["filler text only"] * 20]):
        database.execute("INSERT INTO terms (rowid, text) VALUES (?, ?)", (row, index_terms(text)))
    assert _search(database, "planning")[0] == 1
    assert _search(database, "plans")[0] == 0
    assert set(_search(database, "planning")) == {0, 1, 2}
    database.close()


@pytest.mark.parametrize("word", ["AND", "OR", "and"])
def test_search_operator_word_is_a_word(index: sqlite3.Connection, word: str) -> None:
    assert _search(index, word) == _find(index, f'"{word.lower()}"')


@pytest.mark.parametrize("count", [0, 1, 300, 2_000])
def test_match_expression_many_terms_do_not_nest_too_deep(
    index: sqlite3.Connection, count: int
) -> None:
    expression = match_expression([f"t{number}" for number in range(count)])
    assert _find(index, expression) == []


@given(ANY_TEXT | TYPED | SYNTAX)
def test_match_expression_any_raw_text_never_raises(index: sqlite3.Connection, text: str) -> None:
    _find(index, match_expression([text]))
    _find(index, match_expression(text.split()))


@given(ANY_TEXT | TYPED | SYNTAX)
def test_search_any_text_finds_itself(index: sqlite3.Connection, text: str) -> None:
    _search(index, text)
    terms = index_terms(text)
    if not terms or not query_terms(text):
        return
    index.execute("INSERT INTO terms (rowid, text) VALUES (1000, ?)", (terms,))
    try:
        assert 1000 in _search(index, text)
    finally:
        index.execute("DELETE FROM terms WHERE rowid = 1000")


@given(ANY_TEXT | TYPED)
def test_index_terms_any_text_passes_the_tokenizer_unchanged(
    tokenizer: sqlite3.Connection, text: str
) -> None:
    terms = index_terms(text)
    assert _tokens(tokenizer, terms) == terms.split()


def test_index_terms_every_letter_and_number_passes_the_tokenizer_unchanged(
    tokenizer: sqlite3.Connection,
) -> None:
    letters = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code))[0] in "LN"]
    terms = index_terms(" ".join(letters))
    assert len(terms.split()) > 100_000
    assert _tokens(tokenizer, terms) == terms.split()
