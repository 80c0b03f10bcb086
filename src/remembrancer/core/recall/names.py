"""Names that a message says outright: the tags of an item, and the last part of its key.

`k8s` in a message names the memory that is tagged `k8s`, however long the message is and whatever
else it speaks of. A name that many items bear says nothing of any one of them, which is for
`core.recall.fusion` to weigh. Glossary terms are `core.library`. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from remembrancer.core.text.fold import normalise
from remembrancer.core.text.pieces import Compound, Run, known_pieces
from remembrancer.core.text.scripts import CLASS_CACHE_ENTRIES
from remembrancer.core.text.stems import stem
from remembrancer.core.text.variants import simplified

NAME_CHARS_MIN: Final = 2
"""Characters of a name at least. Source: the least that glossary terms are matched by."""

_FIRST_HAN: Final = "\u3400"
_LAST_HAN: Final = "\u9fff"

_KEY_JOINTS: Final = re.compile(r"[:_\-./]+")


SPOKEN_KEPT: Final = 128
"""Texts taken apart, the last ones: a message is asked about several times, a tag by each of its
items. Our choice."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as names are looked for in it. *Shape:* `words` stems of whole words, in order; `runs`
    of Chinese, simplified."""

    words: tuple[str, ...]
    runs: tuple[str, ...]


@lru_cache(maxsize=SPOKEN_KEPT)
def spoken(text: str) -> Spoken:
    """Return the whole words of a text: `ReactJS` is one word, and none of its parts is."""
    words: list[str] = []
    runs: list[str] = []
    for piece in known_pieces(text):
        if isinstance(piece, Run):
            runs.append(simplified("".join(piece.units)))
        elif isinstance(piece, Compound):
            words.append(stem(piece.tokens[0].text))
    return Spoken(tuple(words), tuple(runs))


def names_of(tags: Sequence[str], fact_key: str | None) -> tuple[str, ...]:
    """Return what an item is called by: its tags, and the last part of its key in words."""
    if not fact_key:
        return tuple(dict.fromkeys(tags)) if tags else ()
    name = key_words(fact_key.rpartition(":")[2])
    return tuple(dict.fromkeys([*tags, name] if name else tags))


def key_words(fact_key: str) -> str:
    """Return the words of a key: `profile:blood_type` → `profile blood type`."""
    return _KEY_JOINTS.sub(" ", fact_key).strip()


def said_names(names: Iterable[str], message: Spoken) -> set[str]:
    """Return which names a message says. *Promise:* most are told by their first letter."""
    starts = {word[0] for word in message.words}.union(*message.runs)
    return {name for name in names if _may_start(name, starts) and is_said(spoken(name), message)}


def _may_start(name: str, starts: Set[str]) -> bool:
    first = _folded_first(name[:1])
    # Signs and accents are dropped from words, and other scripts fold in ways of their own, so
    # what begins with neither a Latin letter, a digit nor a Han character is looked at whole.
    is_plain = first.isalnum() and (first.isascii() or _FIRST_HAN <= first <= _LAST_HAN)
    return first in starts or not is_plain


@lru_cache(maxsize=CLASS_CACHE_ENTRIES)
def _folded_first(char: str) -> str:
    return simplified(normalise(char).casefold())[:1]


def is_said(name: Spoken, message: Spoken) -> bool:
    """Tell whether a message says a whole name, in any order of its words.

    *Promise:* a name that is shorter than `NAME_CHARS_MIN` is never said.
    """
    if sum(map(len, [*name.words, *name.runs])) < NAME_CHARS_MIN:
        return False
    said = set(message.words)
    return all(word in said for word in name.words) and all(
        any(run in other for other in message.runs) for run in name.runs
    )
