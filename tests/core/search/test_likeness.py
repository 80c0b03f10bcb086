"""Likeness of texts: symmetric, word for word, with what differs named."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.search.likeness import (
    Likeness,
    closest,
    compare,
    gist_of,
    suggested_action,
)
from remembrancer.core.values import DAY_MS

TEXT = st.text(st.sampled_from("ab 不没今天二个12: .\n port not "), max_size=40) | st.text(
    max_size=30
)


@pytest.mark.parametrize(
    ("left", "right", "differences"),
    [
        ("SSH port is 2222", "The SSH port is 2223", ("numbers",)),
        ("端口是2222", "端口是 2223", ("numbers",)),
        ("我有三个孩子", "我有两个孩子", ("numbers",)),
        ("allergic to penicillin", "not allergic to penicillin", ("negation",)),
        ("I like tea", "I don't like tea", ("negation",)),
        ("I work at Acme", "I no longer work at Acme", ("negation",)),
        ("我对青霉素过敏", "我对青霉素不过敏", ("negation",)),
        ("她喜欢咖啡", "她没喜欢咖啡", ("negation",)),
        ("dentist on Monday", "dentist on Tuesday", ("dates",)),
        ("会议在周三下午三点", "会议在周四下午三点", ("dates",)),
        ("生日是3月5日", "生日是3月6日", ("dates",)),
        ("flight on 2026-03-05", "flight on 2026-03-06", ("dates",)),
        ("meeting at 3pm, room 4", "meeting at 4 pm, room 5", ("dates", "numbers")),
    ],
    ids=str,
)
def test_texts_that_differ_in_what_matters_are_alike_and_not_the_same(
    left: str, right: str, differences: tuple[str, ...]
) -> None:
    likeness = compare(gist_of(left), gist_of(right))
    assert likeness.differences == differences
    assert 0.78 <= likeness.score < 0.95
    assert not likeness.is_same


@pytest.mark.parametrize(
    ("left", "right", "low", "high"),
    [
        ("User prefers dark mode", "  user prefers DARK mode. ", 1.0, 1.0),
        ("用 Python 写", "用Python写。", 1.0, 1.0),
        ("the dark mode is preferred by user", "user preferred dark mode", 0.9, 0.99),
        ("buy milk", "call mother", 0.0, 0.0),
        ("server lives in Frankfurt", "server lives in Zurich", 0.5, 0.77),
        ("5", "6", 0.0, 0.5),
        ("!", "?", 0.0, 0.0),
        ("", " ", 1.0, 1.0),
    ],
    ids=str,
)
def test_likeness_is_the_symmetric_share_of_words(
    left: str, right: str, low: float, high: float
) -> None:
    assert low <= compare(gist_of(left), gist_of(right)).score <= high


@given(TEXT, TEXT)
def test_likeness_is_symmetric_in_its_range_and_whole_only_for_the_same_text(
    left: str, right: str
) -> None:
    one, two = gist_of(left), gist_of(right)
    likeness = compare(one, two)
    assert likeness == compare(two, one)
    assert 0 <= likeness.score <= 1
    assert (likeness.score == 1) == likeness.is_same
    assert compare(one, one).is_same


@pytest.mark.parametrize(
    "text", ["一" * 10_000, "9" * 10_000, "n't" * 4_000, "a" * 10_000, "1:" * 5_000], ids=len
)
def test_likeness_of_a_hostile_text_takes_no_long_time(text: str) -> None:
    start = time.process_time()
    gist_of(text)
    assert time.process_time() - start < 1


def test_closest_prefers_the_same_text() -> None:
    others = [gist_of("dark mode in the office"), gist_of("Dark mode!"), gist_of("light")]
    assert closest(gist_of("dark mode"), others) == Likeness(1.0, is_same=True)


@pytest.mark.parametrize(
    ("likeness", "age_days", "action"),
    [
        (Likeness(1.0, is_same=True), 30, "duplicate"),
        (Likeness(0.9, ("numbers",)), 0, "supersede_or_merge"),
        (Likeness(0.9), 7, "merge_or_link"),
        (Likeness(0.9), 7.1, "supersede_or_merge"),
    ],
    ids=str,
)
def test_suggested_action_follows_sameness_difference_and_age(
    likeness: Likeness, age_days: float, action: str
) -> None:
    now_ms = 100 * DAY_MS
    updated_at = now_ms - int(age_days * DAY_MS)
    assert suggested_action(likeness, updated_at=updated_at, now_ms=now_ms) == action
