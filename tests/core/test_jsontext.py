"""JSON of any depth is read or refused, and never ends the program that reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.jsontext import NESTING_MAX, parse_from, parse_json, refuse_depth

LEAVES = st.none() | st.integers(0, 9) | st.text(alphabet='[]{}",\\:深', max_size=9)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text('[{"\\', max_size=3), inner)
)


def nested(depth: int, *, opening: str = "[", inside: str = "", closing: str = "]") -> str:
    return opening * depth + inside + closing * depth


@pytest.mark.parametrize(
    "text",
    [
        nested(NESTING_MAX),
        nested(NESTING_MAX, opening='{"深":', inside="1", closing="}"),
        nested(NESTING_MAX // 2, opening='[{"a[":', inside="1", closing="}]")[:-1],
        json.dumps(["[" * 1_000, "{" * 1_000, '"[' * 1_000]),
        json.dumps([[{}]] * 1_000),
        "",
    ],
    ids="lists objects mixed-and-cut brackets-in-strings many-side-by-side nothing".split(),
)
def test_what_is_not_too_deep_passes(text: str) -> None:
    refuse_depth(text)
    refuse_depth(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        nested(NESTING_MAX + 1),
        nested(100_000, closing=""),
        nested(100_000),
        nested(100_000, opening='{"深":', inside="1", closing="}"),
        nested(50_000, opening='[{"a":', inside="1", closing="}]"),
        '{"text": "' + "]" * 500 + '", "deep": ' + nested(NESTING_MAX) + "}",
    ],
    ids="one-more open closed objects mixed closed-in-a-string".split(),
)
def test_what_is_too_deep_is_refused(text: str) -> None:
    for form in (text, text.encode(), text.encode("utf-16")):
        with pytest.raises(RecursionError):
            refuse_depth(form)


def test_string_that_never_ends_is_looked_through_once() -> None:
    refuse_depth("[]" * 2 * NESTING_MAX + '"' + '\\"' * 400_000 + "\\")


@given(VALUES)
def test_values_are_read_whatever_their_texts_hold(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    refuse_depth(text)
    assert parse_json(text) == value
    assert parse_from(json.JSONDecoder(), f"so: {text}", 4) == (value, 4 + len(text))


@pytest.mark.parametrize("text", [nested(100_000, closing=""), nested(100_000)])
def test_endless_nesting_ends_in_an_error(text: str) -> None:
    with pytest.raises((RecursionError, ValueError)):
        parse_json(text)
    with pytest.raises((RecursionError, ValueError)):
        parse_from(json.JSONDecoder(), text, 0)
