"""English phrases for days and lengths of time, as a table of patterns and meanings.

`next friday` is the Friday of the next ISO week, `this friday` of this one, a bare `friday` the
next such day and never today. `this month` is due before it ends; `next month` is the same day a
month on. Days given in digits in an order that countries disagree on (5/12) are not understood.
Times of day are in `clock`. Imported by `core.dates.phrase`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from remembrancer.core.dates import moments
from remembrancer.core.dates.moments import Day, Impossible, Present, Reading, Rule
from remembrancer.core.dates.months import (
    add_days,
    add_months,
    last_of_month,
    monday_of,
    quarter_start,
)
from remembrancer.core.dates.numerals import ENGLISH_NUMBER, english_number

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""First three letters of the months."""
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""First three letters of the weekdays, from Monday."""

_WHICH: Final = {"this": 0, "next": 1, "last": -1, "coming": 0, "the": 0}

_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_WEEKDAY: Final = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)(?![a-z])"
)
_NTH: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,? (?P<year>\d{4}))?"
_UNIT: Final = (
    r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|wks?|months?|quarters?|years?|yrs?"
    r"|[hdw](?![a-z]))"
)
_AMOUNT: Final = rf"(?:half an?|an?|a couple of|one and a half|{ENGLISH_NUMBER}(?:\.[05])?)"
_LENGTH: Final = (
    rf"(?P<amount>{_AMOUNT})(?P<half> and a half)? ?(?P<unit>{_UNIT})(?P<late> and a half)?"
    rf"(?:,? ?(?:and )?(?P<amount2>{ENGLISH_NUMBER}) ?(?P<unit2>{_UNIT}))?"
)
_LETTERS: Final = {"h": "hour", "d": "day", "w": "week"}
_SHORT: Final = {"sec": "second", "min": "minute", "hr": "hour", "wk": "week", "yr": "year"}


_AHEAD: Final = {
    "tomorrow": 1, "tmr": 1, "tmrw": 1, "day after tomorrow": 2, "yesterday": -1,
    "day before yesterday": -2,
}  # fmt: skip


def _day_word(found: re.Match[str], present: Present) -> Reading:
    word = found["word"]
    if word == "today":
        return moments.due_day(present.today)
    return moments.fixed_day(add_days(present.today, _AHEAD[word.removeprefix("the ")]))


def _night_word(found: re.Match[str], present: Present) -> Reading:
    on = add_days(present.today, -1 if found["word"] == "last night" else 0)
    day = moments.due_day(on, moments.TONIGHT_HOUR)
    return replace(day, part="night") if isinstance(day, Day) else day


def _this_part(_: re.Match[str], present: Present) -> Reading:
    # Only the day: the rule ends before the part, which `clock` reads.
    return moments.loose(moments.due_day(present.today))


def _weekday_index(found: re.Match[str]) -> int:
    return WEEKDAYS.index(found["weekday"][:3])


def _weekday(found: re.Match[str], present: Present) -> Reading:
    index = _weekday_index(found)
    which = found["before"] or found["which"] or found["after"]
    if which in (None, "coming"):
        day = moments.next_weekday(index, present)
        # "sat", "sun" and "mon" are words and names as well.
        return moments.loose(day) if which is None and len(found["weekday"]) < 5 else day
    return moments.fixed_day(add_days(monday_of(present.today), 7 * _WHICH[which] + index))


def _period(found: re.Match[str], present: Present) -> Reading:
    which, unit = _WHICH[found["which"] or "this"], found["unit"]
    monday = monday_of(present.today)
    if unit == "weekend":
        return moments.weekend(monday + timedelta(days=7 * which))
    if which == 0:
        return moments.loose(_edge_of(unit, 0, "end", present))
    if unit == "week":
        return moments.fixed_day(add_days(present.today, 7 * which))
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    return moments.fixed_day(add_months(present.today, months * which))


def _edge_of(unit: str, which: int, edge: str, present: Present) -> Day | Impossible:
    today = present.today
    if unit == "week":
        monday = monday_of(today) + timedelta(days=7 * which)
        if edge == "end":
            return moments.working_week(monday)
        return moments.fixed_day(monday + timedelta(days=0 if edge == "start" else 2))
    if unit == "month":
        first, length = today.replace(day=1), 1
    elif unit == "quarter":
        first, length = quarter_start(today), 3
    else:
        first, length = date(today.year, 1, 1), 12
    if edge == "middle" and unit != "month":
        return Impossible(f"names the middle of a {unit}, which is not one day")
    moved = add_months(first, which * length + (length - 1 if edge == "end" else 0))
    if moved is None:
        return Impossible("lies outside the calendar")
    return moments.edge_of_month(moved, edge)


_EDGES: Final = {
    "end": "end", "start": "start", "beginning": "start", "begin": "start",
    "middle": "middle", "mid": "middle", "last day": "end",
}  # fmt: skip
_INITIALS: Final = {"w": "week", "m": "month", "q": "quarter", "y": "year"}


def _edge(found: re.Match[str], present: Present) -> Reading:
    edge, unit = _EDGES[found["edge"]], found["unit"]
    if found["which"] in (None, "the"):
        day = _edge_of(unit, 0, edge, present)
        if isinstance(day, Day) and day.rungs[-1].day < present.today:
            return _edge_of(unit, 1, edge, present)
        return day
    return _edge_of(unit, _WHICH[found["which"]], edge, present)


def _edge_initials(found: re.Match[str], present: Present) -> Reading:
    return _edge_of(_INITIALS[found["unit"]], 0, "end", present)


def _period_end(found: re.Match[str], present: Present) -> Reading:
    return moments.loose(_edge_of(found["unit"], 0, "end", present))


def _edge_of_month_name(found: re.Match[str], present: Present) -> Reading:
    edge, month = _EDGES[found["edge"]], MONTHS.index(found["month"][:3]) + 1
    if found["year"]:
        day = moments.dated(int(found["year"]), month, 1)
        return day if isinstance(day, Impossible) else moments.edge_of_month(day.day, edge)
    return moments.upcoming_edge(date(present.today.year, month, 1), edge, 12, present)


def _edge_of_year(found: re.Match[str], _: Present) -> Reading:
    edge = _EDGES[found["edge"]]
    if edge == "middle":
        return Impossible("names the middle of a year, which is not one day")
    day = moments.dated(int(found["year"]), 12 if edge == "end" else 1, 1)
    return day if isinstance(day, Impossible) else moments.edge_of_month(day.day, edge)


def _calendar(found: re.Match[str], present: Present) -> Reading:
    month, day = MONTHS.index(found["month"][:3]) + 1, int(found["day"])
    if found["year"]:
        return moments.dated(int(found["year"]), month, day)
    return moments.month_and_day(month, day, present)


def _nth(found: re.Match[str], present: Present) -> Reading:
    return moments.loose(moments.day_of_month(int(found["day"]), present))


def _nth_of_month(found: re.Match[str], present: Present) -> Reading:
    first = add_months(present.today.replace(day=1), _WHICH[found["which"]])
    return moments.day_in(first, int(found["day"]), present)


def _nth_weekday(found: re.Match[str], present: Present) -> Reading:
    """The first Monday of a month; where year or month is not said, the next one to come."""
    index, nth, today = _weekday_index(found), _ORDINALS[found["nth"]], present.today
    first, months = today.replace(day=1), 0
    if found["month"] is not None:
        year = int(found["year"] or today.year)
        day = moments.dated(year, MONTHS.index(found["month"][:3]) + 1, 1)
        if isinstance(day, Impossible):
            return day
        first, months = day.day, 0 if found["year"] else 12
    elif found["which"] != "this":
        months = 1
    on = _nth_in(first, nth, index)
    if months and (on < today or found["which"] == "next"):
        later = add_months(first, months)
        if later is None:
            return Impossible("lies outside the calendar")
        on = _nth_in(later, nth, index)
    return moments.fixed_day(on)


def _nth_in(first: date, nth: int, weekday: int) -> date:
    if nth < 0:
        last = last_of_month(first)
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))


_ORDINALS: Final = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4,
    "last": -1,
}  # fmt: skip
"""No month has less than four of a weekday; a fifth not always."""


def _length_from(found: re.Match[str], present: Present) -> Reading | None:
    whole, has_half = _amount(found["amount"])
    if has_half or found["half"] or found["late"] or found["amount2"]:
        return None
    span = moments.span_of(_unit_name(found["unit"]), whole, has_half=False)
    if span is None or span.seconds:
        return None
    ahead = 1 if found["base"] == "tomorrow" else 2
    return moments.after(span + moments.Span(days=ahead), present)


def _unit_name(typed: str) -> str:
    if typed in _LETTERS:
        return _LETTERS[typed]
    singular = typed.removesuffix("s")
    return _SHORT.get(singular, singular)


def _amount(typed: str) -> tuple[int, bool]:
    """Returns the whole number and whether a half comes on top."""
    if typed in ("a", "an"):
        return 1, False
    if typed.startswith("half a"):
        return 0, True
    if typed == "a couple of":
        return 2, False
    if typed == "one and a half":
        return 1, True
    whole, _, tenth = typed.partition(".")
    number = english_number(whole)
    assert number is not None
    return number, tenth == "5"


def _length(found: re.Match[str], present: Present) -> Reading | None:
    whole, has_half = _amount(found["amount"])
    has_half = has_half or bool(found["half"] or found["late"])
    span = moments.span_of(_unit_name(found["unit"]), whole, has_half=has_half)
    if span is None:
        return None
    if found["amount2"]:
        second = english_number(found["amount2"])
        assert second is not None
        more = moments.span_of(_unit_name(found["unit2"]), second, has_half=False)
        assert more is not None
        span += more
    return moments.after(-span if "past" in found.groupdict() else span, present)


ENGLISH_RULES: Final = (
    Rule(
        r"(?P<word>today|tomorrow|tmrw?|(?:the )?day after tomorrow|(?:the )?day before yesterday"
        r"|yesterday)",
        _day_word,
    ),
    Rule(r"(?P<word>tonight|this evening|last night)", _night_word),
    Rule(r"this(?= (?:morning|afternoon)(?![a-z]))", _this_part),
    Rule(
        # "first friday" alone is of a month that is not said.
        r"(?<!first )(?<!second )(?<!third )(?<!fourth )(?<!last )(?<!other )"
        r"(?<!black )(?<!good )(?<!casual )"
        rf"(?:(?P<before>this|next|last) week,? (?:on )?|(?P<which>this|next|last|coming) )?"
        rf"{_WEEKDAY}"
        r"(?:,? (?:of )?(?P<after>this|next|last) week)?",
        _weekday,
    ),
    Rule(
        rf"(?:the )?(?P<nth>{'|'.join(_ORDINALS)}) {_WEEKDAY} (?:of|in) "
        rf"(?:(?:(?P<which>the|this|next) )?month|{_MONTH}{_YEAR})",
        _nth_weekday,
    ),
    Rule(rf"{_LENGTH} (?:from|after) (?:the )?(?P<base>tomorrow|day after tomorrow)", _length_from),
    Rule(r"(?P<which>this|next|last) (?P<unit>week(?:end)?|month|quarter|year)", _period),
    Rule(r"(?:(?P<which>the|coming) )?(?P<unit>weekend)", _period),
    Rule(
        r"(?:the )?(?P<edge>end|start|beginning|begin|middle|mid)[- ](?:of )?"
        r"(?:(?P<which>the|this|next|last) )?(?P<unit>week|month|quarter|year)",
        _edge,
    ),
    Rule(
        r"(?:the )?(?P<edge>last day) of (?:(?P<which>the|this|next|last) )?"
        r"(?P<unit>month|quarter|year)",
        _edge,
    ),
    Rule(rf"(?:the )?(?P<edge>last day) of {_MONTH}{_YEAR}", _edge_of_month_name),
    Rule(r"eo(?P<unit>[wmqy])", _edge_initials),
    Rule(r"(?P<unit>month|quarter|year)[- ]end", _period_end),
    Rule(
        rf"(?:the )?(?P<edge>end|start|beginning|middle|mid)[- ](?:of )?{_MONTH}{_YEAR}",
        _edge_of_month_name,
    ),
    Rule(r"(?:the )?(?P<edge>end|start|beginning|middle) of (?P<year>\d{4})", _edge_of_year),
    Rule(rf"{_MONTH} ?(?:the )?{_NTH}(?!\d){_YEAR}", _calendar),
    Rule(rf"(?:the )?{_NTH}[- ]?(?:of )?{_MONTH}(?:,?[- ](?P<year>\d{{4}}))?", _calendar),
    Rule(r"(?:the )(?P<day>\d{1,2})(?:st|nd|rd|th)", _nth),
    Rule(rf"(?:the )?{_NTH} of (?P<which>this|next|last) month", _nth_of_month),
    Rule(rf"(?P<which>this|next|last) month,? (?:on )?the {_NTH}", _nth_of_month),
    Rule(rf"(?:in|within|after) {_LENGTH}", _length),
    Rule(rf"{_LENGTH} (?:from (?:now|today)|hence|later)", _length),
    Rule(rf"{_LENGTH} (?P<past>ago)", _length),
)
"""English phrases for days."""
