"""What is no date, or an impossible one: always an error that names the value, never a guess."""

from __future__ import annotations

import pytest
from tests.core.dates.reading import local, refusal

from remembrancer.core.errors import InvalidInput

NOT_UNDERSTOOD = (
    "", " ", ".", "5", "due 5", "room 12", "12", "2026", "20261205", "5/12", "12/5", "5/12/2026",
    "05.12.2026", "soon", "later", "next", "this", "in", "in days", "in 3", "3 days", "three",
    "at", "on the", "friday friday", "tomorrow yesterday", "tomorrow 3", "tomorrow foo",
    "foo tomorrow", "todays", "xtoday", "may", "december", "at 3 4", "3pm 4pm",
    "in a week and a half", "in 2.25 hours", "in 1.5 weeks", "half to 3", "quarter past 13",
    "hour", "2026-12-05-06", "every day", "in 3 fortnights", "the 5",
    "some day next week", "5th", "1e5", "²", "明", "天", "号", "五", "十二", "周", "星期", "月",
    "年", "第5号", "三月后", "两三天后", "几天后", "一周后半", "半周后", "以后", "有空的时候",
    "三天", "三个小时", "每天", "明天后天", "周五周六", "半夜", "深夜", "凌晨", "一百二分钟后",
    "十十分钟后", "零十天后", "两十天后天", "明天三", "三点五", "三点一百分钟", "12月",
    "半半小时后", "半天半后", "一千天后", "二〇二年1月1日", "in ten ten minutes",
    "in one twenty days", "🙂", "tomorrow 🙂", "2026年12月", "in 3 days and one twenty hours",
    "两天十十小时后", "十十月5号", "5月十十号", "十十月底", "十十点", "三点十十分",
    "下个月十十号", "十十号", "2026-12-05T15:00 3pm", "in 2 hours 3pm", "3pm in 2 hours",
    "half past thirty", "at twenty twenty", "tomorrow at thirteen one", "in one one days",
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_UNDERSTOOD, ids=repr)
def test_text_without_a_date_is_not_understood(text: str) -> None:
    error = refusal(text)
    assert error.message == f"{text[:60]!r} is not understood as a date"
    assert error.field == "due"
    assert error.hint is not None
    assert "next friday" in error.hint
    assert "下周五" in error.hint


IMPOSSIBLE = (
    ("2026-02-30", "2026-02-30"),
    ("2026-2-30", "2026-02-30"),
    ("2026-13-01", "2026-13-01"),
    ("2026/00/10", "2026-00-10"),
    ("0000-01-01", "0000-01-01"),
    ("9999-01-01", "9999-01-01"),
    ("2026-02-30T10:00", "not a day"),
    ("2026-12-05T25:00", "not a time of day"),
    ("2026-12-05 10:61", "not a time of day"),
    ("2026-12-05T10:00:60Z", "not a time of day"),
    ("2026-12-05T10:00+24:00", "offset"),
    ("9998-12-31T23:00-10:00", "outside the calendar"),
    ("9998-12-31", "outside the calendar"),
    ("1000-01-01", "outside the calendar"),
    ("feb 30", "2027-02-30"),
    ("30 Feb 2027", "2027-02-30"),
    ("Feb 29", "2027-02-29"),
    ("the 32nd", "2026-12-32"),
    ("the 31st of next month at noon", None),
    ("31st of last month", "2026-11-31"),
    ("2月30日", "2027-02-30"),
    ("13月1日", "2026-13-01"),
    ("13月底", "names month 13"),
    ("2027年2月29号", "2027-02-29"),
    ("上个月31号", "2026-11-31"),
    ("0号", "2027-01-00"),
    ("25:00", "25:00"),
    ("24:30", "24:30"),
    ("15:60", "15:60"),
    ("15:00:61", "second"),
    ("tomorrow 25:00", "25:00"),
    ("tomorrow at 25", "25:00"),
    ("25:00 tomorrow", "25:00"),
    ("13pm", "12-hour clock"),
    ("0am", "12-hour clock"),
    ("3:75pm", "12-hour clock"),
    ("morning 9pm", "do not agree"),
    ("15 in the morning", "no such hour"),
    ("quarter past 12 in the morning", "no such hour"),
    ("下午25点", "25:00"),
    ("晚上14点", "no such hour"),
    ("上午12点", "no such hour"),
    ("凌晨8点", "no such hour"),
    ("明早20点", "no such hour"),
    ("tonight 8am", "no such hour"),
    ("tonight at 15", "no such hour"),
    ("今晚15:00", "no such hour"),
    ("三点七十分", "03:70"),
    ("Thursday, Dec 4", "2026-12-04"),
    ("Dec 4, Thursday", "2026-12-04"),
    ("12月5日星期五", "2026-12-05"),
    ("明天周五", "2026-12-03"),
    ("middle of the year", "not one day"),
    ("middle of 2027", "not one day"),
    ("end of 9999", "9999-12-01"),
    ("end of may 9999", "9999-05-01"),
    ("9999年底", "9999-12-01"),
    ("9999年3月底", "9999-03-01"),
    ("in 9999 years", "outside the calendar"),
    ("9999年后", "outside the calendar"),
    ("in 9999 years and 3 hours", "outside the calendar"),
    ("9999年后下午三点", "outside the calendar"),
)


@pytest.mark.parametrize(("text", "named"), IMPOSSIBLE, ids=[row[0] for row in IMPOSSIBLE])
def test_impossible_date_is_an_error_that_says_why(text: str, named: str | None) -> None:
    if named is None:
        assert local(text) == "2027-01-31 12:00"
        return
    error = refusal(text)
    assert repr(text) in error.message
    assert named in error.message


def test_day_of_month_that_the_month_lacks_does_not_roll_over() -> None:
    assert "2026-11-31" in refusal("31号", now="2026-11-10T10:00").message
    assert "2027-02-30" in refusal("the 30th", now="2027-01-31T10:00").message


@pytest.mark.parametrize(
    "text",
    [
        "下周", "下周五", "下个月", "下下个月底", "下个月5号", "下季度", "下季度末", "明年",
        "后年", "明天", "大后天", "明晚", "周五", "next week", "next month", "next friday",
        "next year", "end of next month", "the 5th of next month", "start of next quarter",
        "next weekend at noon", "1号", "月初", "明天下午三点", "3点", "jan 3", "end of january",
        "in 3 days", "3年半后", "周末", "this week", "下周日下午3点", "明年年底", "本周",
        "下周末", "tomorrow 24:00", "tonight",
    ],
)  # fmt: skip
def test_phrase_at_the_end_of_the_calendar_is_an_error_or_a_date(text: str) -> None:
    now = "9998-12-29T22:00"
    try:
        assert local(text, now=now).startswith("9998-12-")
    except InvalidInput as error:
        assert "outside the calendar" in error.message or "does not have" in error.message


def test_evening_after_the_calendar_ends_is_an_error() -> None:
    assert "outside the calendar" in refusal("后晚", now="9998-12-30T07:00").message


def test_text_of_200_characters_is_read_and_of_201_refused() -> None:
    assert local("tomorrow" + " " * 192) == "2026-12-03 09:00"
    error = refusal("明天" + " " * 199)
    assert "too long" in error.message
    assert error.hint is not None
    assert "200" in error.hint
