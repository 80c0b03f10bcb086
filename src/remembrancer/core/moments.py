"""Moments as they are asked for: a time of the past, a position of the ledger, a filter's bound.

Which event a time comes after is found by the store. Every ring may import it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.dates import day_bounds, format_iso, parse_date
from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.core.values import MINUTE_MS

CLOCK_SKEW_MS: Final = 5 * MINUTE_MS
"""Milliseconds by which a client's clock may be ahead when it asks for the present."""

_POSITION: Final = re.compile(r"[0-9]{1,16}")


@dataclass(frozen=True, slots=True)
class PastMoment:
    """A moment of the past: a position of the ledger, or a time. *Units:* milliseconds UTC."""

    position: int | None = None
    at_ms: int | None = None


def parse_position(text: str) -> PastMoment | None:
    """Return the position that a text of digits names; None for any other text.

    *Raises:* InvalidInput (`as_of`) beyond what a position can be.
    """
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return None
    if _POSITION.fullmatch(text) is None or int(text) > INTEGER_MAX:
        raise InvalidInput(
            f"as_of {text[:40]!r} is beyond every position",
            hint="a position as an answer gave it, or a time",
            field="as_of",
        )
    return PastMoment(position=int(text))


def parse_past(text: str, *, now_ms: int, zone: ZoneInfo) -> PastMoment:
    """Return the time that `as_of` names; a position is read by `parse_position`.

    *Shape:* a day without a time means its end, and today the present. *Raises:* InvalidInput
    (`as_of`) for what is no time, or lies ahead.
    """
    parsed = parse_date(text, now_ms=now_ms, zone=zone, field="as_of")
    start_ms, end_ms = parsed.at_ms, parsed.at_ms
    if not parsed.has_time:
        start_ms, end_ms = day_bounds(parsed.at_ms, zone)
        end_ms -= 1
    if start_ms > now_ms + CLOCK_SKEW_MS:
        raise InvalidInput(
            f"as_of {text[:40]!r} is {format_iso(parsed.at_ms)}, which lies ahead",
            hint="a past time, such as 'yesterday', '3 days ago' or 2026-11-30T09:00:00Z",
            field="as_of",
        )
    return PastMoment(at_ms=min(end_ms, now_ms))


def parse_bound(text: str, *, field: str, now_ms: int, zone: ZoneInfo) -> int:
    """Return the instant of a filter's bound; a day without a time is its first moment.

    *Units:* milliseconds UTC. *Raises:* InvalidInput naming the field.
    """
    parsed = parse_date(text, now_ms=now_ms, zone=zone, field=field)
    return parsed.at_ms if parsed.has_time else day_bounds(parsed.at_ms, zone)[0]
