"""Search terms: what of a text goes into the full-text index, and what of a query asks for it.

The index has no notion of Chinese words or of identifiers, so both sides are cut here, alike.
Nothing a user types reaches the query language of FTS5. It ranks nothing and knows no table; its
weights are advice to the one who does. Any ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from remembrancer.core.text.pieces import Compound, Pictograph, Run, Token, known_pieces, pieces_of
from remembrancer.core.text.stems import stem
from remembrancer.core.text.stopwords import is_stop_word, stop_mask

FTS_TOKENIZER: Final = "unicode61 remove_diacritics 2"
"""The FTS5 tokenizer that every token passes unchanged. Source: SQLite FTS5 documentation."""

QUERY_TERMS_MAX: Final = 32
"""Terms of one query unless asked otherwise. Our choice: each costs one look-up in the index."""

QUERY_CHARS_MAX: Final = 4_000
"""Characters of a query that are read, half from its start and half from its end. Our choice."""

TermKind = Literal["word", "bigram", "unigram", "number", "code", "emoji"]
"""What a term is: the store chooses by kind and document frequency."""

_WEIGHT_FULL: Final = 1.0
_WEIGHT_EMOJI: Final = 0.8
_WEIGHT_STEM: Final = 0.6
_WEIGHT_UNIGRAM: Final = 0.3
_WEIGHT_PART: Final = 0.5
_WEIGHT_BORDER: Final = 0.4
_WEIGHT_STOP: Final = 0.2
_WEIGHT_SINGLE: Final = 0.1
_WEIGHT_STRONG_MIN: Final = 0.6

QUERIES_KEPT: Final = 64
"""Queries whose terms are kept for the next who asks for them. Our choice: those under way."""

_UNBINDABLE: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Term:
    """One search term.

    *Shape:* `text` one token of the index; `weight` over 0 and at most 1, how much it says.
    """

    text: str
    weight: float
    kind: TermKind


def index_terms(text: str) -> str:
    """Returns the tokens of `text` for the full-text index, joined by single spaces.

    Han, Kana, Hangul and other unspaced scripts give single characters and pairs; words their
    folded form and, if it differs, their stem; identifiers, numbers and addresses the whole and its
    parts (`getUserName` → getusername get user name; `C++` → cplusplus; `3.14` → 3p14 3 14);
    emoji their code points. A number or a letter beside a run also sticks to it (`3月`, `t恤`).
    *Shape:* '' for a text without any; each token 1…64 letters and digits.
    *Promise:* FTS5's tokenizer keeps each token as it is; never raises; linear time.
    """
    return " ".join(_index_tokens(text))


def query_terms(
    text: str, *, limit: int = QUERY_TERMS_MAX, with_singles: bool = False
) -> list[Term]:
    """Returns what to look for, the most telling first, without duplicates.

    Stop words go unless nothing else remains. A single Chinese character is asked for only where it
    stands alone, in the query or between stop words, and only when nothing stronger is there; pairs
    across a stop word's border weigh less. `with_singles` adds, last and lightest, every Chinese
    character outside stop words: for a caller who can afford the rows that the rare ones match.
    *Shape:* at most `limit` terms; empty for a text without letters, digits or emoji.
    *Promise:* never raises; deterministic; linear time.
    """
    if len(text) > QUERY_CHARS_MAX:
        half = QUERY_CHARS_MAX // 2
        text = text[:half] + " " + text[-half:]
    return list(_query_terms(text, limit, with_singles=with_singles))


# One recall asks for the terms of its message several times: for what it wants, what kind of
# question it is, whether it is thin, and what to quote.
@lru_cache(maxsize=QUERIES_KEPT)
def _query_terms(text: str, limit: int, *, with_singles: bool) -> tuple[Term, ...]:
    telling: list[Term] = []
    singles: list[Term] = []
    stops: list[Term] = []
    for piece in known_pieces(text):
        if isinstance(piece, Pictograph):
            telling.append(Term(piece.text, _WEIGHT_EMOJI, "emoji"))
        elif isinstance(piece, Compound):
            _add_compound(piece, telling, stops)
        else:
            _add_run(piece, telling, singles, stops)
            if with_singles:
                telling.extend(_every_single(piece))
    if not any(term.weight >= _WEIGHT_STRONG_MIN for term in telling):
        telling.extend(singles)
    return tuple(_strongest(telling or stops, limit))


def match_expression(terms: Sequence[str]) -> str:
    """Returns an FTS5 expression that finds rows with any of the terms, whatever they hold.

    Each becomes a quoted string, so no operator, column filter, star or quote of it is obeyed.
    *Shape:* `""`, which finds nothing, when there is none.
    *Source:* SQLite FTS5 documentation, section 3.1: a quote inside a string is doubled.
    """
    quoted = ('"' + _UNBINDABLE.sub("", term).replace('"', '""') + '"' for term in terms)
    return " OR ".join(dict.fromkeys(quoted)) or '""'


def _index_tokens(text: str) -> Iterator[str]:
    for piece in pieces_of(text):
        if isinstance(piece, Pictograph):
            yield piece.text
        elif isinstance(piece, Run):
            yield from piece.units
            yield from _pairs(piece)
            yield from piece.glued
        else:
            yield from dict.fromkeys(_with_stems(token.text for token in piece.tokens))


def _with_stems(tokens: Iterable[str]) -> Iterator[str]:
    for token in tokens:
        yield token
        yield stem(token)


def _pairs(run: Run) -> Iterator[str]:
    return (first + second for first, second in pairwise(run.units))


def _add_compound(piece: Compound, telling: list[Term], stops: list[Term]) -> None:
    for token in piece.tokens:
        if token.role in ("word", "part") and is_stop_word(token.text):
            if token is piece.tokens[0]:
                stops.append(Term(token.text, _WEIGHT_STOP, "word"))
            continue
        if len(token.text) == 1 and piece.tokens[0].role == "whole":
            continue
        weight = _WEIGHT_FULL if _is_whole(token, piece) else _WEIGHT_PART
        telling.append(Term(token.text, weight, _kind_of(token)))
        root = stem(token.text)
        if root != token.text:
            telling.append(Term(root, weight * _WEIGHT_STEM, "word"))


def _is_whole(token: Token, piece: Compound) -> bool:
    return len(token.text) > 1 and (token.role in ("word", "whole") or len(piece.tokens) == 1)


def _kind_of(token: Token) -> TermKind:
    if token.role == "number" or (token.role == "whole" and token.text[0].isdigit()):
        return "number"
    return "code" if token.role == "whole" else "word"


def _add_run(run: Run, telling: list[Term], singles: list[Term], stops: list[Term]) -> None:
    telling.extend(Term(token, _WEIGHT_FULL, "bigram") for token in run.glued)
    mask = _mask_of(run)
    if all(mask):
        stops.extend(Term(pair, _WEIGHT_STOP, "bigram") for pair in _pairs(run))
        if len(run.units) == 1:
            stops.append(Term(run.units[0], _WEIGHT_STOP, "unigram"))
        return
    for pair, masked in zip(_pairs(run), pairwise(mask), strict=True):
        if not all(masked):
            telling.append(Term(pair, _WEIGHT_BORDER if any(masked) else _WEIGHT_FULL, "bigram"))
    if len(run.units) == 1:
        if not run.is_touched:
            telling.append(Term(run.units[0], _WEIGHT_UNIGRAM, "unigram"))
        return
    framed = [True, *mask, True]
    singles.extend(
        Term(unit, _WEIGHT_UNIGRAM, "unigram")
        for index, unit in enumerate(run.units, start=1)
        if framed[index - 1] and not framed[index] and framed[index + 1]
    )


def _every_single(run: Run) -> Iterator[Term]:
    for unit, is_stop in zip(run.units, _mask_of(run), strict=True):
        if not is_stop:
            yield Term(unit, _WEIGHT_SINGLE, "unigram")


def _mask_of(run: Run) -> list[bool]:
    if any(len(unit) > 1 for unit in run.units):
        return [False] * len(run.units)
    return stop_mask("".join(run.units))


def _strongest(terms: list[Term], limit: int) -> list[Term]:
    best: dict[str, Term] = {}
    for term in terms:
        known = best.get(term.text)
        if known is None or known.weight < term.weight:
            best[term.text] = term
    # A stable sort: among equals, the earlier in the query comes first.
    return sorted(best.values(), key=lambda term: -term.weight)[: max(0, limit)]
