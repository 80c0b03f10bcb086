"""Slices of long messages: where they end, and that together they are the message."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.distill.slices import SLICE_CHARS, Slice, slices_of
from remembrancer.core.text.graphemes import is_boundary


def cut_at(text: str, chars_max: int) -> list[str]:
    return [text[one.start : one.end] for one in slices_of(text, chars_max=chars_max)]


def test_message_of_a_slices_length_is_one_and_a_character_more_two() -> None:
    assert slices_of("字" * SLICE_CHARS) == [Slice(0, SLICE_CHARS)]
    assert len(slices_of("字" * (SLICE_CHARS + 1))) == 2
    assert slices_of("") == [Slice(0, 0)]


CASES = {
    "paragraph": ("We met in May.\n\nHe plays chess. She ", 30, "We met in May.\n\n"),
    "sentence": ("I moved to Lisbon in May. I like it there", 30, "I moved to Lisbon in May. "),
    "question": ("你住在哪里？我住在上海的静安区，三楼没有电梯", 12, "你住在哪里？"),
    "zh-sentence": ("我住在上海的静安区。三楼没有电梯，也没有车库", 14, "我住在上海的静安区。"),
    "zh-quote": ("他说：“我明天就回来。”我不信他说的这句话", 14, "他说：“我明天就回来。”"),
    "zh-comma": ("我住在上海的静安区，三楼没有电梯也没有车库", 14, "我住在上海的静安区，"),
    "line": ("- buy oat milk\n- call the plumber today", 22, "- buy oat milk\n"),
    "word": ("one two three four five six seven", 16, "one two three "),
    "number": ("it costs 1234567.25 in the shop", 17, "it costs "),
    "nowhere": ("字" * 20, 8, "字" * 8),
}


@pytest.mark.parametrize(("text", "chars_max", "first"), CASES.values(), ids=CASES)
def test_first_slice_ends(text: str, chars_max: int, first: str) -> None:
    assert cut_at(text, chars_max)[0] == first


def test_no_slice_tears_what_a_person_sees_as_one_character() -> None:
    family = "👨‍👩‍👧‍👦"
    assert cut_at(family * 3, 10) == [family, family, family]


@given(
    st.text(st.sampled_from("aB 1.,。，！\n？字汉\u0301👍🏽"), max_size=200),
    st.integers(min_value=1, max_value=40),
)
def test_slices_are_the_text_and_go_on_alike(text: str, chars_max: int) -> None:
    found = slices_of(text, chars_max=chars_max)
    assert "".join(cut_at(text, chars_max)) == text
    assert all(one.end == two.start for one, two in pairwise(found))
    assert all(2 * (one.end - one.start) >= min(chars_max, 2) for one in found[:-1])
    assert all(one.end - one.start <= chars_max for one in found)
    for number, one in enumerate(found):
        assert slices_of(text, one.start, chars_max=chars_max) == found[number:]


@given(st.text(st.sampled_from("字e\u0301👍🏽\u200d"), max_size=80))
def test_slices_end_between_characters_where_there_is_one(text: str) -> None:
    for one in slices_of(text, chars_max=70):
        whole = [at for at in range(one.start + 1, one.start + 71) if is_boundary(text, at)]
        assert is_boundary(text, one.end) or not whole
