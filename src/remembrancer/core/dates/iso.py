"""ISO 8601 dates and times, strict: reading and writing instants for machines.

Not the phrase parser, which accepts these and much more. Any ring may import it.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.dates.moments import DAY_HOUR, Impossible, Instant
from remembrancer.core.dates.months import calendar_day
from remembrancer.core.dates.zones import is_within_years, to_local, to_ms
from remembrancer.core.errors import InvalidInput

TEXT_CHARS_MAX: Final = 200
"""Longest text that is read as a date, characters. Source: our choice; no date needs more."""

ISO_TIME: Final = (
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[tT ]"
    r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r" ?(?P<offset>[zZ]|[+-]\d\d:?\d\d)?"
)
"""Pattern of an ISO 8601 date with a time; digits of a fraction beyond ms are dropped."""


@cache
def _date_or_time() -> re.Pattern[str]:
    return re.compile(rf"(?P<only>\d{{4}}-\d\d-\d\d)|{ISO_TIME}", re.ASCII)


def format_iso(ms: int) -> str:
    """Return an instant as `2026-11-30T09:00:00Z`, with milliseconds only when not zero.

    *Raises:* InvalidInput outside the years 1000 to 9998.
    """
    wall = to_local(ms, UTC)
    return wall.isoformat(timespec="milliseconds" if ms % 1000 else "seconds") + "Z"


def parse_iso(
    text: str, *, zone: ZoneInfo, default_hour: int = DAY_HOUR, field: str = "due"
) -> int:
    """Return the instant of an ISO 8601 date or date with time. *Units:* ms since the epoch.

    A date alone is `default_hour` o'clock in `zone`; a time without an offset is local there.
    *Raises:* InvalidInput when it is something else or no such time exists.
    """
    text = text.strip() if len(text) <= TEXT_CHARS_MAX else text
    found = _date_or_time().fullmatch(text)
    reading: Instant | Impossible = Impossible("is not an ISO 8601 date or time")
    if found is not None and found["only"] is not None:
        year, month, day = (int(part) for part in found["only"].split("-"))
        on = calendar_day(year, month, day)
        reading = (
            Impossible("is not a day of the calendar")
            if on is None
            else _instant(to_ms(_wall(on, timedelta(hours=default_hour)), zone))
        )
    elif found is not None:
        reading = read_iso_time(found, zone)
    if isinstance(reading, Impossible):
        raise InvalidInput(
            f"{text[:80]!r} {reading.reason}",
            hint="2026-12-05, 2026-12-05T15:00, or with an offset: 2026-12-05T15:00:00+08:00",
            field=field,
            code="invalid_date",
        )
    return reading.ms


def read_iso_time(found: re.Match[str], zone: ZoneInfo) -> Instant | Impossible:
    """Return the instant of a match of `ISO_TIME`."""
    on = calendar_day(int(found["year"]), int(found["month"]), int(found["day"]))
    if on is None:
        return Impossible("is not a day of the calendar")
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return Impossible("is not a time of day")
    milliseconds = int((found["fraction"] or "")[:3].ljust(3, "0"))
    wall = _wall(on, timedelta(0, second, 0, milliseconds, minute, hour))
    offset = found["offset"]
    if offset is None:
        return _instant(to_ms(wall, zone))
    east = 0
    if offset not in ("z", "Z"):
        offset_hours, offset_minutes = int(offset[1:3]), int(offset[-2:])
        if offset_hours > 23 or offset_minutes > 59:
            return Impossible("has an impossible offset from UTC")
        east = (offset_hours * 60 + offset_minutes) * (-1 if offset[0] == "-" else 1)
    return _instant(to_ms(wall, UTC) - east * 60_000)


def _wall(day: date, offset: timedelta) -> datetime:
    return datetime.combine(day, time()) + offset


def _instant(ms: int) -> Instant | Impossible:
    return Instant(ms) if is_within_years(ms) else Impossible("lies outside the calendar")
