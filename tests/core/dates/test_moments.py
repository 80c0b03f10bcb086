"""Phrases whose meaning turns on the moment or the zone they are read in."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from tests.core.dates.reading import KOLKATA, NEW_YORK, SHANGHAI, local, read

from remembrancer.core.dates import format_iso, format_local, parse_date, parse_iso

MOMENTS = (
    # today never lies in the past
    ("2026-12-02T16:59", "today", "2026-12-02 17:00"),
    ("2026-12-02T17:00", "today", "2026-12-02 23:59"),
    ("2026-12-02T22:30", "今天", "2026-12-02 23:59"),
    ("2026-12-02T20:00", "tonight", "2026-12-02 23:59"),
    ("2026-12-02T21:00", "今晚", "2026-12-02 23:59"),
    ("2026-12-02T21:00", "this evening", "2026-12-02 23:59"),
    ("2026-12-02T18:00", "eod", "2026-12-02 23:59"),
    ("2026-12-02T00:30", "tonight", "2026-12-02 20:00"),
    # a time that was said stays
    ("2026-12-02T18:00", "today at 9", "2026-12-02 09:00"),
    ("2026-12-02T18:00", "今天上午九点", "2026-12-02 09:00"),
    # a time alone is the next such time
    ("2026-12-02T15:00", "3pm", "2026-12-03 15:00"),
    ("2026-12-02T14:59", "下午三点", "2026-12-02 15:00"),
    ("2026-12-02T00:30", "晚上1点", "2026-12-02 01:00"),
    ("2026-12-02T10:00", "晚上1点", "2026-12-03 01:00"),
    ("2026-12-02T12:00", "noon", "2026-12-03 12:00"),
    # weekdays: bare is the next, never today; this and next are ISO weeks
    ("2026-12-04T08:00", "friday", "2026-12-11 09:00"),
    ("2026-12-04T08:00", "周五", "2026-12-11 09:00"),
    ("2026-12-04T08:00", "this friday", "2026-12-04 09:00"),
    ("2026-12-06T08:00", "next friday", "2026-12-11 09:00"),
    ("2026-12-07T08:00", "下周五", "2026-12-18 09:00"),
    ("2026-12-06T08:00", "monday", "2026-12-07 09:00"),
    ("2026-12-04T10:00", "本周一", "2026-11-30 09:00"),
    # weeks and weekends give way to Sunday
    ("2026-12-04T17:00", "this week", "2026-12-06 17:00"),
    ("2026-12-06T10:00", "end of week", "2026-12-06 17:00"),
    ("2026-12-06T17:00", "本周", "2026-12-06 23:59"),
    ("2026-12-05T08:59", "周末", "2026-12-05 09:00"),
    ("2026-12-05T10:00", "周末", "2026-12-06 17:00"),
    ("2026-12-06T18:00", "this weekend", "2026-12-06 23:59"),
    # months and years
    ("2026-11-30T10:00", "月底", "2026-11-30 17:00"),
    ("2026-11-30T17:00", "月底", "2026-11-30 23:59"),
    ("2026-12-31T20:00", "年底", "2026-12-31 23:59"),
    ("2026-01-31T10:00", "next month", "2026-02-28 09:00"),
    ("2026-01-31T10:00", "下个月", "2026-02-28 09:00"),
    ("2026-01-31T10:00", "in 1 month", "2026-02-28 09:00"),
    ("2028-02-29T10:00", "next year", "2029-02-28 09:00"),
    ("2026-11-30T10:00", "下月底", "2026-12-31 17:00"),
    ("2026-12-01T08:00", "月初", "2026-12-01 09:00"),
    ("2026-12-02T08:00", "start of month", "2027-01-01 09:00"),
    ("2026-12-02T08:00", "start of the week", "2026-12-07 09:00"),
    ("2026-12-02T08:00", "下周初", "2026-12-07 09:00"),
    ("2026-12-20T08:00", "mid month", "2027-01-15 09:00"),
    ("2026-12-20T08:00", "end of last month", "2026-11-30 17:00"),
    ("2026-12-20T08:00", "上月底", "2026-11-30 17:00"),
    ("2027-01-01T08:00", "年初", "2027-01-01 09:00"),
    ("2027-03-10T08:00", "季末", "2027-03-31 17:00"),
    ("2027-03-10T08:00", "start of next quarter", "2027-04-01 09:00"),
    ("2027-03-10T08:00", "下季度初", "2027-04-01 09:00"),
    ("2026-12-20T08:00", "end of november", "2027-11-30 17:00"),
    ("2026-12-20T08:00", "11月底", "2027-11-30 17:00"),
    # days without a year or a month
    ("2026-12-02T08:00", "12月2日", "2026-12-02 17:00"),
    ("2026-12-02T18:00", "dec 2", "2026-12-02 23:59"),
    ("2026-12-02T18:00", "2 dec 2026", "2026-12-02 09:00"),
    ("2026-12-02T18:00", "2026-12-02", "2026-12-02 09:00"),
    ("2026-12-05T08:00", "5号", "2026-12-05 17:00"),
    ("2026-12-06T08:00", "5号", "2027-01-05 09:00"),
    ("2026-12-31T08:00", "12月30日", "2027-12-30 09:00"),
    ("2027-06-01T08:00", "feb 29", "2028-02-29 09:00"),
    ("2027-06-01T08:00", "2月29号", "2028-02-29 09:00"),
)


@pytest.mark.parametrize(
    ("now", "text", "expected"), MOMENTS, ids=[f"{m[1]}@{m[0]}" for m in MOMENTS]
)
def test_phrase_at_a_moment_means(now: str, text: str, expected: str) -> None:
    assert local(text, now=now) == expected


def test_today_in_the_last_minute_is_still_ahead() -> None:
    now = parse_iso("2026-12-02T23:59:30", zone=SHANGHAI)
    parsed = parse_date("today", now_ms=now, zone=SHANGHAI)
    assert format_iso(parsed.at_ms) == "2026-12-02T15:59:59.999Z"


ZONES = (
    # the same instant is another day elsewhere
    ("2026-12-02T02:00:00Z", SHANGHAI, "today", "2026-12-02T09:00:00Z"),
    ("2026-12-02T02:00:00Z", NEW_YORK, "today", "2026-12-02T04:59:00Z"),
    ("2026-12-02T02:00:00Z", KOLKATA, "明天下午三点", "2026-12-03T09:30:00Z"),
    ("2026-12-02T02:00:00Z", KOLKATA, "tomorrow", "2026-12-03T03:30:00Z"),
    ("2026-12-02T02:00:00Z", NEW_YORK, "明天", "2026-12-02T14:00:00Z"),
    # clocks go forward on 8 March 2026 at 02:00 in New York
    ("2026-03-07T17:00:00Z", NEW_YORK, "tomorrow", "2026-03-08T13:00:00Z"),
    ("2026-03-07T17:00:00Z", NEW_YORK, "tomorrow at 2:30", "2026-03-08T07:30:00Z"),
    ("2026-03-07T17:00:00Z", NEW_YORK, "明天凌晨两点半", "2026-03-08T07:30:00Z"),
    ("2026-03-07T17:00:00Z", NEW_YORK, "2026-03-08T02:30", "2026-03-08T07:30:00Z"),
    ("2026-03-08T06:30:00Z", NEW_YORK, "in 1 hour", "2026-03-08T07:30:00Z"),
    ("2026-03-07T17:00:00Z", NEW_YORK, "24小时后", "2026-03-08T17:00:00Z"),
    ("2026-03-07T17:00:00Z", NEW_YORK, "in 1 day at noon", "2026-03-08T16:00:00Z"),
    ("2026-03-07T17:00:00Z", NEW_YORK, "in 1 day and 1 hour", "2026-03-08T17:00:00Z"),
    # clocks go back on 1 November 2026 at 02:00: 01:30 comes twice, the first counts
    ("2026-10-31T16:00:00Z", NEW_YORK, "tomorrow at 1:30", "2026-11-01T05:30:00Z"),
    ("2026-10-31T16:00:00Z", NEW_YORK, "明天", "2026-11-01T14:00:00Z"),
    ("2026-10-31T16:00:00Z", NEW_YORK, "tomorrow at 23:00", "2026-11-02T04:00:00Z"),
)


@pytest.mark.parametrize(
    ("now", "zone", "text", "expected"), ZONES, ids=[f"{row[2]}@{row[1]}" for row in ZONES]
)
def test_phrase_in_a_zone_means_the_instant(
    now: str, zone: ZoneInfo, text: str, expected: str
) -> None:
    assert format_iso(read(text, now=now, zone=zone).at_ms) == expected


@pytest.mark.parametrize(
    ("text", "wording", "matched"),
    [
        ("  Tomorrow   3PM ", "tomorrow 3pm", "Tomorrow   3PM"),
        ("due by Friday.", "friday", "due by Friday"),
        ("截止 下週五 之前", "下週五之前", "截止 下週五 之前"),
        ("１２月５日", "12月5日", "１２月５日"),
        ("2026-12-05t15:00z", "2026-12-05T15:00Z", "2026-12-05t15:00z"),
        ("tomorrow\u200b\u00a03pm", "tomorrow 3pm", "tomorrow\u200b\u00a03pm"),
        ("明天 下午\n3 点", "明天下午3点", "明天 下午\n3 点"),
    ],
    ids=["blanks", "lead", "traditional", "full width", "iso", "invisible", "chinese blanks"],
)
def test_parsed_date_keeps_plain_wording_and_what_was_typed(
    text: str, wording: str, matched: str
) -> None:
    parsed = read(text)
    assert (parsed.wording, parsed.matched) == (wording, matched)


def test_day_of_a_night_reads_hours_of_its_own_night() -> None:
    assert format_local(read("today 24:00").at_ms, SHANGHAI) == "2026-12-03 00:00"
    assert local("tonight 0:30") == "2026-12-03 00:30"
    assert local("今晚8点30分") == "2026-12-02 20:30"
    assert local("tonight 1am") == "2026-12-03 01:00"
    assert local("monday night 1am") == "2026-12-08 01:00"
    assert local("night at 10pm") == "2026-12-02 22:00"
