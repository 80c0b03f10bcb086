"""Cosines of any model on one scale: what is unrelated, related and the same stay so."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.vectors.background import (
    PAIRS,
    REFERENCE,
    Background,
    background_of,
    on_scale,
    texts,
)

RAISED = Background(0.6 + 0.4 * REFERENCE.unrelated, 0.6 + 0.4 * REFERENCE.related)
"""The background of a model whose cosines are all 0.6 + 0.4 of the reference's."""


def test_every_text_is_asked_for_once_in_both_languages() -> None:
    asked = texts()
    assert len(asked) == len({*asked}) == 2 * len(PAIRS)
    assert any(text.isascii() for text in asked)
    assert any(not text.isascii() for text in asked)


def test_background_is_the_mean_of_pairs_and_of_all_others() -> None:
    count = len(PAIRS)
    own = [tuple(float(place == number) for place in range(count)) for number in range(count)]
    half = math.sqrt(0.5)
    answers = [tuple(value * half for value in vector) for vector in own]
    assert background_of([*own, *answers]).related == pytest.approx(half)
    assert background_of([*own, *answers]).unrelated == pytest.approx(0)


@pytest.mark.parametrize("cosine", [-0.2, 0.0, 0.03, 0.3, 0.477])
def test_model_whose_cosines_are_all_higher_gives_the_same(cosine: float) -> None:
    assert on_scale([0.6 + 0.4 * cosine], RAISED)[0] == pytest.approx(cosine, abs=1e-9)


def test_same_texts_stay_the_same() -> None:
    assert on_scale([1.0], RAISED)[0] == pytest.approx(1)
    assert on_scale([RAISED.related], RAISED)[0] == pytest.approx(REFERENCE.related)


@pytest.mark.parametrize(
    "background",
    [
        pytest.param(REFERENCE, id="reference"),
        pytest.param(Background(0.01, 0.05), id="knows-no-meanings"),
        pytest.param(Background(0.9, 0.2), id="upside-down"),
        pytest.param(Background(0.5, 1.0), id="all-the-same"),
    ],
)
def test_cosine_is_left_as_it_is(background: Background) -> None:
    assert on_scale([0.4], background)[0] == pytest.approx(0.4)


@given(st.floats(-1, 0.8), st.floats(0, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_order_is_kept(unrelated: float, apart: float, one: float, other: float) -> None:
    background = Background(unrelated, unrelated + apart * (1 - unrelated))
    low, high = sorted([one, other])
    assert on_scale([low], background)[0] <= on_scale([high], background)[0] + 1e-9
    assert on_scale([high], background)[0] <= 1 + 1e-9
