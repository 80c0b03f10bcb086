"""What answers is told from what is about the same: what it states, lacks, and whom it is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.answering import LOOKED_AT, answering, bearings
from remembrancer.core.recall.bearing import (
    FACT_ANSWERS,
    Bearing,
    Coverage,
    asked_tokens,
    covered,
    pieces_asked,
    stated_tokens,
)
from remembrancer.core.recall.evidence import forms_of, wanted_of, weigh
from remembrancer.core.recall.fusion import Asked, Candidate, asked_of, fuse
from remembrancer.core.recall.gates import SURE_MIN, TURN_SURE_MIN
from remembrancer.core.recall.query import build_query
from remembrancer.core.text.segment import index_terms


def tokens(text: str) -> frozenset[str]:
    return frozenset(index_terms(text).split())


def coverage(question: str, text: str, *others: str) -> Coverage:
    """What of a question a text covers, in a store of it and others."""
    wanted = wanted_of(question)
    rows = [tokens(row) for row in (text, *others)]
    documents = {form: sum(form in row for row in rows) for form in forms_of(wanted)}
    return covered(pieces_asked(question, weigh(wanted, documents)), rows[0], text)


def asked_about(question: str, texts: list[str], *turns: str) -> Asked:
    query = build_query(question, turns)
    assert query is not None
    rows = [tokens(row) for row in texts]
    forms = forms_of(wanted_of(query.words))
    return asked_of(query, {form: sum(form in row for row in rows) for form in forms})


def candidates(
    question: str, texts: list[str], thread: str | None, near: float | None
) -> list[Candidate]:
    forms = set(forms_of(wanted_of(question)))
    return [
        Candidate(
            f"m{place}",
            meaning=near,
            thread=thread,
            place=place,
            held=frozenset(forms & tokens(text)),
            text=text,
        )
        for place, text in enumerate(texts)
    ]


def looked_at(
    question: str, *texts: str, thread: str | None = None, near: float | None = 0.35
) -> dict[str, float]:
    """How likely each answers that was looked at, by its text."""
    asked = asked_about(question, list(texts))
    ranked = fuse(candidates(question, list(texts), thread, near), asked)
    by_id = {one.candidate.id: one.candidate.text for one in ranked}
    return {by_id[id_]: score for id_, score in answering(ranked, asked).items()}


def sureness(
    question: str, *texts: str, thread: str | None = None, near: float | None = 0.35
) -> dict[str, float]:
    """The same of all: what was not looked at answers nothing."""
    return dict.fromkeys(texts, 0.0) | looked_at(question, *texts, thread=thread, near=near)


@pytest.mark.parametrize(
    ("question", "text", "stated"),
    [
        pytest.param(
            "小邱是做什么工作的来着", "小邱做室内设计工作", 1.0, id="asking-words-left-out"
        ),
        pytest.param("小满是哪天出生的", "小满出生在五月", 1.0, id="straddling-pairs-left-out"),
        pytest.param("绩效咋样", "上半年绩效 B+", 1.0, id="slang"),
        pytest.param("blood type", "my blood type is A", 1.0, id="english"),
        pytest.param("湿疹", "妈妈的药", 0.0, id="nothing"),
        pytest.param("濕疹", "小满犯湿疹", 1.0, id="two-scripts"),
        pytest.param("我住哪里？", "我住在上海徐汇区", 1.0, id="word-of-one-character"),
        pytest.param("我姓什么", "我姓陈", 1.0, id="name"),
        pytest.param("我屬什麼", "我属兔", 1.0, id="one-character-in-two-scripts"),
        pytest.param("住哪", "我在上海徐汇区", 0.0, id="one-character-that-is-not-there"),
    ],
)
def test_coverage_counts_what_is_asked(question: str, text: str, stated: float) -> None:
    assert coverage(question, text).stated == pytest.approx(stated)


def test_coverage_tells_what_others_hold_from_what_nobody_holds() -> None:
    known = coverage("小邱护照", "周二爬墙", "小邱做设计")
    assert known.elsewhere > 0.3
    assert known.unknown > 0.3
    assert known.stated == 0
    assert coverage("小邱护照", "周二爬墙").elsewhere == 0


def test_word_of_one_character_that_nobody_holds_is_not_asked_for() -> None:
    assert coverage("我住哪里", "护照在抽屉里") == Coverage()
    assert coverage("我住哪里", "护照在抽屉里", "我住在上海").elsewhere == 1.0


def test_text_in_another_script_is_not_blamed_for_words_it_cannot_hold() -> None:
    assert coverage("上海机会", "Turned down the offer", "上海天气") == Coverage()
    assert coverage("our offer", "上半年绩效评定已经出来了", "x") == Coverage()


@pytest.mark.parametrize(
    ("text", "asked", "stated"),
    [
        pytest.param("What race? I ran it.", {"race"}, {"ran"}, id="english"),
        pytest.param("你跑了马拉松？我也跑了", {"马拉", "拉松"}, set(), id="chinese"),
        pytest.param("race? Yes, the race.", {"race"}, {"race"}, id="both"),
        pytest.param("I ran a race.", set(), {"ran", "race"}, id="no-question"),
    ],
)
def test_question_states_nothing(text: str, asked: set[str], stated: set[str]) -> None:
    held = frozenset({"race", "ran", "马拉", "拉松"} & tokens(text))
    assert asked_tokens(text, held) == asked
    assert stated_tokens(text, held) == stated


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        pytest.param("MD-017 的 BPM 是多少", "MD-017 BPM 104", "MD-012 BPM 92", id="identifier"),
        pytest.param("妈妈是什么血型", "妈妈血型 B 型", "我的血型是 A 型", id="another-person"),
        pytest.param(
            "When does Tom's lease end?",
            "Tom's lease ends in May",
            "My lease ends in June",
            id="english",
        ),
    ],
)
def test_what_answers_is_surer_than_what_is_about_the_same(
    question: str, right: str, wrong: str
) -> None:
    found = sureness(question, right, wrong)
    assert found[right] > SURE_MIN > found[wrong]


def test_missing_identifier_answers_nothing_however_near() -> None:
    assert sureness("MD-021 的 BPM 是多少", "MD-012 BPM 92", near=0.95) == {"MD-012 BPM 92": 0.0}
    assert (
        sureness("家里 5G WiFi 密码是什么", "家里 WiFi 密码 12345678")["家里 WiFi 密码 12345678"]
        > 0
    )


def test_identifier_that_is_there_is_evidence_where_a_year_is_none() -> None:
    texts = ["E4127 is logged at night", "in 2026 it rained"]
    for question, has in (("E4127 是啥", [True, False]), ("2026 年怎么样", [False, False])):
        asked = asked_about(question, texts)
        ranked = fuse(candidates(question, texts, None, 0.3), asked)
        found = {
            one.candidate.id: each.has_identifier
            for one, each in zip(ranked, bearings(ranked, ranked, asked), strict=True)
        }
        assert [found["m0"], found["m1"]] == has


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        pytest.param("我家在哪", "我住在杭州西湖区", "车在地库 B2", id="home"),
        pytest.param("What's my job?", "I'm a nurse at Mercy", "I sleep badly", id="work"),
        pytest.param("我哪天过生日", "Born on 4 November", "周三打球", id="another-language"),
    ],
)
def test_answer_in_other_words_is_surer_by_the_matter_that_both_speak_of(
    question: str, right: str, wrong: str
) -> None:
    found = sureness(question, right, wrong, near=0.3)
    assert found[right] > found[wrong]


def test_fact_that_tells_no_value_of_the_kind_asked_is_less_sure() -> None:
    told, untold = "房租涨到 3450", "房租又涨价了"
    found = sureness("房租多少", told, untold)
    assert found[told] > found[untold]


def test_fact_of_kin_is_less_sure_while_the_user_asks_of_themselves() -> None:
    own, kin = "我六点起床", "弟弟六点起床"
    found = sureness("我几点起床", own, kin)
    assert found[own] > found[kin]


def test_first_turn_is_surer_and_so_is_one_beside_another_and_one_that_tells_the_time() -> None:
    question = "When did Ana adopt the kitten?"
    texts = [
        "Ana: I adopted the kitten in May.",
        "Mia: Lovely!",
        "Ana: I adopted the kitten at once.",
        "Mia: I saw a bird.",
    ]
    asked = asked_about(question, texts)
    ranked = fuse(candidates(question, texts, "talk", 0.3), asked)
    found = dict(
        zip([one.candidate.id for one in ranked], bearings(ranked, ranked, asked), strict=True)
    )
    assert [one.is_first for one in found.values()] == [True, False, False, False]
    assert found["m0"].tells_time
    assert not found["m2"].tells_time
    assert all(one.is_beside for one in found.values())
    apart = [one._replace(place=2 * one.place) for one in candidates(question, texts, "talk", 0.3)]
    ranked = fuse(apart, asked)
    assert not any(one.is_beside for one in bearings(ranked, ranked, asked))


def test_turns_and_facts_keep_their_order() -> None:
    question = "妈妈什么血型"
    mixed = [
        *candidates(question, ["妈妈血型 B 型"], None, 0.4),
        Candidate("t0", meaning=0.3, thread="talk", held=tokens("血型"), text="小美：血型 A"),
    ]
    asked = asked_about(question, ["妈妈血型 B 型", "血型 A"])
    ranked = fuse(mixed, asked)
    for order in (ranked, ranked[::-1]):
        found = bearings(order, ranked, asked)
        assert [one.is_first for one in found] == [
            one.candidate.thread is not None for one in order
        ]


def test_turn_of_the_other_speaker_answers_nothing() -> None:
    mine = "Ana: I adopted a kitten named Biscuit from the shelter."
    hers = "Mia: I love kittens."
    asked = "What is the kitten that Ana adopted named?"
    assert sureness(asked, mine, hers, thread="talk")[mine] > TURN_SURE_MIN
    wrong = "What is the kitten that Mia adopted named?"
    assert sureness(wrong, mine, hers, thread="talk")[mine] < TURN_SURE_MIN


def test_question_right_before_lends_to_its_answer_and_is_none() -> None:
    question = "What breed is the kitten that Ana adopted?"
    texts = ["Mia: What breed is the kitten that you adopted?", "Ana: A Maine Coon!"]
    far = ["Mia: I saw a bird.", "Ana: A Maine Coon!"]
    with_question = sureness(question, *texts, thread="talk")
    assert with_question[texts[1]] > sureness(question, *far, thread="talk")[far[1]]
    assert with_question[texts[1]] > with_question[texts[0]]


def test_only_the_best_are_looked_at() -> None:
    texts = [f"血型 {number}" for number in range(LOOKED_AT + 5)]
    assert len(looked_at("什么血型", *texts)) == LOOKED_AT


def test_facts_are_looked_at_for_one_value_alone_and_only_where_they_share_something() -> None:
    assert looked_at("我的血型", "A 型血，血型") == {}
    assert looked_at("什么血型", "血型 A 型", "周二爬墙", near=0.1).keys() == {"血型 A 型"}


def test_without_cosines_words_decide() -> None:
    right, wrong = "妈妈血型 B 型", "爸爸在杭州"
    found = sureness("妈妈是什么血型", right, wrong, near=None)
    assert found[right] > SURE_MIN > found[wrong]


@given(st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_more_that_is_stated_or_near_is_never_less_sure(
    stated: float, meaning: float, of_other: bool
) -> None:
    some = FACT_ANSWERS.score(Bearing(Coverage(stated), meaning, of_other=of_other))
    more = FACT_ANSWERS.score(Bearing(Coverage(1.0), 1.0, of_other=of_other))
    assert 0 < some <= more < 1


@given(st.text(min_size=1, max_size=40), st.lists(st.text(max_size=40), max_size=5))
def test_any_text_is_weighed(question: str, texts: list[str]) -> None:
    if build_query(question) is None:
        return
    asked = asked_about(question, texts)
    ranked = fuse(candidates(question, texts, None, 0.2), asked)
    for one in bearings(ranked, ranked, asked):
        shares = one.coverage
        whole = shares.stated + shares.elsewhere + shares.unknown
        assert whole == pytest.approx(1) or whole == 0
