"""Chinese phrases for days and lengths of time, as a table of patterns and meanings.

Patterns are written in simplified characters; `folding` brings traditional ones there. 下周五 is
the Friday of the next ISO week, 本周五 of this one, a bare 周五 the next such day and never today.
本月 is due before it ends; 下个月 is the same day a month on; 周末 is Saturday. Times of day are in
`clock`. Imported by `core.dates.phrase`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from remembrancer.core.dates import moments
from remembrancer.core.dates.moments import Impossible, Present, Reading, Rule
from remembrancer.core.dates.months import (
    add_days,
    add_months,
    monday_of,
    quarter_start,
)
from remembrancer.core.dates.numerals import HAN_NUMBER, han_number

_DAYS: Final = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS: Final = {"前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_EDGES: Final = {"初": "start", "中": "middle", "中旬": "middle", "底": "end", "末": "end",
                 "终": "end", "最后一天": "end", "最后一日": "end"}  # fmt: skip
_WEEKDAYS: Final = "一二三四五六日"
_UNITS: Final = {
    "秒": "second", "秒钟": "second", "分": "minute", "分钟": "minute", "刻钟": "quarter-hour",
    "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week", "星期": "week",
    "礼拜": "week", "月": "month", "季度": "quarter", "年": "year",
}  # fmt: skip

_UNIT: Final = "(?:秒钟?|分钟?|刻钟|小时|钟头|天|日|周|星期|礼拜|月|季度|年)"
_WEEK: Final = "(?:周(?!期)|(?<!黑色)星期|礼拜)"
# 下 of 看一下 belongs to the verb: 看一下周报, 提醒一下周五.
_WHICH: Final = "(?P<which>这一?个?|本|当|(?<!一)(?:下下一?个?|下一?个?)|上上一?个?|上一?个?)"
_EDGE: Final = "(?P<edge>初(?![一二三四五六七八九十])|中旬?|底|末|最后一[天日])"
_LENGTH: Final = (
    rf"(?P<amount>{HAN_NUMBER}|半)(?P<measure>个)?(?P<half>半)?(?P<unit>{_UNIT})(?P<late>半)?"
    rf"(?:[零又]?(?P<amount2>{HAN_NUMBER})个?(?P<unit2>小时|钟头|分钟?|天))?"
)


def _shift(which: str) -> int:
    word = which.rstrip("个").rstrip("一")
    return {"这": 0, "本": 0, "当": 0, "下": 1, "下下": 2, "上": -1, "上上": -2}[word]


def _day_word(found: re.Match[str], present: Present) -> Reading:
    shift = _DAYS[found["day"]]
    if shift == 0:
        return moments.due_day(present.today)
    return moments.fixed_day(add_days(present.today, shift))


def _day_part_word(found: re.Match[str], present: Present) -> Reading:
    shift = _DAYS[found["day"]]
    on = add_days(present.today, shift)
    if found["part"] == "早":
        day = moments.fixed_day(on)
    else:
        day = moments.due_day(on, moments.TONIGHT_HOUR)
    if isinstance(day, Impossible):
        return day
    part = "morning" if found["part"] == "早" else "night"
    return replace(day, part=part)


def _weekday(found: re.Match[str], present: Present) -> Reading:
    name, which = found["weekday"].replace("天", "日"), found["which"]
    monday = monday_of(present.today)
    if name == "末":
        shift = _shift(which) if which else 0
        return moments.weekend(monday + timedelta(days=7 * shift))
    index = _WEEKDAYS.index(name)
    if which is None:
        return moments.next_weekday(index, present)
    return moments.fixed_day(add_days(monday, 7 * _shift(which) + index))


def _week(found: re.Match[str], present: Present) -> Reading:
    shift, edge = _shift(found["which"]), found["edge"]
    monday = monday_of(present.today) + timedelta(days=7 * shift)
    if edge == "初":
        return moments.fixed_day(monday)
    if shift == 0:
        return moments.loose(moments.working_week(monday))
    return moments.fixed_day(add_days(present.today, 7 * shift))


def _month(found: re.Match[str], present: Present) -> Reading:
    shift = _shift(found["which"])
    if found["edge"]:
        first = add_months(present.today.replace(day=1), shift)
        if first is None:
            return Impossible("lies outside the calendar")
        return moments.edge_of_month(first, _EDGES[found["edge"]])
    if shift == 0:
        return moments.loose(moments.edge_of_month(present.today, "end"))
    return moments.fixed_day(add_months(present.today, shift))


def _bare_month_edge(found: re.Match[str], present: Present) -> Reading:
    first = present.today.replace(day=1)
    return moments.upcoming_edge(first, _EDGES[found["edge"]], 1, present)


def _named_month_edge(found: re.Match[str], present: Present) -> Reading | None:
    month, edge = han_number(found["month"]), _EDGES[found["edge"]]
    if month is None:
        return None
    if not 1 <= month <= 12:
        return Impossible(f"names month {month}")
    year = _year(found, present)
    if year is None:
        return moments.upcoming_edge(date(present.today.year, month, 1), edge, 12, present)
    day = moments.dated(year, month, 1)
    return day if isinstance(day, Impossible) else moments.edge_of_month(day.day, edge)


def _day_of_that_month(found: re.Match[str], present: Present) -> Reading | None:
    shift, day = _shift(found["which"]), han_number(found["day"])
    if day is None:
        return None
    first = add_months(present.today.replace(day=1), shift)
    return moments.day_in(first, day, present)


def _day_of_month(found: re.Match[str], present: Present) -> Reading | None:
    day = han_number(found["day"])
    return None if day is None else moments.loose(moments.day_of_month(day, present))


def _year(found: re.Match[str], present: Present) -> int | None:
    if found["year"]:
        return han_number(found["year"])
    return present.today.year + _YEARS[found["named"]] if found["named"] else None


def _calendar(found: re.Match[str], present: Present) -> Reading | None:
    month, day = han_number(found["month"]), han_number(found["day"])
    if month is None or day is None:
        return None
    year = _year(found, present)
    if year is None:
        return moments.month_and_day(month, day, present)
    return moments.dated(year, month, day)


def _year_word(found: re.Match[str], present: Present) -> Reading:
    shift = _YEARS[found["named"]]
    if shift == 0:
        return moments.loose(moments.due_day(date(present.today.year, 12, 31)))
    return moments.loose(moments.fixed_day(add_months(present.today, 12 * shift)))


def _year_edge(found: re.Match[str], present: Present) -> Reading:
    start, today = _EDGES[found["edge"]] == "start", present.today
    year = _year(found, present)
    if year is None:
        year = today.year + (start and today > date(today.year, 1, 1))
    day = moments.dated(year, 1 if start else 12, 1)
    if isinstance(day, Impossible):
        return day
    return moments.edge_of_month(day.day, "start" if start else "end")


def _quarter(found: re.Match[str], present: Present) -> Reading:
    shift = _shift(found["which"])
    if found["edge"] is None and shift:
        return moments.fixed_day(add_months(present.today, 3 * shift))
    edge = _EDGES[found["edge"] or "末"]
    months = 3 * shift + (2 if edge == "end" else 0)
    moved = add_months(quarter_start(present.today), months)
    if moved is None:
        return Impossible("lies outside the calendar")
    day = moments.edge_of_month(moved, edge)
    return day if found["edge"] else moments.loose(day)


def _quarter_end(_: re.Match[str], present: Present) -> Reading:
    last = add_months(quarter_start(present.today), 2)
    assert last is not None
    return moments.edge_of_month(last, "end")


def _length(found: re.Match[str], present: Present) -> Reading | None:
    unit = _UNITS[found["unit"]]
    if unit == "month" and not found["measure"]:
        return None  # 三月后 is "after March" as well; 三个月后 is clear
    whole, has_half = 0, True
    if found["amount"] != "半":
        number = han_number(found["amount"])
        if number is None:
            return None
        whole, has_half = number, bool(found["half"] or found["late"])
    elif found["half"] or found["late"]:
        return None
    span = moments.span_of(unit, whole, has_half=has_half)
    if span is None:
        return None
    if found["amount2"]:
        second = han_number(found["amount2"])
        if second is None:
            return None
        more = moments.span_of(_UNITS[found["unit2"]], second, has_half=False)
        assert more is not None
        span += more
    return moments.after(-span if "past" in found.groupdict() else span, present)


_YEAR: Final = (
    rf"(?:(?P<year>\d{{4}}|[零〇一二三四五六七八九]{{4}})年|(?P<named>{'|'.join(_YEARS)})的?)"
)

CHINESE_RULES: Final = (
    Rule(
        r"(?P<day>大前|大后|昨|今|明|(?<![以之目先])前|(?<![以之今最然随往])后)[天日儿](?![性头])",
        _day_word,
    ),
    Rule(r"(?P<day>昨|今|明|后)天?(?P<part>早|晚)上?", _day_part_word),
    Rule(r"(?P<day>今|明)夜(?P<part>里?)", _day_part_word),
    Rule(
        rf"(?<![一二两三四五六七八九十\d])(?:{_WHICH}(?:{_WEEK}的?)?)?{_WEEK}(?P<weekday>[一二三四五六日天末])"
        r"(?![次回遍个])",
        _weekday,
    ),
    Rule(rf"{_WHICH}{_WEEK}(?P<edge>初)?", _week),
    Rule(rf"{_WHICH}月(?:份)?(?:的?{_EDGE})?", _month),
    Rule(rf"(?<!个)月{_EDGE}", _bare_month_edge),
    Rule(rf"{_YEAR}?(?P<month>{HAN_NUMBER})月份?的?{_EDGE}", _named_month_edge),
    Rule(rf"{_WHICH}月(?:份)?的?(?P<day>{HAN_NUMBER})[号日]", _day_of_that_month),
    Rule(rf"(?P<day>{HAN_NUMBER})[号日]", _day_of_month),
    Rule(
        rf"{_YEAR}?(?P<month>{HAN_NUMBER})月份?(?P<day>{HAN_NUMBER})"
        r"(?:[号日]|(?![\d\u3400-\u9fff]))",
        _calendar,
    ),
    Rule(rf"(?P<named>{'|'.join(_YEARS)})", _year_word),
    Rule(rf"(?:{_YEAR}年?的?|年)(?P<edge>初|底|末|终|最后一[天日])", _year_edge),
    Rule(rf"{_WHICH}季度?(?:的?(?P<edge>初|底|末))?", _quarter),
    Rule(r"季度?[底末]", _quarter_end),
    Rule(rf"(?:再?过)?{_LENGTH}(?:[之以过]?后(?![端台续勤期])|[之以]?内)", _length),
    Rule(rf"再?过{_LENGTH}", _length),
    Rule(rf"{_LENGTH}(?P<past>[之以]?前)", _length),
)
"""Chinese phrases for days."""
