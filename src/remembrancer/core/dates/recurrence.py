"""Recurrence: a series of due dates, and the next one after now.

Pure arithmetic on the calendar; which item recurs, and whether it was done, is `core.items`. The
phrases for series are in `cadence`. Any ring may import it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final, Literal, get_args
from zoneinfo import ZoneInfo

from remembrancer.core.dates.moments import DAY_HOUR
from remembrancer.core.dates.months import add_days, add_months, monday_of
from remembrancer.core.dates.zones import is_within_years, to_local, to_ms
from remembrancer.core.errors import InvalidInput

RecurrenceKind = Literal["daily", "weekly", "monthly", "yearly", "weekdays"]
"""What a series counts in; `weekdays` counts Monday to Friday."""

INTERVAL_MAX: Final = 365
"""Largest interval of a series. Source: the predecessor's tool schema."""

_ANCHOR_MAX: Final[dict[str, int]] = {"weekly": 7, "monthly": 31, "yearly": 31}


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A series: every `interval` days, weeks, months, years or weekdays, until an instant.

    *Shape:* `until_ms` is ms since the epoch, the last instant a due date may have; `anchor_day`
    is the wished day of the month (1–31) of a monthly or yearly series, kept through shorter
    months, or the ISO weekday (1–7) of a weekly one; None takes the due date's.
    *Raises:* InvalidInput naming the field.
    """

    kind: RecurrenceKind
    interval: int = 1
    until_ms: int | None = None
    anchor_day: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(RecurrenceKind):
            raise InvalidInput(
                f"{self.kind!r} is not a recurrence",
                hint=f"one of {', '.join(get_args(RecurrenceKind))}",
                field="recurrence",
            )
        if not 1 <= self.interval <= INTERVAL_MAX:
            raise InvalidInput(
                f"{self.interval!r} is not an interval",
                hint=f"1 to {INTERVAL_MAX}",
                field="recurrence_interval",
            )
        highest = _ANCHOR_MAX.get(self.kind, 0)
        if self.anchor_day is not None and not 1 <= self.anchor_day <= highest:
            raise InvalidInput(
                f"{self.anchor_day!r} is not a day that a {self.kind} series can keep",
                hint=f"1 to {highest}" if highest else "leave it out",
                field="recurrence_day",
            )


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A due date of a series.

    *Shape:* `wall` the local wall clock that is meant, `2026-03-08T02:30`, where clocks skip it and
    `at_ms` lies behind the gap; None where they show it. *Units:* ms since the epoch.
    """

    at_ms: int
    wall: str | None = None


def next_occurrence(
    rec: Recurrence,
    *,
    due_ms: int | None,
    now_ms: int,
    zone: ZoneInfo,
    due_wall: str | None = None,
) -> Occurrence | None:
    """Return the first due date of the series after both its present one and now; None when it
    ended.

    Missed ones are skipped and the series keeps its phase: a fortnightly Monday stays on its
    Mondays. The local wall-clock time is kept when clocks change: `due_wall`, as the occurrence
    before had it, brings a series back behind a clock that was skipped; it counts as long as it
    is what `due_ms` stands for. Without a due date the series starts now, or at 09:00 of its first
    anchor day.
    *Units:* ms since the epoch. *Promise:* the same few steps however late it is.
    *Raises:* InvalidInput when an instant lies outside the years 1000 to 9998.
    """
    start = to_local(now_ms if due_ms is None else due_ms, zone)
    if due_wall is not None and to_ms(datetime.fromisoformat(due_wall), zone) == due_ms:
        start = datetime.fromisoformat(due_wall)
    clock = start.time()
    if due_ms is None and rec.anchor_day is not None:
        clock = time(DAY_HOUR)
    floor = now_ms if due_ms is None else max(due_ms, now_ms)
    step = _series(rec, start.date())
    # The estimate is at most one step early or late (an hour of the day, a change of clocks), so
    # the answer is among the few steps around it.
    first = max(0, step.estimate(to_local(floor, zone).date()) - 2)
    for count in range(first, first + _TRIES):
        day = step.day(count)
        if day is None:
            return None
        wall = datetime.combine(day, clock)
        ms = to_ms(wall, zone)
        if ms > floor:
            is_over = rec.until_ms is not None and ms > rec.until_ms
            if is_over or not is_within_years(ms):
                return None
            return Occurrence(ms, None if to_local(ms, zone) == wall else wall.isoformat())
    raise AssertionError("the estimate of a series is off by more than its bound")


_TRIES: Final = 8


@dataclass(frozen=True, slots=True)
class _Series:
    """A series of days: the one with a number, and the number near a day."""

    day: Callable[[int], date | None]
    estimate: Callable[[date], int]


def _series(rec: Recurrence, start: date) -> _Series:
    every = rec.interval
    if rec.kind == "weekdays":
        index = _weekday_index(start)
        return _Series(
            lambda count: _weekday_at(index + every * count),
            lambda day: (_weekday_index(day) - index) // every,
        )
    if rec.kind in ("daily", "weekly"):
        days = every if rec.kind == "daily" else 7 * every
        if rec.anchor_day is not None:
            start = monday_of(start) + timedelta(days=rec.anchor_day - 1)
        return _Series(
            lambda count: add_days(start, days * count),
            lambda day: (day - start).days // days,
        )
    months = every if rec.kind == "monthly" else 12 * every
    return _Series(
        lambda count: add_months(start, months * count, anchor_day=rec.anchor_day),
        lambda day: ((day.year - start.year) * 12 + day.month - start.month) // months,
    )


def _weekday_index(day: date) -> int:
    """Returns the number of weekdays up to and with `day`; a weekend has its Friday's number."""
    weeks, weekday = divmod(day.toordinal() - 1, 7)
    return weeks * 5 + min(weekday, 4)


def _weekday_at(index: int) -> date | None:
    weeks, weekday = divmod(index, 5)
    return add_days(date(1, 1, 1), weeks * 7 + weekday)
