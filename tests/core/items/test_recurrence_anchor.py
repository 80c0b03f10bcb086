"""Series keep their wall clock, weekday and day of the month, whatever clocks and months do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import count
from typing import cast
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from remembrancer.core.dates import find_series, format_local, parse_iso
from remembrancer.core.dates.months import add_months
from remembrancer.core.dates.zones import to_local, to_ms
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.decide import complete_item, create_item, edit_item
from remembrancer.core.ledger.changes import Fields, apply_changes
from remembrancer.core.values import DAY_MS, HOUR_MS, MINUTE_MS

ZONES = """
    America/New_York America/Sao_Paulo America/Havana America/Santiago America/Nuuk
    America/Scoresbysund America/St_Johns America/Caracas Europe/Berlin Europe/London Europe/Dublin
    Asia/Shanghai Asia/Kolkata Asia/Tehran Asia/Beirut Asia/Gaza Asia/Amman Asia/Pyongyang
    Asia/Kathmandu Africa/Cairo Africa/Casablanca Australia/Lord_Howe Australia/Adelaide
    Pacific/Apia Pacific/Kwajalein Pacific/Chatham Pacific/Norfolk Antarctica/Troll UTC
""".split()

KINDS = ("daily", "weekly", "monthly", "yearly", "weekdays")


def made(edit: dict[str, object], at: Moment) -> Fields:
    draft = create_item(cast(ItemEdit, {"title": "备份", **edit}), at=at)
    return {name: after for name, (_, after) in draft.changes.items()}


def done(fields: Fields, at: Moment) -> Fields:
    draft = complete_item(fields, at=at)
    assert draft is not None
    return apply_changes(fields, draft.changes)


def due_of(fields: Fields) -> int:
    assert isinstance(fields["due_at"], int)
    return fields["due_at"]


def shown(fields: Fields, zone: ZoneInfo) -> str:
    return format_local(due_of(fields), zone)


NEW_YORK = ZoneInfo("America/New_York")
SHIFTED = {
    # The clock that is skipped, and what follows.
    "daily": (NEW_YORK, "2026-03-07T02:30", ["2026-03-08 03:30", "2026-03-09 02:30"]),
    "weekly": (NEW_YORK, "2026-03-01T02:30", ["2026-03-08 03:30", "2026-03-15 02:30"]),
    "monthly": (NEW_YORK, "2026-02-08T02:30", ["2026-03-08 03:30", "2026-04-08 02:30"]),
    "yearly": (NEW_YORK, "2025-03-08T02:30", ["2026-03-08 03:30", "2027-03-08 02:30"]),
}


@pytest.mark.parametrize("kind", SHIFTED)
def test_series_comes_back_to_its_clock_after_an_hour_that_was_skipped(kind: str) -> None:
    zone, first, expected = SHIFTED[kind]
    due = parse_iso(first, zone=zone)
    fields = made({"recurrence_kind": kind, "due_at": due}, Moment(due - HOUR_MS, zone))
    for wanted in expected:
        fields = done(fields, Moment(due_of(fields) + MINUTE_MS, zone))
        assert shown(fields, zone) == wanted


# An hour before midnight is skipped in Nuuk, a whole day was in Apia.
MOVED = (
    ("America/Nuuk", "2024-03-23T23:30", ["2024-03-31 00:30", "2024-04-06 23:30"]),
    ("Pacific/Apia", "2011-12-23T09:00", ["2011-12-31 09:00", "2012-01-06 09:00"]),
)


@pytest.mark.parametrize(("name", "first", "expected"), MOVED)
def test_weekly_series_comes_back_to_its_weekday(
    name: str, first: str, expected: list[str]
) -> None:
    zone = ZoneInfo(name)
    due = parse_iso(first, zone=zone)
    fields = made({"recurrence_kind": "weekly", "due_at": due}, Moment(due - HOUR_MS, zone))
    for wanted in expected:
        fields = done(fields, Moment(due_of(fields) + MINUTE_MS, zone))
        assert shown(fields, zone) == wanted


def test_two_skipped_hours_in_a_row_do_not_lose_the_clock() -> None:
    # 53 weeks from one change of clocks to the next.
    due = parse_iso("2025-03-02T02:30", zone=NEW_YORK)
    edit: dict[str, object] = {"recurrence_kind": "weekly", "recurrence_interval": 53}
    fields = made({**edit, "due_at": due}, Moment(due - HOUR_MS, NEW_YORK))
    seen = []
    for _ in range(3):
        fields = done(fields, Moment(due_of(fields) + MINUTE_MS, NEW_YORK))
        seen.append(shown(fields, NEW_YORK))
    assert seen == ["2026-03-08 03:30", "2027-03-14 03:30", "2028-03-19 02:30"]


@pytest.mark.parametrize("text", ["每天凌晨2点半 备份", "every day at 2:30am backup"])
def test_series_that_is_said_the_day_before_comes_back_as_well(text: str) -> None:
    now_ms = parse_iso("2026-03-07T20:00", zone=NEW_YORK)
    found = find_series(text, now_ms=now_ms, zone=NEW_YORK)
    assert found is not None and found.due_ms is not None
    edit = {"recurrence_kind": "daily", "due_at": found.due_ms, "due_wall": found.due_wall}
    fields = made(edit, Moment(now_ms, NEW_YORK))
    assert shown(fields, NEW_YORK) == "2026-03-08 03:30"
    assert shown(done(fields, Moment(due_of(fields), NEW_YORK)), NEW_YORK) == "2026-03-09 02:30"


@pytest.mark.parametrize("day", [8, 9])
def test_series_that_is_said_right_after_a_skipped_hour_has_its_own_clock(day: int) -> None:
    now_ms = parse_iso(f"2026-03-0{day}T01:00", zone=NEW_YORK)
    found = find_series("每天凌晨2点半 备份", now_ms=now_ms, zone=NEW_YORK)
    assert found is not None and found.due_ms is not None
    wanted = "2026-03-08 03:30" if day == 8 else "2026-03-09 02:30"
    assert format_local(found.due_ms, NEW_YORK) == wanted


def test_due_date_that_a_person_moves_is_the_new_clock() -> None:
    zone, first, _ = SHIFTED["daily"]
    due = parse_iso(first, zone=zone)
    fields = made({"recurrence_kind": "daily", "due_at": due}, Moment(due, zone))
    fields = done(fields, Moment(due + MINUTE_MS, zone))
    moved = parse_iso("2026-03-08T04:00", zone=zone)
    draft = edit_item(fields, {"due_at": moved}, at=Moment(due + HOUR_MS, zone))
    assert draft is not None
    fields = apply_changes(fields, draft.changes)
    assert fields.get("due_wall") is None
    assert shown(done(fields, Moment(moved, zone)), zone) == "2026-03-09 04:00"


def dates_of(kind: str, interval: int, start: date) -> Iterator[date]:
    """The days of a series one by one, counted, not computed."""
    for number in count():
        if kind in ("daily", "weekly"):
            yield start + timedelta(days=(7 if kind == "weekly" else 1) * interval * number)
        elif kind == "weekdays":
            day, left = start, interval * number
            while left:
                day += timedelta(days=1)
                left -= day.weekday() < 5
            yield day
        else:
            months = interval * number * (12 if kind == "yearly" else 1)
            found = add_months(start, months)
            assert found is not None
            yield found


@examples(300)
@given(
    zone_name=st.sampled_from(ZONES),
    kind=st.sampled_from(KINDS),
    interval=st.integers(1, 4),
    day=st.dates(date(1990, 1, 1), date(2031, 12, 31)),
    clock=st.sampled_from([time(0), time(0, 15), time(0, 30), time(23, 30)])
    | st.times().map(lambda each: each.replace(second=0, microsecond=0))
    | st.integers(0, 239).map(lambda minute: time(minute // 60, minute % 60)),
    late=st.lists(st.integers(0, 40), min_size=8, max_size=8),
)
def test_every_occurrence_is_the_anchors_wall_clock_on_its_day(
    zone_name: str, kind: str, interval: int, day: date, clock: time, late: list[int]
) -> None:
    zone = ZoneInfo(zone_name)
    while kind == "weekdays" and day.weekday() > 4:
        day += timedelta(days=1)
    due = to_ms(datetime.combine(day, clock), zone)
    if to_local(due, zone) != datetime.combine(day, clock):
        return  # nobody can have named a clock that there was not
    fields = made(
        {"recurrence_kind": kind, "recurrence_interval": interval, "due_at": due},
        Moment(due - DAY_MS, zone),
    )
    for days in late:
        now_ms = due_of(fields) + MINUTE_MS + days * DAY_MS
        fields = done(fields, Moment(now_ms, zone))
        instants = (
            to_ms(datetime.combine(one, clock), zone) for one in dates_of(kind, interval, day)
        )
        assert due_of(fields) == next(one for one in instants if one > now_ms)
