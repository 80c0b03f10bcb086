"""A tiny stemmer for English inflection: plural, -ing, -ed.

It only has to bring the forms of one word together in an index that also keeps the whole word; a
stem need not be a word. Not for other languages, not for derivation. Any ring may import it.
"""

from __future__ import annotations

from typing import Final

STEM_CHARS_MIN: Final = 3
"""Characters that a stem keeps at least. Our choice: shorter ones join unrelated words."""

_VOWELS: Final = frozenset("aeiouy")
_KEEPS_DOUBLE: Final = frozenset("lsz")
_HISSING: Final = ("s", "x", "z", "ch", "sh")


def stem(word: str) -> str:
    """Returns the stem of a lower-case ASCII word; any other word as it is.

    Rules, in order: `ies`, `ied` → `y`; `es` after a hissing sound, `s` except after s, u, i →
    dropped; `eed` → `ee`; `ing`, `ed` after a vowel → dropped, a doubled last consonant (but l, s,
    z) halved; last a silent `e` dropped. `making`, `makes`, `make` → `mak`; `cities`, `city` →
    `city`; `running`, `runs` → `run`; `boxes`, `box` → `box`.
    """
    if len(word) <= STEM_CHARS_MIN or not (word.isascii() and word.isalpha()):
        return word
    return _without_e(_without_ending(_without_plural(word)))


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > STEM_CHARS_MIN + 1:
        return word[:-3] + "y"
    if word.endswith("es") and word[:-2].endswith(_HISSING):
        return word[:-2]
    if word.endswith("s") and word[-2] not in "sui":
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > STEM_CHARS_MIN + 1:
        return word[:-3] + "y"
    if word.endswith("eed") and len(word) > STEM_CHARS_MIN + 1:
        return word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= STEM_CHARS_MIN and not _VOWELS.isdisjoint(root):
            if root[-1] == root[-2] and root[-1] not in _VOWELS | _KEEPS_DOUBLE:
                return root[:-1]
            return root
    return word


def _without_e(word: str) -> str:
    if len(word) > STEM_CHARS_MIN and word[-1] == "e" and word[-2] not in _VOWELS:
        return word[:-1]
    return word
