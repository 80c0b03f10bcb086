"""Series in a sentence: 每天早上7点 吃药, `standup every weekday at 9:30`.

Conservative: a series is read at an edge of the text alone, set apart by a space or a sign, with
nothing beside it but a time of day; inside a sentence the same words are mostly no series
(整理每天的笔记). Dates in a sentence are `phrase`. Any ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.dates.cadence import parse_recurrence
from remembrancer.core.dates.iso import TEXT_CHARS_MAX
from remembrancer.core.dates.moments import DAY_HOUR
from remembrancer.core.dates.months import add_days, add_months, monday_of
from remembrancer.core.dates.phrase import parse_date
from remembrancer.core.dates.recurrence import Occurrence, Recurrence, next_occurrence
from remembrancer.core.dates.zones import load_zone, to_local, to_ms
from remembrancer.core.errors import InvalidInput

WORDS_MAX: Final = 8
"""Words that a series has at most, its time of day included. Our choice."""

_APART: Final = re.compile(r"[\s，,。.；;:：!！]+")
_MORE: Final = re.compile(
    r"[\s，,、]*(?:(?:and|or|to|through|until|except)\b|[&–~到至和或及、-])", re.IGNORECASE
)
"""What makes a series one of several, or ends it: not understood, so it is none."""
_SAYS_SO: Final = re.compile(r"every|each|每|(?:on )?(?:the )?last day of", re.IGNORECASE)
_TELLS: Final = re.compile(
    r"\b(?:that|why|which|how|what|when|where|who|whether|because|if)\b|为什么|為什麼|怎么|怎麼|如何",
    re.IGNORECASE,
)
"""Words of a text that tells of something that recurs: fix what breaks every day."""
_CLOCK_FIRST: Final = re.compile(
    r"(?=[早清上中下午傍晚夜凌正零\d一二两兩三四五六七八九十])|\s+(?:at\s+)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FoundSeries:
    """A series that a text begins or ends with.

    *Shape:* `due_ms` its first date after now; None when neither a day nor a time was said;
    `due_wall` as `Occurrence` has it; `matched` the part of the text that says so.
    """

    recurrence: Recurrence
    due_ms: int | None
    matched: str
    due_wall: str | None = None


def find_series(text: str, *, now_ms: int, zone: ZoneInfo) -> FoundSeries | None:
    """Return the series at an edge of a text, the longest; None when none is certain.

    *Promise:* never raises for a text; bounded work.
    """
    for phrase in _edges(text):
        for end in _cuts(phrase):
            recurrence = parse_recurrence(phrase[:end])
            if recurrence is None:
                continue
            said = phrase[end:].strip()
            clock = _clock_of(said, now_ms, zone) if said else None
            if said and clock is None:
                continue
            first = _first(recurrence, clock, now_ms, zone)
            if first is None:
                return FoundSeries(recurrence, None, phrase)
            return FoundSeries(recurrence, first.at_ms, phrase, first.wall)
    return None


def _edges(text: str) -> Iterator[str]:
    """Yield what stands at the beginning and at the end of a text, the longer ones first."""
    text = text.strip()
    starts = [0, *(found.end() for found in _APART.finditer(text))]
    ends = [*(found.start() for found in _APART.finditer(text)), len(text)]
    tells = _TELLS.search(text) is not None
    for count in range(min(WORDS_MAX, len(ends)), 0, -1):
        head, tail = text[: ends[count - 1]], text[starts[-count] :]
        is_whole = _MORE.match(text, len(head)) is None
        if len(head) <= TEXT_CHARS_MAX and _SAYS_SO.match(head) and is_whole:
            yield head
        if len(tail) <= TEXT_CHARS_MAX and _SAYS_SO.match(tail) and not tells:
            yield tail


def _cuts(phrase: str) -> Iterator[int]:
    """Yield where a phrase may go over from its series to its time of day, the latest first."""
    yield len(phrase)
    for found in reversed(list(_CLOCK_FIRST.finditer(phrase))):
        yield found.start()


def _clock_of(text: str, now_ms: int, zone: ZoneInfo) -> time | None:
    """Return the time of day that a text is; None for anything else, a day as well."""
    midnight = datetime.combine(to_local(now_ms, zone).date(), time(0))
    even = load_zone("UTC")  # in the zone itself a clock may be skipped on one of the days
    read: list[datetime] = []
    for day in (midnight, midnight + timedelta(days=1)):
        try:
            parsed = parse_date(text, now_ms=to_ms(day, even), zone=even)
        except InvalidInput:
            return None
        at = to_local(parsed.at_ms, even)
        if not parsed.has_time or at.date() != day.date():
            return None
        read.append(at)
    return read[0].time() if read[0].time() == read[1].time() else None


def _first(
    recurrence: Recurrence, clock: time | None, now_ms: int, zone: ZoneInfo
) -> Occurrence | None:
    if clock is None and recurrence.anchor_day is None:
        return None
    before = _one_before(recurrence, to_local(now_ms, zone).date())
    if before is None:
        return None
    wall = datetime.combine(before, clock or time(DAY_HOUR))
    return next_occurrence(
        recurrence,
        due_ms=to_ms(wall, zone),
        now_ms=now_ms,
        zone=zone,
        due_wall=wall.isoformat(),
    )


def _one_before(recurrence: Recurrence, today: date) -> date | None:
    """Return a day of the series at least one interval ago, so that the next may be today."""
    interval, anchor = recurrence.interval, recurrence.anchor_day
    if recurrence.kind == "daily":
        return add_days(today, -interval)
    if recurrence.kind in ("weekly", "weekdays"):
        start = today if anchor is None else monday_of(today) + timedelta(days=anchor - 1)
        return add_days(start, -7 * interval)
    months = interval if recurrence.kind == "monthly" else 12 * interval
    start = today if anchor is None else today.replace(day=1)
    return add_months(start, -months, anchor_day=anchor)
