"""Phrases for series: `every 2 weeks`, `weekdays`, 每两周, 每月5号.

Reads a text that is such a phrase and nothing else; due dates are `phrase`, the arithmetic is
`recurrence`. Any ring may import it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from remembrancer.core.dates.english import WEEKDAYS
from remembrancer.core.dates.folding import fold
from remembrancer.core.dates.iso import TEXT_CHARS_MAX
from remembrancer.core.dates.numerals import (
    ENGLISH_NUMBER,
    HAN_NUMBER,
    english_number,
    han_number,
)
from remembrancer.core.dates.recurrence import INTERVAL_MAX, Recurrence, RecurrenceKind

_WORDS: Final[dict[str, tuple[RecurrenceKind, int]]] = {
    "daily": ("daily", 1), "every day": ("daily", 1), "each day": ("daily", 1),
    "weekly": ("weekly", 1), "fortnightly": ("weekly", 2), "every fortnight": ("weekly", 2),
    "monthly": ("monthly", 1), "quarterly": ("monthly", 3),
    "yearly": ("yearly", 1), "annually": ("yearly", 1),
    "weekdays": ("weekdays", 1), "on weekdays": ("weekdays", 1), "workdays": ("weekdays", 1),
    "天天": ("daily", 1), "每日": ("daily", 1), "工作日": ("weekdays", 1),
    "隔天": ("daily", 2), "隔日": ("daily", 2), "隔周": ("weekly", 2), "隔月": ("monthly", 2),
    "隔年": ("yearly", 2), "每隔一天": ("daily", 2), "每隔一周": ("weekly", 2),
    "每隔一个星期": ("weekly", 2), "每隔一个月": ("monthly", 2), "每隔一年": ("yearly", 2),
    "双周": ("weekly", 2), "每季": ("monthly", 3),
}  # fmt: skip
"""Whole phrases. `biweekly` and 每隔三天 are missing: people mean two things by each."""

_UNITS: Final[dict[str, tuple[RecurrenceKind, int]]] = {
    "day": ("daily", 1), "week": ("weekly", 1), "month": ("monthly", 1),
    "quarter": ("monthly", 3), "year": ("yearly", 1), "weekday": ("weekdays", 1),
    "workday": ("weekdays", 1), "work day": ("weekdays", 1), "working day": ("weekdays", 1),
    "business day": ("weekdays", 1),
    "天": ("daily", 1), "日": ("daily", 1), "周": ("weekly", 1), "星期": ("weekly", 1),
    "礼拜": ("weekly", 1), "月": ("monthly", 1), "季度": ("monthly", 3), "年": ("yearly", 1),
    "工作日": ("weekdays", 1),
}  # fmt: skip

LAST_DAY: Final = 31
"""The day of the month that stands for its last: shorter months clamp it."""

_HAN_WEEKDAYS: Final = "一二三四五六日"
_WEEKDAY: Final = (
    r"(?P<weekday>mon|tues?|wed|thu|thurs?|fri|sat|sun"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
)
_UNIT: Final = (
    r"(?P<unit>day|weekday|workday|work day|working day|business day|week|month|quarter|year)s?"
)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    sources = (
        rf"(?:every|each) (?:(?P<number>other|second|{ENGLISH_NUMBER}) )?{_UNIT}",
        rf"(?:every|each) (?:(?P<number>other|second) )?{_WEEKDAY}",
        r"(?:every|each) month on the (?P<day>\d{1,2})(?:st|nd|rd|th)?",
        rf"每(?:一|(?P<number>{HAN_NUMBER}))?个?(?P<unit>天|日|周|星期|礼拜|月|季度|年|工作日)",
        r"每(?:个|逢)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])",
        rf"每个?月的?(?P<day>{HAN_NUMBER})[号日]",
        r"(?P<last>每个?月的?(?:最后一[天日]|[底末]))",
        r"(?P<last>(?:on )?(?:the )?last day of (?:every|each) month)",
        r"(?P<last>(?:every|each) month on the last day)",
    )
    return tuple(re.compile(source) for source in sources)


def parse_recurrence(text: str) -> Recurrence | None:
    """Return the series that `text` names, or None when it is not such a phrase.

    *Shape:* `every friday` and 每周五 keep their ISO weekday in `anchor_day`, 每月5号 its day,
    每月最后一天 the 31st.
    """
    if len(text) > TEXT_CHARS_MAX:
        return None
    phrase = fold(text).text.rstrip(" .!")
    if phrase in _WORDS:
        kind, interval = _WORDS[phrase]
        return Recurrence(kind, interval)
    for pattern in _patterns():
        found = pattern.fullmatch(phrase)
        if found is not None:
            return _recurrence(found.groupdict())
    return None


def _recurrence(said: dict[str, str | None]) -> Recurrence | None:
    number = _number(said.get("number"))
    if number is None:
        return None
    if said.get("last") is not None:
        return Recurrence("monthly", anchor_day=LAST_DAY)
    weekday, day = said.get("weekday"), said.get("day")
    if weekday is not None:
        return Recurrence("weekly", number, anchor_day=_weekday(weekday))
    if day is not None:
        anchor = han_number(day)
        is_day = anchor is not None and 1 <= anchor <= 31
        return Recurrence("monthly", anchor_day=anchor) if is_day else None
    kind, factor = _UNITS[said["unit"] or ""]
    interval = number * factor
    return Recurrence(kind, interval) if 1 <= interval <= INTERVAL_MAX else None


def _number(typed: str | None) -> int | None:
    if typed is None:
        return 1
    if typed in ("other", "second"):
        return 2
    return english_number(typed) if typed[0].isascii() else han_number(typed)


def _weekday(name: str) -> int:
    if name[0].isascii():
        return WEEKDAYS.index(name[:3]) + 1
    return _HAN_WEEKDAYS.index(name.replace("天", "日")) + 1
