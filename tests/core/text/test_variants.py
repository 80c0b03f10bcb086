"""The other scripts of a Chinese word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.text.variants import FORMS_MAX, other_forms, simplified


@pytest.mark.parametrize(
    ("term", "form"),
    [
        pytest.param("过敏", "過敏", id="to-traditional"),
        pytest.param("過敏", "过敏", id="to-simplified"),
        pytest.param("头发", "頭髮", id="hair"),
        pytest.param("出发", "出發", id="depart"),
        pytest.param("台湾", "台灣", id="both-scripts-have-it"),
        pytest.param("里面", "裡面", id="inside"),
        pytest.param("t恤", "t卹", id="with-a-letter"),
    ],
)
def test_word_has_its_other_script(term: str, form: str) -> None:
    assert form in other_forms(term)


@pytest.mark.parametrize("term", ["coffee", "18080", "咖啡", "3月", "ミルク", "u1f431", ""])
def test_word_of_one_script_has_no_other(term: str) -> None:
    assert other_forms(term) == ()


def test_text_is_simplified_character_by_character() -> None:
    assert simplified("郁婷對灰塵過敏，Kindle 9 月") == "郁婷对灰尘过敏，Kindle 9 月"


@given(st.text(max_size=6))
def test_forms_are_few_and_other(term: str) -> None:
    forms = other_forms(term)
    assert len(forms) <= FORMS_MAX
    assert term not in forms
    assert len(set(forms)) == len(forms)
    assert simplified(simplified(term)) == simplified(term)
    assert len(simplified(term)) == len(term)
