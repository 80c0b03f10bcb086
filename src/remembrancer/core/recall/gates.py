"""What is brought up and what is not, and why: a ceiling is never a quota.

A search shows whatever may answer. Into a conversation goes only what is likely to: where one value
is asked for, what answers it rather than not. Scores are not decayed: age orders what is alike and
hides nothing. State, namespace and time of validity are filtered before ranking. Every ring may
import it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from remembrancer.core.recall.asks import Asks
from remembrancer.core.recall.fusion import Fused

Gate = Literal["visible", "score_floor", "far_below_best", "not_needed", "over_limit"]
"""Why a candidate was dropped: it stands in the request already; it is not sure enough; another is
far surer; the message asks for work that takes nothing of it; enough were surer."""

SCORE_MIN: Final = 0.001
"""Score from which a search shows a candidate. Source: zh-recall's dev half, as
`scripts/bench_recall.py --tune` prints it: recall@5 is 0.980 up to five times as much, and 0.946 at
ten times; the rest is room for questions that are unlike those."""

SURE_MIN: Final[Mapping[Asks, float]] = {"value": 0.4, "work": 0.15, "open": 0.15}
"""Score from which a fact is brought up by itself. Source: zh-recall's dev half, as above: of its
unanswerable questions, and of the others without their answers, 2 of 78 bring up anything at 0.4,
and 7 at 0.3. What waits for no single value is served by all that bears on it: our choice."""

TURN_SURE_MIN: Final = 0.05
"""The same for a turn of a conversation. Source: LoCoMo's conversations 0 to 2: two turns pass at
this, a quarter of the answers among them, and for two in five questions that nothing answers as
they are asked. Those name the wrong speaker, which no share of words tells: only silence would."""

SURE_SHARE_MIN: Final = 0.5
"""Share of the best score that what is brought up must have. Our choice: zh-recall's dev half is
the same from 0.3 to 0.8, where a second that passes the floor is nearly as sure as the first."""

WORK_WORDS_MIN: Final = 0.5
"""Share of a message's words that a memory holds which the work needs. Our choice: half of it."""

INJECTED_MAX: Final = 10
"""Candidates that are brought up at most. Source: the predecessor's default."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and the gate that dropped it. *Shape:* `gate` None: it is brought up."""

    fused: Fused
    gate: Gate | None


def judge(
    ranked: Sequence[Fused],
    *,
    asks: Asks | None = None,
    visible: Collection[str] = (),
    limit: int = INJECTED_MAX,
) -> list[Judged]:
    """Return every candidate with its gate, in the order given.

    *Shape:* `ranked` the surest first; `asks` what the message waits for, None for a search;
    `visible` ids that the reader has before them anyway: they do not count against the limit, and
    where they are by far the best, the others add nothing.
    """
    best = ranked[0].score if ranked else 0.0
    judged: list[Judged] = []
    kept = 0
    for one in ranked:
        gate = _gate(one, asks, best=best, is_visible=one.candidate.id in visible)
        if gate is None and kept >= limit:
            gate = "over_limit"
        kept += gate is None
        judged.append(Judged(one, gate))
    return judged


def _gate(one: Fused, asks: Asks | None, *, best: float, is_visible: bool) -> Gate | None:
    if is_visible:
        return "visible"
    if one.score < _floor(one, asks):
        return "score_floor"
    if asks == "work" and not one.evidence.bearers and one.evidence.words < WORK_WORDS_MIN:
        return "not_needed"
    is_far = asks is not None and one.score < SURE_SHARE_MIN * best
    return "far_below_best" if is_far else None


def _floor(one: Fused, asks: Asks | None) -> float:
    if asks is None:
        return SCORE_MIN
    return SURE_MIN[asks] if one.candidate.thread is None else TURN_SURE_MIN
