"""Slices: how a long message is cut, so that all of it is read and no batch grows by it.

A slice counts as one message of a batch; what a batch is made of is `app.jobs.reading`. Every ring
may import it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from remembrancer.core.text.graphemes import cut

SLICE_CHARS: Final = 900
"""Characters of a slice, at most. Source: the predecessor read as many of a message, and no more.
"""

_PARAGRAPH: Final = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE: Final = re.compile(r"[。！？!?…]+[\"”’」』）)]*\s*|[.;；][\"”’）)]*\s+|\n+")
_WORD: Final = re.compile(r"[，、,：:]\s*|\s+")
_ENDS: Final = (_PARAGRAPH, _SENTENCE, _WORD)
"""Where a slice ends best, then second and third best."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a text. *Shape:* `end` not included; of an empty text one, that is empty."""

    start: int
    end: int


def slices_of(text: str, start: int = 0, *, chars_max: int = SLICE_CHARS) -> list[Slice]:
    """Return the slices of a text from a place on, at least one.

    *Shape:* each ends behind a paragraph, else a sentence, else a word, else before the character
    that is too much. *Promise:* together they are the text; what follows a slice's end is cut in
    the same way when it is asked for alone; each has half of `chars_max`, but the last.
    """
    slices: list[Slice] = []
    while len(text) - start > chars_max:
        end = _end(text, start, chars_max)
        slices.append(Slice(start, end))
        start = end
    return [*slices, Slice(start, len(text))]


def _end(text: str, start: int, chars_max: int) -> int:
    # One character more: an end there is one that fits.
    low, high = start + (chars_max + 1) // 2, start + chars_max
    for pattern in _ENDS:
        ends = [found.end() for found in pattern.finditer(text, start, high + 1)]
        fitting = [end for end in ends if low <= end <= high]
        if fitting:
            return fitting[-1]
    return start + (len(cut(text[start : high + 1], chars_max)) or chars_max)
