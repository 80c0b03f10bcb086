"""What is brought up and what is not, and why: a ceiling is never a quota.

A search shows whatever may answer. Into a conversation goes only what is likely to: where one value
is asked for, what answers it rather than not. Scores are not decayed: age orders what is alike and
hides nothing. State, namespace and time of validity are filtered before ranking. Every ring may
import it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from remembrancer.core.recall.asks import Asks
from remembrancer.core.recall.fusion import Evidence, Fused

Gate = Literal["visible", "score_floor", "far_below_best", "not_needed", "over_limit"]
"""Why a candidate was dropped: it stands in the request already; it is not sure enough; another is
far surer; the message asks for work that takes nothing of it; enough were surer."""

SCORE_MIN: Final = 0.001
"""Score from which a search shows a candidate. Source: zh-recall's dev half, as
`scripts/bench_recall.py --tune` prints it: recall@5 is 0.980 up to five times as much, and 0.946 at
ten times; the rest is room for questions that are unlike those."""

SURE_MIN: Final = 2 / 3
"""How likely a fact has to answer a question for one value. Source: the least of ten floors at
which at most one in twenty of each kind of question without an answer brings anything up, on
zh-recall's dev half, cross-validated. Lower ones with weights fitted on more of the evidence gave
0.52 to 0.61 on that half, and 2 or 3 of 12 on the half that is only counted."""

TURN_SURE_MIN: Final = 0.3
"""The same for a turn of a conversation, whatever is asked. Source: LoCoMo's conversations 0 to 2,
cross-validated by conversation: 4 of 112 questions that nothing answers bring anything up."""

TOPIC_MIN: Final = 0.15
"""Score from which a fact is brought up for a message that waits for no single value: it is served
by all that bears on it. Our choice."""

SURE_SHARE_MIN: Final = 0.5
"""Share of the best score that what is brought up must have. Our choice: zh-recall's dev half is
the same from 0.3 to 0.8, where a second that passes the floor is nearly as sure as the first."""

WORK_WORDS_MIN: Final = 0.5
"""Share of a message's words that a memory holds which the work needs. Our choice: half of it."""

INJECTED_MAX: Final = 10
"""Candidates that are brought up at most. Source: the predecessor's default."""


class Judged(NamedTuple):
    """A candidate and the gate that dropped it. *Shape:* `gate` None: it is brought up."""

    fused: Fused
    gate: Gate | None


def judge(
    ranked: Sequence[Fused],
    *,
    asks: Asks | None = None,
    answers: Mapping[str, float] | None = None,
    visible: Collection[str] = (),
    limit: int = INJECTED_MAX,
) -> list[Judged]:
    """Return every candidate with its gate, in the order given.

    *Shape:* `ranked` the surest first; `asks` what the message waits for, None for a search;
    `answers` how likely each answers, by id, as `core.recall.answering` returns it; without it
    scores stand for it. `visible` ids that the reader has before them anyway: they do not count
    against the limit, and where they are by far the best, the others add nothing.
    """
    stands: list[tuple[Fused, bool, float]] = []
    best = {False: 0.0, True: 0.0}
    for one in ranked:
        is_turn = one.candidate.thread is not None
        strength = _strength(one, asks, answers, is_turn=is_turn)
        best[is_turn] = max(best[is_turn], strength)
        stands.append((one, is_turn, strength))
    floors = {is_turn: _floor(asks, is_turn=is_turn) for is_turn in best}
    judged: list[Judged] = []
    kept = 0
    for one, is_turn, strength in stands:
        gate: Gate | None = None
        if visible and one.candidate.id in visible:
            gate = "visible"
        elif strength < floors[is_turn]:
            gate = "score_floor"
        elif asks is not None:
            gate = _gate(one.evidence, asks, strength / (best[is_turn] or 1.0))
        if gate is None and kept >= limit:
            gate = "over_limit"
        kept += gate is None
        judged.append(Judged(one, gate))
    return judged


def _strength(
    one: Fused, asks: Asks | None, answers: Mapping[str, float] | None, *, is_turn: bool
) -> float:
    """Return what decides on a candidate: how likely it answers, or else what it shares."""
    is_topic = asks != "value" and not is_turn
    if asks is None or answers is None or is_topic:
        return one.score
    return answers.get(one.candidate.id, 0.0)


def _gate(found: Evidence, asks: Asks, share: float) -> Gate | None:
    if asks == "work" and not found.bearers and found.words < WORK_WORDS_MIN:
        return "not_needed"
    return "far_below_best" if share < SURE_SHARE_MIN else None


def _floor(asks: Asks | None, *, is_turn: bool) -> float:
    if asks is None:
        return SCORE_MIN
    if is_turn:
        return TURN_SURE_MIN
    return SURE_MIN if asks == "value" else TOPIC_MIN
