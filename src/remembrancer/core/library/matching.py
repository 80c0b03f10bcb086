"""Finding glossary names in a text, literally: no stems, no likeness, no model.

Letters of scripts that put spaces between words must end where the name ends (`Go` is not in
`Google`); Chinese, Japanese, Korean and the like have no such ends. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from remembrancer.core.library.glossary import GlossaryEntry
from remembrancer.core.text.fold import fold
from remembrancer.core.text.scripts import DIGIT, LETTER, MARK, class_of

NAME_CHARS_MIN: Final = 2
"""Shortest name that is looked for. Source: the predecessor's rule."""

NAMES_REMEMBERED: Final = 16_384
"""Names whose folded form is remembered: all of a full glossary. Our choice."""

_JOINED: Final = frozenset({LETTER, DIGIT, MARK, "_"})


@dataclass(frozen=True, slots=True)
class GlossaryHit:
    """An entry that a text names. *Shape:* `name` as the entry writes it; `at` in the folded
    text, the first place."""

    entry: GlossaryEntry
    name: str
    at: int


def glossary_hits(text: str, entries: Sequence[GlossaryEntry]) -> list[GlossaryHit]:
    """Return the entries whose term or alias is in the text, in the order of the text.

    *Shape:* one hit an entry, by its earliest name, the longer one when two begin together; case
    and width make no difference. *Promise:* the same input gives the same hits.
    """
    folded = fold(text)
    hits = [hit for entry in entries if (hit := _first(folded, entry)) is not None]
    return sorted(hits, key=lambda hit: (hit.at, -len(hit.name), hit.entry.id))


def _first(folded: str, entry: GlossaryEntry) -> GlossaryHit | None:
    found: list[GlossaryHit] = []
    for name in (entry.term, *entry.aliases):
        at = _place(folded, _folded(name))
        if at is not None:
            found.append(GlossaryHit(entry, name, at))
    return min(found, key=lambda hit: (hit.at, -len(hit.name)), default=None)


@lru_cache(maxsize=NAMES_REMEMBERED)
def _folded(name: str) -> str:
    return fold(name)


def _place(folded: str, name: str) -> int | None:
    if len(name) < NAME_CHARS_MIN:
        return None
    at = folded.find(name)
    while at >= 0:
        end = at + len(name)
        if not _joins(folded[at - 1 : at], name[0]) and not _joins(name[-1], folded[end : end + 1]):
            return at
        at = folded.find(name, at + 1)
    return None


def _joins(left: str, right: str) -> bool:
    """Tell whether two neighbouring characters are of one word."""
    return bool(left and right) and class_of(left) in _JOINED and class_of(right) in _JOINED
