"""What a reader has before them already: a memory that only repeats it is not brought up again.

Sameness is that of folded texts, or of words where no number, date or negation differs; meaning
alone decides nothing. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from remembrancer.core.ids import is_id
from remembrancer.core.recall.condense import sentences
from remembrancer.core.search.likeness import Gist, compare, gist_of
from remembrancer.core.text.fold import fold_key

Repeat = Literal["visible", "in_digest", "in_precious", "duplicate"]
"""Where a memory stands already: in the request, the digest, a precious quote, or another hit."""

NEAR_MIN: Final = 0.8
"""Likeness from which a text without differences repeats another. Our choice: above
`ALIKE_MIN`, from which a person is asked."""

CONTAINED_CHARS_MIN: Final = 4
"""Folded characters of a memory that may stand between two signs of a text. Our choice: a shorter
one must be a sentence of it."""

# What somebody only asked is not said.
_ASKS: Final = re.compile(r"[?吗嗎呢]$")

_OVERLAP_MIN: Final = 0.6
"""Share of characters in common below which two texts are not compared word by word."""


@dataclass(slots=True)
class _Shown:
    """One text that is shown, folded; its gists are made when they are first needed."""

    where: Repeat
    key: str
    parts: Sequence[tuple[str, frozenset[str], str]]
    gists: dict[int, Gist] = field(default_factory=dict)


class Shown:
    """The texts that a reader sees anyway.

    *Shape:* `visible` texts or ids of the request.
    """

    def __init__(
        self, *, visible: Sequence[str] = (), digest: str = "", precious: Sequence[str] = ()
    ) -> None:
        self._ids = frozenset(visible)
        self._groups: Sequence[tuple[Repeat, Sequence[str]]] = (
            ("visible", [text for text in visible if not is_id(text, "itm")]),
            ("in_digest", [digest] if digest else []),
            ("in_precious", precious),
        )
        self._folded: Sequence[_Shown] | None = None

    @property
    def _texts(self) -> Sequence[_Shown]:
        # Folding a long conversation is dear, so it waits until there is something to compare.
        if self._folded is None:
            self._folded = [_shown(where, text) for where, texts in self._groups for text in texts]
        return self._folded

    def holds(self, id_: str, text: str, key: str) -> Repeat | None:
        """Return where a memory stands already, None when it is new to the reader.

        *Shape:* `key` the text's `fold_key`.
        """
        if id_ in self._ids:
            return "visible"
        if not key or not self._texts:
            return None
        chars = frozenset(key)
        gist: Gist | None = None
        for one in self._texts:
            if key == one.key or (len(key) >= CONTAINED_CHARS_MIN and _stands_in(key, one.key)):
                return one.where
            for index, (part_key, part_chars, part) in enumerate(one.parts):
                if part_key == key:
                    return one.where
                if _ASKS.search(part_key) or _overlap(chars, part_chars) < _OVERLAP_MIN:
                    continue
                gist = gist or gist_of(text)
                if index not in one.gists:
                    one.gists[index] = gist_of(part)
                if is_near(gist, one.gists[index]):
                    return one.where
        return None


def is_near(left: Gist, right: Gist) -> bool:
    """Tell whether two texts say the same in nearly the same words."""
    likeness = compare(left, right)
    return likeness.is_same or (likeness.score >= NEAR_MIN and not likeness.differences)


def _shown(where: Repeat, text: str) -> _Shown:
    parts = [(fold_key(part), part) for part in sentences(text)]
    return _Shown(
        where, fold_key(text), [(key, frozenset(key), part) for key, part in parts if key]
    )


def _stands_in(key: str, text: str) -> bool:
    """Tell whether a text holds the key by itself: “likes tea” is not said by “dislikes tea”."""
    at = text.find(key)
    while at >= 0:
        end = at + len(key)
        # “not allergic” holds “allergic” as a word, so what stands before must close something.
        before, after = text[:at].rstrip()[-1:], text[end : end + 1]
        if not before.isalnum() and not after.isalnum() and after != "?":
            return True
        at = text.find(key, at + 1)
    return False


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / max(len(left), len(right))
