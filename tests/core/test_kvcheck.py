"""The check of keys and entries says what is wrong with them."""

from __future__ import annotations

import pytest

from remembrancer.core.errors import InvalidInput
from remembrancer.core.kvcheck import check_entry, check_key


@pytest.mark.parametrize(
    ("key", "message"),
    [("", "''"), (".", "'.'"), ("..", "'..'"), ("枝" * 171, "513 bytes"), ("\ud800", "surrogate")],
)
def test_key_that_is_refused_is_named(key: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message.replace(".", r"\.")) as raised:
        check_key(key)
    assert raised.value.hint


def test_entry_within_the_limits_is_taken() -> None:
    check_entry("startup/甲", "荔枝", 60)


def test_entry_that_lives_too_short_is_refused() -> None:
    with pytest.raises(InvalidInput, match="59 s"):
        check_entry("k", "v", 59)
