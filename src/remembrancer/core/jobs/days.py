"""Dates that a run of a job is asked for. A namespace's own days are `core.dates.zones`.

Pure; every ring may import it.
"""

from __future__ import annotations

from remembrancer.core.dates.zones import day_bounds, load_zone


def check_day(day: str) -> str:
    """Return a date as `2026-12-05`. *Raises:* InvalidInput for a text that is none."""
    day_bounds(day, load_zone("UTC"))
    return day
