"""Takes a text apart into the pieces that searching knows: runs, words, pictographs.

A piece is what stands together in the text; which terms of it go into an index or a query is
decided in `segment`. Any ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from remembrancer.core.text.fold import fold, normalise
from remembrancer.core.text.scripts import classes_of, searchable

TOKEN_CHARS_MAX: Final = 64
"""Characters of one token, the rest is cut off. Our choice: longer ones are hashes and base64."""

JOINED_PARTS_MAX: Final = 6
"""Parts of a compound up to which it is also kept whole. Our choice: a version, a path, a name."""

KNOWN_WORDS: Final = 4_096
"""Words whose parts are kept, the last ones: texts are made of the same few. Our choice; 2 MB."""

KNOWN_CHARS_MAX: Final = 40
"""Characters of such a word. Our choice: what is longer hardly comes again."""

TEXTS_KEPT: Final = 32
"""Texts whose pieces are kept, the last ones. Our choice: the messages under way."""

Role = Literal["word", "whole", "part", "number"]
"""What a token is inside its piece: a plain word, a compound kept whole, a part of it, digits."""

_PIECE: Final = re.compile(
    r"(?P<run>(?:Hm*)+)"
    r"|(?P<flag>rr?)"
    r"|(?P<pictograph>e)"
    r"|(?P<compound>[ad][adm]*(?:(?::?//?|::|_+|[-.:@&'\\])[ad][adm]*)*(?:\+\+|#(?![ad]))?)"
)
_UNIT: Final = re.compile("Hm*")
_PART: Final = re.compile("[ad][adm]*")
_LETTERS_OR_DIGITS: Final = re.compile("a[am]*|d[dm]*")
_ASCII_SUBWORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_THOUSANDS: Final = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_BETWEEN_DIGITS: Final = {".": "p", ":": "c", "/": "s", "-": "d", "_": "u"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a compound, safe for the index.

    *Shape:* `text` 1…64 letters and digits, folded.
    """

    text: str
    role: Role


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a script without spaces.

    *Shape:* `units` one token a character with its marks; `glued` tokens that join an end of the
    run with the number or word that touches it, such as `3月` or `t恤`; `is_touched` whether there
    is such a neighbour.
    """

    units: tuple[str, ...]
    glued: tuple[str, ...]
    is_touched: bool


@dataclass(frozen=True, slots=True)
class Compound:
    """A word, number or identifier, with its parts.

    *Shape:* `tokens` without duplicates; the whole first.
    """

    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Pictograph:
    """An emoji or a flag, spelled as its code points (`u1f600`)."""

    text: str


Piece = Run | Compound | Pictograph


def pieces_of(text: str) -> Iterator[Piece]:
    """Yields the pieces of any text, in order; punctuation and space are dropped.

    *Promise:* linear time; never raises; equal for texts that differ in width or invisible
    characters only.
    """
    text = _THOUSANDS.sub("", normalise(text).replace("\u2019", "'"))
    classes = classes_of(text)
    found = list(_PIECE.finditer(classes))
    compounds = {
        match.start(): _compound_of(text[match.start() : match.end()], match.group())
        for match in found
        if match.lastgroup == "compound"
    }
    for index, match in enumerate(found):
        start, end = match.span()
        if match.lastgroup == "compound":
            yield compounds[start]
        elif match.lastgroup == "run":
            before = found[index - 1] if index else None
            left = compounds.get(before.start()) if before and before.end() == start else None
            yield _run(text[start:end], match.group(), left, compounds.get(end))
        else:
            yield Pictograph("".join(f"u{ord(char):x}" for char in text[start:end]))


@lru_cache(maxsize=TEXTS_KEPT)
def known_pieces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text that several ask for, such as a message: as `pieces_of`."""
    return tuple(pieces_of(text))


def _run(text: str, classes: str, left: Compound | None, right: Compound | None) -> Run:
    units = tuple(
        "".join(map(searchable, text[unit.start() : unit.end()]))
        for unit in _UNIT.finditer(classes)
    )
    glued: list[str] = []
    if left is not None and (left.tokens[-1].text.isdigit() or _glues(left.tokens[-1], units)):
        glued.append(_edge(left, -1) + units[0])
    # A number after a run counts what follows it (`年3月`), so only letters stick on this side.
    if right is not None and _glues(right.tokens[0], units):
        glued.append(units[-1] + _edge(right, 0))
    return Run(units, tuple(glued), left is not None or right is not None)


def _glues(token: Token, units: tuple[str, ...]) -> bool:
    return token.text[0].isalpha() and (len(units) == 1 or len(token.text) == 1)


def _edge(compound: Compound, index: int) -> str:
    whole = compound.tokens[0]
    return (whole if whole.role == "whole" else compound.tokens[index]).text


def _compound_of(text: str, classes: str) -> Compound:
    return (
        _known_compound(text, classes) if len(text) <= KNOWN_CHARS_MAX else _compound(text, classes)
    )


@lru_cache(maxsize=KNOWN_WORDS)
def _known_compound(text: str, classes: str) -> Compound:
    return _compound(text, classes)


def _compound(text: str, classes: str) -> Compound:
    suffix = ""
    if text.endswith("++"):
        text, classes, suffix = text[:-2], classes[:-2], "plusplus"
    elif text.endswith("#"):
        text, classes, suffix = text[:-1], classes[:-1], "sharp"
    spans = [part.span() for part in _PART.finditer(classes)]
    if spans[-1][1] - spans[-1][0] != 1 and suffix == "sharp":
        suffix = ""
    spans, is_contraction = _without_possessive(text, spans)
    parts = [text[start:end] for start, end in spans]
    folded = [_token(part) for part in parts]
    folded[-1] = (folded[-1] + suffix)[:TOKEN_CHARS_MAX]
    tokens: list[Token] = []
    if 1 < len(parts) <= JOINED_PARTS_MAX:
        joined = _joined(text, spans, folded)
        tokens.append(Token(joined, "word" if is_contraction else "whole"))
    for (start, end), part, token in zip(spans, parts, folded, strict=True):
        if is_contraction and len(part) == 1:
            continue
        subwords = _subwords(part, classes[start:end])
        tokens.append(Token(token, _role_of(token, is_split=bool(subwords), count=len(parts))))
        tokens.extend(
            Token(subword, "number" if subword.isdigit() else "part") for subword in subwords
        )
    return Compound(tuple(dict.fromkeys(tokens)))


def _role_of(token: str, *, is_split: bool, count: int) -> Role:
    if token.isdigit():
        return "number"
    if is_split:
        return "whole"
    return "word" if count == 1 else "part"


def _without_possessive(
    text: str, spans: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], bool]:
    has_apostrophe = any(text[after[0] - 1] == "'" for _, after in pairwise(spans))
    if len(spans) == 2 and has_apostrophe and text[spans[1][0] :] in ("s", "S"):
        return spans[:1], False
    return spans, has_apostrophe and max(end - start for start, end in spans) > 1


def _joined(text: str, spans: list[tuple[int, int]], folded: list[str]) -> str:
    joined = folded[0]
    for (before, after), token in zip(pairwise(spans), folded[1:], strict=True):
        # `3.14` must not become 314, nor a date a number; between letters nothing is lost.
        is_numeric = text[before[1] - 1].isdigit() and text[after[0]].isdigit()
        connector = text[before[1] : after[0]]
        joined += (_BETWEEN_DIGITS.get(connector, "x") if is_numeric else "") + token
    return joined[:TOKEN_CHARS_MAX]


def _subwords(part: str, classes: str) -> list[str]:
    """Returns the words of `getUserName2` but lone letters; nothing for a plain word."""
    if part.isascii():
        found = _ASCII_SUBWORD.findall(part)
    else:
        found = [part[run.start() : run.end()] for run in _LETTERS_OR_DIGITS.finditer(classes)]
    if len(found) < 2:
        return []
    return [_token(word) for word in found if len(word) > 1 or word.isdigit()]


def _token(word: str) -> str:
    if word.isascii():
        return word.lower()[:TOKEN_CHARS_MAX]
    return "".join(map(searchable, fold(word)))[:TOKEN_CHARS_MAX]
