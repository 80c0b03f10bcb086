"""Parsing on its own: faults of models become sentences that name field, value and way out."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, field_validator, model_validator

from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.http.parsing import (
    FAULTS_SHOWN_MAX,
    Body,
    Flag,
    Query,
    parse_body,
    parse_json,
    parse_query,
    split_query,
)


class Colour(Enum):
    """A closed set."""

    RED = "red"


class Sample(Body):
    """Every kind of field."""

    kind: Literal["task", "memory"] = "task"
    colour: Colour = Colour.RED
    title: str = Field("a", min_length=1, max_length=5)
    count: int = Field(1, ge=1, le=9)
    tags: list[str] = Field(default_factory=list, max_length=2)
    nested: dict[str, Any] = Field(default_factory=dict)
    odd: int = 1
    limited: str = ""

    @field_validator("odd")
    @classmethod
    def _odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("it must be odd")
        return value

    @field_validator("limited")
    @classmethod
    def _limited(cls, value: str) -> str:
        if value == "ours":
            raise LimitExceeded("one of ours")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Sample:  # noqa: N804 - an after validator is a method
        if self.kind == "memory" and self.count == 9:
            raise ValueError("a memory has no count of 9")
        return self


class Search(Query):
    """A query."""

    q: str
    tags: list[str] | None = None
    deep: Flag = False


@pytest.mark.parametrize(
    ("raw", "field", "words"),
    [
        ('{"kind": "想法"}', "kind", ["'想法'", "'task' or 'memory'"]),
        ('{"colour": "blue"}', "colour", ["'blue'", "'red'"]),
        ('{"title": ""}', "title", ["length 0"]),
        ('{"title": "太长的标题啊"}', "title", ["length 6", "at most 5"]),
        ('{"tags": ["a","b","c"]}', "tags", ["length 3", "at most 2"]),
        ('{"count": 10}', "count", ["10", "less than or equal to 9"]),
        ('{"count": "3"}', "count", ["'3'", "valid integer"]),
        ('{"count": {"a": 1}}', "count", ["an object"]),
        ('{"count": [1]}', "count", ["a list"]),
        ('{"count": null}', "count", ["count is null"]),
        ('{"title": true}', "title", ["title is true"]),
        ("null", None, ["the body is null"]),
        ('{"odd": 2}', "odd", ["2", "it must be odd"]),
        ('{"kind": "memory", "count": 9}', None, ["the body", "no count of 9"]),
        ('{"unknown": 1}', "unknown", ["unknown field 'unknown'"]),
        ("7", None, ["the body is 7"]),
    ],
)
def test_parse_body_fault_is_one_sentence(raw: str, field: str | None, words: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_body(Sample, raw.encode())
    assert caught.value.field == field
    assert caught.value.hint
    for word in words:
        assert word in caught.value.message


def test_parse_body_long_text_is_not_repeated() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_body(Sample, ('{"title": "' + "密" * 1_000 + '"}').encode())
    assert "密" not in caught.value.message


def test_parse_body_error_of_ours_inside_a_model_stays_ours() -> None:
    with pytest.raises(LimitExceeded):
        parse_body(Sample, b'{"limited": "ours"}')


def test_parse_body_lists_at_most_ten_faults() -> None:
    raw = "{" + ",".join(f'"x{n}": 1' for n in range(30)) + "}"
    with pytest.raises(InvalidInput) as caught:
        parse_body(Sample, raw.encode())
    faults = caught.value.details["faults"]
    assert isinstance(faults, list)
    assert len(faults) == FAULTS_SHOWN_MAX


@pytest.mark.parametrize("raw", [b"", b"  ", b"{}"])
def test_parse_body_empty_is_an_object(raw: bytes) -> None:
    assert parse_body(Sample, raw) == Sample()


def test_parse_body_word_nan_inside_a_text_is_text() -> None:
    assert parse_body(Sample, b'{"title": "NaN"}').title == "NaN"
    with pytest.raises(InvalidInput):
        parse_body(Sample, b'{"nested": {"a": NaN}}')


@pytest.mark.parametrize("raw", [b"1e999", b'{"a": [1, -1e999]}'])
def test_parse_json_number_that_cannot_be_written_again_is_invalid(raw: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_json(raw)
    assert caught.value.code == "invalid_input"


def test_parse_query_takes_lists_flags_and_chinese() -> None:
    pairs = split_query(b"q=%E8%AE%B0&tags=a&tags=%E4%BA%8C&deep")
    assert parse_query(Search, pairs) == Search(q="记", tags=["a", "二"], deep=True)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("", "parameter 'q' is missing"),
        ("q=1&q=2", "given twice"),
        ("q=1&z=1", "unknown parameter 'z'"),
        ("q=1&deep=maybe", "deep is 'maybe'"),
    ],
)
def test_parse_query_fault_is_named(query: str, word: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_query(Search, split_query(query.encode()))
    assert word in caught.value.message


@given(st.binary(max_size=200))
def test_parse_any_bytes_are_a_value_or_invalid(raw: bytes) -> None:
    for parse in (
        lambda: parse_body(Sample, raw),
        lambda: parse_json(raw),
        lambda: parse_query(Search, split_query(raw)),
        lambda: parse_query(None, split_query(raw)),
    ):
        try:
            parse()
        except InvalidInput as error:
            message = error.message
        else:
            message = "fine"
        assert 0 < len(message) < 500


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=12,
    )
)
def test_parse_any_json_is_a_value_or_invalid(value: object) -> None:
    raw = json.dumps({"nested": value, "title": value}).encode()
    try:
        parse_body(Sample, raw)
    except InvalidInput as error:
        code = error.code
    else:
        code = "fine"
    assert code in ("fine", "invalid_input", "invalid_json")
