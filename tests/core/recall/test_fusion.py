"""Evidence of words and meaning, joined: what leads, what is lent, what one side alone does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.evidence import forms_of, wanted_of
from remembrancer.core.recall.fusion import (
    FACT,
    NAMED,
    NEIGHBOUR_SHARE,
    TURN,
    Asked,
    Candidate,
    Evidence,
    asked_of,
    fuse,
    measured,
)
from remembrancer.core.recall.query import build_query

SHARES = st.floats(0, 1)
COSINES = st.floats(-1, 1)


def order(*candidates: Candidate) -> list[str]:
    return [one.candidate.id for one in fuse(candidates)]


def score_of(id_: str, *candidates: Candidate) -> float:
    return next(one.score for one in fuse(candidates) if one.candidate.id == id_)


@pytest.mark.parametrize(
    ("thread", "first"),
    [pytest.param(None, "near", id="fact"), pytest.param("talk", "said", id="turn")],
)
def test_meaning_leads_on_facts_and_words_on_turns(thread: str | None, first: str) -> None:
    near = Candidate("near", 0.2, 0.6, thread, 0)
    said = Candidate("said", 0.4, 0.3, thread, 9)
    assert order(said, near)[0] == first


@pytest.mark.parametrize("thread", [None, "talk"])
def test_candidate_of_both_sides_is_surer_than_of_either(thread: str | None) -> None:
    both = Candidate("both", 0.5, 0.5, thread, 0)
    words = Candidate("words", 0.5, None, thread, 5)
    meaning = Candidate("meaning", None, 0.5, thread, 9)
    far = Candidate("far", None, 0.1, thread, 20)
    assert order(far, words, meaning, both)[0] == "both"
    assert order(far, words, meaning, both)[-1] == "far"


@pytest.mark.parametrize("side", ["words", "meaning"])
def test_one_side_alone_keeps_its_own_order_and_still_is_sure(side: str) -> None:
    values = (0.9, 0.5, 0.1)
    is_words = side == "words"
    candidates = [
        Candidate(str(value), value if is_words else None, None if is_words else value)
        for value in values
    ]
    fused = fuse(candidates)
    assert [one.candidate.id for one in fused] == ["0.9", "0.5", "0.1"]
    assert fused[0].score > 0.5
    assert fused[2].score < 0.1


def test_candidate_that_meaning_missed_is_no_nearer_than_its_farthest() -> None:
    others = (Candidate("a", 0.0, 0.8), Candidate("b", 0.0, 0.3))
    missed = score_of("x", *others, Candidate("x", 0.5))
    assert missed == score_of("x", *others, Candidate("x", 0.5, 0.3))


def test_opposite_meaning_counts_as_none() -> None:
    low = Candidate("low", 0.2, -0.9)
    assert score_of("low", low, Candidate("none", 0.2, 0.0)) == FACT.score(Evidence(0.2))


def test_turn_gets_some_of_what_its_neighbours_said() -> None:
    asked = Candidate("asked", 0.8, 0.2, "talk", 4)
    answer = Candidate("answer", None, 0.2, "talk", 5)
    elsewhere = Candidate("elsewhere", None, 0.2, "other", 5)
    apart = Candidate("apart", None, 0.2, "talk", 7)
    fact = Candidate("fact", None, 0.2)
    candidates = (elsewhere, apart, answer, asked)
    assert order(*candidates) == ["asked", "answer", "apart", "elsewhere"]
    found = {one.id: found for one, found in zip(candidates, measured(candidates), strict=True)}
    assert found["answer"].words == pytest.approx(NEIGHBOUR_SHARE * 0.8)
    assert found["apart"].words == found["elsewhere"].words == 0
    assert score_of("answer", *candidates) == TURN.score(found["answer"])
    assert score_of("fact", fact, asked) == FACT.score(Evidence(0.0, 0.2))


def test_turn_of_a_conversation_on_the_topic_is_surer_than_the_same_elsewhere() -> None:
    topic = [Candidate(f"t{place}", 0.6, 0.3, "talk", place * 3) for place in range(3)]
    inside = Candidate("inside", 0.2, 0.2, "talk", 20)
    outside = Candidate("outside", 0.2, 0.2, "other", 20)
    assert score_of("inside", *topic, inside, outside) > score_of(
        "outside", *topic, inside, outside
    )


def asking(message: str, **documents: int) -> Asked:
    query = build_query(message)
    assert query is not None
    return asked_of(query, documents)


def holding(id_: str, message: str, text: str, *names: str) -> Candidate:
    """A candidate that holds those of the message's tokens that its text has."""
    held = {form for form in forms_of(wanted_of(message)) if form in text}
    return Candidate(id_, held=frozenset(held), meaning=0.3, names=names)


def test_number_of_the_message_that_is_missing_speaks_against_a_candidate() -> None:
    message = "MD-017 的 BPM 是多少"
    asked = asking(message, md017=1, md=2, bpm=2)
    right = holding("right", message, "md017 md 017 bpm 104")
    wrong = holding("wrong", message, "md012 md 012 bpm 92")
    assert [one.candidate.id for one in fuse([wrong, right], asked)] == ["right", "wrong"]
    found = measured([wrong, right], asked)
    assert [one.lacks_exact for one in found] == [True, False]


def test_number_of_what_was_said_before_is_not_asked_for() -> None:
    query = build_query("哪天取", ["9月19号那双 EU40 的岩鞋"])
    assert query is not None
    found = measured([Candidate("x", meaning=0.3)], asked_of(query, {}))
    assert query.is_widened
    assert not found[0].lacks_exact
    alone = build_query("EU40 的岩鞋哪天取")
    assert alone is not None
    assert measured([Candidate("x", meaning=0.3)], asked_of(alone, {}))[0].lacks_exact


def test_what_others_hold_and_a_candidate_lacks_speaks_against_it() -> None:
    message = "小邱生日"
    known = measured([holding("x", message, "生日")], asking(message, 小邱=1, 生日=3))
    unknown = measured([holding("x", message, "生日")], asking(message, 生日=3))
    assert known[0].elsewhere > unknown[0].elsewhere == 0


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        pytest.param("k8s 部署的事", True, id="topic"),
        pytest.param("thoughts on our k8s story", True, id="topic-en"),
        pytest.param("k8s 是哪天装的", False, id="one-value"),
    ],
)
def test_name_that_is_said_counts_by_itself_unless_one_value_is_asked_for(
    message: str, counts: bool
) -> None:
    bearer = Candidate("bearer", meaning=0.1, names=("k8s", "kube"))
    [fused] = fuse([bearer], asking(message))
    assert (fused.score >= NAMED[1]) is counts
    assert fused.evidence.bearers == 1


def test_name_of_many_says_nothing_of_any() -> None:
    asked = asking("妈妈的事")
    many = [Candidate(str(number), meaning=0.1, names=("妈妈",)) for number in range(5)]
    alone = fuse(many[:1], asked)[0].score
    assert fuse(many, asked)[0].score < alone / 10


def test_equal_candidates_keep_the_order_given() -> None:
    assert order(*(Candidate(id_, 0.4, 0.4) for id_ in "cab")) == ["c", "a", "b"]
    assert fuse([]) == []


@given(SHARES, COSINES, SHARES, COSINES)
def test_more_evidence_is_never_less_sure(
    words: float, meaning: float, more_words: float, more_meaning: float
) -> None:
    low = Candidate("low", min(words, more_words), min(meaning, more_meaning))
    high = Candidate("high", max(words, more_words), max(meaning, more_meaning))
    scores = {one.candidate.id: one.score for one in fuse([low, high])}
    assert scores["high"] >= scores["low"]


@given(
    st.lists(
        st.tuples(st.none() | SHARES, st.none() | COSINES, st.sampled_from([None, "t", "u"])),
        max_size=12,
    )
)
def test_fusing_ranks_every_candidate_once(
    rows: list[tuple[float | None, float | None, str | None]],
) -> None:
    candidates = [
        Candidate(str(place), words, meaning, thread, place)
        for place, (words, meaning, thread) in enumerate(rows)
    ]
    fused = fuse(candidates)
    assert sorted(one.candidate.id for one in fused) == sorted(one.id for one in candidates)
    scores = [one.score for one in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
