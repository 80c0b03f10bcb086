"""The days of a namespace: the window of a date, and the date of an instant, in its own zone.

One place for every job, so that a day is the same in extraction, dream, digest and boot pack.
`core.dates.zones` holds the arithmetic. Pure; every ring may import it.
"""

from __future__ import annotations

from datetime import date, timedelta

from remembrancer.core.dates.zones import day_bounds, load_zone, local_date


def day_window(day: str, zone: str) -> tuple[int, int]:
    """Return the first instant of a local day and the first of the next.

    *Shape:* `day` as `2026-12-05`, `zone` an IANA name. *Units:* ms since the epoch, the end not
    included; 23 to 25 hours apart where clocks change. *Raises:* InvalidInput.
    """
    return day_bounds(day, load_zone(zone))


def day_of(at_ms: int, zone: str) -> str:
    """Return the local date of an instant, as `2026-12-05`. *Raises:* InvalidInput."""
    return local_date(at_ms, load_zone(zone))


def day_before(day: str, *, days: int = 1) -> str:
    """Return the date so many days before a date."""
    return (date.fromisoformat(day) - timedelta(days=days)).isoformat()


def check_day(day: str) -> str:
    """Return a date as `2026-12-05`. *Raises:* InvalidInput for a text that is none."""
    day_bounds(day, load_zone("UTC"))
    return day
