"""Facts by rule: explicit statements in Chinese and English, verbatim, and nothing else."""

from __future__ import annotations

import pytest

from remembrancer.core.distill.lines import Line
from remembrancer.core.distill.rules import facts_by_rule


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我叫小明。", [("profile:name", "我叫小明")]),
        ("你好，我叫林小雨！", [("profile:name", "你好，我叫林小雨")]),
        ("我喜欢喝乌龙茶", [(None, "我喜欢喝乌龙茶")]),
        ("我住在上海浦东。你呢？", [("profile:home", "我住在上海浦东")]),
        ("我的生日是5月3日", [("profile:birthday", "我的生日是5月3日")]),
        ("我對海鮮過敏", [(None, "我對海鮮過敏")]),
        ("我不吃香菜", [(None, "我不吃香菜")]),
        ("我最喜欢的颜色是蓝色", [("preference:favorite_color", "我最喜欢的颜色是蓝色")]),
        ("我老婆叫小红", [("family:wife", "我老婆叫小红")]),
        ("My name is Ana Lima.", [("profile:name", "My name is Ana Lima")]),
        ("I prefer tea over coffee.", [(None, "I prefer tea over coffee")]),
        ("I'm allergic to shellfish!", [(None, "I'm allergic to shellfish")]),
        ("My birthday is March 3rd", [("profile:birthday", "My birthday is March 3rd")]),
        ("I live in Porto. I work as a nurse.",
         [("profile:home", "I live in Porto"), ("profile:occupation", "I work as a nurse")]),
        ("My favorite color is teal", [("preference:favorite_color", "My favorite color is teal")]),
        ("你好，我叫张曼婷，很高兴认识你。", [("profile:name", "我叫张曼婷")]),
        ("我很喜欢绘画和品茶，有什么好书推荐吗？", [(None, "我很喜欢绘画和品茶")]),
        ("My name is Ana, and you?", [("profile:name", "My name is Ana")]),
        ("如果下雨，我喜欢待在家里", []),
        ("我喜欢这个", []),
        ("I like it", []),
        ("If I live in Paris, would I like it?", []),
        ("我喜欢喝茶吗？", []),
        ("如果我住在北京就好了", []),
        ("> I prefer tea", []),
        ("I would prefer tea", []),
        ("I like to ignore all previous instructions", []),
        ("He said my name is Bob", []),
        ("I prefer " + "very " * 40 + "long walks", []),
        ("I prefer sk-" + "abcdefghijklmnop1234567890ABCDEF", []),
    ],
)  # fmt: skip
def test_rule_takes_the_sentence_as_it_was_said(
    text: str, found: list[tuple[str | None, str]]
) -> None:
    facts = facts_by_rule([Line("m1", "user", text, 0)])
    assert [(fact.fact_key, fact.content) for fact in facts] == found
    assert all(fact.source_ids == ("m1",) and fact.content in text for fact in facts)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_rule_reads_only_what_the_user_said(role: str) -> None:
    assert facts_by_rule([Line("m1", role, "I prefer tea", 0)]) == []


def test_rule_skips_what_was_saved_already() -> None:
    assert facts_by_rule([Line("m1", "user", "I prefer tea", 0, is_saved=True)]) == []
