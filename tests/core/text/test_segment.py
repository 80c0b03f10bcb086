"""Search terms of index and query, without a database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.text.pieces import TOKEN_CHARS_MAX
from remembrancer.core.text.scripts import class_of, searchable
from remembrancer.core.text.segment import (
    QUERY_CHARS_MAX,
    QUERY_TERMS_MAX,
    Term,
    index_terms,
    match_expression,
    query_terms,
)
from remembrancer.core.text.stems import stem

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
TYPED = st.text("aB3 中的ไक🎉🇨👍._-/@:'#+\"*()\u0301é", max_size=40)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("。，!? \u200b", "", id="signs_only"),
        pytest.param("苹果派", "苹 果 派 苹果 果派", id="han"),
        pytest.param("猫", "猫", id="one_han"),
        pytest.param("記憶", "記 憶 記憶", id="traditional"),
        pytest.param("カタカナ", "カ タ カ ナ カタ タカ カナ", id="kana"),
        pytest.param("ｶﾅ", "カ ナ カナ", id="half_width_kana"),
        pytest.param("서울에", "서 울 에 서울 울에", id="hangul"),
        pytest.param("ก็ดี", "กxe47 ดxe35 กxe47ดxe35", id="thai_clusters"),
        pytest.param("हिन्दी", "हx93fनx94dदx940", id="hindi_word"),
        pytest.param("𰻝", "x30edd", id="rare_han"),
        pytest.param("Москва", "москва", id="cyrillic"),
        pytest.param("Café ñandú", "cafe caf nandu", id="diacritics"),
        pytest.param("x\u0302y", "xy", id="combining_diacritic"),
        pytest.param("running cities", "running run cities city", id="stems"),
        pytest.param("getUserName", "getusername getusernam get user name nam", id="camel"),
        pytest.param("HTTPServer2", "httpserver2 http server 2", id="acronym"),
        pytest.param("iPhone", "iphone iphon phone phon", id="lone_letter_dropped"),
        pytest.param("get_user__id", "getuserid get user id", id="snake"),
        pytest.param("_private", "private privat", id="leading_underscore"),
        pytest.param("foo-bar", "foobar foo bar", id="kebab"),
        pytest.param("a:b", "ab a b", id="colon"),
        pytest.param("std::vector", "stdvector std vector", id="double_colon"),
        pytest.param("C++", "cplusplus", id="c_plus_plus"),
        pytest.param("C# F#", "csharp fsharp", id="sharp"),
        pytest.param("abc#", "abc", id="sharp_after_word"),
        pytest.param("c#7", "c 7", id="sharp_before_digit"),
        pytest.param("notepad++", "notepadplusplus", id="word_plus_plus"),
        pytest.param("1+1", "1 1", id="sum"),
        pytest.param("node.js", "nodejs nodej node nod js", id="dotted"),
        pytest.param("3.14", "3p14 3 14", id="decimal"),
        pytest.param("2026-01-03", "2026d01d03 2026 01 03", id="date"),
        pytest.param("10:30", "10c30 10 30", id="time"),
        pytest.param("1/2", "1s2 1 2", id="slash"),
        pytest.param("1_2", "1u2 1 2", id="digits_underscore"),
        pytest.param("1@2", "1x2 1 2", id="digits_other"),
        pytest.param("1,250,000", "1250000", id="thousands"),
        pytest.param("v1.2", "v1p2 v1 1 2", id="version"),
        pytest.param("０４２８", "0428", id="full_width_digits"),
        pytest.param("ann@example.com", "annexamplecom ann example exampl com", id="email"),
        pytest.param("don't", "dont don", id="contraction"),
        pytest.param("don’t", "dont don", id="curly_apostrophe"),
        pytest.param("Anna's", "anna", id="possessive"),
        pytest.param("Anna's-b", "annasb anna", id="apostrophe_in_compound"),
        pytest.param("a'b", "ab a b", id="lone_letters_apostrophe"),
        pytest.param("a.b.c.d.e.f.g", "a b c d e f g", id="many_parts"),
        pytest.param("москваЯ9", "москвая9 москвая 9", id="cyrillic_digit"),
        pytest.param("0\u0300\u0300", "0", id="marked_digit"),
        pytest.param("0\u0300a\u0300", "0a 0", id="marked_digit_and_letter"),
        pytest.param("Python编程", "python 编 程 编程", id="mixed"),
        pytest.param("3月5日", "3 月 3月 5 日 5日", id="measure_words"),
        pytest.param("3.5元", "3p5 3 5 元 3p5元", id="decimal_measure"),
        pytest.param("T恤", "t 恤 t恤", id="letter_before"),
        pytest.param("维C", "维 维c c", id="letter_after"),
        pytest.param("卡VIP", "卡 卡vip vip", id="word_after_one"),
        pytest.param("苹果-0428", "苹 果 苹果 0428", id="number_apart"),
        pytest.param("😀👨\u200d👧👍🏽", "u1f600 u1f468 u1f467 u1f44d", id="emoji"),
        pytest.param("🇨🇳🇩", "u1f1e8u1f1f3 u1f1e9", id="flags"),
    ],
)
def test_index_terms_text_gives_its_tokens(text: str, terms: str) -> None:
    assert index_terms(text) == terms


def test_index_terms_long_token_is_cut_alike_on_both_sides() -> None:
    text = "deadbeef" * 40
    assert index_terms(text) == text[:TOKEN_CHARS_MAX]
    assert [term.text for term in query_terms(text)] == [text[:TOKEN_CHARS_MAX]]


@given(ANY_TEXT | TYPED)
def test_index_terms_any_text_gives_short_alphanumeric_tokens(text: str) -> None:
    for token in index_terms(text).split(" ") if index_terms(text) else []:
        assert token.isalnum()
        assert len(token) <= 2 * TOKEN_CHARS_MAX


@given(ANY_TEXT | TYPED)
def test_query_terms_of_a_text_are_among_its_index_terms(text: str) -> None:
    indexed = set(index_terms(text).split())
    asked = query_terms(text, with_singles=True)
    assert {term.text for term in asked} <= indexed
    assert bool(asked) == bool(indexed)
    assert len({term.text for term in asked}) == len(asked) <= QUERY_TERMS_MAX
    assert all(0 < term.weight <= 1 for term in asked)
    assert [term.weight for term in asked] == sorted((term.weight for term in asked), reverse=True)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("", [], id="empty"),
        pytest.param('" * ( ) :', [], id="signs"),
        pytest.param("苹果", [("苹果", 1.0, "bigram")], id="pair"),
        pytest.param("猫", [("猫", 0.3, "unigram")], id="one_character"),
        pytest.param("猫 粮食", [("粮食", 1.0, "bigram"), ("猫", 0.3, "unigram")], id="one_alone"),
        pytest.param(
            "我属什么",
            [("我属", 0.4, "bigram"), ("属什", 0.4, "bigram"), ("属", 0.3, "unigram")],
            id="one_between_stop_words",
        ),
        pytest.param(
            "我的猫吃鱼",
            [("猫吃", 1.0, "bigram"), ("吃鱼", 1.0, "bigram"), ("的猫", 0.4, "bigram")],
            id="stop_words_dropped",
        ),
        pytest.param(
            "目的 苹果",
            [("苹果", 1.0, "bigram"), ("目的", 0.4, "bigram")],
            id="no_single_beside_a_pair",
        ),
        pytest.param("什么", [("什么", 0.2, "bigram")], id="only_chinese_stop_word"),
        pytest.param("的", [("的", 0.2, "unigram")], id="only_particle"),
        pytest.param("3月", [("3月", 1.0, "bigram"), ("3", 0.5, "number")], id="measure"),
        pytest.param(
            "what is the",
            [("what", 0.2, "word"), ("is", 0.2, "word"), ("the", 0.2, "word")],
            id="only_english_stop_words",
        ),
        pytest.param("what is the plan", [("plan", 1.0, "word")], id="english_stop_words_dropped"),
        pytest.param("what's up", [("up", 1.0, "word")], id="contracted_stop_word"),
        pytest.param("AND", [("and", 0.2, "word")], id="operator"),
        pytest.param("running", [("running", 1.0, "word"), ("run", 0.6, "word")], id="stem"),
        pytest.param(
            "foo-bar",
            [("foobar", 1.0, "code"), ("foo", 0.5, "word"), ("bar", 0.5, "word")],
            id="code",
        ),
        pytest.param("c++", [("cplusplus", 1.0, "word")], id="c_plus_plus"),
        pytest.param("0428", [("0428", 1.0, "number")], id="number"),
        pytest.param(
            "3.14",
            [("3p14", 1.0, "number"), ("14", 0.5, "number")],
            id="decimal",
        ),
        pytest.param("🎉", [("u1f389", 0.8, "emoji")], id="emoji"),
        pytest.param("point of view", [("point", 1.0, "word"), ("view", 1.0, "word")], id="plain"),
        pytest.param(
            "state-of-art",
            [
                ("stateofart", 1.0, "code"),
                ("state", 0.5, "word"),
                ("art", 0.5, "word"),
                ("stat", 0.3, "word"),
            ],
            id="stop_part_dropped",
        ),
        pytest.param("ก็", [("กxe47", 0.3, "unigram")], id="thai_cluster"),
    ],
)
def test_query_terms_text_gives_the_telling_terms(
    text: str, terms: list[tuple[str, float, str]]
) -> None:
    found = [(term.text, round(term.weight, 3), term.kind) for term in query_terms(text)]
    assert found == terms


def test_query_terms_repeated_word_keeps_its_best_weight() -> None:
    assert query_terms("foo-bar foo foo") == [
        Term("foobar", 1.0, "code"),
        Term("foo", 1.0, "word"),
        Term("bar", 0.5, "word"),
    ]


def test_query_terms_limit_keeps_the_heaviest() -> None:
    text = " ".join(f"word{number:02}x" for number in range(60))
    assert len(query_terms(text)) == QUERY_TERMS_MAX
    assert [term.text for term in query_terms("的猫 苹果", limit=1)] == ["苹果"]
    assert query_terms("苹果", limit=0) == []
    assert query_terms("苹果", limit=-1) == []


def test_query_terms_with_singles_adds_the_lightest_last() -> None:
    asked = query_terms("我的苹果", with_singles=True)
    assert [(term.text, term.weight) for term in asked] == [
        ("苹果", 1.0),
        ("的苹", 0.4),
        ("苹", 0.1),
        ("果", 0.1),
    ]


def test_query_terms_long_text_is_read_at_both_ends() -> None:
    text = "alpha " + "x " * QUERY_CHARS_MAX + " omega"
    assert {"alpha", "omega"} <= {term.text for term in query_terms(text)}


@pytest.mark.parametrize(
    ("terms", "expression"),
    [
        pytest.param([], '""', id="none"),
        pytest.param(["苹果"], '"苹果"', id="one"),
        pytest.param(["a", "b", "a"], '"a" OR "b"', id="duplicate"),
        pytest.param(['a" OR "b'], '"a"" OR ""b"', id="quote"),
        pytest.param(["a\x00b\ud800"], '"ab"', id="unbindable"),
    ],
)
def test_match_expression_terms_are_quoted(terms: list[str], expression: str) -> None:
    assert match_expression(terms) == expression


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("cities", "city"),
        ("ties", "tie"),
        ("boxes", "box"),
        ("churches", "church"),
        ("cats", "cat"),
        ("class", "class"),
        ("bus", "bus"),
        ("virus", "virus"),
        ("this", "this"),
        ("basis", "basis"),
        ("running", "run"),
        ("falling", "fall"),
        ("making", "mak"),
        ("make", "mak"),
        ("makes", "mak"),
        ("made", "mad"),
        ("seeing", "see"),
        ("string", "string"),
        ("king", "king"),
        ("planned", "plan"),
        ("tried", "try"),
        ("died", "died"),
        ("red", "red"),
        ("agreed", "agree"),
        ("agree", "agree"),
        ("need", "need"),
        ("tree", "tree"),
        ("as", "as"),
        ("café", "café"),
        ("abc1s", "abc1s"),
        ("苹果s", "苹果s"),
    ],
)
def test_stem_word_loses_its_inflection(word: str, root: str) -> None:
    assert stem(word) == root


@pytest.mark.parametrize(
    ("char", "kind"),
    [
        ("a", "a"),
        ("7", "d"),
        ("-", "-"),
        ("\x07", " "),
        ("é", "a"),
        ("\u0301", "m"),
        ("中", "H"),
        ("〇", "H"),
        ("あ", "H"),
        ("한", "H"),
        ("ไ", "H"),
        ("٣", "d"),
        ("👍", "e"),
        ("🇨", "r"),
        ("。", " "),
        ("\ud800", " "),
    ],
)
def test_class_of_character_is_its_script(char: str, kind: str) -> None:
    assert class_of(char) == kind


@given(st.characters(categories=["L", "N"]))
def test_searchable_letter_is_alphanumeric_and_never_empty(char: str) -> None:
    assert searchable(char).isalnum()
