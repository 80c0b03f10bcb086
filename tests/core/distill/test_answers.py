"""Reading answers: fences, prose, thoughts, truncation, and what is no answer at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.distill.answers import Unreadable, read_list, read_object, salvage

GOOD = '{"memories": [{"content": "a"}]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Sure! Here it is:\n{GOOD}\nAnything else?",
        f'<think>maybe {{"memories": 3}}</think>{GOOD}',
        f'{{"note": 1}} {GOOD}',
        '[{"content": "a"}]',
        f"\ufeff{GOOD}",
    ],
    ids=["plain", "fenced", "prose", "thought", "second object", "bare list", "byte order mark"],
)
def test_list_is_read_whatever_is_around_it(text: str) -> None:
    assert read_list(text, "memories") == [{"content": "a"}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[broken",
        "I cannot help with that.",
        '{"memories": {}}',
        '{"facts": []}',
        "{" * 500,
        '{"a": NaN}',
    ],
)
def test_anything_else_is_unreadable(text: str) -> None:
    assert isinstance(read_list(text, "memories"), Unreadable)


def test_whole_entries_of_a_cut_answer_are_salvaged() -> None:
    cut = '```json\n{"memories": [{"content": "a"}, {"content": "b, {x}"}, {"content": "c'
    assert isinstance(read_list(cut, "memories"), Unreadable)
    assert salvage(cut, "memories") == [{"content": "a"}, {"content": "b, {x}"}]
    assert salvage("nothing", "memories") == []
    assert salvage('{"memories": [', "memories") == []
    assert salvage('{"memories": [{"content": "a"}', "memories") == [{"content": "a"}]


@given(st.text(max_size=200))
def test_any_text_is_read_or_not(text: str) -> None:
    assert isinstance(read_object(text, ("a",)), dict | Unreadable)
    assert isinstance(salvage(text, "memories"), list)
