"""What a message asks for: nothing, itself, or itself with what was said before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.query import (
    TURN_CHARS_MAX,
    TURNS_MAX,
    RecallQuery,
    build_query,
    is_small_talk,
    is_thin,
)

SMALL_TALK = (
    "", "   ", "ok", "OK!", "okay 👍", "Thanks!", "thank you so much", "haha", "hahaha lol", "Hi",
    "good morning", "go on", "continue", "got it", "great, thanks", "no problem", "that's all",
    "好", "好的", "好吧", "嗯嗯", "哦", "哈哈", "哈哈哈哈", "哈哈好的", "收到", "谢谢", "謝謝你",
    "谢啦🙏", "辛苦了", "继续", "繼續", "请继续", "然后呢", "早安", "晚安～", "你好", "拜拜",
    "🙏🙏", "？？", "……", "ok 收到，先这样", "没事", "明白了", "太好了", "加油", "ありがとう",
)  # fmt: skip

REQUESTS = (
    "what is my wifi password", "is it ok to eat peanuts", "nice restaurants in Lyon", "hi-fi amp",
    "no sugar?", "okinawa trip", "属兔", "咖啡", "我的测试暗号是什么？", "好友叫什么", "早餐吃什么",
    "拜访谁", "谢师宴是哪天", "可可粉放哪", "知道小满的生日吗", "你好了吗", "行李箱密码", "请假条",
    "明白鱼是什么", "ok绷放哪了", "C++", "3.14", "K8s", "再见面是几号", "对花生过敏吗", "请客名单",
)  # fmt: skip


@pytest.mark.parametrize("message", SMALL_TALK, ids=ascii)
def test_small_talk_asks_for_nothing(message: str) -> None:
    assert is_small_talk(message)
    assert build_query(message, ["给我讲讲印象派是怎么来的"]) is None


@pytest.mark.parametrize("message", REQUESTS, ids=ascii)
def test_request_is_not_taken_for_small_talk(message: str) -> None:
    assert not is_small_talk(message)
    query = build_query(message)
    assert query is not None
    assert (query.words, query.meaning, query.message) == (message, message, message)
    assert not query.is_widened


@pytest.mark.parametrize(
    ("message", "thin"),
    [
        pytest.param("最多放到多少", True, id="zh-short"),
        pytest.param("它的外号是什么来着，我记得跟一种水果有关系吧", True, id="zh-pronoun"),
        pytest.param("那下一次什么时候查", True, id="zh-then"),
        pytest.param("他們要等多久才打款給我們這邊的工作室", True, id="zh-traditional"),
        pytest.param("how much?", True, id="en-short"),
        pytest.param("and when does it expire, roughly speaking, this year or next", True, id="en"),
        pytest.param("家里路由器后台的管理员密码是多少", False, id="zh-whole"),
        pytest.param("which port does the staging database proxy listen on", False, id="en-whole"),
    ],
)
def test_thin_message_is_short_or_points_back(message: str, thin: bool) -> None:
    assert is_thin(message) is thin


def test_thin_message_is_widened_by_the_last_turns() -> None:
    query = build_query("下次呢", ["很早以前", "海豚上次保养是啥时候", "哈哈好的"])
    assert query == RecallQuery(
        "下次呢 海豚上次保养是啥时候",
        "海豚上次保养是啥时候 下次呢",
        "下次呢",
        is_widened=True,
    )


def test_widening_takes_few_turns_and_little_of_each() -> None:
    turns = [f"turn {number} " + "长" * 500 + f"end{number}" for number in range(5)]
    query = build_query("多少", turns)
    assert query is not None
    assert len(query.words) <= len("多少") + TURNS_MAX * (TURN_CHARS_MAX + 1)
    assert "end4" in query.words
    assert "end2" not in query.words


def test_whole_message_stands_alone() -> None:
    message = "家里路由器后台的管理员密码是多少"
    assert build_query(message, ["今天天气不错"]) == RecallQuery(
        message, message, message, asks="value"
    )


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_message_gives_a_query_or_nothing(message: str, turns: list[str]) -> None:
    query = build_query(message, turns)
    assert query is None or query.words.startswith(message)


def test_long_small_talk_is_read_once() -> None:
    assert not is_small_talk("好呀哈哈" * 20_000 + "x")
