"""Reads phrases at one moment, for the tests: Wednesday 2 December 2026, 10:00, Shanghai."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from remembrancer.core.dates import (
    ParsedDate,
    Recurrence,
    find_date,
    format_local,
    next_occurrence,
    parse_date,
    parse_iso,
)
from remembrancer.core.errors import InvalidInput

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")
KOLKATA = ZoneInfo("Asia/Kolkata")
NOW = "2026-12-02T10:00"


def read(text: str, *, now: str = NOW, zone: ZoneInfo = SHANGHAI) -> ParsedDate:
    """Reads a phrase at a local moment."""
    return parse_date(text, now_ms=parse_iso(now, zone=zone), zone=zone)


def local(text: str, *, now: str = NOW, zone: ZoneInfo = SHANGHAI) -> str:
    """The local wall clock that a phrase means."""
    return format_local(read(text, now=now, zone=zone).at_ms, zone)


def find(text: str, *, now: str = NOW, zone: ZoneInfo = SHANGHAI) -> ParsedDate | None:
    """Looks for a date in a sentence at a local moment."""
    return find_date(text, now_ms=parse_iso(now, zone=zone), zone=zone)


def next_due(rec: Recurrence, *, due_ms: int | None, now_ms: int, zone: ZoneInfo) -> int | None:
    """The instant of the next due date of a series."""
    found = next_occurrence(rec, due_ms=due_ms, now_ms=now_ms, zone=zone)
    return None if found is None else found.at_ms


def refusal(text: str, *, now: str = NOW, zone: ZoneInfo = SHANGHAI) -> InvalidInput:
    """The error that a text raises."""
    with pytest.raises(InvalidInput) as caught:
        read(text, now=now, zone=zone)
    return caught.value
