"""What is brought up: the sure, no filler, and a reason for each that is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.asks import Asks
from remembrancer.core.recall.fusion import Candidate, Evidence, Fused
from remembrancer.core.recall.gates import (
    INJECTED_MAX,
    SCORE_MIN,
    SURE_MIN,
    SURE_SHARE_MIN,
    TOPIC_MIN,
    TURN_SURE_MIN,
    WORK_WORDS_MIN,
    Gate,
    judge,
)


def ranked(*scores: float) -> list[Fused]:
    return [Fused(Candidate(f"m{place}"), score) for place, score in enumerate(scores)]


def gates(
    *scores: float, asks: Asks | None = None, visible: tuple[str, ...] = (), limit: int = 10
) -> list[Gate | None]:
    judged = judge(ranked(*scores), asks=asks, visible=visible, limit=limit)
    return [one.gate for one in judged]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param((), [], id="nothing"),
        pytest.param((SCORE_MIN,), [None], id="at-the-floor"),
        pytest.param((SCORE_MIN * 0.99,), ["score_floor"], id="below-the-floor"),
        pytest.param((0.9, SCORE_MIN), [None, None], id="far-below-the-best"),
    ],
)
def test_gate_names_why_a_candidate_is_dropped(
    scores: tuple[float, ...], expected: list[Gate | None]
) -> None:
    assert gates(*scores) == expected


def test_ceiling_cuts_and_is_no_quota() -> None:
    assert gates(0.9, 0.8, 0.7, limit=2) == [None, None, "over_limit"]
    assert gates(*[0.5] * (INJECTED_MAX + 1))[-1] == "over_limit"
    assert gates(SCORE_MIN / 2, SCORE_MIN / 3, limit=2) == ["score_floor", "score_floor"]


def test_visible_candidates_do_not_count_and_set_the_best() -> None:
    assert gates(0.9, 0.8, 0.7, visible=("m0",), limit=1) == ["visible", None, "over_limit"]
    assert gates(0.9, 0.4, visible=("m0",), asks="open") == ["visible", "far_below_best"]


@pytest.mark.parametrize(("asks", "floor"), [("value", SURE_MIN), ("open", TOPIC_MIN)])
def test_bringing_up_asks_for_more_than_a_search(asks: Asks, floor: float) -> None:
    assert gates(floor, asks=asks) == [None]
    assert gates(floor * 0.99, asks=asks) == ["score_floor"]
    assert gates(floor * 0.99) == [None]
    assert gates(1.0, SURE_SHARE_MIN * 0.99, asks=asks)[1] != gates(1.0, 1.0, asks=asks)[1]


def test_one_value_asks_for_more_than_a_topic() -> None:
    assert SURE_MIN > TOPIC_MIN > SCORE_MIN


def test_value_is_brought_up_by_what_answers_not_by_what_is_shared() -> None:
    alike, answer = ranked(0.9, 0.2)
    answers = {"m0": 0.1, "m1": 0.9}
    judged = judge([alike, answer], asks="value", answers=answers)
    assert [one.gate for one in judged] == ["score_floor", None]
    topic = judge([alike, answer], asks="open", answers=answers)
    assert [one.gate for one in topic] == [None, "far_below_best"]
    assert [one.gate for one in judge([alike, answer], answers=answers)] == [None, None]


def test_candidate_that_was_not_looked_at_answers_nothing() -> None:
    assert [one.gate for one in judge(ranked(0.9), asks="value", answers={})] == ["score_floor"]


def test_turns_and_facts_are_each_compared_with_the_best_of_their_kind() -> None:
    turn = Fused(Candidate("turn", thread="talk"), 0.1)
    answers = {"m0": 0.95, "turn": TURN_SURE_MIN}
    judged = judge([*ranked(0.9), turn], asks="value", answers=answers)
    assert [one.gate for one in judged] == [None, None]


def test_turn_has_a_floor_of_its_own() -> None:
    turn = Fused(Candidate("turn", thread="talk"), TURN_SURE_MIN)
    for asks in ("value", "open"):
        judged = judge([turn], asks=asks, answers={"turn": TURN_SURE_MIN})
        assert [one.gate for one in judged] == [None]
        judged = judge([turn], asks=asks, answers={"turn": TURN_SURE_MIN * 0.9})
        assert [one.gate for one in judged] == ["score_floor"]


@pytest.mark.parametrize(
    ("evidence", "gate"),
    [
        pytest.param(Evidence(meaning=0.9), "not_needed", id="alike"),
        pytest.param(Evidence(words=WORK_WORDS_MIN), None, id="worded"),
        pytest.param(Evidence(bearers=1), None, id="named"),
    ],
)
def test_work_takes_only_what_it_names(evidence: Evidence, gate: Gate | None) -> None:
    one = Fused(Candidate("m"), 0.99, evidence)
    assert [each.gate for each in judge([one], asks="work")] == [gate]


@given(st.lists(st.floats(0, 1)), st.integers(0, 12))
def test_judging_keeps_order_and_limit_and_the_best(scores: list[float], limit: int) -> None:
    given_ = ranked(*sorted(scores, reverse=True))
    judged = judge(given_, limit=limit)
    assert [one.fused for one in judged] == given_
    kept = [one for one in judged if one.gate is None]
    assert len(kept) <= limit
    assert all(one.fused.score >= SCORE_MIN for one in kept)
    assert kept == judged[: len(kept)]
