"""Where a text may be cut without tearing a character that a person sees as one.

It is an approximation of Unicode's extended grapheme clusters that needs no tables beyond
`unicodedata`: marks, joiners, emoji modifiers, flags, Hangul jamo, Indic conjuncts and CR LF stay
together. It is not a word or sentence breaker. Any ring may import it.
"""

from __future__ import annotations

import unicodedata
from typing import Final

ELLIPSIS: Final = "…"
"""One character that marks a cut text. Source: typographic usage in Latin and Chinese text."""

_ZWNJ: Final = "\u200c"
_ZWJ: Final = "\u200d"
_CLUSTER_CHARS_MAX: Final = 64
"""Characters of the longest cluster that is kept whole. Our choice: the longest real emoji
sequence has 10; beyond this, somebody piles marks up, and the text is cut inside the pile."""


def is_boundary(text: str, index: int) -> bool:
    """Tells whether `text` may be cut before `index`.

    *Shape:* `index` 0…len(text); both ends are boundaries.
    *Source:* Unicode Standard Annex 29, rules GB3–GB13, approximated.
    """
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if after < "\u0300" and before < "\u0300":
        return not (before == "\r" and after == "\n")
    if after in (_ZWJ, _ZWNJ) or _extends(after):
        return before in "\r\n"
    if before == _ZWJ:
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, index) % 2 == 0
    if _is_virama(before) and unicodedata.category(after) == "Lo":
        return False
    return not _jamo_joins(before, after)


def cut(text: str, chars_max: int) -> str:
    """Returns the longest start of `text` of at most `chars_max` characters that tears nothing.

    *Shape:* the whole text when it is short enough; '' when `chars_max` is 0 or less.
    """
    if len(text) <= chars_max:
        return text
    end = max(0, chars_max)
    floor = max(0, end - _CLUSTER_CHARS_MAX)
    for index in range(end, floor, -1):
        if is_boundary(text, index):
            return text[:index]
    return text[:end] if floor > 0 else ""


def shorten(text: str, chars_max: int) -> str:
    """Returns `text`, or its start and '…' when it is longer than `chars_max` characters.

    *Shape:* at most `chars_max` characters; no white space before the mark.
    """
    if len(text) <= chars_max:
        return text
    if chars_max < 1:
        return ""
    return cut(text, chars_max - 1).rstrip() + ELLIPSIS


def _extends(char: str) -> bool:
    # Emoji modifiers (skin tones) and tag characters extend what stands before them, like marks.
    return (
        unicodedata.category(char)[0] == "M"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or char in "\uff9e\uff9f"
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, index: int) -> int:
    count = 0
    while count < index and _is_flag_letter(text[index - 1 - count]):
        count += 1
    return count


def _is_virama(char: str) -> bool:
    return char > "\u0900" and unicodedata.combining(char) == 9


def _jamo_joins(before: str, after: str) -> bool:
    is_leading = "\u1100" <= before <= "\u115f"
    is_vowel_after = "\u1160" <= after <= "\u11a7"
    is_trailing_after = "\u11a8" <= after <= "\u11ff"
    if is_leading:
        return is_vowel_after or "\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3"
    if "\u1160" <= before <= "\u11a7" or "\uac00" <= before <= "\ud7a3":
        return is_vowel_after or is_trailing_after
    return "\u11a8" <= before <= "\u11ff" and is_trailing_after
