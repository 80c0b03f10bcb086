"""What a query asks for in words, and what an item holds of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.evidence import (
    FORMS_MAX,
    Shares,
    chosen_forms,
    forms_of,
    shares,
    wanted_of,
    weigh,
)


def share(text: str, *held: str, **documents: int) -> Shares:
    return shares(weigh(wanted_of(text), documents), set(held))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        pytest.param("对什么过敏", "過敏", id="traditional"),
        pytest.param("對什麼過敏", "过敏", id="simplified"),
        pytest.param("climbing shoes", "climb", id="stem"),
        pytest.param("settle_read_v2 归谁管", "settle", id="part"),
        pytest.param("🐱", "u1f431", id="emoji"),
    ],
)
def test_query_looks_for_other_forms_of_its_words(text: str, form: str) -> None:
    assert form in forms_of(wanted_of(text))


def test_word_in_any_of_its_forms_is_held_once() -> None:
    assert share("过敏", "過敏") == share("过敏", "过敏") == Shares(1.0)
    assert share("shoes", "shoe").held == 1


def test_rare_word_says_more_than_a_common_one() -> None:
    rare = share("zebra coffee", "zebra", zebra=1, coffee=200).held
    common = share("zebra coffee", "coffee", zebra=1, coffee=200).held
    assert rare > 0.8
    assert common == pytest.approx(1 - rare)


def test_what_is_missing_counts_only_where_another_has_it() -> None:
    assert share("zebra coffee", "coffee", coffee=1).elsewhere == 0
    assert share("zebra coffee", "coffee", zebra=1, coffee=1).elsewhere == pytest.approx(0.5)
    assert share("zebra coffee", zebra=1, coffee=1).elsewhere == 1


@pytest.mark.parametrize(
    ("text", "held", "lacks"),
    [
        pytest.param("端口 18080", ["端口"], True, id="number"),
        pytest.param("端口 18080", ["18080"], False, id="number-held"),
        pytest.param("getUserName 在哪", ["user"], True, id="identifier"),
        pytest.param("E4127 那次", [], True, id="nothing-held"),
        pytest.param("咖啡几杯", [], False, id="no-number"),
    ],
)
def test_number_or_identifier_that_is_missing_is_told(
    text: str, held: list[str], lacks: bool
) -> None:
    assert share(text, *held).lacks_exact is lacks


def test_nothing_asked_for_is_held_by_nothing() -> None:
    assert wanted_of("") == ()
    assert share("", "x") == Shares()


def test_rarest_forms_are_matched_first() -> None:
    wanted = wanted_of("zebra coffee")
    assert chosen_forms(wanted, {"coffee": 900, "zebra": 2}) == ["zebra"]
    assert chosen_forms(wanted, {}) == []


@given(st.text())
def test_any_text_gives_few_distinct_forms(text: str) -> None:
    forms = forms_of(wanted_of(text))
    assert len(forms) == len(set(forms)) <= FORMS_MAX


@given(st.text(alphabet="护照过敏咖啡 MD017k8s", max_size=20), st.data())
def test_holding_more_is_never_less(text: str, data: st.DataObject) -> None:
    forms = forms_of(wanted_of(text))
    documents = {form: data.draw(st.integers(0, 500)) for form in forms}
    some = data.draw(st.sets(st.sampled_from(forms))) if forms else set()
    weighed = weigh(wanted_of(text), documents)
    fewer, all_ = shares(weighed, some), shares(weighed, set(forms))
    assert fewer.held <= all_.held + 1e-9
    assert 0 <= fewer.held <= 1 + 1e-9
    assert 0 <= fewer.elsewhere <= 1 + 1e-9
