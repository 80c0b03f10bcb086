"""Numbers in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.dates.numerals import english_number, han_number

DIGITS = "零一二三四五六七八九"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5), ("０", None), ("²", None), ("", None), ("零", 0), ("〇", 0), ("两", 2),
        ("十", 10),
        ("十二", 12), ("二十", 20), ("二十一", 21), ("廿", 20), ("廿一", 21), ("卅", 30),
        ("卅一", 31),
        ("一百", 100), ("一百零五", 105), ("一百一十", 110), ("一百一十五", 115), ("二百五十", 250),
        ("零五", 5), ("二〇二六", 2026), ("一二", None), ("两三", None), ("一百二", None),
        ("十十", None),
        ("百", None), ("零十", None), ("一百零十", None), ("一千", None), ("x5", None),
        ("五x", None),
    ],
)  # fmt: skip
def test_chinese_number_is(text: str, number: int | None) -> None:
    assert han_number(text) == number


@given(st.integers(1, 99))
def test_chinese_number_below_a_hundred_is_read_back(number: int) -> None:
    tens, ones = divmod(number, 10)
    text = ("" if tens < 2 else DIGITS[tens]) + ("十" if tens else "")
    assert han_number(text + (DIGITS[ones] if ones else "")) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5), ("one", 1), ("nineteen", 19), ("twenty", 20), ("twenty-one", 21),
        ("ninety nine", 99),
        ("", None), ("x", None), ("ten ten", None), ("one twenty", None), ("twenty ten", None),
        ("twenty one two", None), ("five six", None), ("５", 5), ("٣", 3),
    ],
)  # fmt: skip
def test_english_number_is(text: str, number: int | None) -> None:
    assert english_number(text) == number
