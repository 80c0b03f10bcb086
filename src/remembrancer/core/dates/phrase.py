"""Due dates in words: how days and times of day combine, and the two ways to read a text.

`parse_date` reads a text that is a date and nothing else; `find_date` looks for one inside a
sentence and rather finds none than a wrong one. The words themselves are the tables in `english`,
`chinese` and `clock`. Never guesses: what is not in a table is not understood, and what the
calendar or the clock does not have is an error. Any ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.dates import moments
from remembrancer.core.dates.chinese import CHINESE_RULES
from remembrancer.core.dates.clock import (
    CLOCK_AHEAD,
    CLOCK_RULES,
    ENGLISH_CLOCK_RULES,
    HAN_CLOCK_RULES,
    within,
)
from remembrancer.core.dates.english import ENGLISH_RULES
from remembrancer.core.dates.folding import Folded, fold, is_han
from remembrancer.core.dates.iso import ISO_TIME, TEXT_CHARS_MAX, read_iso_time
from remembrancer.core.dates.moments import (
    Clock,
    Day,
    Impossible,
    Instant,
    Present,
    Reading,
    Rule,
    Rung,
    present_at,
)
from remembrancer.core.dates.months import add_days
from remembrancer.core.dates.numerals import NUMERAL_CHARS, han_number
from remembrancer.core.dates.zones import is_within_years
from remembrancer.core.errors import InvalidInput

SENTENCE_CHARS_MAX: Final = 2_000
"""How far into a text a date is looked for, characters. Source: our choice, bounds the work."""

_HINT: Final = (
    "for example 2026-12-05, 2026-12-05 15:00, tomorrow 3pm, next friday, in 3 days, "
    "Dec 5, 明天下午三点, 下周五, 三天后, 12月5日, 月底"
)
_SHOWN_CHARS_MAX: Final = 60
"""How much of a text an error message repeats, characters. Source: our choice."""


@dataclass(frozen=True, slots=True)
class ParsedDate:
    """A date that was understood.

    *Shape:* `at_ms` is ms since the epoch; `wording` is the phrase in plain form; `has_time` says
    whether it names a time of day, or the hour is a default; `matched` is the part of the input
    that was read, as it was typed, markers such as `due by` included.
    """

    at_ms: int
    wording: str
    has_time: bool
    matched: str


@dataclass(frozen=True, slots=True)
class _Parts:
    """A phrase in the making: at most one day, one time of day; or what makes it impossible."""

    day: Day | None = None
    clock: Clock | None = None
    instant: Instant | None = None
    impossible: Impossible | None = None

    @property
    def has_time(self) -> bool:
        has_part = self.day is not None and self.day.part is not None
        return has_part or self.clock is not None or self.instant is not None

    @property
    def is_loose(self) -> bool:
        if self.day is not None:
            return self.day.is_loose and self.clock is None
        return self.clock is not None and self.clock.is_loose


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A candidate: the characters it covers, its lead excluded, and what they mean."""

    start: int
    end: int
    parts: _Parts
    has_marker: bool


def _numeric_date(found: re.Match[str], _: Present) -> Reading:
    return moments.dated(int(found["year"]), int(found["month"]), int(found["day"]))


_BOTH: Final = (
    Rule(ISO_TIME, lambda found, present: read_iso_time(found, present.zone)),
    Rule(
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        _numeric_date,
    ),
    *CLOCK_RULES,
)
_ENGLISH_FIRST: Final = (*_BOTH, *ENGLISH_RULES, *ENGLISH_CLOCK_RULES)
_CHINESE_FIRST: Final = (*CHINESE_RULES, *HAN_CLOCK_RULES, *CLOCK_RULES)
_DIGIT_FIRST: Final = (*_ENGLISH_FIRST, *CHINESE_RULES, *HAN_CLOCK_RULES)

_LEAD: Final = (
    r"(?:due|deadline)(?: date)?(?: is)?(?: by| on)?(?:: ?| )"
    r"|(?:by|on|before|until|till|since|as of|starting|from)(?:: ?| )"
    r"|(?:截止日期|截止时间|截止|截至|到期日?|期限|最晚|最迟)[在于到至是]?:?|[在于到至]"
)
"""Words before a date that say it is one."""
_TRAIL: Final = r"[之以]?前|截止|到期|为止"
"""Words after a date that say it is one."""
_LATIN_FIRST: Final = (
    r"tod|tom|tmr|the|day|yes|ton|thi|las|nex|com|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may"
    r"|jun|jul|aug|sep|oct|nov|dec|end|sta|beg|mid|eo|cob|clo|mon|qua|yea|wee|in |wit|aft|hal|an? "
    r"|one|two|thr|fou|fiv|six|sev|eig|nin|ten|ele|twe|fif|due|dea|by|on|bef|unt|til|sin|as |fro"
    r"|at|noo|nig|mor|eve|fir|sec|for"
)
"""How a Latin word begins that a lead or a rule can begin with; at others nothing is tried."""
_HAN_FIRST: Final = NUMERAL_CHARS | frozenset(
    "大前昨今明后这本当下上周星礼月年去季再过半凌清早中正午傍晚夜深截到期最在于至"
)
"""Chinese characters that a lead or a rule can begin with; at others nothing is tried."""
_BETWEEN: Final = r"\)?(?:的|,? ?(?:on )?\(?)"
"""What may stand between a day and a time of day."""
_ABOUT: Final = r"(?:(?<![a-z])(?:about|regarding|re:?) |有关|关)$"
"""Words before a date that is what a text is about, and not its time (关 of 关于)."""
_MORE: Final = (
    r" ?(?:到|至|[-–~、和及]|to|through|and|or|,)"
    r"(?: ?(?:周|星期|礼拜)?[一二三四五六日天](?![个项件])| (?:mon|tue|wed|thu|fri|sat|sun))"
)
"""What makes a weekday one of several."""
_CLOSING: Final = r"[ .,!;)]*"
"""What may follow a date that is the whole text."""


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


class _Reader:
    """Reads one folded text at one moment; remembers what each rule said at each position."""

    def __init__(self, folded: Folded, present: Present) -> None:
        self.text = folded.text
        self.present = present
        self._has_han = any(is_han(char) for char in self.text)
        self._seen: dict[int, list[tuple[Reading, int]]] = {}

    def phrases(self, start: int) -> Iterator[_Phrase]:
        """Yields every phrase that begins at `start`, the lead included."""
        if not self._begins(start):
            return
        lead = _pattern(_LEAD).match(self.text, start)
        first = lead.end() if lead else start
        for parts, end in self._joined(_Parts(), first, 3):
            yield _Phrase(first, end, parts, lead is not None)
            trail = _pattern(_TRAIL).match(self.text, end)
            if trail is not None:
                yield _Phrase(first, trail.end(), parts, has_marker=True)

    def _joined(self, parts: _Parts, start: int, left: int) -> Iterator[tuple[_Parts, int]]:
        for reading, end in self._readings(start):
            joined = _join(parts, reading)
            if joined is None:
                continue
            yield joined, end
            if left > 1:
                between = _pattern(_BETWEEN).match(self.text, end)
                assert between is not None
                yield from self._joined(joined, between.end(), left - 1)

    def _readings(self, start: int) -> list[tuple[Reading, int]]:
        if start not in self._seen:
            self._seen[start] = list(self._read(start))
        return self._seen[start]

    def _rules(self, start: int) -> tuple[Rule, ...]:
        """The rules that can match at `start`, to leave the others uncompiled and untried."""
        first = self.text[start : start + 1]
        if is_han(first):
            return _CHINESE_FIRST
        if first.isdigit() and self._has_han:
            return _DIGIT_FIRST
        return _ENGLISH_FIRST if first.isalnum() or first == "@" else ()

    def _read(self, start: int) -> Iterator[tuple[Reading, int]]:
        for rule in self._rules(start):
            found = rule.match(self.text, start)
            if found is None or not (self._ends(found.end()) or self._ends_before_clock(found)):
                continue
            reading = rule.build(found, self.present)
            if reading is not None:
                yield reading, found.end()

    def _begins(self, start: int) -> bool:
        """Whether a phrase may begin here: not inside a word, a number or a path."""
        first, before = self.text[start], self.text[max(0, start - 1) : start]
        if is_han(first) and first not in _HAN_FIRST:
            return False
        is_latin = first.isascii() and first.isalpha()
        if is_latin and _pattern(_LATIN_FIRST).match(self.text, start) is None:
            return False
        if not before:
            return True
        if before in "/\\" or (_is_word(before) and _is_word(first)):
            return False
        if not _is_numeral(first):
            return before != "-" or not self.text[max(0, start - 2) : start - 1].isalpha()
        if before in ".:-,+":
            return not self.text[max(0, start - 2) : start - 1].isdigit()
        return not _is_numeral(before) and before not in "第#$¥€£"

    def _ends(self, end: int) -> bool:
        """Whether a phrase may end here: not inside a word, a number or a path."""
        last, after, beyond = self.text[end - 1], self.text[end : end + 1], self.text[end + 1 :][:1]
        if not after:
            return True
        if (_is_word(last) and _is_word(after)) or (_is_numeral(last) and _is_numeral(after)):
            return False
        if (after in "./\\'" and _is_word(beyond)) or (after == "-" and beyond.isalpha()):
            return False
        if not last.isdigit():
            return True
        return after not in "%°" and not (after in ":-," and beyond.isdigit())

    def _ends_before_clock(self, found: re.Match[str]) -> bool:
        """Whether a Chinese weekday ends here, and the number behind it is an hour (周五9点)."""
        if not is_han(self.text[found.end() - 1]) or not found.groupdict().get("weekday"):
            return False
        ahead = _pattern(CLOCK_AHEAD).match(self.text, found.end())
        return ahead is not None and (not ahead["hour"] or han_number(ahead["hour"]) is not None)

    def at_ms(self, parts: _Parts) -> int | Impossible:
        """The instant that complete parts mean."""
        if parts.impossible is not None:
            return parts.impossible
        if parts.instant is not None:
            return parts.instant.ms
        rungs = self._rungs(parts)
        if isinstance(rungs, Impossible):
            return rungs
        times = [rung.ms(self.present.zone) for rung in rungs]
        # Of a day that is over, the first: its later hours are no way out any more.
        otherwise = times[0] if rungs[-1].day < self.present.today else times[-1]
        ms = next((ms for ms in times if ms > self.present.now_ms), otherwise)
        return ms if is_within_years(ms) else Impossible("lies outside the calendar")

    def _rungs(self, parts: _Parts) -> tuple[Rung, ...] | Impossible:
        day, clock = parts.day, parts.clock
        if clock is None or (day is None and clock.is_closing):
            on = moments.due_day(self.present.today) if day is None else day
            return on if isinstance(on, Impossible) else on.rungs
        if day is None:
            nights = (add_days(self.present.today, shift) for shift in (-1, 0, 1))
            return tuple(Rung(night, clock.offset) for night in nights if night is not None)
        read = clock if day.part is None else within(day.part, clock)
        return read if isinstance(read, Impossible) else (Rung(day.day, read.offset),)


def _join(parts: _Parts, reading: Reading) -> _Parts | None:
    """Returns the parts with one more, or None when they do not go together."""
    if parts.instant is not None:
        return None
    if isinstance(reading, Impossible):
        return replace(parts, impossible=parts.impossible or reading)
    if isinstance(reading, Instant):
        return _Parts(instant=reading) if parts == _Parts() else None
    if isinstance(reading, Clock):
        return replace(parts, clock=reading) if parts.clock is None else None
    if parts.day is None:
        return replace(parts, day=reading)
    day = parts.day
    if day.is_weekday == reading.is_weekday or day.part or reading.part:
        return None
    dated = reading if day.is_weekday else day
    if day.day.weekday() != reading.day.weekday():
        wrong = Impossible(f"names a weekday that {dated.day.isoformat()} is not")
        return replace(parts, impossible=wrong)
    return replace(parts, day=replace(dated, is_loose=False))


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _is_numeral(char: str) -> bool:
    return char.isdigit() or char in NUMERAL_CHARS


def parse_date(text: str, *, now_ms: int, zone: ZoneInfo, field: str = "due") -> ParsedDate:
    """Return the date that `text` is, as words or as ISO 8601, read at `now_ms` in `zone`.

    A day without a time is 09:00; `today` is 17:00 and `tonight` 20:00, or 23:59 once that has
    passed. *Raises:* InvalidInput when the text is no date that is understood, or an impossible
    one; nothing rolls over. *Promise:* bounded work, whatever the text.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise InvalidInput(
            f"{text[:_SHOWN_CHARS_MAX]!r} and {len(text) - _SHOWN_CHARS_MAX} more characters "
            "are too long for a date",
            hint=f"at most {TEXT_CHARS_MAX} characters, {_HINT}",
            field=field,
            code="invalid_date",
        )
    folded, present = fold(text), present_at(now_ms, zone)
    reader = _Reader(folded, present)
    refused: Impossible | None = None
    for phrase in reader.phrases(0) if folded.text else ():
        closing = _pattern(_CLOSING).match(folded.text, phrase.end)
        if closing is None or closing.end() != len(folded.text):
            continue
        ms = reader.at_ms(phrase.parts)
        if isinstance(ms, int):
            return _parsed(folded, phrase, ms, start=0)
        refused = refused or ms
    reason = refused.reason if refused else "is not understood as a date"
    raise InvalidInput(
        f"{text[:_SHOWN_CHARS_MAX]!r} {reason}", hint=_HINT, field=field, code="invalid_date"
    )


def find_date(text: str, *, now_ms: int, zone: ZoneInfo) -> ParsedDate | None:
    """Return the first date inside a sentence, the longest there; None when none is certain.

    Conservative: a lone number, a bare hour, a word that is also a date (`sat`), a moment that has
    passed count only with a marker (`due`, `by`, 之前) or a second part. An impossible date is
    passed over; of several days none is taken. Looks at the first 2,000 characters. *Promise:*
    never raises for a text.
    """
    folded, present = fold(text[:SENTENCE_CHARS_MAX]), present_at(now_ms, zone)
    reader = _Reader(folded, present)
    start = 0
    while start < len(folded.text):
        readings = [(phrase, reader.at_ms(phrase.parts)) for phrase in reader.phrases(start)]
        if not readings:
            start += 1
            continue
        phrase, ms = max(readings, key=lambda one: (one[0].end, isinstance(one[1], int)))
        if _pattern(_MORE).match(folded.text, phrase.end) is not None:
            return None  # one of several days
        is_topic = _pattern(_ABOUT).search(folded.text[max(0, start - 12) : start]) is not None
        if isinstance(ms, int) and _is_believed(phrase, ms, now_ms) and not is_topic:
            return _parsed(folded, phrase, ms, start=start)
        # A part of what is not believed is not either: "last friday" holds no "friday".
        start = phrase.end
    return None


def _is_believed(phrase: _Phrase, ms: int, now_ms: int) -> bool:
    parts = phrase.parts
    if phrase.has_marker and parts.day is not None:
        return True
    return ms > now_ms and not parts.is_loose


def _parsed(folded: Folded, phrase: _Phrase, ms: int, *, start: int) -> ParsedDate:
    wording = folded.shown[phrase.start : phrase.end]
    is_iso = phrase.parts.instant is not None and wording[4:5] == "-"
    return ParsedDate(
        at_ms=ms,
        wording=wording.upper() if is_iso else wording,
        has_time=phrase.parts.has_time,
        matched=folded.typed(start, phrase.end),
    )
