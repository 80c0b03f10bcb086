"""From candidates to what is brought up: fused, gated, without repeats, in order; cold ones last.

Reading candidates, ranking again and rendering are elsewhere. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from remembrancer.core.recall.answering import answering
from remembrancer.core.recall.explain import Dropped, Layer
from remembrancer.core.recall.freshness import standing
from remembrancer.core.recall.fusion import Asked, Candidate, Evidence, fuse
from remembrancer.core.recall.gates import judge
from remembrancer.core.recall.repeats import Repeat, Shown
from remembrancer.core.text.fold import fold_key

LASTING: Final = frozenset({"identity", "persona", "rule", "boundary"})
"""Types that do not age. Source: those that retention never expires, and boundaries."""

COMPARED_MAX: Final = 40
"""Candidates that are compared with what is shown already, unless told. Our choice: four times what
is brought up."""


class Contender(NamedTuple):
    """A candidate with what deciding on it needs.

    *Shape:* `text` all that it says. *Units:* times in milliseconds UTC.
    """

    candidate: Candidate
    text: str
    type: str
    at_ms: int
    recalled_at: int | None = None
    is_pinned: bool = False
    is_cold: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """How sure a candidate has to be.

    *Shape:* `floor` 0…1, the least score that is wanted beside the own gates; `is_search` shows
    what may answer, else only what is likely to; not `is_filtered` shows whatever was found;
    `wanted` how many, the first, are compared with what is shown already.
    *Units:* `now_ms` milliseconds UTC.
    """

    now_ms: int
    floor: float = 0.0
    is_search: bool = False
    is_filtered: bool = True
    wanted: int = COMPARED_MAX


class Selected(NamedTuple):
    """A contender with its score, undecayed, and the gate that dropped it. *Units:* 0…1.

    *Shape:* `is_sure`: it may go into a conversation, not only into a list of matches; `answers`
    how likely it answers, None where that was not looked at.
    """

    contender: Contender
    score: float
    evidence: Evidence
    gate: Dropped | None
    is_sure: bool
    standing: float
    answers: float | None = None

    @property
    def id(self) -> str:
        """The item's id."""
        return self.contender.candidate.id

    @property
    def layer(self) -> Layer:
        """Where it was found."""
        return "cold" if self.contender.is_cold else "active"


def select(contenders: Sequence[Contender], asked: Asked, shown: Shown, bar: Bar) -> list[Selected]:
    """Return every contender with its gate: those brought up first, by standing, then the others.

    What is cold is only looked at when nothing else is left. *Promise:* age and a recent recall
    change the order alone.
    """
    current = _sifted([one for one in contenders if not one.is_cold], asked, shown, bar)
    if any(one.gate is None for one in current):
        return current
    cold = _sifted([one for one in contenders if one.is_cold], asked, shown, bar)
    return [*cold, *current]


def _sifted(
    contenders: Sequence[Contender], asked: Asked, shown: Shown, bar: Bar
) -> list[Selected]:
    if not contenders:
        return []  # what the query asks for needs not be looked at
    by_id = {one.candidate.id: one for one in contenders}
    fused = fuse([one.candidate for one in contenders], asked)
    answers = answering(fused, asked)
    strict = judge(fused, asks=asked.query.asks, answers=answers, limit=len(fused))
    judged = judge(fused, limit=len(fused)) if bar.is_search else strict
    selected: list[Selected] = []
    for one, sure in zip(judged, strict, strict=True):
        candidate, score, evidence = one.fused
        contender = by_id[candidate.id]
        gate: Dropped | None = one.gate
        if bar.is_search and gate == "far_below_best":
            gate = None  # a list of matches has room for what is less sure
        if gate is None and score < bar.floor:
            gate = "score_floor"
        is_sure = gate is None and sure.gate is None
        if not bar.is_filtered:
            gate = None
        stands = _standing(contender, score, bar.now_ms)
        likely = answers.get(candidate.id)
        selected.append(Selected(contender, score, evidence, gate, is_sure, stands, likely))
    # A stable sort: among equals, the order of fusing.
    selected.sort(key=lambda one: (one.gate is not None, -one.standing))
    return _without_repeats(selected, shown, bar)


def _without_repeats(ordered: Sequence[Selected], shown: Shown, bar: Bar) -> list[Selected]:
    """Drop what only repeats what is shown, or an earlier one, until enough are left.

    Comparing texts is dear; those behind are not wanted anyway.
    """
    kept: list[Selected] = []
    dropped: list[Selected] = []
    seen: set[str] = set()
    for one in ordered:
        where: Repeat | None = None
        if one.gate is None and len(kept) < bar.wanted:
            where = _repeat(one.contender, shown, seen)
        if where is None:
            (kept if one.gate is None else dropped).append(one)
        elif bar.is_filtered:
            dropped.append(one._replace(gate=where, is_sure=False))
        else:
            kept.append(one._replace(is_sure=False))
    return [*kept, *dropped]


def _repeat(one: Contender, shown: Shown, seen: set[str]) -> Repeat | None:
    """Return what a contender repeats, and note its text among those seen."""
    key = fold_key(one.text)
    if key in seen:
        return "duplicate"
    where = shown.holds(one.candidate.id, one.text, key)
    if where is None:
        seen.add(key)
    return where


def _standing(contender: Contender, score: float, now_ms: int) -> float:
    return standing(
        score,
        now_ms=now_ms,
        at_ms=contender.at_ms,
        recalled_at=contender.recalled_at,
        is_lasting=contender.is_pinned or contender.type in LASTING,
    )
