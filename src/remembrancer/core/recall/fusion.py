"""Joining what words found and what meaning found into one probability for each candidate.

No ranks are added up and no weight is fixed: how much a cosine says depends on what the row is.
It says a lot about a short fact and little about a turn of a conversation, while a share of words
says about the same of both. Gates are `core.recall.gates`. Every ring may import it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NEIGHBOUR_SHARE: Final = 0.15
"""Share of its words' score that a turn lends to the turn before and after it. Source: recall@10
on LoCoMo's conversations 0 to 2, as `--tune` prints it: 0.673 without, 0.679 with this, 0.674 with
twice as much."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How log-odds grow with what was found. *Shape:* the score is 1 ÷ (1 + e^-(sum))."""

    base: float
    words: float
    meaning: float

    def score(self, words: float, meaning: float) -> float:
        """Return the probability that a candidate answers. *Units:* 0…1."""
        odds = self.base + self.words * words + self.meaning * meaning
        return 1 / (1 + math.exp(-odds))


FACT: Final = Evidence(-8.5, 6.0, 19.3)
"""A fact, note or task. Source: logistic regression over the candidates of zh-recall's dev half,
cosines of `universal-sentence-encoder-multilingual-3`; `scripts/bench_recall.py --tune` prints it.
Another embedder has cosines of its own and needs its own numbers."""

TURN: Final = Evidence(-7.5, 5.5, 3.6)
"""A turn of a conversation. Source: the same, over LoCoMo's conversations 0 to 2."""

FACT_BY_WORDS: Final = Evidence(-5.2, 8.8, 0.0)
TURN_BY_WORDS: Final = Evidence(-6.4, 5.9, 0.0)
FACT_BY_MEANING: Final = Evidence(-8.4, 0.0, 22.2)
TURN_BY_MEANING: Final = Evidence(-8.6, 0.0, 10.4)
"""When only one side answered. Source: the same candidates, fitted with that side alone."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What either side found.

    *Shape:* `words` the share of the query's words, 0…1, and `meaning` the cosine, each None where
    that side did not find it; a turn names its conversation in `thread` and its `place` in it.
    """

    id: str
    words: float | None = None
    meaning: float | None = None
    thread: str | None = None
    place: int = 0


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate with how sure it is. *Units:* `score` 0…1, not decayed."""

    candidate: Candidate
    score: float


def fuse(candidates: Sequence[Candidate]) -> list[Fused]:
    """Return the candidates, the surest first; among equals in the order given.

    A side that found nothing at all is left out of the sum, so either side alone still ranks.
    *Shape:* one for each candidate; ids are distinct. *Promise:* a score grows with each side's
    evidence.
    """
    has_words = any(one.words is not None for one in candidates)
    has_meaning = any(one.meaning is not None for one in candidates)
    facts, turns = _evidence(has_words=has_words, has_meaning=has_meaning)
    fused = [
        Fused(one, (facts if one.thread is None else turns).score(words, meaning))
        for one, (words, meaning) in zip(candidates, measured(candidates), strict=True)
    ]
    return sorted(fused, key=lambda each: -each.score)


def measured(
    candidates: Sequence[Candidate], *, neighbour_share: float = NEIGHBOUR_SHARE
) -> list[tuple[float, float]]:
    """Return what counts for each candidate: its words, and its nearness in meaning.

    A turn gets a share of its neighbours' words. A candidate that meaning did not find is no nearer
    than the farthest that it found; none is farther than 0. *Shape:* words 0 and more, meaning
    0…1, in the order given.
    """
    farthest = min((one.meaning for one in candidates if one.meaning is not None), default=0.0)
    lent = _lent(candidates, neighbour_share)
    return [
        (
            (one.words or 0.0) + lent.get(one.id, 0.0),
            max(0.0, farthest if one.meaning is None else one.meaning),
        )
        for one in candidates
    ]


def _evidence(*, has_words: bool, has_meaning: bool) -> tuple[Evidence, Evidence]:
    if not has_meaning:
        return FACT_BY_WORDS, TURN_BY_WORDS
    return (FACT, TURN) if has_words else (FACT_BY_MEANING, TURN_BY_MEANING)


def _lent(candidates: Sequence[Candidate], share: float) -> dict[str, float]:
    """Return what turns get from their neighbours, by id."""
    words = {
        (one.thread, one.place): one.words
        for one in candidates
        if one.thread is not None and one.words is not None
    }
    return {
        one.id: share * sum(words.get((one.thread, one.place + step), 0.0) for step in (-1, 1))
        for one in candidates
        if one.thread is not None
    }
