"""What a client's instructions say of the present moment, told apart from what stays the same.

A clock in the system text makes every request a new prefix. Lines that give the time, and blocks
under a bracketed header of that kind, are moved behind the prefix; nothing is dropped. Chinese
and English. Any ring may import it.
"""

from __future__ import annotations

import re
from typing import Final

LINE_CHARS_MAX: Final = 200
"""Characters of a line that can be a clock. Our choice: longer ones say more than the time."""

_OTHER_LETTERS_MAX: Final = 24
"""Letters in a clock line beside dates, times and its label: a place, a zone. Our choice; a Han
character counts for four."""

_HEADERS: Final = (
    r"current (?:date|time|date ?(?:and|&|/) ?time|place|location|state|context)|date ?(?:and|&|/)"
    r" ?time|local time|related memor(?:y|ies)|relevant memor(?:y|ies)|dynamic context"
    r"|system (?:state|status|time)|now"
    r"|(?:当前|目前|现在|此刻|本地|系统|當前|現在)的?(?:日期|时间|時間|地点|地點|位置|状态|狀態|场景|上下文)"
    r"|相关记忆|相關記憶|动态上下文|動態上下文|系统状态|系統狀態"
)
_HEADER: Final = re.compile(
    rf"^[ \t]*(?:#+[ \t]*)?(?:\*\*)?[\[【](?:\s*)(?:{_HEADERS})\s*(?:[:：][^\]】]*)?[\]】]",
    re.IGNORECASE,
)

_MONTHS: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAYS: Final = (
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?"
    r"|(?:星期|周|礼拜|週)[一二三四五六日天]"
)
_VALUE: Final = re.compile(
    r"\d{4}\s?[-/.年]\s?\d{1,2}(?:\s?[-/.月]\s?\d{1,2}\s?[日号號]?|\s?月)?"
    r"|\d{1,2}\s?月\s?\d{1,2}\s?[日号號]|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}\s?[:：点點时時]\s?\d{2}(?:\s?[:：分]\s?\d{2}(?:\.\d+)?)?\s?[分秒]?"
    rf"|\b{_MONTHS}\s+\d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTHS}"
    rf"|\b\d{{10}}(?:\d{{3}})?\b|\b(?:{_DAYS})|(?:星期|周|礼拜|週)[一二三四五六日天]",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"^[\s>*#\-•·]*(?:\*\*|__|`)?<?(?:"
    r"(?:(?:the|right|current|present|local|actual|user['’]?s?|system|server|today(?:['’]?s)?|utc"
    r"|your)[\s_]+)*"
    r"(?:date|time|datetime|timestamp|weekday|(?<=[\s_])(?:day|clock))"
    r"(?:\s*(?:and|&|/|,)\s*(?:the\s+)?(?:current\s+)?(?:date|time|day|weekday|time ?zone))*"
    r"(?:\s+(?:today|(?:right\s+)?now))?"
    r"|today|(?:right\s+)?now(?:,?\s+it)?|it|it(?:['’]s|\s+is)\s+(?:now|currently|today)|currently"
    r"|(?:(?:当前|现在|目前|此刻|今天|今日|本地|系统|用户|服务器|北京|當前|現在|系統)的?)+"
    r"(?:日期|时间|時間|时刻|星期|钟点)*(?:[和与及/、](?:日期|时间|時間|星期))*|日期|时间|時間"
    r")(?:\*\*|__|`)?\s*(?:[(（][^)）]{0,40}[)）])?\s*(?:\*\*)?"
    r"(?:[:：=>-]|is\b|are\b|['’]s\b|是|为|為|(?<![a-z])\s*(?=\d|星期|周|礼拜)|(?<=currently)\s"
    r"|(?<=now)\s)",
    re.IGNORECASE,
)
_NOT_OTHER: Final = re.compile(
    r"</?[\w-]+/?>|\b(?:am|pm|utc|gmt|cst|cet|est|pst|z|t|the|at|of|on|in|time|date|today|and|it|is"
    r"|zone|timezone|local|year|week|day|[A-Z][a-z]+/[A-Z][A-Za-z_]+)\b|上午|下午|晚上|凌晨|中午"
    r"|早上|北京时间|农历|时区|年|月|日|号|点|分|秒|今天|现在|时间|是|第",
    re.IGNORECASE,
)
_CLOCK_WORDS: Final = (
    *("date", "time", "day", "now", "clock", "it", "currently", "日期", "时间", "時間", "时刻"),
    *("当前", "當前", "现在", "現在", "目前", "此刻", "今", "钟"),
)
"""Every label has one of these; most lines have none, which is found at once."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_SENTENCE: Final = re.compile(r"(?<=[.!?])[ \t]+|(?<=[。！？；])")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


def split_volatile(system_text: str) -> tuple[str, str]:
    """Return the part of a system text that stays the same, and what it says of the moment.

    *Shape:* whole lines, or whole sentences of a line, in their order; the volatile ones without
    the white space around them, one a line; ('…', '') when nothing is volatile.
    *Promise:* two texts that differ only in the time they give have the same stable part; nothing
    is lost; linear time.
    """
    lowered = system_text.lower()
    words = [word for word in _CLOCK_WORDS if word in lowered]
    stable: list[str] = []
    volatile: list[str] = []
    is_in_block = False
    for line in _LINE.findall(system_text):
        if _HEADER.match(line):
            is_in_block = True
        if is_in_block:
            if line.strip():
                volatile.append(line.strip())
                continue
            is_in_block = False
        kept, moved = _split_line(line, words)
        stable.append(kept)
        volatile += moved
    return "".join(stable), "\n".join(volatile)


def _split_line(line: str, words: list[str]) -> tuple[str, list[str]]:
    """The line without its clock sentences, and those; '' when nothing else is in it."""
    lowered = line.lower()
    if not any(word in lowered for word in words):
        return line, []
    body = line.rstrip("\n")
    if is_clock(body):
        return "", [body.strip()]
    kept: list[str] = []
    moved: list[str] = []
    start = 0
    for found in [*_SENTENCE.finditer(body), None]:
        end = found.end() if found else len(body)
        sentence = body[start:end]
        if is_clock(sentence):
            moved.append(sentence.strip())
        else:
            kept.append(sentence)
        start = end
    if not moved:
        return line, []
    rest = "".join(kept)
    return (rest + line[len(body) :] if rest.strip() else ""), moved


def is_clock(text: str) -> bool:
    """Return whether a line or sentence does nothing but give the present date or time."""
    if len(text) > LINE_CHARS_MAX:
        return False
    label = _LABEL.match(text)
    value = text[label.end() :] if label is not None else ""
    if not _VALUE.search(value):
        return False
    other = _NOT_OTHER.sub("", _VALUE.sub("", value))
    letters = len(_LETTERS.findall(other)) + 3 * len(_HAN.findall(other))
    return letters <= _OTHER_LETTERS_MAX
