"""Whom a text is about: speakers, kin, names; and when a memory is about somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.persons import (
    asked_persons,
    asked_speaker,
    introductions,
    is_of_user,
    persons_of,
    regard_of,
    said_of,
    speaker_of,
)

FAMILY = introductions(
    [
        "太太叫郁婷，台南人。",
        "女儿小名小满，属兔。",
        "家里的猫叫拿铁，橘白公猫。",
        "My sister is called Anna.",
    ]
)


@pytest.mark.parametrize(
    ("text", "speaker", "said"),
    [
        pytest.param("Caroline: I ran a race.", "caroline", "I ran a race.", id="english"),
        pytest.param("小美：我昨天去游泳了", "小美", "我昨天去游泳了", id="chinese"),
        pytest.param("Mary Ann: hi", "mary ann", "hi", id="two-words"),
        pytest.param("https://example.org", "", "https://example.org", id="address"),
        pytest.param("10:15 站会", "", "10:15 站会", id="time"),
        pytest.param("no name here", "", "no name here", id="none"),
    ],
)
def test_speaker_is_the_name_before_what_was_said(text: str, speaker: str, said: str) -> None:
    assert speaker_of(text) == speaker
    assert said_of(text) == said


@pytest.mark.parametrize(
    ("message", "speaker"),
    [
        pytest.param("What did Caroline do?", "caroline", id="one"),
        pytest.param("Caroline's kids?", "caroline", id="genitive"),
        pytest.param("Are Caroline and Melanie friends?", "", id="two"),
        pytest.param("Who ran the race?", "", id="none"),
    ],
)
def test_speaker_asked_about_is_the_only_one_named(message: str, speaker: str) -> None:
    assert asked_speaker(message, {"caroline", "melanie", ""}) == speaker


def test_introduced_name_stands_for_the_kin_that_it_names() -> None:
    assert FAMILY == {"郁婷": "wife", "小满": "daughter", "拿铁": "cat", "Anna": "sister"}
    assert introductions(["项目叫灯塔，下周上线"]) == {"灯塔": "灯塔"}


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        pytest.param("妈妈的药", {"mother"}, id="kin"),
        pytest.param("我媽住院", {"mother"}, id="traditional"),
        pytest.param("my mom's clinic", {"mother"}, id="english"),
        pytest.param("郁婷生日", {"wife"}, id="introduced"),
        pytest.param("小邱和阿凯", {"小邱", "阿凯"}, id="familiar"),
        pytest.param("老K 半夜发文档", {"老K"}, id="familiar-latin"),
        pytest.param("小时候在小区，老板和阿姨", {"boss"}, id="ordinary-words"),
        pytest.param("Tom's birthday", {"Tom"}, id="genitive"),
        pytest.param("What's that, it's late", set(), id="no-genitive"),
        pytest.param("我什么血型", set(), id="user"),
    ],
)
def test_persons_are_kin_and_names(text: str, persons: set[str]) -> None:
    assert persons_of(text, FAMILY) == persons


@pytest.mark.parametrize(
    ("question", "memory", "key", "other"),
    [
        pytest.param("郁婷是什么血型", "A型血", "profile:blood_type", True, id="the-user's-own"),
        pytest.param("小邱生日哪天", "郁婷生日 9 月 17", "wife:birthday", True, id="another's"),
        pytest.param("郁婷生日哪天", "太太生日 9 月 17", None, False, id="the-same-by-kin"),
        pytest.param("What is Tom allergic to?", "我对青霉素过敏", None, True, id="unmarked-name"),
        pytest.param("What's Tom's allergy?", "I am allergic to nuts", None, True, id="genitive"),
        pytest.param("What's Tom's allergy?", "Tom is allergic to nuts", None, False, id="named"),
        pytest.param("我什么血型", "妈妈 B 型血", None, False, id="asks-about-nobody"),
        pytest.param("妈妈吃什么药", "二甲双胍 0.5g", "mother:metformin", False, id="by-its-key"),
        pytest.param("妈妈吃什么药", "二甲双胍 0.5g", None, False, id="about-nobody"),
        pytest.param("小滿幾歲", "小满两岁", None, False, id="two-scripts"),
    ],
)
def test_memory_of_another_is_told_from_one_that_may_answer(
    question: str, memory: str, key: str | None, other: bool
) -> None:
    asked = asked_persons(question, FAMILY)
    assert (regard_of(asked, memory, key, FAMILY) == "other") is other


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_taken(question: str, memory: str) -> None:
    known = introductions([question, memory])
    asked = persons_of(question, known)
    assert regard_of(asked, question, None, known) == "fits"
    assert said_of(memory) in memory


@pytest.mark.parametrize(
    ("text", "name", "kin"),
    [
        pytest.param("我嘴里的「领导」是郁婷，别搞混", "领导", "郁婷", id="nickname"),
        pytest.param("「太后」是我妈", "太后", "mother", id="nickname-of-kin"),
        pytest.param("My wife Imogen runs a studio", "Imogen", "wife", id="right-behind"),
        pytest.param("Boss: Miriam, back in March", "Miriam", "Miriam", id="no-kin"),
    ],
)
def test_name_beside_who_it_is_stands_for_them(text: str, name: str, kin: str) -> None:
    assert introductions([text]).get(name, name) == kin


@pytest.mark.parametrize(
    ("question", "memory", "regard"),
    [
        pytest.param("Which car does Ruth drive?", "We drive a blue estate", "other", id="user's"),
        pytest.param("Which car does Ruth drive?", "A blue estate", "nobody", id="nobody's"),
        pytest.param("Which car does Ruth drive?", "Ruth's car is blue", "fits", id="hers"),
        pytest.param("领导几号生日", "妈妈的生日是八月初三", "other", id="kin"),
        pytest.param("家里几口人，各自对什么过敏", "太太对尘螨过敏", "fits", id="everybody"),
        pytest.param("岳母住哪", "妈妈住在绵阳", "other", id="in-law"),
        pytest.param("哥哥在哪上班", "妹妹在杭州上班", "other", id="brother-and-sister"),
        pytest.param("我几点起床", "弟弟七点起床", "kin", id="of-kin-while-the-user-asks"),
        pytest.param("我几点起床", "我七点起床，弟弟八点", "fits", id="of-both"),
        pytest.param("几点起床", "弟弟七点起床", "fits", id="asks-of-nobody"),
    ],
)
def test_memory_regards_those_who_are_asked_about(question: str, memory: str, regard: str) -> None:
    known = introductions([memory, "「领导」是郁婷"])
    asked = asked_persons(question, known)
    assert regard_of(asked, memory, None, known, of_user=is_of_user(question)) == regard
