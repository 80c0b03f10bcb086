"""Bodies of events: what was encoded comes back, and nothing else is taken for one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.errors import CorruptData
from remembrancer.core.ledger.changes import Changes
from remembrancer.core.ledger.events import SCHEMA, decode_body, encode_body
from remembrancer.core.values import JSON

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=3)
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(st.text(max_size=5), st.tuples(VALUES, VALUES), max_size=4),
    st.dictionaries(st.text(max_size=5), VALUES, max_size=2),
)
def test_body_comes_back_as_it_was_encoded(changes: Changes, note: dict[str, JSON]) -> None:
    assert decode_body("X", encode_body(changes, note)) == (changes, note)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {},
        {"schema": SCHEMA},
        {"schema": str(SCHEMA), "changes": {}},
        {"schema": True, "changes": {}},
        {"schema": 0, "changes": {}},
        {"schema": -1, "changes": {}},
        {"schema": SCHEMA, "changes": []},
        {"schema": SCHEMA, "changes": {"title": "ab"}},
        {"schema": SCHEMA, "changes": {"title": ["a"]}},
        {"schema": SCHEMA, "changes": {"title": ["a", "b", "c"]}},
        {"schema": SCHEMA, "changes": {}, "note": []},
    ],
)
def test_what_is_no_body_is_corrupt(body: object) -> None:
    with pytest.raises(CorruptData, match="'X' event is not an event body"):
        decode_body("X", json.dumps(body))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_is_no_json_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptData):
        decode_body("X", text)


def test_body_of_a_newer_program_says_so() -> None:
    with pytest.raises(CorruptData, match=f"reads up to {SCHEMA}") as caught:
        decode_body("X", json.dumps({"schema": SCHEMA + 1}))
    assert caught.value.hint == "run the newest version"
