"""Times of day in English and Chinese: clocks, noon and midnight, parts of the day.

An hour without am, pm or a part of the day is read on the 24-hour clock. A night belongs to the
day on which it begins: `tonight at 1`, 今晚1点 and `friday midnight` lie past that day's end.
Days are in `english` and `chinese`. Imported by `core.dates.phrase`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from remembrancer.core.dates.moments import (
    TODAY_HOUR,
    TONIGHT_HOUR,
    Clock,
    Impossible,
    Present,
    Reading,
    Rule,
    hours,
)
from remembrancer.core.dates.numerals import (
    ENGLISH_WORD_NUMBER,
    HAN_NUMBER,
    english_number,
    han_number,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day: spoken hour → hour of the day (from 24 on: next day), and its default."""

    spoken: dict[int, int]
    default: int | None


def _same(first: int, last: int) -> dict[int, int]:
    return {hour: hour for hour in range(first, last + 1)}


def _later(first: int, last: int) -> dict[int, int]:
    return {hour: hour + 12 for hour in range(first, last + 1)}


_SMALL_HOURS: Final = {0: 24, 12: 24, 24: 24} | {hour: hour + 24 for hour in range(1, 5)}

PARTS: Final[dict[str, Part]] = {
    "small hours": Part(_same(0, 6) | {12: 0}, None),
    "morning": Part(_same(1, 11), 9),
    "noon": Part(_same(11, 14) | _later(1, 2), 12),
    "afternoon": Part(_later(1, 11) | _same(12, 23), 15),
    "dusk": Part(_later(4, 8) | _same(16, 20), 18),
    "night": Part(_later(5, 11) | _same(17, 23) | _SMALL_HOURS, TONIGHT_HOUR),
    "midnight": Part(_same(22, 23) | {10: 22, 11: 23, 5: 29} | _SMALL_HOURS, 24),
}
"""Part of the day → which hours it can have.

上午12点 is in none: people mean noon by it, telephones midnight.
"""

ENGLISH_PARTS: Final = {
    "morning": "morning",
    "afternoon": "afternoon",
    "evening": "night",
    "night": "night",
}
HAN_PARTS: Final = {
    "凌晨": "small hours", "清晨": "morning", "早晨": "morning", "早上": "morning",
    "上午": "morning", "早": "morning", "中午": "noon", "正午": "noon", "午后": "afternoon",
    "下午": "afternoon", "傍晚": "dusk", "晚上": "night", "晚间": "night", "夜里": "night",
    "夜晚": "night", "夜间": "night", "晚": "night", "午夜": "midnight", "半夜": "midnight",
    "深夜": "midnight",
}  # fmt: skip
"""Word → part of the day."""

_EN_PART: Final = r"(?P<part>morning|afternoon|evening|night)"
_EN_PART_AFTER: Final = r"(?: (?:in the (?P<after>morning|afternoon|evening)|at (?P<night>night)))?"
_HAN_PART: Final = f"(?P<part>{'|'.join(HAN_PARTS)})"
_LEADING_PART: Final = rf"(?:(?:in the )?{_EN_PART},?(?: at)? |{_HAN_PART.replace('part', 'han')})"


def clock_at(hour: int, minute: int, part: str | None, *, is_loose: bool = False) -> Reading:
    """Return a spoken time of day, read in a part of the day when one was said."""
    if minute > 59 or hour > 24 or (hour == 24 and minute):
        return Impossible(f"names {hour:02}:{minute:02}, which is not a time of day")
    if part is None:
        return Clock(hours(hour, minute), is_open=True, is_loose=is_loose)
    actual = PARTS[part].spoken.get(hour)
    if actual is None:
        return Impossible(f"names {hour:02}:{minute:02} in a part of the day that has no such hour")
    return Clock(hours(actual, minute), is_loose=is_loose)


def within(part: str, clock: Clock) -> Clock | Impossible:
    """Return a clock read on a day that is itself a part of the day (`tonight`, 明早)."""
    hour, rest = divmod(clock.offset, hours(1))
    if clock.is_open:
        actual = PARTS[part].spoken.get(hour)
    elif part == "night" and hour < 5:
        actual = hour + 24
    else:
        actual = hour if hour in PARTS[part].spoken.values() else None
    if actual is None:
        return Impossible(f"names {hour:02} o'clock in a part of the day that has no such hour")
    return Clock(hours(actual) + rest, is_loose=clock.is_loose)


def _said_part(found: re.Match[str]) -> str | None:
    groups = found.groupdict()
    english = groups.get("part") or groups.get("after") or groups.get("night")
    if english is not None and english in ENGLISH_PARTS:
        return ENGLISH_PARTS[english]
    han = groups.get("han")
    return HAN_PARTS[han] if han is not None else None


def _meridiem(found: re.Match[str], _: Present) -> Reading:
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if not 1 <= hour <= 12 or minute > 59:
        return Impossible("names an hour that a 12-hour clock does not have")
    actual = hour % 12 + (12 if found["half"] == "p" else 0)
    part = _said_part(found)
    if part is not None:
        spoken = PARTS[part].spoken.values()
        if actual not in spoken and actual + 24 not in spoken:
            return Impossible("names an hour and a part of the day that do not agree")
        if actual not in spoken:
            actual += 24
    return Clock(hours(actual, minute))


def _digital(found: re.Match[str], _: Present) -> Reading:
    second = int(found["second"] or 0)
    part = _said_part(found)
    is_loose = part is None and found["at"] is None
    read = clock_at(int(found["hour"]), int(found["minute"]), part, is_loose=is_loose)
    if second > 59:
        return Impossible("names a second that no minute has")
    return (
        replace(read, offset=read.offset + timedelta(seconds=second))
        if isinstance(read, Clock)
        else read
    )


def _english_hour(found: re.Match[str], _: Present) -> Reading | None:
    hour = english_number(found["hour"])
    assert hour is not None
    part = _said_part(found)
    if part is None and found["at"] is None and found["oclock"] is None:
        return None
    return clock_at(hour, 0, part, is_loose=part is None and found["oclock"] is None)


_PAST: Final = {"half": 30, "quarter": 15, "a quarter": 15, "twenty": 20, "ten": 10, "five": 5}


def _past_or_to(found: re.Match[str], _: Present) -> Reading | None:
    hour, minutes = english_number(found["hour"]), _PAST[found["minutes"]]
    assert hour is not None
    if not 1 <= hour <= 12 or (minutes == 30 and found["way"] == "to"):
        return None
    if found["half"] is not None:
        read: Reading = Clock(hours(hour % 12 + (12 if found["half"] == "p" else 0)))
    else:
        # "ten to five" may also be a range, "quarter past three" may not.
        read = clock_at(hour, 0, _said_part(found), is_loose=minutes not in (15, 30))
    if not isinstance(read, Clock):
        return read
    offset = read.offset + hours(0, -minutes if found["way"] == "to" else minutes)
    return replace(read, offset=offset if offset >= hours(0) else offset + hours(24))


_NAMED: Final = {
    "noon": Clock(hours(12)),
    "midday": Clock(hours(12)),
    "midnight": Clock(hours(24)),
    "eod": Clock(hours(TODAY_HOUR), is_closing=True),
    "end of day": Clock(hours(TODAY_HOUR), is_closing=True),
    "cob": Clock(hours(TODAY_HOUR), is_closing=True),
    "close of business": Clock(hours(TODAY_HOUR), is_closing=True),
}


def _named(found: re.Match[str], _: Present) -> Reading:
    return _NAMED[found["name"]]


def _english_part(found: re.Match[str], _: Present) -> Reading:
    default = PARTS[ENGLISH_PARTS[found["part"]]].default
    assert default is not None
    return Clock(hours(default), is_loose=True)


def _han_part(found: re.Match[str], _: Present) -> Reading | None:
    default = PARTS[HAN_PARTS[found["part"]]].default
    if default is None or found["part"] in ("半夜", "深夜"):
        return None
    return Clock(hours(default), is_loose=True)


_HAN_HOUR: Final = rf"(?P<hour>{HAN_NUMBER})(?:点钟?|时(?![间候段代]))"

CLOCK_AHEAD: Final = rf"\d{{1,2}}:\d\d|{_HAN_HOUR}"
"""How a time of day begins that is said in numbers."""

_HAN_QUARTERS: Final = {"半": 30, "一刻": 15, "1刻": 15, "三刻": 45, "3刻": 45, "整": 0, None: 0}


def _han_clock(found: re.Match[str], _: Present) -> Reading | None:
    hour = han_number(found["hour"])
    spelled = found["minute"] or found["minutes"]
    minute = han_number(spelled) if spelled else _HAN_QUARTERS[found["quarter"]]
    if hour is None or minute is None:
        return None
    part = HAN_PARTS[found["part"]] if found["part"] else None
    is_vague = part is None and spelled is None and found["quarter"] is None
    return clock_at(hour, minute, part, is_loose=is_vague)


CLOCK_RULES: Final = (
    Rule(
        rf"{_LEADING_PART}?(?:at |@ ?)?(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))?"
        rf" ?(?P<half>[ap])(?:m|\.m\.?)(?![a-z0-9]){_EN_PART_AFTER}",
        _meridiem,
    ),
    Rule(
        rf"{_LEADING_PART}?(?P<at>at |@ ?)?(?P<hour>\d{{1,2}}):(?P<minute>\d\d)"
        rf"(?::(?P<second>\d\d))?{_EN_PART_AFTER}",
        _digital,
    ),
)
"""Clocks that both languages write: `3pm`, `15:00`, 下午3:30."""

ENGLISH_CLOCK_RULES: Final = (
    Rule(
        rf"(?:(?:in the )?{_EN_PART},? )?(?P<at>at |@ ?)?(?P<hour>\d{{1,2}}|{ENGLISH_WORD_NUMBER})"
        rf"(?P<oclock> ?o'?clock)?{_EN_PART_AFTER}",
        _english_hour,
    ),
    Rule(
        r"(?:at )?(?P<minutes>half|(?:a )?quarter|twenty|ten|five) (?P<way>past|to) "
        rf"(?P<hour>\d{{1,2}}|{ENGLISH_WORD_NUMBER})(?: ?(?P<half>[ap])\.?m\.?)?{_EN_PART_AFTER}",
        _past_or_to,
    ),
    Rule(rf"(?:in the |at )?{_EN_PART}", _english_part),
    Rule(rf"(?:at )?(?:the )?(?P<name>{'|'.join(_NAMED)})", _named),
)
"""Clocks in English words."""

HAN_CLOCK_RULES: Final = (
    Rule(
        # 一点都没空, 一点也不: that begins like one o'clock and is none.
        rf"(?:{_HAN_PART}的?|(?!的?一点[也都儿点])的?){_HAN_HOUR}"
        rf"(?:(?P<quarter>半|[一三13]刻|整)|(?P<minute>{HAN_NUMBER})分"
        r"|(?P<minutes>\d\d|[零〇][一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?))?",
        _han_clock,
    ),
    Rule(_HAN_PART, _han_part),
)
"""Clocks in Chinese words."""
