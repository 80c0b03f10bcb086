"""Which everyday matters a text speaks of, whatever words and language it is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.matters import (
    NONE_IN_COMMON,
    Common,
    in_common,
    matters_held,
    matters_of,
)


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        pytest.param("我家在哪", "我住在杭州西湖区", id="home"),
        pytest.param("我家在哪", "I moved to Utrecht in May", id="home-in-english"),
        pytest.param("我家在哪", "七月初搬完家了，在成华区", id="moved"),
        pytest.param("Where do I live?", "地址：西湖区文一路", id="address"),
        pytest.param("我是做什麼工作的", "在一家公司寫後端", id="work-in-two-scripts"),
        pytest.param("What do I do for work?", "I'm a nurse", id="profession"),
        pytest.param("我哪天过生日", "Born on 4 November", id="birthday"),
        pytest.param("我对什么过敏", "Penicillin: allergic", id="allergy"),
        pytest.param("我最爱什么颜色", "My favourite colour is green", id="taste"),
        pytest.param("What is my blood type?", "血型 A", id="phrase"),
        pytest.param("坐船去玩", "晕船", id="travel"),
    ],
)
def test_question_and_memory_in_other_words_share_a_matter(question: str, memory: str) -> None:
    asked = matters_of(question)
    assert asked & matters_held(asked, memory)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("嗯嗯好的", id="small-talk"),
        pytest.param("我扛得住吗", id="a-character-in-another-word"),
        pytest.param("Of course", id="an-english-idiom"),
        pytest.param("It turned out well", id="half-of-a-phrase"),
        pytest.param("Homeward", id="part-of-a-word"),
    ],
)
def test_text_without_an_everyday_matter_speaks_of_none(text: str) -> None:
    assert matters_of(text) == frozenset()


def test_what_texts_lack_is_told_by_whether_others_have_it() -> None:
    asked = frozenset({"home", "pet"})
    held = [frozenset({"home"}), frozenset(), frozenset({"pet", "home"})]
    assert in_common(asked, held) == [
        Common(0.5, 0.0),
        Common(1.0, 0.0),
        Common(0.0, 0.0),
    ]
    assert in_common(asked, held[:2]) == [Common(0.0, 0.5), Common(0.5, 0.5)]
    assert in_common(frozenset(), held) == [NONE_IN_COMMON] * 3


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_taken(question: str, memory: str) -> None:
    asked = matters_of(question)
    assert matters_held(asked, question) == asked
    held = matters_held(asked, memory)
    [common] = in_common(asked, [held])
    assert common.elsewhere == 0.0
    assert common.nowhere * len(asked) == pytest.approx(len(asked - held))
