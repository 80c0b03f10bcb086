"""Instants and local time: the zone by its name, wall clock to milliseconds and back, day bounds.

Not a parser and not a clock: now is always an argument. Any ring may import it.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.errors import InvalidInput

YEAR_MIN: Final = 1000
"""First year a date may have: four digits. Source: our choice, RFC 3339 writes four."""
YEAR_MAX: Final = 9998
"""Last year a date may have: one year below the calendar's end, so that no zone overflows it."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
MS_MIN: Final = (datetime(YEAR_MIN, 1, 2, tzinfo=UTC) - _EPOCH) // _MILLISECOND
"""Earliest instant, ms since the epoch: a day inside `YEAR_MIN`, whatever the zone."""
MS_MAX: Final = (datetime(YEAR_MAX, 12, 30, tzinfo=UTC) - _EPOCH) // _MILLISECOND
"""Latest instant, ms since the epoch: a day inside `YEAR_MAX`, whatever the zone."""


def load_zone(name: str) -> ZoneInfo:
    """Return the time zone called `name` in the IANA database.

    *Raises:* InvalidInput when there is no such zone.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        # ValueError: a path or a file that is no zone; OSError: a folder such as "America".
        raise InvalidInput(
            f"{name[:80]!r} is not a time zone",
            hint="an IANA name such as 'Asia/Shanghai', 'America/New_York' or 'UTC'",
            field="timezone",
        ) from error


def to_local(ms: int, zone: tzinfo) -> datetime:
    """Return the wall clock in `zone` at `ms`, without a zone attached.

    *Raises:* InvalidInput when the instant lies outside the years 1000 to 9998.
    """
    if not MS_MIN <= ms <= MS_MAX:
        raise InvalidInput(
            f"{ms!r} is outside the years {YEAR_MIN} to {YEAR_MAX}",
            hint="milliseconds since 1970-01-01T00:00:00Z",
        )
    return (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone).replace(tzinfo=None, fold=0)


def to_ms(wall: datetime, zone: tzinfo) -> int:
    """Return the instant at which clocks in `zone` show `wall`.

    A time that clocks skip moves forward by the gap; of a time they show twice, the first.
    *Source:* RFC 5545 section 3.3.5; PEP 495 gives both through `fold=0`.
    """
    return (wall.replace(tzinfo=zone, fold=0) - _EPOCH) // _MILLISECOND


def is_within_years(ms: int) -> bool:
    """Whether the instant lies in the years that dates may have."""
    return MS_MIN <= ms <= MS_MAX


def local_date(ms: int, zone: ZoneInfo) -> str:
    """Return the local date at `ms`, as `2026-12-05`."""
    return to_local(ms, zone).date().isoformat()


def format_local(ms: int, zone: ZoneInfo) -> str:
    """Return the local wall clock at `ms` to the minute, as `2026-12-05 15:00`."""
    return to_local(ms, zone).isoformat(sep=" ", timespec="minutes")


def day_bounds(date_or_ms: str | date | int, zone: ZoneInfo) -> tuple[int, int]:
    """Return the first instant of a local day and the first of the next.

    *Shape:* the day as `2026-12-05`, as a date, or as any instant of it in ms. *Units:* ms since
    the epoch; the end is exclusive, and 23 to 25 hours later where clocks change.
    *Raises:* InvalidInput for a text that is no date.
    """
    if isinstance(date_or_ms, int):
        day = to_local(date_or_ms, zone).date()
    elif isinstance(date_or_ms, str):
        day = _day_of(date_or_ms)
    else:
        day = date_or_ms
    if not YEAR_MIN <= day.year <= YEAR_MAX:
        raise InvalidInput(f"{day.isoformat()!r} is outside the years {YEAR_MIN} to {YEAR_MAX}")
    start = datetime.combine(day, time())
    return to_ms(start, zone), to_ms(start + timedelta(days=1), zone)


def _day_of(text: str) -> date:
    try:
        if len(text) == 10 and text[4] == text[7] == "-":
            return date.fromisoformat(text)
        reason: ValueError | None = None
    except ValueError as error:
        reason = error
    raise InvalidInput(
        f"{text[:80]!r} is not a date", hint="a date as 2026-12-05", field="date"
    ) from reason
