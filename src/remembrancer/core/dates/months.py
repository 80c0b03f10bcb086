"""Calendar arithmetic on dates: months that clamp, weeks that begin on Monday, quarters.

Knows neither zones nor the time of day. Imported by the other modules of `core.dates`.
"""

from __future__ import annotations

from datetime import date, timedelta

from remembrancer.core.dates.zones import YEAR_MAX, YEAR_MIN


def month_length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day


def last_of_month(day: date) -> date:
    """Return the last day of the month that `day` lies in."""
    return day.replace(day=month_length(day.year, day.month))


def add_months(day: date, months: int, *, anchor_day: int | None = None) -> date | None:
    """Return the day `months` later, clamped to the month's end; None outside the calendar.

    `anchor_day` is the wished day of the month where an earlier clamp has lost it.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not YEAR_MIN <= year <= YEAR_MAX:
        return None
    wished = day.day if anchor_day is None else anchor_day
    return date(year, month + 1, min(wished, month_length(year, month + 1)))


def add_days(day: date, days: int) -> date | None:
    """Return the day `days` later; None outside the calendar."""
    ordinal = day.toordinal() + days
    if not date(YEAR_MIN, 1, 1).toordinal() <= ordinal <= date(YEAR_MAX, 12, 31).toordinal():
        return None
    return date.fromordinal(ordinal)


def monday_of(day: date) -> date:
    """Return the Monday of the ISO week that `day` lies in."""
    return day - timedelta(days=day.weekday())


def quarter_start(day: date) -> date:
    """Return the first day of the quarter that `day` lies in."""
    return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)


def calendar_day(year: int, month: int, day: int) -> date | None:
    """Return the date, or None when the calendar has no such day."""
    if not (YEAR_MIN <= year <= YEAR_MAX and 1 <= month <= 12):
        return None
    return date(year, month, day) if 1 <= day <= month_length(year, month) else None
