"""Clock lines and volatile blocks in a client's instructions: found, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.chat.volatile import is_clock, split_volatile

CLOCKS = [
    "Current time: 2026-11-30 10:22",
    "当前时间：2026年11月30日 星期一 10:22",
    "Today is Monday, November 30, 2026.",
    "今天是2026年11月30日，星期一。",
    "现在是10:22",
    "Date: 2026-11-30",
    "The current date and time is 2026-11-30T10:22:11Z (Europe/Lisbon)",
    "- **Current Date**: Nov 30th, 2026",
    "<current_time>2026-11-30 10:22</current_time>",
    "Today's date is 30 November 2026",
    "當前時間：2026年11月30號",
    "It is currently 10:22 PM",
    "Now: 1764498131",
    "今天星期一",
    "北京时间：10点22分",
    "Current datetime (UTC): 2026-11-30 10:22:05",
    "Current Date & Time: 2026-11-30T10:22:11 (1)",
    "当前日期和时间: 2026/11/30 10:22:33",
    "用户当前时间：2026-11-30 10:22，时区：Asia/Shanghai",
    "当前时间（UTC+8）：2026-11-30 10:22",
    "现在北京时间是2026年11月30日10:22",
    "The date today is 2026-11-30",
    "Time now: 10:22",
    "Right now it is 10:22",
    "It is Monday, November 30, 2026 10:22 AM.",
    "- Today’s date: 2026-11-30",
]
NO_CLOCKS = [
    "Knowledge cutoff: 2024-06",
    "Today we founded the company on 2020-01-01 and all of its employees live there",
    "时间是宝贵的",
    "You are a helpful assistant.",
    "Meetings are at 10:00 daily",
    "The deadline is 2026-12-01",
    "time: 3 minutes per question",
    "现在请用中文回答我的问题",
    "Date of birth: 1990-01-01",
    "今天的任务：写 3 篇文章",
    "Date format: YYYY-MM-DD, e.g. 2026-11-30",
    "Day 1: 10:00 breakfast at the hotel and then the museum",
    "Opening time: 10:00",
    "Now, on 2026-01-01 we launched",
    "The date of the wedding is 2026-12-12",
    "当前版本 2026.11.30",
    "截止时间：2026-12-31",
    "生日日期：1990-01-01",
    "时间：2026年12月1日 10:00 地点：会议室 参加人：张三、李四、王五",
    "Current time: " + "2026-11-30 " * 40,
    "",
]


@pytest.mark.parametrize("line", CLOCKS)
def test_split_volatile_clock_line_is_moved(line: str) -> None:
    assert is_clock(line)
    assert split_volatile(f"你是助手。\n{line}\nBe kind.\n") == ("你是助手。\nBe kind.\n", line)
    assert split_volatile(line) == ("", line)


@pytest.mark.parametrize("line", NO_CLOCKS)
def test_split_volatile_other_line_stays(line: str) -> None:
    text = f"你是助手。\n{line}\n"
    assert split_volatile(text) == (text, "")


@pytest.mark.parametrize(
    ("text", "stable", "volatile"),
    [
        pytest.param(
            "You are X. Today's date is 2026-11-30. Be kind.",
            "You are X. Be kind.",
            "Today's date is 2026-11-30.",
            id="sentence",
        ),
        pytest.param(
            "你是助手。今天是2026年11月30日。请友善。",
            "你是助手。请友善。",
            "今天是2026年11月30日。",
            id="chinese_sentence",
        ),
        pytest.param(
            "规则\n\n[Current time] 10:22\nplace: Lisbon\n\n尾",
            "规则\n\n\n尾",
            "[Current time] 10:22\nplace: Lisbon",
            id="header_to_blank_line",
        ),
        pytest.param(
            "【相关记忆】\n- 甲\n- 乙\n\n规则\n【当前地点：里斯本】\n【系统状态】正常",
            "\n规则\n",
            "【相关记忆】\n- 甲\n- 乙\n【当前地点：里斯本】\n【系统状态】正常",
            id="chinese_headers",
        ),
        pytest.param("[Rules]\n- be kind\n", "[Rules]\n- be kind\n", "", id="other_header"),
    ],
)
def test_split_volatile_parts_of_a_text(text: str, stable: str, volatile: str) -> None:
    assert split_volatile(text) == (stable, volatile)


TEXTS = st.lists(
    st.sampled_from(
        [*CLOCKS, *NO_CLOCKS, "【动态上下文】", "[Related memories]", "- 甲", " ", "a. b"]
    ),
    max_size=9,
).map("\n".join)


@given(TEXTS)
def test_split_volatile_nothing_is_lost(text: str) -> None:
    stable, volatile = split_volatile(text)
    assert sorted("".join((stable + volatile).split())) == sorted("".join(text.split()))
    assert split_volatile(stable) == (stable, "")


@given(st.datetimes(), st.datetimes(), st.sampled_from(["%Y-%m-%d %H:%M", "%Y年%m月%d日 %H:%M:%S"]))
def test_split_volatile_stable_part_does_not_know_the_time(
    one: object, other: object, form: str
) -> None:
    texts = [
        f"你是助手。\nCurrent time: {moment:{form}}\n当前时间：{moment:{form}}\n规则"
        for moment in (one, other)
    ]
    stables = {split_volatile(text)[0] for text in texts}
    assert stables == {"你是助手。\n规则"}
