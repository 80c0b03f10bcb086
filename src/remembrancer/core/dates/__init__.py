"""Dates: due dates in words, ISO 8601, local days, and recurring series.

Everything is a pure function of its arguments: now is an instant in ms, the zone a `ZoneInfo`.
Nothing here reads a clock or knows an item. Any ring may import it.
"""

from __future__ import annotations

from remembrancer.core.dates.cadence import parse_recurrence
from remembrancer.core.dates.iso import format_iso, parse_iso
from remembrancer.core.dates.phrase import ParsedDate, find_date, parse_date
from remembrancer.core.dates.recurrence import (
    Occurrence,
    Recurrence,
    RecurrenceKind,
    next_occurrence,
)
from remembrancer.core.dates.series import FoundSeries, find_series
from remembrancer.core.dates.zones import day_bounds, format_local, load_zone, local_date

__all__ = [
    "FoundSeries",
    "Occurrence",
    "ParsedDate",
    "Recurrence",
    "RecurrenceKind",
    "day_bounds",
    "find_date",
    "find_series",
    "format_iso",
    "format_local",
    "load_zone",
    "local_date",
    "next_occurrence",
    "parse_date",
    "parse_iso",
    "parse_recurrence",
]
