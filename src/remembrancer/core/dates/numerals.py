"""Numbers written in words: Chinese and English numerals, and the patterns that find them.

Not a parser of dates: a number alone never is one. Imported by the other modules of `core.dates`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

HAN_DIGITS: Final = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4,
    "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip
"""Chinese digit → value."""

NUMERAL_CHARS: Final = frozenset("零〇一二两三四五六七八九十廿卅百")
"""Chinese characters that numbers are written with."""

HAN_NUMBER: Final = r"(?:\d{1,4}|[零〇一二两三四五六七八九十廿卅百]{1,7})"
"""Pattern of a whole number in Chinese text, digits or numerals."""

_WORDS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_UNITS: Final = "one|two|three|four|five|six|seven|eight|nine"

ENGLISH_WORD_NUMBER: Final = (
    rf"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_UNITS})(?![a-z]))?"
    r"|(?:four|six|seven|eigh|nine)teen|thirteen|fifteen|ten|eleven|twelve"
    rf"|{_UNITS})"
)
"""Pattern of a number in English words, up to ninety-nine."""

ENGLISH_NUMBER: Final = rf"(?:\d{{1,4}}|{ENGLISH_WORD_NUMBER})"
"""Pattern of a whole number in English text, digits or words."""


@cache
def _han_structure() -> re.Pattern[str]:
    digit = "[一二两三四五六七八九]"
    return re.compile(
        rf"(?:(?P<hundreds>{digit})百)?(?P<zero>[零〇])?"
        rf"(?P<ten>(?P<tens>{digit})?十)?(?P<ones>{digit})?"
    )


def han_number(text: str) -> int | None:
    """Return the number that `text` writes in digits or Chinese numerals, or None.

    *Shape:* `5`, `十`, `二十一`, `廿一`, `一百零五`, `零五` (5), `二〇二六` (four digits read one
    by one). Vague or loose forms (`两三`, `一百二`) are None.
    """
    if text.isascii():
        return int(text) if text.isdigit() else None
    text = text.replace("廿", "二十").replace("卅", "三十")
    if all(char in HAN_DIGITS for char in text) and (len(text) in (1, 4) or text[0] in "零〇"):
        return int("".join(str(HAN_DIGITS[char]) for char in text))
    found = _han_structure().fullmatch(text)
    if found is None:
        return None
    hundreds, ten, ones = found["hundreds"], found["ten"], found["ones"]
    if found["zero"] is not None and (hundreds is None or ten is not None):
        return None
    if hundreds is not None and ones is not None and not (ten or found["zero"]):
        return None
    value = HAN_DIGITS[hundreds] * 100 if hundreds else 0
    if ten:
        value += 10 * (HAN_DIGITS[found["tens"]] if found["tens"] else 1)
    return value + (HAN_DIGITS[ones] if ones else 0)


def english_number(text: str) -> int | None:
    """Return the number that `text` writes in digits or English words below a hundred, or None."""
    if text.isdecimal():
        return int(text)
    tens, _, units = text.replace("-", " ").partition(" ")
    value = _WORDS.get(tens)
    if value is None or not units:
        return value
    unit = _WORDS.get(units, 10)
    return value + unit if value >= 20 and unit < 10 else None
