"""The days of a namespace, in zones with and without changing clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.dates.zones import day_bounds, load_zone, local_date
from remembrancer.core.errors import InvalidInput
from remembrancer.core.jobs.days import check_day
from remembrancer.core.values import HOUR_MS

ZONES = ("Asia/Shanghai", "America/New_York", "Asia/Kolkata", "UTC", "Australia/Lord_Howe")


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1_000)


@pytest.mark.parametrize(
    ("day", "zone", "start", "hours"),
    [
        ("2026-03-01", "Asia/Shanghai", "2026-02-28T16:00Z", 24),
        ("2026-12-31", "Asia/Shanghai", "2026-12-30T16:00Z", 24),
        ("2026-03-08", "America/New_York", "2026-03-08T05:00Z", 23),
        ("2026-03-09", "America/New_York", "2026-03-09T04:00Z", 24),
        ("2026-11-01", "America/New_York", "2026-11-01T04:00Z", 25),
        ("2026-11-02", "America/New_York", "2026-11-02T05:00Z", 24),
        ("2026-03-01", "Asia/Kolkata", "2026-02-28T18:30Z", 24),
        ("2028-02-29", "Asia/Kolkata", "2028-02-28T18:30Z", 24),
    ],
)
def test_window_of_a_day_is_that_of_its_zone(day: str, zone: str, start: str, hours: int) -> None:
    first, end = day_bounds(day, load_zone(zone))
    assert first == ms(start) and end - first == hours * HOUR_MS


@pytest.mark.parametrize(
    ("at", "zone", "day"),
    [
        ("2026-02-28T15:59:59.999Z", "Asia/Shanghai", "2026-02-28"),
        ("2026-02-28T16:00:00Z", "Asia/Shanghai", "2026-03-01"),
        ("2026-03-08T04:59:59.999Z", "America/New_York", "2026-03-07"),
        ("2026-03-09T03:59:59.999Z", "America/New_York", "2026-03-08"),
        ("2026-11-02T04:59:59.999Z", "America/New_York", "2026-11-01"),
        ("2026-02-28T18:29:59.999Z", "Asia/Kolkata", "2026-02-28"),
        ("2026-02-28T18:30:00Z", "Asia/Kolkata", "2026-03-01"),
    ],
)
def test_day_of_an_instant_changes_at_midnight_of_the_zone(at: str, zone: str, day: str) -> None:
    assert local_date(ms(at), load_zone(zone)) == day


@given(
    at_ms=st.integers(ms("2020-01-01T00:00Z"), ms("2040-01-01T00:00Z")), zone=st.sampled_from(ZONES)
)
def test_every_instant_is_in_the_window_of_its_day_and_of_no_other(at_ms: int, zone: str) -> None:
    day = local_date(at_ms, load_zone(zone))
    start, end = day_bounds(day, load_zone(zone))
    assert start <= at_ms < end
    before = date.fromisoformat(day) - timedelta(days=1)
    assert day_bounds(before, load_zone(zone))[1] == start
    local = datetime.fromtimestamp(at_ms / 1_000, UTC).astimezone(ZoneInfo(zone))
    assert local.date().isoformat() == day


@pytest.mark.parametrize("day", ["2026-02-30", "2026-2-3", "", "昨天", "20260203", "2026-W01-1"])
def test_text_that_is_no_date_is_refused(day: str) -> None:
    with pytest.raises(InvalidInput):
        check_day(day)
