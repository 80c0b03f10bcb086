"""What is brought up and what is not, and why: a ceiling is never a quota.

Scores are not decayed: age orders what is alike and hides nothing. State, namespace and time of
validity are filtered before ranking. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.core.recall.fusion import Fused

Gate = Literal["visible", "score_floor", "far_below_best", "over_limit"]
"""Why a candidate was dropped: it stands in the request already; it is not sure enough; another is
far surer; enough were surer."""

SCORE_MIN: Final = 0.01
"""Score from which a candidate may be brought up. Source: zh-recall's dev half, as
`scripts/bench_recall.py --tune` prints it: recall@5 is 0.950 at 0.005 and at 0.01, and 0.906 at
0.02."""

BEST_SHARE_MIN: Final = 0.1
"""Share of the best score that a candidate must have. Source: as above: recall@5 falls to 0.928,
and what is brought up from 7.3 to 3.1 on average."""

INJECTED_MAX: Final = 10
"""Candidates that are brought up at most. Source: the predecessor's default."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and the gate that dropped it. *Shape:* `gate` None: it is brought up."""

    fused: Fused
    gate: Gate | None


def judge(
    ranked: Sequence[Fused], *, visible: Collection[str] = (), limit: int = INJECTED_MAX
) -> list[Judged]:
    """Return every candidate with its gate, in the order given.

    *Shape:* `ranked` the surest first; `visible` ids that the reader has before them anyway, which
    neither count against the limit nor set what is best for the others.
    """
    best = next((one.score for one in ranked if one.candidate.id not in visible), 0.0)
    judged: list[Judged] = []
    kept = 0
    for one in ranked:
        gate = _gate(one, best=best, is_visible=one.candidate.id in visible)
        if gate is None and kept >= limit:
            gate = "over_limit"
        kept += gate is None
        judged.append(Judged(one, gate))
    return judged


def _gate(one: Fused, *, best: float, is_visible: bool) -> Gate | None:
    if is_visible:
        return "visible"
    if one.score < SCORE_MIN:
        return "score_floor"
    return "far_below_best" if one.score < BEST_SHARE_MIN * best else None
