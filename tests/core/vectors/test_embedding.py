"""What is embedded of an item, and which changes touch it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.items.fields import STATES
from remembrancer.core.values import JSON
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, VECTOR_ID_BYTES_MAX, check_id
from remembrancer.core.vectors.embedding import (
    COLD,
    embedding_text,
    is_reworded,
    item_of_vector,
    vector_id,
    vector_kind,
)

MEMORY: dict[str, JSON] = {"kind": "memory", "state": "active", "title": "猫叫拿铁"}


@pytest.mark.parametrize(
    ("fields", "project", "topic", "expected"),
    [
        (MEMORY, None, None, "猫叫拿铁"),
        ({**MEMORY, "tags": ["宠物", "home"]}, None, None, "猫叫拿铁 宠物 home"),
        ({**MEMORY, "fact_key": "pet:cat_name"}, None, None, "pet cat name 猫叫拿铁"),
        ({**MEMORY, "tags": ["宠物"]}, "Atlas 地图", "Family", "猫叫拿铁 宠物 Atlas 地图 Family"),
        (
            {**MEMORY, "title": "猫叫…", "content": "猫叫拿铁，三岁"},
            None,
            None,
            "猫叫拿铁，三岁",
        ),
        ({**MEMORY, "title": "Cat", "content": "It is three."}, None, None, "Cat\nIt is three."),
        (
            {**MEMORY, "content": "开头…\n\n[art_1: 20000 characters]", "artifact_id": "art_1"},
            None,
            None,
            "猫叫拿铁\n开头…",
        ),
    ],
    ids=["title", "tags", "key", "names", "title-repeats", "both", "artifact"],
)
def test_embedding_text_says_it_once(
    fields: dict[str, JSON], project: str | None, topic: str | None, expected: str
) -> None:
    assert embedding_text(fields, project=project, topic=topic) == expected


def test_embedding_text_of_a_long_text_keeps_its_tags() -> None:
    fields: dict[str, JSON] = {**MEMORY, "content": "记" * 10_000, "tags": ["宠物"]}
    text = embedding_text(fields)
    assert len(text) == EMBED_CHARS_MAX and text.endswith(" 宠物")


@given(st.text(), st.one_of(st.none(), st.text()), st.lists(st.text()))
def test_embedding_text_is_never_over_the_limit(
    title: str, content: str | None, tags: list[str]
) -> None:
    fields: dict[str, JSON] = {"title": title, "content": content, "tags": [*tags]}
    assert len(embedding_text(fields, project="p" * 3_000)) <= EMBED_CHARS_MAX


@pytest.mark.parametrize("kind", ["task", "memory"])
@pytest.mark.parametrize("state", STATES)
def test_vector_kind_is_that_of_what_may_be_found(kind: str, state: str) -> None:
    expected = kind if state in ("active", "dormant", "stale") else None
    if (kind, state) == ("memory", "archived"):
        expected = COLD
    assert vector_kind({"kind": kind, "state": state}) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"title": "狗"}, True),
        ({"content": "三岁"}, True),
        ({"tags": ["宠物"]}, True),
        ({"fact_key": "pet:cat"}, True),
        ({"project_id": "prj_1"}, True),
        ({"topic_id": "top_1"}, True),
        ({"kind": "task"}, True),
        ({"state": "deleted"}, True),
        ({"state": "archived"}, True),
        ({"state": "stale"}, False),
        ({"pinned": True}, False),
        ({"due_at": 1}, False),
        ({}, False),
    ],
    ids=str,
)
def test_is_reworded_sees_what_is_embedded(change: dict[str, JSON], expected: bool) -> None:
    assert is_reworded(MEMORY, {**MEMORY, **change}) is expected


def test_is_reworded_sees_making_and_not_what_has_no_vector() -> None:
    assert is_reworded({}, MEMORY)
    assert is_reworded(MEMORY, {})
    gone: dict[str, JSON] = {**MEMORY, "state": "deleted"}
    assert not is_reworded({}, gone)
    assert not is_reworded(gone, {**gone, "title": "狗"})


def test_vector_id_is_unique_over_namespaces_and_short() -> None:
    item_id = "itm_" + "0" * 26
    one, two = vector_id("default", item_id), vector_id("n" * 64, item_id)
    assert one != two
    assert item_of_vector(one) == item_of_vector(two) == item_id
    assert len(two.encode()) <= VECTOR_ID_BYTES_MAX
    check_id(two)
