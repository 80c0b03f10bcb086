"""What a part of a date phrase can mean: a day, a time of day, an instant, or something impossible.

Here are also the default hours. The phrases themselves are tables in `english`, `chinese` and
`clock`; how parts combine is `phrase`. Imported by the other modules of `core.dates`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.dates.months import add_days, add_months, calendar_day, last_of_month
from remembrancer.core.dates.zones import is_within_years, to_local, to_ms

DAY_HOUR: Final = 9
"""Local hour of a plain day. Source: the predecessor's due-date parser."""
TODAY_HOUR: Final = 17
"""Local hour of `today` and of the end of a week, month or year. Source: as above."""
TONIGHT_HOUR: Final = 20
"""Local hour of `tonight`. Source: as above."""

_LAST_MINUTE: Final = timedelta(hours=23, minutes=59)
_LAST_MILLISECOND: Final = timedelta(days=1, milliseconds=-1)


@dataclass(frozen=True, slots=True)
class Present:
    """The moment a phrase is read at. *Units:* `now_ms` since the epoch; `wall` is local."""

    now_ms: int
    zone: ZoneInfo
    wall: datetime

    @property
    def today(self) -> date:
        """The local date."""
        return self.wall.date()


@dataclass(frozen=True, slots=True)
class Rung:
    """One wall-clock candidate: `offset` after the midnight that begins `day`."""

    day: date
    offset: timedelta

    def ms(self, zone: ZoneInfo) -> int:
        """The instant, ms since the epoch."""
        return to_ms(datetime.combine(self.day, time()) + self.offset, zone)


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day, with the times it stands for when the phrase names none.

    *Shape:* `rungs` are tried in order: the first that lies ahead counts, else the last; `part`
    is the part of the day that a following hour is read in; `is_weekday` marks a bare weekday;
    `is_loose` means that a sentence needs a further sign before it is believed.
    """

    day: date
    rungs: tuple[Rung, ...]
    part: str | None = None
    is_weekday: bool = False
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. *Shape:* `offset` from midnight, beyond 24 h for the small hours of a night;
    `is_open` when no am, pm or part of the day was said, so that a day's `part` may decide;
    `is_closing` is the end of the working day, which alone means today's.
    """

    offset: timedelta
    is_open: bool = False
    is_loose: bool = False
    is_closing: bool = False


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time that needs no day and no clock, ms since the epoch."""

    ms: int
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class Impossible:
    """A phrase that was understood and cannot be: `reason` completes the message."""

    reason: str


Reading = Day | Clock | Instant | Impossible
"""What a rule makes of its match."""

Builder = Callable[[re.Match[str], Present], Reading | None]
"""Turns a match into a reading; None when it is none after all."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of a phrase table: a pattern without nested repeats, and what it means."""

    pattern: str
    build: Builder

    def match(self, text: str, start: int) -> re.Match[str] | None:
        """Return the match that begins at `start`, if any."""
        return _compiled(self.pattern).match(text, start)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def hours(hour: int, minute: int = 0) -> timedelta:
    """Return the offset from midnight of a wall-clock time."""
    return timedelta(hours=hour, minutes=minute)


def fixed_day(day: date | None, hour: int = DAY_HOUR) -> Day | Impossible:
    """Return a day at one hour, whether passed or not; None is a day outside the calendar."""
    if day is None:
        return Impossible("lies outside the calendar")
    return Day(day, (Rung(day, hours(hour)),))


def due_day(day: date | None, hour: int = TODAY_HOUR) -> Day | Impossible:
    """Return a day at an hour that gives way to the day's last minute once it has passed."""
    if day is None:
        return Impossible("lies outside the calendar")
    return Day(day, _rungs_until_midnight(day, hour))


def _rungs_until_midnight(day: date, hour: int) -> tuple[Rung, ...]:
    return tuple(Rung(day, offset) for offset in (hours(hour), _LAST_MINUTE, _LAST_MILLISECOND))


def plain_day(day: date | None, present: Present) -> Day | Impossible:
    """Return a day at the default hour; the present day counts as `today`."""
    return due_day(day) if day == present.today else fixed_day(day)


def loose(reading: Day | Impossible) -> Day | Impossible:
    """Return the reading, to be believed in a sentence only with a further sign."""
    return reading if isinstance(reading, Impossible) else replace(reading, is_loose=True)


def weekend(monday: date) -> Day:
    """Return Saturday 09:00 of a week; once passed, Sunday 17:00, then its last minute."""
    saturday, sunday = monday + timedelta(days=5), monday + timedelta(days=6)
    first = Rung(saturday, hours(DAY_HOUR))
    return Day(saturday, (first, *_rungs_until_midnight(sunday, TODAY_HOUR)))


def working_week(monday: date) -> Day:
    """Return Friday 17:00 of a week; once passed, Sunday 17:00, then its last minute."""
    friday, sunday = monday + timedelta(days=4), monday + timedelta(days=6)
    first = Rung(friday, hours(TODAY_HOUR))
    return Day(friday, (first, *_rungs_until_midnight(sunday, TODAY_HOUR)))


def next_weekday(weekday: int, present: Present) -> Day | Impossible:
    """Return the next such weekday (0 is Monday), never today. Source: the predecessor."""
    ahead = (weekday - present.today.weekday() - 1) % 7 + 1
    found = fixed_day(add_days(present.today, ahead))
    return replace(found, is_weekday=True) if isinstance(found, Day) else found


def month_and_day(month: int, day: int, present: Present) -> Day | Impossible:
    """Return a day without a year: this year, or next year once the day has passed."""
    today = present.today
    year = today.year + ((month, day) < (today.month, today.day))
    found = calendar_day(year, month, day)
    return _no_such_day(year, month, day) if found is None else plain_day(found, present)


def day_of_month(day: int, present: Present) -> Day | Impossible:
    """Return a day without a month: this month, or next month once the day has passed."""
    first = present.today.replace(day=1)
    if day < present.today.day:
        following = add_months(first, 1)
        if following is None:
            return Impossible("lies outside the calendar")
        first = following
    return day_in(first, day, present)


def day_in(first: date | None, day: int, present: Present) -> Day | Impossible:
    """Return a day of the month that begins on `first`."""
    if first is None:
        return Impossible("lies outside the calendar")
    found = calendar_day(first.year, first.month, day)
    if found is None:
        return _no_such_day(first.year, first.month, day)
    return plain_day(found, present)


def dated(year: int, month: int, day: int) -> Day | Impossible:
    """Return a day with its year, which stays where it is."""
    found = calendar_day(year, month, day)
    return _no_such_day(year, month, day) if found is None else fixed_day(found)


def _no_such_day(year: int, month: int, day: int) -> Impossible:
    return Impossible(f"names {year:04}-{month:02}-{day:02}, which the calendar does not have")


def edge_of_month(first: date, edge: str) -> Day | Impossible:
    """Return the `start` (1st), `middle` (15th) or `end` (last day) of a month."""
    if edge == "end":
        return due_day(last_of_month(first))
    return fixed_day(first.replace(day=1 if edge == "start" else 15))


def upcoming_edge(first: date, edge: str, months: int, present: Present) -> Day | Impossible:
    """Return the edge of the month `first` begins, or that `months` later once it has passed."""
    found = edge_of_month(first, edge)
    if isinstance(found, Day) and found.day < present.today:
        later = add_months(first, months)
        return (
            Impossible("lies outside the calendar") if later is None else edge_of_month(later, edge)
        )
    return found


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time: months and days on the calendar, seconds on the clock."""

    months: int = 0
    days: int = 0
    seconds: int = 0

    def __add__(self, other: Span) -> Span:
        return Span(
            self.months + other.months, self.days + other.days, self.seconds + other.seconds
        )

    def __neg__(self) -> Span:
        return Span(-self.months, -self.days, -self.seconds)


def span_of(unit: str, count: int, *, has_half: bool) -> Span | None:
    """Return `count` (and a half) of a unit; None where half of it is not one length (a week)."""
    whole, half = UNITS[unit]
    if has_half and half is None:
        return None
    total = Span(whole.months * count, whole.days * count, whole.seconds * count)
    return total + half if has_half and half is not None else total


UNITS: Final[dict[str, tuple[Span, Span | None]]] = {
    "second": (Span(seconds=1), None),
    "minute": (Span(seconds=60), Span(seconds=30)),
    "quarter-hour": (Span(seconds=900), None),
    "hour": (Span(seconds=3600), Span(seconds=1800)),
    "day": (Span(days=1), Span(seconds=43_200)),
    "week": (Span(days=7), None),
    "month": (Span(months=1), Span(days=15)),
    "quarter": (Span(months=3), None),
    "year": (Span(months=12), Span(months=6)),
}
"""Unit → one of it, and half of it. Half a month is 15 days, as 半个月 is."""


def after(span: Span, present: Present) -> Day | Instant | Impossible:
    """Return what lies `span` from now: a day at its default hour, or an instant.

    Days and more keep the wall clock; hours, minutes and seconds are elapsed time.
    """
    moved = add_months(present.today, span.months)
    day = None if moved is None else add_days(moved, span.days)
    if day is None:
        return Impossible("lies outside the calendar")
    if not span.seconds:
        return plain_day(day, present)
    start = present.now_ms
    if day != present.today:
        start = to_ms(datetime.combine(day, present.wall.time()), present.zone)
    ms = start + span.seconds * 1000
    return Instant(ms) if is_within_years(ms) else Impossible("lies outside the calendar")


def present_at(now_ms: int, zone: ZoneInfo) -> Present:
    """Return the present for an instant. *Raises:* InvalidInput outside the years of dates."""
    return Present(now_ms, zone, to_local(now_ms, zone))
