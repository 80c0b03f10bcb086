"""From a statement to title and content, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.errors import InvalidInput
from remembrancer.core.memories.wording import content_of, whole_of, worded


@pytest.mark.parametrize(
    ("text", "title", "content"),
    [
        (" 喜欢喝茶 ", "喜欢喝茶", None),
        ("one\ntwo", "one", "one\ntwo"),
        ("\n\u200b\n标题\n正文", "标题", "\u200b\n标题\n正文"),
        ("字" * 160, "字" * 160, None),
    ],
)
def test_statement_is_worded_as_a_captured_line(text: str, title: str, content: str | None) -> None:
    assert worded(text) == (title, content)


@pytest.mark.parametrize("text", ["", "  ", "\n\t", "\u200b"])
def test_text_without_anything_to_see_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        worded(text)
    assert caught.value.field == "content"


@given(st.text(min_size=1, max_size=400).filter(lambda text: any(c.isalnum() for c in text)))
def test_what_was_said_is_what_the_memory_says(text: str) -> None:
    title, content = worded(text)
    said = content_of({"title": title, "content": content})
    assert len(title) <= 160
    assert worded(said) == (title, content)


def test_title_of_its_own_belongs_to_the_whole() -> None:
    assert whole_of({"title": "Wifi", "content": "abc"}) == "Wifi\nabc"
    assert whole_of({"title": "abc…", "content": "abc def"}) == "abc def"
    assert whole_of({"title": "abc"}) == "abc"
