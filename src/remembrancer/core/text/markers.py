"""Where the name behind a marker sign ends, and where code stands in a text.

The lexical half of quick capture; what a marker means is decided there. Any ring may import it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from remembrancer.core.limits import TAG_CHARS_MAX

CJK_SIGNS: Final = (
    "\u2014\u2018-\u201f\u2026\u3001-\u3003\u3008-\u3020\u3030"
    "\uff01\uff02\uff04-\uff0a\uff0c-\uff0f\uff1a-\uff1f\uff3b-\uff3d\uff5b-\uff65"
)
"""CJK punctuation as the inside of a regular expression's class: after it a word starts without a
space. The marker signs ＃ ＋ ＠ are not among it."""

_INNER_SIGNS: Final = "-_"
_ASCII_INNER_SIGNS: Final = "./"
_JOINERS: Final = "\u200c\u200d"
_TICKS: Final = re.compile("`+")
_CODE_FENCE_OPEN: Final = re.compile("```")


def name_end(text: str, start: int) -> int | None:
    """Returns where the name that starts at `start` ends, or None when there is none.

    A name starts with a letter and goes on with letters, digits, marks and emoji; `-` and `_`
    count between two of those, `.` and `/` between two ASCII ones (`node.js`, `a/b`), and a last
    `++` or, of one letter, `#` (`c++`, `c#`).
    *Shape:* at most 64 characters, else None.
    """
    if not _is_letter(text[start : start + 1]):
        return None
    end = start + 1
    while end < len(text):
        char = text[end]
        if _is_name_char(char) or _is_inner_sign(text, end):
            end += 1
        else:
            break
    while text[end - 1] in _INNER_SIGNS:
        end -= 1
    end = _with_suffix(text, start, end)
    return end if end - start <= TAG_CHARS_MAX else None


def code_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans of text in code ticks, an unclosed fence to the end; in order.

    *Promise:* linear time.
    *Source:* CommonMark 0.31, sections 4.5 and 6.1: a run of ticks is closed by one as long.
    """
    runs = [found.span() for found in _TICKS.finditer(text)]
    closing: list[int | None] = []
    latest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing.append(latest.get(length))
        latest[length] = index
    closing.reverse()
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        start, close = runs[index][0], closing[index]
        if close is not None:
            spans.append((start, runs[close][1]))
            index = close
        elif _CODE_FENCE_OPEN.match(text, start) and not text[:start].rpartition("\n")[2].strip():
            return [*spans, (start, len(text))]
        index += 1
    return spans


def _with_suffix(text: str, start: int, end: int) -> int:
    if not text[end - 1].isascii():
        return end
    for suffix in ("++", "#"):
        after = text[end + len(suffix) : end + len(suffix) + 1]
        is_closed = not after or after.isspace() or unicodedata.category(after)[0] == "P"
        if text.startswith(suffix, end) and is_closed and (suffix != "#" or end - start == 1):
            return end + len(suffix)
    return end


def _is_letter(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] == "L"


def _is_name_char(char: str) -> bool:
    kind = unicodedata.category(char)
    is_skin_tone = "\U0001f3fb" <= char <= "\U0001f3ff"
    return kind[0] in "LMN" or kind == "So" or is_skin_tone or char in _JOINERS


def _is_inner_sign(text: str, index: int) -> bool:
    char, before, after = text[index], text[index - 1], text[index + 1 : index + 2]
    if char in _INNER_SIGNS:
        return True
    is_ascii = before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
    return char in _ASCII_INNER_SIGNS and is_ascii
