"""From candidates to what is brought up: fused, gated, without repeats, in order; cold ones last.

Reading candidates, ranking again and rendering are elsewhere. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.recall.explain import Dropped
from remembrancer.core.recall.freshness import standing
from remembrancer.core.recall.fusion import Asked, Candidate, Evidence, fuse
from remembrancer.core.recall.gates import judge
from remembrancer.core.recall.repeats import Repeat, Shown
from remembrancer.core.text.fold import fold_key

LASTING: Final = frozenset({"identity", "persona", "rule", "boundary"})
"""Types that do not age. Source: those that retention never expires, and boundaries."""

COMPARED_MAX: Final = 40
"""Candidates, the surest, that are looked for in what is shown already. Our choice: four times what
is brought up."""


@dataclass(frozen=True, slots=True)
class Contender:
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
    what may answer, else only what is likely to; not `is_filtered` shows whatever was found.
    *Units:* `now_ms` milliseconds UTC.
    """

    now_ms: int
    floor: float = 0.0
    is_search: bool = False
    is_filtered: bool = True


@dataclass(frozen=True, slots=True)
class Selected:
    """A contender with its score, undecayed, and the gate that dropped it. *Units:* 0…1.

    *Shape:* `is_sure`: it may go into a conversation, not only into a list of matches.
    """

    contender: Contender
    score: float
    evidence: Evidence
    gate: Dropped | None
    is_sure: bool
    standing: float

    @property
    def id(self) -> str:
        """The item's id."""
        return self.contender.candidate.id


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
    by_id = {one.candidate.id: one for one in contenders}
    fused = fuse([one.candidate for one in contenders], asked)
    asks = None if bar.is_search else asked.query.asks
    # Comparing texts is dear, so only what would be brought up is compared.
    likely = [
        by_id[one.fused.candidate.id]
        for one in judge(fused, asks=asks, limit=COMPARED_MAX)
        if one.gate is None or (bar.is_search and one.gate == "far_below_best")
    ]
    visible = _repeats(likely, shown)
    judged = judge(fused, asks=asks, visible=visible.keys(), limit=len(fused))
    strict = judged
    if bar.is_search:
        strict = judge(fused, asks=asked.query.asks, visible=visible.keys(), limit=len(fused))
    selected: list[Selected] = []
    for one, sure in zip(judged, strict, strict=True):
        contender = by_id[one.fused.candidate.id]
        score = one.fused.score
        gate: Dropped | None = visible.get(contender.candidate.id, one.gate)
        if bar.is_search and gate == "far_below_best":
            gate = None  # a list of matches has room for what is less sure
        if gate is None and score < bar.floor:
            gate = "score_floor"
        is_sure = gate is None and sure.gate is None
        if not bar.is_filtered:
            gate = None
        stands = _standing(contender, score, bar.now_ms)
        selected.append(Selected(contender, score, one.fused.evidence, gate, is_sure, stands))
    # A stable sort: among equals, the order of fusing.
    return sorted(selected, key=lambda one: (one.gate is not None, -one.standing))


def _repeats(contenders: Sequence[Contender], shown: Shown) -> dict[str, Repeat]:
    """Return which contenders only repeat what is shown, or a surer contender."""
    repeats: dict[str, Repeat] = {}
    seen: set[str] = set()
    for one in contenders:
        key = fold_key(one.text)
        where: Repeat | None = "duplicate" if key in seen else None
        where = where or shown.holds(one.candidate.id, one.text, key)
        if where is None:
            seen.add(key)
        else:
            repeats[one.candidate.id] = where
    return repeats


def _standing(contender: Contender, score: float, now_ms: int) -> float:
    return standing(
        score,
        now_ms=now_ms,
        at_ms=contender.at_ms,
        recalled_at=contender.recalled_at,
        is_lasting=contender.is_pinned or contender.type in LASTING,
    )
