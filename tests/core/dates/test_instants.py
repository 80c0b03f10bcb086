"""ISO 8601 both ways, local dates and days, zones by name."""

from __future__ import annotations

from datetime import date
from zoneinfo import ZoneInfo

import pytest
from tests.core.dates.reading import KOLKATA, NEW_YORK, SHANGHAI

from remembrancer.core.dates import (
    day_bounds,
    format_iso,
    format_local,
    load_zone,
    local_date,
    parse_iso,
)
from remembrancer.core.dates.zones import MS_MAX, MS_MIN
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import DAY_MS, HOUR_MS

ISO = (
    ("2026-12-05", SHANGHAI, "2026-12-05T01:00:00Z"),
    ("2026-12-05", KOLKATA, "2026-12-05T03:30:00Z"),
    ("2026-12-05T15:00", SHANGHAI, "2026-12-05T07:00:00Z"),
    ("2026-12-05 15:00", SHANGHAI, "2026-12-05T07:00:00Z"),
    ("2026-12-05t15:00:30z", SHANGHAI, "2026-12-05T15:00:30Z"),
    ("2026-12-05T15:00:30.25Z", SHANGHAI, "2026-12-05T15:00:30.250Z"),
    ("2026-12-05T15:00:30,123456789Z", SHANGHAI, "2026-12-05T15:00:30.123Z"),
    ("2026-12-05T15:00+08:00", KOLKATA, "2026-12-05T07:00:00Z"),
    ("2026-12-05T15:00-0330", KOLKATA, "2026-12-05T18:30:00Z"),
    (" 2026-12-05T15:00:00+00:00 ", KOLKATA, "2026-12-05T15:00:00Z"),
    ("1969-12-31T23:59:59.999Z", SHANGHAI, "1969-12-31T23:59:59.999Z"),
    ("2028-02-29", SHANGHAI, "2028-02-29T01:00:00Z"),
    ("2026-03-08T02:30", NEW_YORK, "2026-03-08T07:30:00Z"),
    ("2026-11-01T01:30", NEW_YORK, "2026-11-01T05:30:00Z"),
)


@pytest.mark.parametrize(("text", "zone", "expected"), ISO, ids=[row[0] for row in ISO])
def test_iso_text_is_read_as_the_instant(text: str, zone: ZoneInfo, expected: str) -> None:
    assert format_iso(parse_iso(text, zone=zone)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "5", "20261205", "2026-12", "2026-W49", "2026-340", "2026-1-5", "26-12-05",
        "2026/12/05", "2026-12-05T", "2026-12-05T15", "2026-12-05T15:0", "2026-12-05Z",
        "2026-12-05T15:00:00.Z", "2026-12-05T15:00+8", "2026-02-30", "2026-02-30T10:00",
        "2026-12-05T24:00", "2026-12-05T15:60", "2026-12-05T15:00:60", "2026-12-05T15:00+08:60",
                "0001-01-01", "0999-12-31T00:00Z", "9999-12-31",
        "9998-12-31", "1000-01-01T00:00Z", "tomorrow", "明天", "２０２６-12-05",
        "x" * 300, " " * 300,
    ],
    ids=lambda text: repr(text[:30]),
)  # fmt: skip
def test_text_that_is_not_iso_is_an_error_naming_it(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_iso(text, zone=SHANGHAI, field="valid_from")
    assert caught.value.field == "valid_from"
    assert caught.value.message.startswith(
        repr(text.strip()[:80] if len(text) <= 200 else text[:80])
    )


def test_iso_date_alone_takes_the_default_hour_that_is_asked_for() -> None:
    assert (
        format_iso(parse_iso("2026-12-05", zone=SHANGHAI, default_hour=0)) == "2026-12-04T16:00:00Z"
    )


def test_format_iso_shows_milliseconds_only_when_there_are_some() -> None:
    assert format_iso(0) == "1970-01-01T00:00:00Z"
    assert format_iso(1) == "1970-01-01T00:00:00.001Z"
    assert format_iso(-1) == "1969-12-31T23:59:59.999Z"


@pytest.mark.parametrize("ms", [MS_MIN - 1, MS_MAX + 1, 10**20])
def test_instant_outside_the_calendar_is_an_error(ms: int) -> None:
    with pytest.raises(InvalidInput, match=str(ms)):
        format_iso(ms)


def test_local_date_and_time_follow_the_zone() -> None:
    ms = parse_iso("2026-12-04T20:00:00Z", zone=SHANGHAI)
    assert local_date(ms, SHANGHAI) == "2026-12-05"
    assert local_date(ms, NEW_YORK) == "2026-12-04"
    assert format_local(ms, SHANGHAI) == "2026-12-05 04:00"
    assert format_local(ms, KOLKATA) == "2026-12-05 01:30"


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        ("2026-12-05", SHANGHAI, 24),
        ("2026-03-08", NEW_YORK, 23),
        ("2026-11-01", NEW_YORK, 25),
        ("2018-11-04", ZoneInfo("America/Sao_Paulo"), 23),
        ("2011-12-30", ZoneInfo("Pacific/Apia"), 0),
    ],
    ids=["plain", "forward", "back", "no midnight", "no such day"],
)
def test_day_bounds_are_the_first_instants_of_a_day_and_the_next(
    day: str, zone: ZoneInfo, hours: int
) -> None:
    start, end = day_bounds(day, zone)
    assert end - start == hours * HOUR_MS
    assert local_date(end - 1, zone) == (day if hours else "2011-12-29")
    assert day_bounds(date.fromisoformat(day), zone) == (start, end)


def test_day_bounds_of_an_instant_hold_it() -> None:
    ms = parse_iso("2026-12-05T23:59:59.999", zone=SHANGHAI)
    assert day_bounds(ms, SHANGHAI) == (ms + 1 - DAY_MS, ms + 1)


@pytest.mark.parametrize(
    "day", ["", "2026-2-5", "2026-02-30", "20260205", "2026-W05-1", "0001-01-01"]
)
def test_day_bounds_of_a_text_that_is_no_date_is_an_error(day: str) -> None:
    with pytest.raises(InvalidInput, match=repr(day)):
        day_bounds(day, SHANGHAI)


def test_zone_is_loaded_by_its_name() -> None:
    assert load_zone("Asia/Shanghai").key == "Asia/Shanghai"


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "America", "../etc/passwd", "/etc/passwd", "UTC+8", "北京", "a\0b"]
)
def test_unknown_zone_is_an_error_with_an_example(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_zone(name)
    assert repr(name) in caught.value.message
    assert caught.value.hint is not None
    assert "Asia/Shanghai" in caught.value.hint
