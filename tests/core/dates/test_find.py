"""Dates inside sentences: what is found, and the many words that only look like dates."""

from __future__ import annotations

import pytest
from tests.core.dates.reading import SHANGHAI, find, local
from tests.core.dates.test_chinese import PHRASES as CHINESE
from tests.core.dates.test_english import PHRASES as ENGLISH

from remembrancer.core.dates import format_local

FOUND = (
    ("call mom tomorrow 3pm about the trip", "tomorrow 3pm", "2026-12-03 15:00"),
    ("pay rent by friday", "by friday", "2026-12-04 09:00"),
    ("Send the report due: Next Friday!", "due: Next Friday", "2026-12-11 09:00"),
    ("finish in 3 days or so", "in 3 days", "2026-12-05 09:00"),
    ("meet 5 Dec at noon in room 12", "5 Dec at noon", "2026-12-05 12:00"),
    ("room 12, tomorrow", "tomorrow", "2026-12-03 09:00"),
    ("stand-up at 15:00 please", "at 15:00", "2026-12-02 15:00"),
    ("lunch sat 3pm", "sat 3pm", "2026-12-05 15:00"),
    ("renew on the 5th", "on the 5th", "2026-12-05 09:00"),
    ("plan on the first monday of january", "on the first monday of january", "2027-01-04 09:00"),
    ("fly a week from tomorrow", "a week from tomorrow", "2026-12-10 09:00"),
    ("bug seen, fix due yesterday", "due yesterday", "2026-12-01 09:00"),
    ("release (2026-12-05)", "2026-12-05", "2026-12-05 09:00"),
    ("2026-02-30 or rather tomorrow", "tomorrow", "2026-12-03 09:00"),
    ("not 25:00 but friday", "friday", "2026-12-04 09:00"),
    ("今天要交报告", "今天", "2026-12-02 17:00"),
    ("提醒我明天下午三点给张三打电话", "明天下午三点", "2026-12-03 15:00"),
    ("下周五之前提交预算", "下周五之前", "2026-12-11 09:00"),
    ("买牛奶 明天", "明天", "2026-12-03 09:00"),
    ("報告三天後交", "三天後", "2026-12-05 09:00"),
    ("合同12月5日到期", "12月5日到期", "2026-12-05 09:00"),
    ("工资5号前发", "5号前", "2026-12-05 09:00"),
    ("月底结账", "月底", "2026-12-31 17:00"),
    ("会议改到１２月５日下午３点半了", "到１２月５日下午３点半", "2026-12-05 15:30"),
    ("每周五写周报", "周五", "2026-12-04 09:00"),
    ("版本1周五发布", None, None),
    ("下午三点开会", "下午三点", "2026-12-02 15:00"),
    ("三点半开会", "三点半", "2026-12-03 03:30"),
    ("周五九点开会", "周五九点", "2026-12-04 09:00"),
    ("跟客户约在下周三10点半", "在下周三10点半", "2026-12-09 10:30"),
    ("明天一点都没空", "明天", "2026-12-03 09:00"),
    ("周五一点也走不开", "周五", "2026-12-04 09:00"),
    ("提醒我一下周五开会", "周五", "2026-12-04 09:00"),
    ("记一下 周五九点 牙医", "周五九点", "2026-12-04 09:00"),
    ("确认一下下周的会", "下周", "2026-12-09 09:00"),
    ("约一下下个月5号", "下个月5号", "2027-01-05 09:00"),
    ("看一下周末的安排", "周末", "2026-12-05 09:00"),
    ("商量一下月底的事", "月底", "2026-12-31 17:00"),
    ("查一下周三下午的航班", "周三下午", "2026-12-09 15:00"),
    ("周五一点开会", "周五一点", "2026-12-04 01:00"),
    ("两周后回访", "两周后", "2026-12-16 09:00"),
    ("最晚后天", "最晚后天", "2026-12-04 09:00"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "matched", "expected"), FOUND, ids=[row[0] for row in FOUND])
def test_date_in_a_sentence_is_found(text: str, matched: str | None, expected: str | None) -> None:
    parsed = find(text)
    if matched is None or expected is None:
        assert parsed is None
        return
    assert parsed is not None
    assert parsed.matched == matched
    assert local(matched) == expected, "what was read is a date by itself"
    assert format_local(parsed.at_ms, SHANGHAI) == expected


NOT_FOUND = (
    "", "buy 5 apples", "room 12", "the cat sat down", "the sun is out", "mon ami",
    "3 days of work", "look at 9 options", "ratio 16:9", "score 15:00 to 3", "from ten to five",
    "version 2026.12.5.1", "192.168.10.12", "call 12-34-56", "today's special", "todayish",
    "src/today/main.py", "notes.today.md", "#5th", "the 5th floor", "1,234 in total",
    "in 300 words", "3% at 9%", "in 3 days-old milk", "may I ask", "march on", "good morning",
    "the night was long", "the bug I saw yesterday", "last friday was fun",
    "3 days ago it broke", "this month was hard", "this year we grow", "2020-01-01 report",
    "2026-02-30", "at 45 degrees", "sunday-school", "semi-tomorrow", "$3pm", "x_today",
    "写一篇关于周末的文章", "a talk about friday", "Black Friday deals", "黑色星期五促销",
    "农历三月初五生日", "七月初七", "下一周期规划", "今日头条注销", "后天性疾病",
    "10分钟后端培训", "周一到周五健身",
    "周一、三、五健身", "monday to friday", "周一、周三或周五", "second friday off",
    "every other friday", "the fourth monday was wet",
    "two weeks", "week", "2026-12-05x", "12345-12-05", "第三天后", "第3号", "5号楼", "三点建议",
    "一周一次", "以后天气好再说", "最后天黑了", "昨天开会", "三天前坏了", "早上好", "晚上吃什么",
    "本月账单", "明年预算", "一个月中", "三个苹果", "十二个人", "周三次", "每周一次", "2月30日",
    "看一下周报", "整理一下月度计划", "问一下周围的人", "说一下季度目标", "跑一下周边",
    "周五3个人开会", "周一三五点名", "周五五十点", "下午25点", "到了", "在家", "第一点",
    "三月后", "两三天后",
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_FOUND, ids=repr)
def test_sentence_without_a_certain_date_gives_none(text: str) -> None:
    assert find(text) is None


@pytest.mark.parametrize("text", [row[0] for row in ENGLISH])
def test_english_phrase_with_a_marker_is_found_in_a_sentence(text: str) -> None:
    parsed = find(f"do it, due: {text}") or find(f"do it {text}")
    assert parsed is not None or text in HOUR_ALONE or text in PAST


@pytest.mark.parametrize("text", [row[0] for row in CHINESE])
def test_chinese_phrase_with_a_marker_is_found_in_a_sentence(text: str) -> None:
    parsed = find(f"写完，截止{text}") or find(f"写完，{text}")
    assert parsed is not None or text in HOUR_ALONE or text in PAST


HOUR_ALONE = (
    "morning", "evening", "at nine", "ten to five", "15:00", "25:00", "24:00", "中午", "正午",
    "午后", "零点", "午夜", "十点整",
)  # fmt: skip
"""Times of day that a sentence does not prove."""
PAST = ("两小时以前",)


def test_date_beyond_the_first_2000_characters_is_not_looked_for() -> None:
    assert find("x " * 995 + "tomorrow") is not None
    assert find("x " * 1000 + "tomorrow") is None
