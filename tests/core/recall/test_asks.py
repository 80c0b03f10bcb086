"""What a message waits for: one value, work, or whatever bears on it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.asks import asks_of

VALUES = (
    "车险几号到期", "太太對什麼過敏", "18080 是哪个服务在听", "谁管这个", "房租现在多少",
    "いつ届く？",
    "when did we move?", "Where is the spare key", "how many users are there", "what time is it",
    "which port does it listen on", "who is Qiu", "when's the wedding", "what brand was it",
    "What is my favourite film?", "which car does Ruth drive", "Which herb do I hate?",
)  # fmt: skip

WORK = (
    "帮我写个快排", "幫我寫首關於下雨天的詩", "把「今晚月色真美」翻成法语", "翻译这段话",
    "1024 转二进制",
    "请给我画一幅画", "润色一下", "write a haiku", "Please translate this", "convert 5 miles to km",
)  # fmt: skip

OPEN = (
    "湿疹", "what's my k8s deploy story?", "when should I throw?", "should I use a base class?",
    "which way should I go",
    "我可以喝普通牛奶嗎", "我几乎忘了", "哪怕下雨也去",
    "写 Go 测试，不用某些库", "我在写代码", "so when our frontend breaks, the team looks at logs",
    "she writes novels", "summer plans", "画画的事", "",
)  # fmt: skip


@pytest.mark.parametrize("message", VALUES, ids=ascii)
def test_question_asks_for_one_value(message: str) -> None:
    assert asks_of(message) == "value"


@pytest.mark.parametrize("message", WORK, ids=ascii)
def test_order_asks_for_work(message: str) -> None:
    assert asks_of(message) == "work"


@pytest.mark.parametrize("message", OPEN, ids=ascii)
def test_other_message_is_open(message: str) -> None:
    assert asks_of(message) == "open"


def test_long_message_is_about_more_than_one_value() -> None:
    long = (
        "we moved the whole cluster to another region last month, rewired both office switches,"
        " hired three people for the night shift and lost a contract with the oldest client;"
    )
    assert asks_of(long + " who broke the printer") == "open"
    assert asks_of("who broke the printer") == "value"


@given(st.text())
def test_any_message_asks_for_something(message: str) -> None:
    assert asks_of(message) in ("value", "work", "open")
