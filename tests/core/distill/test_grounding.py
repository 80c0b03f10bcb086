"""What stands on its source: names and numbers must be there, framing words do not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.distill.grounding import (
    Verdict,
    is_said_alike,
    judge,
    nearness,
    source_of,
    together,
)


@pytest.mark.parametrize(
    ("statement", "source", "verdict"),
    [
        ("User lives in Lisbon.", "I moved to Lisbon last month", "grounded"),
        ("User lives in Berlin.", "I moved to Lisbon last month", "invented"),
        ("用户的名字是小明", "你好，我叫小明", "grounded"),
        ("用户住在柏林", "我上个月搬到了里斯本", "far"),
        ("用户喜欢喝咖啡", "我喜欢喝茶", "far"),
        ("用户对花生过敏", "我吃花生会过敏的", "grounded"),
        ("用户计划下周去东京出差", "下周我要飞东京开会", "grounded"),
        ("User has 3 children", "I have three kids", "grounded"),
        ("用户有3个孩子", "我有三个孩子", "grounded"),
        ("Port is 2223", "the port is 2222", "invented"),
        ("I love the work", "Honestly, I love the work.", "grounded"),
        ("User loves work", "I love the sea", "far"),
        ("", "anything", "far"),
        ("We use PostgreSQL 16 for Falcon", "Falcon runs on postgres 16", "grounded"),
        ("User's sister is called Anastasia", "my sister Ana", "invented"),
        ("User's birthday is 05/03", "my birthday is on 5/3", "grounded"),
        ("User's timezone is Asia/Tokyo", "my timezone is Asia/Tokyo", "grounded"),
        ("User does not like cilantro", "I like cilantro", "reversed"),
        ("User loves tea", "I don't like coffee. I love tea", "grounded"),
        ("User is allergic to peanuts", "I can't eat peanuts, I'm allergic", "grounded"),
        ("The database password rotates monthly", "I love tea", "far"),
        ("The user's favorite color is blue", "我最喜欢的颜色是蓝色", "invented"),
        ("用户最喜欢的颜色是蓝色", "my favourite colour is blue", "invented"),
    ],
)
def test_statement_is_judged_by_what_its_source_says(
    statement: str, source: str, verdict: Verdict
) -> None:
    assert judge(statement, source) == verdict


@pytest.mark.parametrize(
    ("statement", "source", "verdict"),
    [
        # Both scripts of Chinese are one language.
        ("用户养了一只猫", "我養了一隻貓", "grounded"),
        ("用戶養了一隻貓", "我养了一只猫", "grounded"),
        ("用户养了两只猫", "我養了兩隻貓", "grounded"),
        ("用户养了2只猫", "我養了兩隻貓", "grounded"),
        ("用户住在臺北", "我住在台北", "grounded"),
        ("用户不吃香菜", "我最討厭吃香菜", "grounded"),
        # Numbers in words are numbers.
        ("用户每天喝五杯咖啡", "我每天喝两杯咖啡", "invented"),
        ("用户养了三只猫", "我养了2只猫", "invented"),
        ("用户养了三隻貓", "我養了兩隻貓", "invented"),
        ("User has three cats", "I have two cats", "invented"),
        ("User has three cats", "I have 3 cats", "grounded"),
        ("User has two cats", "I have a couple of cats", "grounded"),
        ("User runs two times a week", "I run twice a week", "grounded"),
        ("用户的孩子上二年级", "我的孩子上三年级", "invented"),
        ("用户上午八点开会", "我上午9点开会", "invented"),
        ("用户上午八点开会", "我上午8点开会", "grounded"),
        ("用户星期三上钢琴课", "我周五上钢琴课", "invented"),
        ("用户星期三上钢琴课", "我周三上钢琴课", "grounded"),
        ("用户今年三十二岁", "我今年３２岁了", "grounded"),
        ("用户今年三十二岁", "我今年三十五岁", "invented"),
        ("用户有两个孩子", "我家有俩孩子", "grounded"),
        # And a word that only looks like one is none.
        ("用户有一个女儿", "我女儿上小学了", "grounded"),
        ("用户十分喜欢游泳", "我喜欢游泳", "grounded"),
        ("用户有三千块存款", "我有3000块存款", "grounded"),
        ("User has one sister", "my sister is a doctor", "grounded"),
        # Full-width figures and letters.
        ("用户电话是13800138000", "我的电话是１３８００１３８０００", "grounded"),
        ("用户电话是１３８００１３８００１", "我的电话是13800138000", "invented"),
        ("用户用的是ＰｏｓｔｇｒｅＳＱＬ", "我用的是 PostgreSQL", "grounded"),
    ],
)
def test_chinese_and_numbers_in_words_are_held_to_their_source(
    statement: str, source: str, verdict: Verdict
) -> None:
    assert judge(statement, source) == verdict


def test_same_statement_in_the_other_script_is_said_alike() -> None:
    assert is_said_alike("用户养了一只猫", "用戶養了一隻貓")
    assert not is_said_alike("用户养了一只猫", "用戶養了兩隻貓")


def test_meaning_makes_up_for_words_but_never_for_a_name() -> None:
    said = "we took in a stray kitten from the shelter in Porto"
    assert judge("Adopted kitten sleeps badly every single night", said) == "far"
    assert judge("Adopted kitten sleeps badly every night", said, cosine=0.7) == "grounded"
    assert judge("Adopted kitten sleeps badly in Madrid", said, cosine=0.99) == "invented"
    assert judge("用户住在柏林", "我上个月搬到了里斯本", cosine=0.99) == "far"


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_have_a_verdict(statement: str, source: str) -> None:
    assert judge(statement, source) in ("grounded", "reversed", "far", "invented")


TALK = {
    "en": ("Sam likes the old harbour. ", "We saw a boat on the way and had coffee. "),
    "zh": ("我喜欢老码头。", "我们路上看见一条船，喝了咖啡。"),
}


@pytest.mark.parametrize(
    ("statement", "language", "verdict"),
    [
        ("Sam likes coffee at the old harbour", "en", "grounded"),
        ("Bought green wallpaper, garden chairs and an oven", "en", "far"),
        ("喜欢老码头", "zh", "grounded"),
        ("买了绿墙纸和烤箱", "zh", "far"),
    ],
)
def test_words_that_stand_far_apart_in_a_long_text_do_not_say_it_together(
    statement: str, language: str, verdict: Verdict
) -> None:
    first, talk = TALK[language]
    scattered = {
        "en": ["green", "wallpaper", "garden", "chairs", "oven", "bought"],
        "zh": ["绿", "墙", "纸", "烤", "箱", "买"],
    }[language]
    text = first + "".join(f"{word}, {talk * 30}" for word in scattered)
    assert judge(statement, source_of(text, chars_max=900)) == verdict
    assert judge(statement, source_of(text)) == "grounded"


def test_names_and_numbers_may_stand_anywhere_in_a_long_text() -> None:
    text = "My sister is Ingrid. " + "We talked about the weather. " * 60 + "She moved to Bergen."
    source = source_of(text, chars_max=900)
    assert judge("Sister Ingrid moved to Bergen", source) == "grounded"
    assert judge("Sister Ingrid moved to Oslo", source) == "invented"


def test_several_sources_are_one_that_has_what_each_has() -> None:
    both = together([source_of("My dog is called Rex."), source_of("He was born in 2019.")])
    assert judge("Dog Rex was born in 2019", both) == "grounded"
    assert judge("Dog Rex was born in 2018", both) == "invented"
    assert judge("狗叫Rex", both) == "invented"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_short_sources_together_are_their_text(statement: str, texts: list[str]) -> None:
    one = nearness(statement, together([source_of(text, chars_max=900) for text in texts]))
    assert one.is_same_script == nearness(statement, "\n".join(texts)).is_same_script
    assert 0 <= one.share <= 1
