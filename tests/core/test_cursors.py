"""Cursors: what one list hands out comes back, and nothing else is taken."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.cursors import CURSOR_CHARS_MAX, CursorValue, decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import INTEGER_MAX

KINDS = (int, str, float, (str, type(None)))


def _pack(value: object) -> str:
    text = json.dumps(value)
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@given(
    st.integers(-INTEGER_MAX, INTEGER_MAX),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60),
    st.floats(-1e9, 1e9),
    st.one_of(st.none(), st.just("记忆")),
)
def test_cursor_round_trips(number: int, text: str, score: float, last: str | None) -> None:
    place: tuple[CursorValue, ...] = (number, text, score, last)
    cursor = encode_cursor("items", place)
    assert cursor.isascii()
    assert decode_cursor(cursor, kind="items", types=KINDS) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!!!",
        "记忆",
        "a",
        encode_cursor("tags", (1, "a")),
        encode_cursor("items", (1,)),
        encode_cursor("items", (1, "a", "b")),
        encode_cursor("items", ("1", "a")),
        _pack({"items": 1}),
        _pack(["items", True, "a"]),
        _pack(["items", INTEGER_MAX + 1, "a"]),
        _pack(["items", 1, "a\x00"]),
        _pack(["items", 1, "a\ud800"]),
        _pack("items"),
        _pack([[["items"]]]),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        base64.urlsafe_b64encode(b"[" * 600).decode(),
        "A" * (CURSOR_CHARS_MAX + 1),
    ],
)
def test_cursor_of_anybody_else_is_invalid(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_cursor(text, kind="items", types=(int, str))
    assert caught.value.field == "cursor"
    assert len(caught.value.message) < 120


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 2.0**60])
def test_cursor_with_a_number_beyond_the_limit_is_invalid(number: float) -> None:
    with pytest.raises(InvalidInput):
        decode_cursor(_pack(["items", number]), kind="items", types=(float,))


@given(st.text(max_size=80))
def test_cursor_any_text_is_a_place_or_invalid(text: str) -> None:
    try:
        place = decode_cursor(text, kind="items", types=(int, str))
    except InvalidInput:
        return
    assert decode_cursor(encode_cursor("items", place), kind="items", types=(int, str)) == place
