"""How sure it is that a candidate answers what is asked: for what is brought up by itself.

`core.recall.fusion` ranks by what is shared; this looks closer at the best of them, with the odds
of `core.recall.bearing`. A search needs none of it. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.recall.bearing import (
    FACT_ANSWERS,
    FACT_ANSWERS_BY_WORDS,
    TURN_ANSWERS,
    TURN_ANSWERS_BY_WORDS,
    Bearing,
    Piece,
    asked_tokens,
    covered,
    pieces_asked,
    stated_tokens,
)
from remembrancer.core.recall.fusion import Asked, Candidate, Fused
from remembrancer.core.recall.persons import (
    introductions,
    is_of_another,
    persons_of,
    said_of,
    speaker_of,
)
from remembrancer.core.text.segment import index_terms

LOOKED_AT: Final = 20
"""Candidates, the best, that are looked at: twice what is brought up. Our choice."""

LIKELY_MIN: Final = 0.01
"""Score of those at least: what shares less answers nothing. Source: zh-recall's dev half and
LoCoMo's conversations 0 to 2, where nothing below 0.034 passes the floors of `core.recall.gates`;
three of four that are among the best are below this."""

IDENTIFIER_CHARS: Final = 4
"""Characters from which a number or an identifier of the message has to be there whole: `5G` may
stand for another thing, `MD-021` not for `MD-012`. Our choice."""


def answering(ranked: Sequence[Fused], asked: Asked) -> dict[str, float]:
    """Return for each of the best candidates how likely it answers, by id. *Units:* 0…1.

    *Shape:* left out are those behind the first `LOOKED_AT` and below `LIKELY_MIN`, and facts
    unless the message waits for one value. *Promise:* 0 for a fact that lacks a number or an
    identifier of the message; a fact whose vector is not there yet is judged by its words.
    """
    is_value = asked.query.asks == "value"
    best = [
        one
        for one in ranked[:LOOKED_AT]
        if one.score >= LIKELY_MIN and (is_value or one.candidate.thread is not None)
    ]
    has_meaning = any(one.candidate.meaning is not None for one in ranked)
    turns = TURN_ANSWERS if has_meaning else TURN_ANSWERS_BY_WORDS
    found: dict[str, float] = {}
    for one, bearing in zip(best, bearings(best, ranked, asked), strict=True):
        candidate = one.candidate
        if candidate.thread is not None:
            found[candidate.id] = turns.score(bearing)
        elif lacks_identifier(candidate, asked):
            found[candidate.id] = 0.0
        else:
            facts = FACT_ANSWERS if candidate.meaning is not None else FACT_ANSWERS_BY_WORDS
            found[candidate.id] = facts.score(bearing)
    return found


def bearings(best: Sequence[Fused], ranked: Sequence[Fused], asked: Asked) -> list[Bearing]:
    """Return how each of the best bears on what is asked, in the order given.

    *Shape:* `ranked` all candidates, in which the turns around one are looked for.
    """
    candidates = [one.candidate for one in ranked]
    speakers = {speaker_of(one.text) for one in candidates if one.thread is not None}
    names = frozenset(index_terms(" ".join(speakers)).split())
    pieces = pieces_asked(asked.query.words, asked.words)
    of_turns = pieces_asked(asked.query.words, asked.words, names=names) if names else pieces
    before = {(one.thread, one.place + 1): one for one in candidates if one.thread is not None}
    has_facts = any(one.candidate.thread is None for one in best)
    others = _Persons(candidates if has_facts else (), asked)
    found: list[Bearing] = []
    for one in best:
        candidate = one.candidate
        if candidate.thread is None:
            coverage = covered(pieces, _stated(candidate), candidate.text)
            of_other = others.is_other(candidate)
            found.append(Bearing(coverage, one.evidence.meaning, of_other=of_other))
        else:
            earlier = before.get((candidate.thread, candidate.place))
            found.append(_turn(one, earlier, of_turns))
    return found


class _Persons:
    """Whom the message asks about, and which facts are about others."""

    def __init__(self, candidates: Sequence[Candidate], asked: Asked) -> None:
        facts = [one for one in candidates if one.thread is None]
        words = asked.query.words
        # Who introduces a name of the message holds it.
        known: Mapping[str, str] = introductions(one.text for one in facts if one.held)
        self._asked = persons_of(words, known)
        self._known = introductions(one.text for one in facts) if self._asked else known

    def is_other(self, one: Candidate) -> bool:
        return is_of_another(self._asked, one.text, one.fact_key, self._known)


def _turn(one: Fused, before: Candidate | None, pieces: Sequence[Piece]) -> Bearing:
    candidate = one.candidate
    asked_before = told_by_other = 0.0
    if before is not None:
        asked_before = _share(pieces, before, asked_tokens(before.text, before.held))
        if speaker_of(before.text) != speaker_of(candidate.text):
            told_by_other = _share(pieces, before, _stated(before))
    return Bearing(
        covered(pieces, _stated(candidate), candidate.text),
        one.evidence.meaning,
        asked_before,
        told_by_other,
        one.evidence.of_other,
    )


def _share(pieces: Sequence[Piece], one: Candidate, tokens: frozenset[str]) -> float:
    return covered(pieces, tokens, one.text).stated if tokens else 0.0


def _stated(one: Candidate) -> frozenset[str]:
    return stated_tokens(said_of(one.text) if one.thread is not None else one.text, one.held)


def lacks_identifier(one: Candidate, asked: Asked) -> bool:
    """Tell whether a fact lacks a number or an identifier that the message says."""
    return any(
        word.wanted.is_exact
        and len(word.wanted.forms[0]) >= IDENTIFIER_CHARS
        and one.held.isdisjoint(word.wanted.forms)
        for word in asked.words
    )
