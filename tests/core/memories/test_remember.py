"""What a message asks to be remembered, in Chinese and English, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.memories.remember import WISHES_MAX, wishes_in

ASKED = [
    ("请记住：我的测试暗号是苹果星星-0428。", ["我的测试暗号是苹果星星-0428"]),
    ("請記住：我對花生過敏。", ["我對花生過敏"]),
    ("请你记住，我不吃香菜", ["我不吃香菜"]),
    ("请帮我记一下：车停在B2-17", ["车停在B2-17"]),
    ("记一下，下周三下午三点和牙医见面。", ["下周三下午三点和牙医见面"]),
    ("记住我喜欢乌龙茶，不喜欢绿茶", ["我喜欢乌龙茶，不喜欢绿茶"]),
    ("帮我记下来：房东的电话是 138-0000-1234！", ["房东的电话是 138-0000-1234"]),
    ("别忘了我对青霉素过敏", ["我对青霉素过敏"]),
    ("不要忘记，我妈妈的生日是农历八月初三。", ["我妈妈的生日是农历八月初三"]),
    ("你要记住我叫老王，不是小王。", ["我叫老王，不是小王"]),
    ("麻烦记住我们的周会改到周四了", ["我们的周会改到周四了"]),
    ("我的生日是5月3日，请记住。", ["我的生日是5月3日"]),
    ("我住在上海徐汇，记住了哦", ["我住在上海徐汇"]),
    ("今天聊得很开心。对了，请记住：我下个月搬去成都。", ["我下个月搬去成都"]),
    (
        "请记住：我叫小明。我今年30岁。帮我写一首诗好吗？",
        ["我叫小明。我今年30岁"],
    ),
    ("请记住以下几点：\n1. 我吃素\n2. 我住在杭州\n\n谢谢", ["我吃素", "我住在杭州"]),
    ("记住：C++ 项目用 CMake 3.28", ["C++ 项目用 CMake 3.28"]),
    ("Please remember that I am allergic to peanuts.", ["I am allergic to peanuts"]),
    ("Remember: the staging port is 2222.", ["the staging port is 2222"]),
    ("remember I take my coffee black", ["I take my coffee black"]),
    ("Don't forget that my flight leaves at 7:45.", ["my flight leaves at 7:45"]),
    ("don’t forget my sister's name is Ana", ["my sister's name is Ana"]),
    ("Keep in mind that we deploy on Tuesdays", ["we deploy on Tuesdays"]),
    ("Can you remember that I'm vegan?", ["I'm vegan"]),
    ("Could you please remember my dog is called Bao?", ["my dog is called Bao"]),
    ("My new number is 555-0100, please remember that.", ["My new number is 555-0100"]),
    ("I moved to Lisbon. Remember this!", ["I moved to Lisbon"]),
    (
        "Thanks! Please remember: v2.3.1 is the last good build. What's next?",
        ["v2.3.1 is the last good build"],
    ),
    ("Make a note that Bob owns the billing service.", ["Bob owns the billing service"]),
    (
        "Please remember these:\n- I use zsh\n- my editor is Helix",
        ["I use zsh", "my editor is Helix"],
    ),
    ("记住 deadline 是 2026-12-01", ["deadline 是 2026-12-01"]),
]

NOT_ASKED = [
    "我的测试暗号是什么？",
    "你还记得我的暗号吗？",
    "你记得我喜欢什么吗",
    "记住了吗？",
    "你记住我的名字了吗？",
    "我记得小时候住在河边。",
    "我记不住单词怎么办",
    "怎样才能记住更多单词？",
    "他让我别忘了带伞。",
    "我忘了密码",
    "请记住",
    "请记住这一点。",
    "记住我",
    "Do you remember my name?",
    "I remember that summer well.",
    "I can't remember the command.",
    "Remember when we went to Kyoto?",
    "remember me?",
    "Remember?",
    "What should I remember about TCP?",
    "She said to remember that the door sticks.",
    "Please remember this.",
    "I don't forget things.",
    "Did you remember that I like tea?",
    "> 请记住：这是引用的话\n你怎么看",
    "```\nremember: true\n```\n这段 YAML 是什么意思",
    "How do I make Vim remember the cursor position?",
    "",
    "   \n",
    "哈哈",
]


@pytest.mark.parametrize(("message", "wishes"), ASKED, ids=range(len(ASKED)))
def test_wish_is_taken_from_the_message(message: str, wishes: list[str]) -> None:
    assert wishes_in(message) == wishes


@pytest.mark.parametrize("message", NOT_ASKED, ids=range(len(NOT_ASKED)))
def test_what_only_sounds_like_a_wish_is_left(message: str) -> None:
    assert wishes_in(message) == []


def test_wishes_of_one_message_are_bounded() -> None:
    lines = "\n".join(f"- fact number {n}" for n in range(100))
    assert len(wishes_in(f"Please remember:\n{lines}")) == WISHES_MAX


def test_same_wish_twice_is_one() -> None:
    assert wishes_in("请记住：我吃素。\n请记住：我吃素！") == ["我吃素"]


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(message: str) -> None:
    for wish in wishes_in(message):
        assert wish == wish.strip() != ""


@given(st.text(alphabet="我你的是记住忘请，。：？ abc\n", max_size=80))
def test_a_wish_stands_in_its_message(message: str) -> None:
    assert all(wish in message for wish in wishes_in(message))
