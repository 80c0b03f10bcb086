"""The types of what a body holds: what the program writes passes, anything else is a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.ledger.body_types import ENTRIES, RECORDS, find_type_fault
from remembrancer.core.ledger.changes import Changes
from remembrancer.core.values import JSON

VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
"""Any JSON, and numbers that none has."""

AREAS = [*RECORDS, *ENTRIES, "settings"]

WHOLE: dict[str, dict[str, JSON]] = {
    "item": {
        "kind": "task",
        "type": "tactical_task",
        "state": "active",
        "title": "写周报",
        "priority": 2,
        "startup_priority": 5,
        "authored_by": "human",
        "tags": ["工作"],
        "pinned": True,
        "importance": 0.5,
        "due_at": 1_800_000_000_000,
        "notes": [{"at": 1_800_000_000_000, "text": "一行"}],
        "steps": [
            {"id": "stp_1", "text": "一", "done_at": 5, "steps": [{"id": "stp_2", "text": "二"}]}
        ],
    },
    "project": {"name": "家", "slug": "家", "state": "active", "objective_since": 5},
    "topic": {
        "name": "健康",
        "slug": "健康",
        "state": "active",
        "kind": "topic",
        "retrieval_priority": 50,
        "summary_mode": "auto",
    },
    "key": {"name": "笔记本", "actor": "user", "token_hash": "ab", "scopes": ["memory:read"]},
    "candidate": {
        **dict.fromkeys(("kind", "status", "type", "content", "source", "fact", "text_hash"), "文"),
        "confidence": 0.5,
        "importance": 1,
        "target_ids": ["itm_1"],
    },
    "page": dict.fromkeys(("kind", "path", "starts_on", "title", "summary", "content"), "页"),
    "digest": {"content": "摘要"},
    "relations": {"a|blocks|b": {"confidence": 1.0, "reason": "因为", "created_at": 5}},
    "precious": {
        "prc_1": {
            "content": "原话",
            "context_message_ids": ["m1"],
            "source": "human",
            "created_at": 5,
        }
    },
    "glossary": {
        "gls_1": {
            "term": "词",
            "aliases": ["别名"],
            "definition": "意思",
            "examples": [],
            "created_at": 5,
        }
    },
    "settings": {"time_zone": "Asia/Shanghai", "default_upcoming_days": 7},
}


def _fault(area: str, fields: dict[str, JSON], *, version: int = 1, kind: str = "Made") -> str:
    changes: Changes = {name: (None, value) for name, value in fields.items()}
    return find_type_fault(area, version, kind, changes, {}) or ""


@pytest.mark.parametrize("area", AREAS)
def test_body_as_the_program_writes_it_is_well(area: str) -> None:
    assert not _fault(area, WHOLE[area])
    taken_back: Changes = {name: (value, None) for name, value in WHOLE[area].items()}
    is_needed = area in RECORDS and RECORDS[area].needed and not RECORDS[area].mark
    assert bool(find_type_fault(area, 2, "Undone", taken_back, {})) == bool(is_needed)


FAULTS: list[tuple[str, dict[str, JSON], str]] = [
    ("item", {"title": None}, "has no 'title'"),
    ("item", {"title": "\ud800"}, "'title' that is not a text"),
    ("item", {"priority": True}, "whole number from 1 to 3"),
    ("item", {"priority": 4}, "whole number from 1 to 3"),
    ("item", {"state": "asleep"}, "one of active"),
    ("item", {"due_at": 10**17}, "a moment"),
    ("item", {"importance": float("nan")}, "a number"),
    ("item", {"tags": ["a", 1]}, "a list of texts"),
    ("item", {"notes": [{"at": "x", "text": "y"}]}, "dated lines"),
    ("item", {"steps": [{"id": "a"}]}, "a list of steps"),
    ("item", {"steps": [{"id": "a", "text": "b", "steps": 5}]}, "a list of steps"),
    ("item", {"colour": "红"}, "field 'colour', which is not known"),
    ("item", {"\ud800": 1}, "name is no text"),
    ("key", {"scopes": ["everything"]}, "a list of scopes"),
    ("relations", {"a|likes|b": {"confidence": 1, "created_at": 5}}, "which is none"),
    ("relations", {"a|blocks|b": 5}, "not an object"),
    ("relations", {"a|blocks|b": {"confidence": 1, "created_at": 5, "reason": 5}}, "'reason'"),
    ("relations", {"a|blocks|b": {"confidence": "1", "created_at": 5}}, "'confidence'"),
    ("settings", {"colour": "红"}, "a setting that cannot be"),
]


@pytest.mark.parametrize(("area", "fields", "words"), FAULTS)
def test_value_that_nothing_takes_is_named(area: str, fields: dict[str, JSON], words: str) -> None:
    whole = WHOLE[area] if area in RECORDS else {}
    assert words in _fault(area, {**whole, **fields})


def test_forgetting_without_the_hash_of_the_text_is_named() -> None:
    assert "without the hash" in _fault("item", {}, kind="ItemForgotten")
    assert find_type_fault("item", 3, "ItemForgotten", {}, {"text_hash": "ab"}) is None
    assert find_type_fault("item", 3, "ItemPurged", {}, {}) is None


@given(st.sampled_from(AREAS), st.dictionaries(st.text(), VALUES), st.data())
def test_any_body_is_well_or_named(area: str, other: dict[str, JSON], data: st.DataObject) -> None:
    known = [*WHOLE[area]]
    drawn = data.draw(st.dictionaries(st.sampled_from(known), VALUES))
    for fields in (other, drawn, {**WHOLE[area], **drawn}):
        assert isinstance(_fault(area, fields), str)
