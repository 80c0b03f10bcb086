"""What stands on its source: names and numbers must be there, framing words do not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.distill.grounding import Verdict, judge


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


def test_meaning_makes_up_for_words_but_never_for_a_name() -> None:
    said = "we took in a stray kitten from the shelter in Porto"
    assert judge("Adopted kitten sleeps badly every single night", said) == "far"
    assert judge("Adopted kitten sleeps badly every night", said, cosine=0.7) == "grounded"
    assert judge("Adopted kitten sleeps badly in Madrid", said, cosine=0.99) == "invented"
    assert judge("用户住在柏林", "我上个月搬到了里斯本", cosine=0.99) == "far"


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_have_a_verdict(statement: str, source: str) -> None:
    assert judge(statement, source) in ("grounded", "reversed", "far", "invented")
