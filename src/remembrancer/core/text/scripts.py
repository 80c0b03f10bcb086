"""Character classes: which script a character belongs to, as far as searching cares.

One letter per class, so that a text becomes a string of class letters that regular expressions
can cut. It is not a full script database. Any ring may import it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

UNSPACED: Final = "H"
"""Class of characters of scripts written without spaces, or whose words carry endings: Han, Kana,
Hangul, Thai, Lao, Khmer, Myanmar. Searched by single characters and pairs."""

LETTER: Final = "a"
"""Class of all other letters."""

DIGIT: Final = "d"
"""Class of numbers."""

MARK: Final = "m"
"""Class of combining marks."""

PICTOGRAPH: Final = "e"
"""Class of emoji and like symbols."""

FLAG_LETTER: Final = "r"
"""Class of regional indicators, two of which make a flag."""

OTHER: Final = " "
"""Class of everything else that separates words; ASCII punctuation stands for itself."""

CLASS_CACHE_ENTRIES: Final = 16_384
"""Characters whose class is remembered. Our choice: more than a reader of Chinese knows."""

_UNSPACED_CHAR: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3041-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff"
    "\u1100-\u11ff\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_PICTOGRAPH_CHAR: Final = re.compile(
    "[\u203c\u2049\u2139\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)


@lru_cache(maxsize=CLASS_CACHE_ENTRIES)
def class_of(char: str) -> str:
    """Returns the class letter of one character."""
    if char.isascii():
        if char.isalpha():
            return LETTER
        if char.isdigit():
            return DIGIT
        return char if char.isprintable() else OTHER
    kind = unicodedata.category(char)[0]
    if kind == "M":
        return MARK
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return FLAG_LETTER
    if _PICTOGRAPH_CHAR.match(char):
        return PICTOGRAPH
    if _UNSPACED_CHAR.match(char) and kind in "LNC":
        return UNSPACED
    if kind == "N":
        return DIGIT
    return LETTER if kind == "L" else OTHER


def classes_of(text: str) -> str:
    """Returns the class letters of `text`, one per character."""
    return "".join(map(class_of, text))


@lru_cache(maxsize=CLASS_CACHE_ENTRIES)
def searchable(char: str) -> str:
    """Returns what stands for one folded character inside a token of the full-text index.

    Letters with a Latin base lose their diacritics, and combining diacritics go; characters that
    every SQLite keeps stay; any other becomes `x` and its number in hexadecimal, so that a token
    is never split or dropped.
    *Source:* SQLite's unicode61 tokenizer keeps the letters and numbers of Unicode 6.1; those of
    Unicode 3.2, which Python knows, are among them (measured over all code points).
    """
    if (char.isascii() and char.isalnum()) or "\u0300" <= char <= "\u036f":
        return char if char.isascii() else ""
    first = unicodedata.normalize("NFD", char)[0]
    if first.isascii() and first.isalnum():
        return first
    if unicodedata.ucd_3_2_0.category(char)[0] in "LN":
        return char
    return f"x{ord(char):x}"
