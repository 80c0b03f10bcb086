"""Condensing: whole sentences around the evidence, in the memory's own words, never nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.condense import condense, condensed_of, condensing_text, sentences
from remembrancer.core.text.segment import query_terms

LONG_ZH = (
    "三月去了大理，住在古城边上。房东叫老段，人很好。第二天去洱海骑车，风很大。"
    "晚上吃了菌子火锅。回来的火车票是一百八十块。"
)
LONG_EN = (
    "We met at the cafe on Main St. and talked for an hour. The wifi password is on the fridge. "
    "Version 3.14 of the app broke the export! Anna will call Dr. Lee next week about it."
)


def short(text: str, query: str, chars: int) -> str:
    return condense(text, query_terms(query), chars_max=chars)


@pytest.mark.parametrize(
    ("text", "query", "chars", "expected"),
    [
        ("短句", "别的", 10, "短句"),
        (LONG_ZH, "火锅好吃吗", 20, "…晚上吃了菌子火锅。…"),
        (LONG_ZH, "房东是谁", 20, "…房东叫老段，人很好。…"),
        (LONG_ZH, "房东和火车票", 40, "…房东叫老段，人很好。…回来的火车票是一百八十块。"),
        (LONG_EN, "what broke in the export", 60, "…Version 3.14 of the app broke the export!…"),
        (LONG_EN, "wifi password", 50, "…The wifi password is on the fridge.…"),
        (LONG_EN, "nothing of it", 30, "We met at the cafe on Main St…"),
    ],
    ids=range(7),
)
def test_condense_keeps_the_sentences_that_hold_the_words(
    text: str, query: str, chars: int, expected: str
) -> None:
    assert short(text, query, chars) == expected


def test_condense_cuts_a_sentence_that_is_too_long_around_its_word() -> None:
    text = "啊" * 300 + "钥匙在抽屉里" + "哦" * 300
    found = short(text, "钥匙在哪", 60)
    assert "钥匙在抽屉里" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) <= 60


@given(st.text(max_size=600), st.text(max_size=40), st.integers(10, 120))
def test_condense_is_short_and_never_empty(text: str, query: str, chars: int) -> None:
    found = short(text, query, chars)
    assert found == short(text, query, chars)
    assert len(found) <= max(chars, 0) or len(text) <= chars
    if text.strip():
        assert found
    assert set(found) <= set(text) | {"…", " "}


@given(st.text())
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_sentences_end_after_their_quotes_and_not_inside_numbers() -> None:
    assert sentences("他说：“好。”然后走了。v3.1 is out. OK?! yes") == [
        "他说：“好。”",
        "然后走了。",
        "v3.1 is out. ",
        "OK?! ",
        "yes",
    ]


def test_model_answer_is_taken_only_with_a_text_for_each_quote() -> None:
    texts = ["The port is 5434 and the host is db1.", "房租三千五，每月五号交"]
    assert json.loads(condensing_text("端口？", texts)) == {"question": "端口？", "quotes": texts}
    said = '```json\n{"texts": ["The port is 5434", null]}\n```'
    assert condensed_of(said, texts, chars_max=300) == ["The port is 5434", None]
    for wrong in ("no", "{", '{"texts": ["one"]}', '{"texts": 3}', "[1, 2]", '{"a": []}', ""):
        assert condensed_of(wrong, texts, chars_max=300) is None


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        ("The port is 5435", None),
        ("The port is not 5434", None),
        ("  ", None),
        (5, None),
        ("port 5434", "port 5434"),
        ("the host " + "x" * 400, "the host " + "x" * 290 + "…"),
    ],
    ids=range(6),
)
def test_model_answer_with_what_the_memory_does_not_say_is_left(
    made: object, kept: str | None
) -> None:
    answer = json.dumps({"texts": [made]})
    assert condensed_of(answer, ["The port is 5434 and the host is db1."], chars_max=300) == [kept]
