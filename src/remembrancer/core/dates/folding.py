"""Folding of a date phrase: one form to match against, with the way back to what was typed.

Full-width forms become plain, letters lower-case, traditional characters simplified (only those
that occur in dates), blanks single and none beside Chinese. Not the folding of storage and
filters, which is `core.text`. Imported by the other modules of `core.dates`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

_SIMPLIFIED: Final = str.maketrans(
    "後號點週禮個兩鐘鍾時間內過從現這裡裏開結節氣淩隔際終記",
    "后号点周礼个两钟钟时间内过从现这里里开结节气凌隔际终记",
)
_PLAIN: Final = str.maketrans(
    {"’": "'", "‘": "'", "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "。": ".", "、": ","}
)
_HAN_START, _HAN_END = "\u3400", "\u9fff"


def is_han(char: str) -> bool:
    """Whether `char` is a Chinese character (〇 included)."""
    return _HAN_START <= char <= _HAN_END or char == "〇"


@dataclass(frozen=True, slots=True)
class Folded:
    """A text ready for matching.

    *Shape:* `text` is matched against; `shown` is the same, character for character, before
    traditional became simplified; `origin[i]` is where character i stood in `source`.
    """

    source: str
    text: str
    shown: str
    origin: tuple[int, ...]

    def typed(self, start: int, end: int) -> str:
        """Return what was typed for the characters from `start` to before `end`."""
        return self.source[self.origin[start] : self.origin[end - 1] + 1]


def fold(source: str) -> Folded:
    """Return `source` folded for matching. *Promise:* linear in its length, never fails."""
    chars: list[str] = []
    origin: list[int] = []
    for index, typed in enumerate(source):
        for char in unicodedata.normalize("NFKC", typed).lower().translate(_PLAIN):
            if char.isspace():
                if not chars or chars[-1] == " " or is_han(chars[-1]):
                    continue
                char = " "
            elif unicodedata.category(char) in ("Cf", "Mn"):
                continue
            elif is_han(char) and chars and chars[-1] == " ":
                chars.pop()
                origin.pop()
            chars.append(char)
            origin.append(index)
    if chars and chars[-1] == " ":
        chars.pop()
        origin.pop()
    shown = "".join(chars)
    return Folded(source, shown.translate(_SIMPLIFIED), shown, tuple(origin))
