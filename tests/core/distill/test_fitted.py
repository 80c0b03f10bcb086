"""Lines of a night's batch: the room that short messages leave is the long ones'."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.distill.lines import Line, fitted


def lengths(*given: tuple[str, int]) -> list[int]:
    lines = [Line(f"msg_{n}", role, "字" * size, n) for n, (role, size) in enumerate(given)]
    return [len(line.text) for line in fitted(lines, chars_each=700)]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ([("user", 9_000)], [700]),
        ([("user", 30), ("user", 700)], [30, 700]),
        ([("user", 100), ("user", 9_000), ("user", 50)], [100, 1_950, 50]),
        ([("user", 9_000), ("user", 1_000), ("user", 10), ("user", 10)], [1_780, 1_000, 10, 10]),
        # What cannot be a source takes no room that is another's.
        ([("assistant", 9_000), ("user", 900), ("user", 100)], [700, 900, 100]),
    ],
)
def test_long_messages_share_what_short_ones_leave(
    said: list[tuple[str, int]], shown: list[int]
) -> None:
    assert lengths(*said) == shown


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.integers(1, 3_000)), max_size=9)
)
def test_batch_is_never_larger_and_no_line_shorter_than_alone(said: list[tuple[str, int]]) -> None:
    found = lengths(*said)
    assert sum(found) <= 700 * len(said)
    assert all(size >= min(700, was) for size, (_, was) in zip(found, said, strict=True))
