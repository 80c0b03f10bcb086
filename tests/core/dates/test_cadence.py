"""Phrases for series, in both languages."""

from __future__ import annotations

import pytest

from remembrancer.core.dates import Recurrence, parse_recurrence

PHRASES = (
    ("daily", Recurrence("daily")),
    ("Every Day", Recurrence("daily")),
    ("every 2 days", Recurrence("daily", 2)),
    ("every other day", Recurrence("daily", 2)),
    ("every second day", Recurrence("daily", 2)),
    ("weekly", Recurrence("weekly")),
    ("every week", Recurrence("weekly")),
    ("every 2 weeks", Recurrence("weekly", 2)),
    ("every two weeks", Recurrence("weekly", 2)),
    ("fortnightly", Recurrence("weekly", 2)),
    ("every friday", Recurrence("weekly", anchor_day=5)),
    ("every other Sunday.", Recurrence("weekly", 2, anchor_day=7)),
    ("each mon", Recurrence("weekly", anchor_day=1)),
    ("monthly", Recurrence("monthly")),
    ("every month", Recurrence("monthly")),
    ("every month on the 5th", Recurrence("monthly", anchor_day=5)),
    ("every six months", Recurrence("monthly", 6)),
    ("quarterly", Recurrence("monthly", 3)),
    ("every quarter", Recurrence("monthly", 3)),
    ("every 2 quarters", Recurrence("monthly", 6)),
    ("yearly", Recurrence("yearly")),
    ("annually", Recurrence("yearly")),
    ("every year", Recurrence("yearly")),
    ("every 365 days", Recurrence("daily", 365)),
    ("weekdays", Recurrence("weekdays")),
    ("every weekday", Recurrence("weekdays")),
    ("every working day", Recurrence("weekdays")),
    ("every 2 weekdays", Recurrence("weekdays", 2)),
    ("每天", Recurrence("daily")),
    ("每日", Recurrence("daily")),
    ("每 3 天", Recurrence("daily", 3)),
    ("每两天", Recurrence("daily", 2)),
    ("隔天", Recurrence("daily", 2)),
    ("每周", Recurrence("weekly")),
    ("每週", Recurrence("weekly")),
    ("每个星期", Recurrence("weekly")),
    ("每两周", Recurrence("weekly", 2)),
    ("每２周", Recurrence("weekly", 2)),
    ("每隔一周", Recurrence("weekly", 2)),
    ("每周五", Recurrence("weekly", anchor_day=5)),
    ("每个星期天", Recurrence("weekly", anchor_day=7)),
    ("每逢週三", Recurrence("weekly", anchor_day=3)),
    ("每月", Recurrence("monthly")),
    ("每個月", Recurrence("monthly")),
    ("每三个月", Recurrence("monthly", 3)),
    ("每月5号", Recurrence("monthly", anchor_day=5)),
    ("每个月的三十一號", Recurrence("monthly", anchor_day=31)),
    ("每月最后一天", Recurrence("monthly", anchor_day=31)),
    ("每個月的最後一日", Recurrence("monthly", anchor_day=31)),
    ("每月底", Recurrence("monthly", anchor_day=31)),
    ("the last day of every month", Recurrence("monthly", anchor_day=31)),
    ("every month on the last day", Recurrence("monthly", anchor_day=31)),
    ("每季度", Recurrence("monthly", 3)),
    ("每年", Recurrence("yearly")),
    ("每一年", Recurrence("yearly")),
    ("每两年", Recurrence("yearly", 2)),
    ("工作日", Recurrence("weekdays")),
    ("每个工作日", Recurrence("weekdays")),
    ("每两个工作日", Recurrence("weekdays", 2)),
)


@pytest.mark.parametrize(("text", "expected"), PHRASES, ids=[row[0] for row in PHRASES])
def test_phrase_for_a_series_means(text: str, expected: Recurrence) -> None:
    assert parse_recurrence(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "every", "every 0 days", "every 366 days", "every 122 quarters", "biweekly",
        "hourly", "every hour", "every minute", "every twenty", "every one twenty days",
        "every week foo", "tomorrow", "every month on the 32nd", "every month on the 0", "每",
        "每隔三天", "每小时", "每十十天",
        "每0天", "每月32号", "每月十十号", "明天", "每周八", "x" * 300, "每天" + " " * 199,
    ],
    ids=lambda text: repr(text[:30]),
)  # fmt: skip
def test_text_that_names_no_series_gives_none(text: str) -> None:
    assert parse_recurrence(text) is None
