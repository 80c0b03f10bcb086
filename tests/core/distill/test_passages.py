"""What states a forgotten text goes, and what only has words in common with it stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.ledger.passages import Forgotten
from remembrancer.core.values import JSON

MARK = "[forgotten]"

STATED = [
    ("用户对花生过敏", "我对花生过敏，明天去上海。", f"{MARK}，明天去上海。"),
    ("用户对花生过敏", "你對花生過敏？", f"{MARK}？"),
    ("用戶對花生過敏", "早上好。我对花生过敏，下午去游泳。", f"早上好。{MARK}，下午去游泳。"),
    ("用户养了一只猫", "我養了一隻貓，也養了一隻狗。", f"{MARK}，也養了一隻狗。"),
    ("用户对花生过敏", "因为你对花生过敏，所以换成了杏仁。", f"{MARK}，所以换成了杏仁。"),
    ("我住在上海", "- 我住在上海\n- 我喜欢茶", f"- {MARK}\n- 我喜欢茶"),
    ("喜欢绿茶", "我喜欢绿茶。茶馆九点开门。", f"{MARK}。茶馆九点开门。"),
    ("喜欢绿茶", "绿茶很贵。", "绿茶很贵。"),
    (
        "User is allergic to peanuts",
        "I'm ALLERGIC to peanuts, and I fly to Rome on Friday.",
        f"{MARK}, and I fly to Rome on Friday.",
    ),
    ("User is allergic to peanuts", "I bought peanuts.", "I bought peanuts."),
    ("User likes tea", "The tea shop opens at 9. I like tea!", f"The tea shop opens at 9. {MARK}!"),
    ("My port is 2222", "My port is 2223 now. My port is 2222.", f"My port is 2223 now. {MARK}."),
    ("The code is 4711", "use ４７１１: the code is ４７１１", f"use ４７１１: {MARK}"),
    ("art", "I start tomorrow", "I start tomorrow"),
    ("likes art", "she likes Artemis", "she likes Artemis"),
    ("likes art", "> she likes art", f"> {MARK}"),
    ("我属兔", "你好。我属兔，喜欢茶。", f"你好。{MARK}，喜欢茶。"),
    ("属兔", "- 用户屬兔", f"- {MARK}"),
    ("属兔", "属兔的人运气好。他属兔年。", "属兔的人运气好。他属兔年。"),
    ("怕狗", "用户怕狗，也怕狗叫", f"{MARK}，也怕狗叫"),
    ("tea", "tea, milk, bread", "tea, milk, bread"),
    ("生于北京，长于上海", "他生于北京，长于上海。现在在杭州。", f"{MARK}。现在在杭州。"),
]


@pytest.mark.parametrize(("said", "text", "left"), STATED)
def test_clause_or_sentence_that_states_it_goes(said: str, text: str, left: str) -> None:
    assert Forgotten([said], [said]).without(text) == left


SOURCES = [
    ("用户养了一只叫团子的猫", "家里的猫叫团子，很乖。今天下雨。", f"{MARK}。今天下雨。"),
    ("User moved to Lisbon", "We packed for days. In Lisbon now!", f"We packed for days. {MARK}!"),
    ("User lives in Lisbon", "Moved there in March.", f"{MARK}"),
    ("用户喜欢安静", "吵死了，我走了。", MARK),
    ("User has 3 cats", "I have three cats. The dog died.", f"{MARK}. The dog died."),
]


@pytest.mark.parametrize(("said", "text", "left"), SOURCES)
def test_source_loses_what_it_was_taken_from(said: str, text: str, left: str) -> None:
    assert Forgotten([said]).without_source(text) == left


def test_every_wording_that_there_ever_was_goes() -> None:
    forgotten = Forgotten(["住在上海", "住在杭州西湖边。养了两只猫。"])
    text = "我住在上海。后来住在杭州西湖边。养了两只猫。也养鱼。"
    assert forgotten.without(text) == f"{MARK}。{MARK}。{MARK}。也养鱼。"


def test_body_loses_it_in_every_string_and_keeps_its_form() -> None:
    body: JSON = {"changes": {"content": [None, "# 一天\n我住在上海"]}, "n": 1, "reason": "why"}
    assert Forgotten(["我住在上海"]).redact(body) == {
        "changes": {"content": [None, f"# 一天\n{MARK}"]},
        "n": 1,
        "reason": MARK,
    }


@given(st.text(max_size=80), st.text(max_size=200))
def test_taking_out_is_settled_after_once_and_leaves_no_quote(said: str, text: str) -> None:
    forgotten = Forgotten([said])
    left = forgotten.without(f"{text} {said} {text}")
    assert len(said) < 4 or said in "[forgotten]" or said not in left
    assert forgotten.without_source(text) != text or not text or text == MARK
    for words in forgotten.words:
        assert words


@given(st.text(max_size=300))
def test_without_any_wording_nothing_goes(text: str) -> None:
    assert Forgotten([]).without(text) == text


@pytest.mark.parametrize("said", ["我属兔", "属兔", "屬兔。"])
def test_short_statement_is_looked_for_as_it_may_be_written(said: str) -> None:
    groups = Forgotten([said], [said]).words
    for text in ("用户属兔，喜欢茶", "我屬兔"):
        assert any(2 * sum(word in text for word in words) >= len(words) for words in groups)
