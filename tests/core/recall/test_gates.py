"""What is brought up: the sure, no filler, and a reason for each that is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.fusion import Candidate, Fused
from remembrancer.core.recall.gates import (
    BEST_SHARE_MIN,
    INJECTED_MAX,
    SCORE_MIN,
    Gate,
    judge,
)


def ranked(*scores: float) -> list[Fused]:
    return [Fused(Candidate(f"m{place}"), score) for place, score in enumerate(scores)]


def gates(*scores: float, visible: tuple[str, ...] = (), limit: int = 10) -> list[Gate | None]:
    return [one.gate for one in judge(ranked(*scores), visible=visible, limit=limit)]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param((), [], id="nothing"),
        pytest.param((SCORE_MIN,), [None], id="at-the-floor"),
        pytest.param((SCORE_MIN * 0.99,), ["score_floor"], id="below-the-floor"),
        pytest.param((0.9, 0.9 * BEST_SHARE_MIN), [None, None], id="at-the-share"),
        pytest.param((0.9, 0.08), [None, "far_below_best"], id="far-below"),
        pytest.param((0.9, 0.001), [None, "score_floor"], id="floor-before-share"),
    ],
)
def test_gate_names_why_a_candidate_is_dropped(
    scores: tuple[float, ...], expected: list[Gate | None]
) -> None:
    assert gates(*scores) == expected


def test_ceiling_cuts_and_is_no_quota() -> None:
    assert gates(0.9, 0.8, 0.7, limit=2) == [None, None, "over_limit"]
    assert gates(*[0.5] * (INJECTED_MAX + 1))[-1] == "over_limit"
    assert gates(0.005, 0.004, limit=2) == ["score_floor", "score_floor"]


def test_visible_candidates_neither_count_nor_set_the_best() -> None:
    found = gates(0.99, 0.05, 0.04, visible=("m0",), limit=1)
    assert found == ["visible", None, "over_limit"]


@given(st.lists(st.floats(0, 1)), st.integers(0, 12))
def test_judging_keeps_order_and_limit_and_the_best(scores: list[float], limit: int) -> None:
    given_ = ranked(*sorted(scores, reverse=True))
    judged = judge(given_, limit=limit)
    assert [one.fused for one in judged] == given_
    kept = [one for one in judged if one.gate is None]
    assert len(kept) <= limit
    assert all(one.fused.score >= SCORE_MIN for one in kept)
    assert kept == judged[: len(kept)]
