"""What repeats and what updates: a number, a date, a name or a negation is never swallowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.memories.sameness import is_repetition, is_same_text, repetition_key
from remembrancer.core.text.fold import fold_key

UPDATES = [
    # Numbers.
    ("SSH port 2222", "SSH port 2223"),
    ("SSH 端口是 2222", "SSH 端口是 2223"),
    ("the rent is 1,000 a month", "the rent is 1,0000 a month"),
    ("房租三千", "房租四千"),
    ("She has two cats.", "She has three cats."),
    ("有两只猫", "有三只猫"),
    ("version 1.2", "version 12"),
    ("血压 120/80", "血压 120/90"),
    ("weighs 70 kg", "weighs 70.5 kg"),
    ("weighs 70 kg", "weighs 70 lb"),
    ("体重70公斤", "体重70斤"),
    ("10²", "102"),
    ("temperature -5", "temperature 5"),
    ("尺码 M", "尺码 L"),
    # Dates and times.
    ("The meeting is on Monday.", "The meeting is on Tuesday."),
    ("会议在周一", "会议在周二"),
    ("due 2026-03-01", "due 2026-03-02"),
    ("生日是三月五日", "生日是五月三日"),
    ("call at 9 am", "call at 9 pm"),
    ("早上九点开会", "晚上九点开会"),
    ("moved in March", "moved in May"),
    ("明天交房租", "后天交房租"),
    ("birthday 1990", "birthday 1991"),
    ("before lunch", "after lunch"),
    # Names.
    ("Alice is my manager", "Alicia is my manager"),
    ("老板是王伟", "老板是王薇"),
    ("Bob introduced Carol", "Carol introduced Bob"),
    ("小明借了小红的书", "小红借了小明的书"),
    ("lives in Berlin", "lives in Bern"),
    ("住在上海", "住在上饶"),
    ("uses PostgreSQL", "uses MySQL"),
    ("用的是苹果手机", "用的是华为手机"),
    ("Vitamin A", "Vitamin"),
    ("takes Vitamin A daily", "takes vitamin daily"),
    ("favourite band is The Who", "favourite band is Who"),
    ("blood type A", "blood type B"),
    ("his sister", "her sister"),
    ("他喜欢茶", "她喜欢茶"),
    # Negations, certainty, tense and direction.
    ("allergic to nuts", "not allergic to nuts"),
    ("对花生过敏", "对花生不过敏"),
    ("I like coffee", "I don't like coffee"),
    ("喜欢咖啡", "不喜欢咖啡"),
    ("can swim", "cannot swim"),
    ("会游泳", "不会游泳"),
    ("smokes", "no longer smokes"),
    ("抽烟", "不再抽烟"),
    ("drinks with sugar", "drinks without sugar"),
    ("加糖", "无糖"),
    ("is a vegetarian", "was a vegetarian"),
    ("he works at Acme", "he worked at Acme"),
    ("他结婚", "他结婚了"),
    ("turn the light on", "turn the light off"),
    ("likes tea?", "likes tea"),
    ("never call before nine", "call before nine"),
    ("从不加班", "加班"),
    ("5'10\" tall", "510 tall"),
]

REPETITIONS = [
    ("SSH port 2222", "ssh  PORT 2222."),
    ("用 Python 写", "用Python写"),
    ("Likes tea.", "likes tea!"),
    ("喜欢喝茶。", "喜欢喝茶"),
    ("the rent is 1,000", "The rent is 1,000."),
    ("The manager is Alice", "Manager is Alice"),
    ("please call the dentist", "Call the dentist"),
    ("请给妈妈打电话", "给妈妈打电话"),
    ("我的车是蓝色的", "我车是蓝色的"),
    ("喜欢喝茶呀", "喜欢喝茶"),
    ("red, green, blue", "red green blue"),
    ("周一，去医院", "周一去医院"),
    ("ＡＢＣ１２３", "abc123"),
    ("He said “yes”", "he said yes"),
]


@pytest.mark.parametrize(("old", "new"), UPDATES)
def test_update_is_no_repetition(old: str, new: str) -> None:
    assert not is_repetition(old, new)
    assert not is_repetition(new, old)
    assert not is_same_text(old, new)


@pytest.mark.parametrize(("old", "new"), REPETITIONS)
def test_same_words_again_are_a_repetition(old: str, new: str) -> None:
    assert is_repetition(old, new)
    assert is_repetition(new, old)


WORDS = st.lists(
    st.sampled_from("the a An 请 我 的 茶 tea , ， 2 3 不 not Bob 呀 . 。".split()), max_size=8
)


@given(WORDS, st.sampled_from(["7", "Zoe", "周五", "未必", "never"]), st.integers(0, 8))
def test_added_word_that_says_something_is_never_swallowed(
    words: list[str], added: str, place: int
) -> None:
    longer = [*words[:place], added, *words[place:]]
    assert not is_repetition(" ".join(words), " ".join(longer))


@given(st.text(max_size=40))
def test_same_folded_text_has_the_same_key(text: str) -> None:
    assert repetition_key(text) == repetition_key(f" {text}  ")
    assert repetition_key(fold_key(text)) or not fold_key(text)
