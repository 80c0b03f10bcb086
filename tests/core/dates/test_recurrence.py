"""The next due date of a series: catch-up, month ends, weekdays, changes of clocks, ends."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.core.dates.reading import KOLKATA, NEW_YORK, SHANGHAI, next_due

from remembrancer.core.dates import Recurrence, format_local, parse_iso
from remembrancer.core.dates.recurrence import INTERVAL_MAX
from remembrancer.core.errors import InvalidInput


def following(rec: Recurrence, due: str | None, now: str, zone: ZoneInfo = SHANGHAI) -> str | None:
    """The local time of the next due date, from local times."""
    found = next_due(
        rec,
        due_ms=None if due is None else parse_iso(due, zone=zone),
        now_ms=parse_iso(now, zone=zone),
        zone=zone,
    )
    return None if found is None else format_local(found, zone)


DAILY, WEEKLY, MONTHLY = Recurrence("daily"), Recurrence("weekly"), Recurrence("monthly")
YEARLY, WEEKDAYS = Recurrence("yearly"), Recurrence("weekdays")
LAST_DAY = Recurrence("monthly", anchor_day=31)

CASES = (
    # one step, done on time, early or late on the day
    (DAILY, "2026-12-02T09:00", "2026-12-02T09:30", "2026-12-03 09:00"),
    (DAILY, "2026-12-02T09:00", "2026-12-02T08:00", "2026-12-03 09:00"),
    (DAILY, "2026-12-02T09:00", "2026-12-03T08:59", "2026-12-03 09:00"),
    (DAILY, "2026-12-02T09:00", "2026-12-03T09:00", "2026-12-04 09:00"),
    (WEEKLY, "2026-12-04T09:00", "2026-12-02T10:00", "2026-12-11 09:00"),
    (MONTHLY, "2026-12-05T09:00", "2026-12-02T10:00", "2027-01-05 09:00"),
    (YEARLY, "2026-12-05T09:00", "2026-12-06T10:00", "2027-12-05 09:00"),
    # far too late: skips what was missed, keeps the phase
    (DAILY, "1996-12-02T09:00", "2026-12-02T09:00", "2026-12-03 09:00"),
    (Recurrence("daily", 3), "2026-12-01T09:00", "2026-12-09T10:00", "2026-12-10 09:00"),
    (Recurrence("weekly", 2), "2026-11-02T09:00", "2026-12-02T10:00", "2026-12-14 09:00"),
    (Recurrence("monthly", 3), "2020-01-15T09:00", "2026-12-02T10:00", "2027-01-15 09:00"),
    (Recurrence("yearly", 4), "1999-05-01T09:00", "2026-12-02T10:00", "2027-05-01 09:00"),
    (WEEKLY, "1026-12-04T09:00", "2026-12-02T10:00", "2026-12-07 09:00"),
    # month ends clamp and come back
    (LAST_DAY, "2026-01-31T09:00", "2026-02-01T10:00", "2026-02-28 09:00"),
    (LAST_DAY, "2026-02-28T09:00", "2026-02-28T10:00", "2026-03-31 09:00"),
    (LAST_DAY, "2026-03-31T09:00", "2026-03-31T10:00", "2026-04-30 09:00"),
    (LAST_DAY, "2027-12-31T09:00", "2028-02-01T10:00", "2028-02-29 09:00"),
    (MONTHLY, "2026-01-31T09:00", "2026-01-31T10:00", "2026-02-28 09:00"),
    (MONTHLY, "2026-01-31T09:00", "2026-03-05T10:00", "2026-03-31 09:00"),
    (YEARLY, "2028-02-29T09:00", "2028-03-01T10:00", "2029-02-28 09:00"),
    (
        Recurrence("yearly", anchor_day=29),
        "2031-02-28T09:00",
        "2031-03-01T09:00",
        "2032-02-29 09:00",
    ),
    # weekdays
    (WEEKDAYS, "2026-12-03T09:00", "2026-12-03T10:00", "2026-12-04 09:00"),
    (WEEKDAYS, "2026-12-04T09:00", "2026-12-04T10:00", "2026-12-07 09:00"),
    (WEEKDAYS, "2026-12-04T09:00", "2026-12-05T10:00", "2026-12-07 09:00"),
    (WEEKDAYS, "2026-12-05T09:00", "2026-12-05T10:00", "2026-12-07 09:00"),
    (WEEKDAYS, "2026-12-06T09:00", "2026-12-06T08:00", "2026-12-07 09:00"),
    (Recurrence("weekdays", 2), "2026-12-02T09:00", "2026-12-02T10:00", "2026-12-04 09:00"),
    (Recurrence("weekdays", 2), "2026-12-03T09:00", "2026-12-03T10:00", "2026-12-07 09:00"),
    (Recurrence("weekdays", 2), "2026-12-04T09:00", "2026-12-04T10:00", "2026-12-08 09:00"),
    (Recurrence("weekdays", 5), "2026-12-02T09:00", "2026-12-20T10:00", "2026-12-23 09:00"),
    (WEEKDAYS, "1996-12-02T09:00", "2026-12-04T09:00", "2026-12-07 09:00"),
    # without a due date
    (DAILY, None, "2026-12-02T10:15", "2026-12-03 10:15"),
    (Recurrence("weekly", 2), None, "2026-12-02T10:15", "2026-12-16 10:15"),
    (WEEKDAYS, None, "2026-12-05T10:15", "2026-12-07 10:15"),
    # a day that is kept
    (Recurrence("weekly", anchor_day=5), None, "2026-12-02T10:15", "2026-12-04 09:00"),
    (Recurrence("weekly", anchor_day=1), None, "2026-12-02T10:15", "2026-12-07 09:00"),
    (Recurrence("weekly", 2, anchor_day=1), None, "2026-12-02T10:15", "2026-12-14 09:00"),
    (Recurrence("monthly", anchor_day=5), None, "2026-12-02T10:15", "2026-12-05 09:00"),
    (Recurrence("monthly", anchor_day=1), None, "2026-12-02T10:15", "2027-01-01 09:00"),
    (
        Recurrence("weekly", anchor_day=5),
        "2026-12-04T18:00",
        "2026-12-02T10:00",
        "2026-12-11 18:00",
    ),
)


@pytest.mark.parametrize(
    ("rec", "due", "now", "expected"),
    CASES,
    ids=[f"{row[0].kind}-{row[0].interval}-{row[1]}-{row[2]}" for row in CASES],
)
def test_next_due_is(rec: Recurrence, due: str | None, now: str, expected: str) -> None:
    assert following(rec, due, now) == expected


def test_last_day_of_the_month_never_drifts_over_years() -> None:
    due = parse_iso("2026-01-31T09:00", zone=SHANGHAI)
    days = []
    for _ in range(26):
        step = next_due(LAST_DAY, due_ms=due, now_ms=due, zone=SHANGHAI)
        assert step is not None
        due = step
        days.append(int(format_local(due, SHANGHAI)[8:10]))
    assert days[:13] == [28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 28]
    assert days[24] == 29


CLOCK_CHANGES = (
    ("2026-03-07T09:00", "2026-03-07T10:00", NEW_YORK, "2026-03-08 09:00"),
    ("2026-03-07T02:30", "2026-03-07T10:00", NEW_YORK, "2026-03-08 03:30"),
    ("2026-03-07T02:30", "2026-03-08T10:00", NEW_YORK, "2026-03-09 02:30"),
    ("2026-10-31T01:30", "2026-10-31T10:00", NEW_YORK, "2026-11-01 01:30"),
    ("2026-10-31T23:00", "2026-11-01T10:00", NEW_YORK, "2026-11-01 23:00"),
    ("2026-03-07T02:30", "2026-03-07T10:00", KOLKATA, "2026-03-08 02:30"),
    ("2011-12-29T09:00", "2011-12-29T10:00", ZoneInfo("Pacific/Apia"), "2011-12-31 09:00"),
)


@pytest.mark.parametrize(
    ("due", "now", "zone", "expected"),
    CLOCK_CHANGES,
    ids=[f"{row[2]}-{row[0]}-{row[1]}" for row in CLOCK_CHANGES],
)
def test_daily_series_keeps_the_wall_clock_when_clocks_change(
    due: str, now: str, zone: ZoneInfo, expected: str
) -> None:
    assert following(DAILY, due, now, zone) == expected


def test_repeated_hour_is_taken_the_first_time() -> None:
    due = parse_iso("2026-10-31T01:30", zone=NEW_YORK)
    first = next_due(DAILY, due_ms=due, now_ms=due, zone=NEW_YORK)
    assert first == parse_iso("2026-11-01T05:30:00Z", zone=NEW_YORK)
    assert first is not None
    between = parse_iso("2026-11-01T06:00:00Z", zone=NEW_YORK)
    assert next_due(DAILY, due_ms=due, now_ms=between, zone=NEW_YORK) == parse_iso(
        "2026-11-02T06:30:00Z", zone=NEW_YORK
    )


def test_series_ends_after_until_and_the_last_instant_counts() -> None:
    until = parse_iso("2026-12-04T09:00", zone=SHANGHAI)
    rec = Recurrence("daily", until_ms=until)
    assert following(rec, "2026-12-02T09:00", "2026-12-03T10:00") == "2026-12-04 09:00"
    assert following(rec, "2026-12-02T09:00", "2026-12-04T09:00") is None
    assert following(rec, "2026-12-04T09:00", "2026-12-01T09:00") is None


@pytest.mark.parametrize("rec", [DAILY, WEEKLY, MONTHLY, YEARLY, WEEKDAYS], ids=lambda r: r.kind)
def test_series_ends_with_the_calendar(rec: Recurrence) -> None:
    wide = Recurrence(rec.kind, INTERVAL_MAX)
    assert following(wide, "9998-12-29T23:00", "9998-12-29T23:00") is None


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "hourly"},
        {"kind": "daily", "interval": 0},
        {"kind": "daily", "interval": -1},
        {"kind": "daily", "interval": INTERVAL_MAX + 1},
        {"kind": "daily", "anchor_day": 1},
        {"kind": "weekdays", "anchor_day": 1},
        {"kind": "weekly", "anchor_day": 8},
        {"kind": "monthly", "anchor_day": 0},
        {"kind": "yearly", "anchor_day": 32},
    ],
    ids=str,
)
def test_recurrence_with_a_wrong_value_is_an_error_naming_it(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=repr(list(values.values())[-1])):
        Recurrence(**values)


def test_recurrence_at_its_limits_is_accepted() -> None:
    assert Recurrence("daily", INTERVAL_MAX).interval == INTERVAL_MAX
    assert Recurrence("weekly", anchor_day=7).anchor_day == 7
