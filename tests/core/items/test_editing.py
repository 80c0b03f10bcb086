"""What an edit makes of an item: fields that are given change, what follows from them follows."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.items.moments import NOW, at, edited, made, ms

from remembrancer.core import limits
from remembrancer.core.errors import Conflict, DomainError, InvalidInput, LimitExceeded
from remembrancer.core.items.commands import ItemEdit
from remembrancer.core.items.decide import create_item, edit_item, mark_stale
from remembrancer.core.items.fields import CURRENT_STATES, DEFAULTS
from remembrancer.core.values import HOUR_MS

LATER = at("2026-03-05T10:00")


def test_a_new_item_has_the_defaults() -> None:
    fields = made({"title": "  买牛奶 "})
    assert fields["title"] == "买牛奶"
    assert (fields["priority"], fields["startup_priority"]) == (2, 5)
    assert (fields["state"], fields["kind"], fields["type"]) == ("active", "task", "tactical_task")
    assert fields["state_since"] == NOW.now_ms
    assert set(fields) <= set(DEFAULTS)


@pytest.mark.parametrize("title", ["", "   ", "\u3000", "\n\t", "\u200b\ufeff"])
def test_a_title_of_nothing_is_refused(title: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        made({"title": title})
    assert caught.value.field == "title"


@pytest.mark.parametrize("length", [1, limits.TITLE_CHARS_MAX])
def test_a_title_up_to_the_limit_is_taken(length: int) -> None:
    assert made({"title": "字" * length})["title"] == "字" * length


RANGES = [
    ("priority", 1, 3),
    ("startup_priority", 0, 10),
    ("recurrence_interval", 1, 365),
    ("importance", 0, 1),
    ("confidence", 0, 1),
]


@pytest.mark.parametrize(("name", "low", "high"), RANGES)
def test_a_number_is_taken_within_its_range_only(name: str, low: int, high: int) -> None:
    extra: dict[str, object] = {}
    if name == "recurrence_interval":
        extra["recurrence_kind"] = "daily"
    for value in (low, high):
        assert made(cast(ItemEdit, {**extra, name: value}))[name] == value
    for value in (low - 1, high + 1):
        with pytest.raises(InvalidInput) as caught:
            made(cast(ItemEdit, {**extra, name: value}))
        assert caught.value.field == name


def test_startup_priority_zero_stays_zero_through_every_edit() -> None:
    fields = made({"startup_priority": 0})
    for edit in ({"title": "y"}, {"priority": 3}, {"state": "archived"}, {"state": "active"}):
        fields = edited(fields, cast(ItemEdit, edit))
        assert fields["startup_priority"] == 0


LONG = [
    ("title", limits.TITLE_CHARS_MAX),
    ("content", limits.CONTENT_CHARS_MAX),
    ("summary", limits.SUMMARY_CHARS_MAX),
    ("raw_input", limits.RAW_INPUT_CHARS_MAX),
    ("fact_key", limits.FACT_KEY_CHARS_MAX),
    ("source", limits.NAME_CHARS_MAX),
    ("add_note", limits.LINE_CHARS_MAX),
]


@pytest.mark.parametrize(("name", "maximum"), LONG)
def test_a_text_is_taken_at_its_limit_and_refused_above(name: str, maximum: int) -> None:
    edited(made({}), cast(ItemEdit, {name: "字" * maximum}))
    with pytest.raises(LimitExceeded) as caught:
        edited(made({}), cast(ItemEdit, {name: "字" * (maximum + 1)}))
    assert caught.value.field == name


def test_only_given_fields_change() -> None:
    fields = made({"content": "c", "tags": ["a"], "due_at": ms("2026-03-09"), "pinned": True})
    draft = edit_item(fields, {"priority": 3}, at=LATER)
    assert draft is not None
    assert draft.changes == {"priority": (2, 3)}


@pytest.mark.parametrize(
    "edit",
    [{"title": "x"}, {"priority": 2}, {"tags": []}, {"pinned": False}, {"state": "active"}, {}],
    ids=repr,
)
def test_an_edit_that_changes_nothing_drafts_nothing(edit: dict[str, object]) -> None:
    assert edit_item(made({}), cast(ItemEdit, edit), at=LATER) is None


@pytest.mark.parametrize(
    ("edit", "name"),
    [
        ({"content": None}, "content"),
        ({"content": "  "}, "content"),
        ({"due_at": None}, "due_at"),
        ({"fact_key": ""}, "fact_key"),
        ({"tags": []}, "tags"),
        ({"pinned": False}, "pinned"),
        ({"importance": None}, "importance"),
        ({"steps": []}, "steps"),
    ],
    ids=repr,
)
def test_none_and_empty_clear_a_field(edit: dict[str, object], name: str) -> None:
    fields = made(
        {
            "content": "c",
            "due_at": ms("2026-03-09"),
            "due_text": "monday",
            "fact_key": "k",
            "tags": ["家"],
            "pinned": True,
            "importance": 0.5,
            "steps": [{"id": "s1", "text": "a", "done_at": None}],
        }
    )
    after = edited(fields, cast(ItemEdit, edit))
    assert name not in after
    if name == "due_at":
        assert "due_text" not in after


def test_tags_keep_their_spelling_and_fold_doubles() -> None:
    fields = made({"tags": ["#家庭", "Home Office", "home-office", "C++"]})
    assert fields["tags"] == ["家庭", "Home Office", "C++"]


def test_a_deleted_item_cannot_be_edited() -> None:
    gone = {**made({}), "state": "deleted"}
    with pytest.raises(Conflict, match="deleted"):
        edit_item(gone, {"title": "y"}, at=NOW)


def test_a_validity_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        made({"valid_from": 2_000, "valid_to": 1_000})
    assert caught.value.field == "valid_to"
    assert made({"valid_from": 1_000, "valid_to": 1_000})["valid_to"] == 1_000
    with pytest.raises(InvalidInput):
        edited(made({"valid_from": 2_000}), {"valid_to": 1_000})


PROGRESS = [
    ({"progress": "done"}, "completed", "done"),
    ({"progress": "in_progress"}, "active", "in_progress"),
    ({"progress": "failed"}, "active", "failed"),
    ({"state": "completed"}, "completed", "done"),
    ({"state": "completed", "progress": "done"}, "completed", "done"),
]


@pytest.mark.parametrize(("edit", "state", "progress"), PROGRESS, ids=repr)
def test_progress_and_state_agree(edit: dict[str, object], state: str, progress: str) -> None:
    fields = edited(made({}), cast(ItemEdit, edit))
    assert (fields["state"], fields["progress"]) == (state, progress)


@pytest.mark.parametrize(
    "edit", [{"progress": "pending"}, {"progress": "in_progress"}, {"state": "active"}], ids=repr
)
def test_a_done_task_is_taken_up_again(edit: dict[str, object]) -> None:
    fields = edited(edited(made({}), {"progress": "done"}), cast(ItemEdit, edit))
    assert fields["state"] == "active"
    assert fields.get("progress") != "done"


@pytest.mark.parametrize(
    "edit",
    [{"progress": "done", "state": "active"}, {"progress": "pending", "state": "completed"}],
    ids=repr,
)
def test_progress_and_state_that_disagree_are_refused(edit: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="do not go together"):
        edited(made({}), cast(ItemEdit, edit))


@pytest.mark.parametrize("kind", ["task", "memory"])
def test_unknown_progress_is_refused(kind: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        edited(made({"kind": kind}), {"progress": "started"})
    assert caught.value.field == "progress"


def test_a_memory_has_no_progress() -> None:
    with pytest.raises(InvalidInput, match="progress of a memory"):
        made({"kind": "memory", "progress": "pending"})
    task = edited(made({}), {"progress": "in_progress"})
    assert "progress" not in edited(task, {"kind": "memory"})


@pytest.mark.parametrize("state", ["dormant", "archived", "completed", "superseded", "expired"])
def test_a_change_of_state_ends_snooze_and_ignore(state: str) -> None:
    snoozed = {**made({}), "snoozed_until": NOW.now_ms + HOUR_MS, "ignored_until": NOW.now_ms}
    after = edited(snoozed, {"state": state}, when=LATER)
    assert "snoozed_until" not in after and "ignored_until" not in after
    assert after["state_since"] == LATER.now_ms


@pytest.mark.parametrize("state", CURRENT_STATES)
def test_an_expired_item_that_comes_back_does_not_expire_at_once(state: str) -> None:
    expired = {**made({"expires_at": NOW.now_ms + HOUR_MS}), "state": "expired"}
    if state == "stale":
        with pytest.raises(InvalidInput):
            edited(expired, {"state": state}, when=LATER)
        return
    assert "expires_at" not in edited(expired, {"state": state}, when=LATER)
    kept = edited(expired, {"state": state, "expires_at": LATER.now_ms + 1}, when=LATER)
    assert kept["expires_at"] == LATER.now_ms + 1


def test_an_item_that_comes_back_is_no_longer_superseded_by_another() -> None:
    old = {**made({}), "state": "superseded", "superseded_by": "itm_new"}
    assert "superseded_by" not in edited(old, {"state": "dormant"})
    assert "superseded_by" not in edited(old, {"state": "active"})
    assert edited(old, {"state": "archived"})["superseded_by"] == "itm_new"


def test_source_messages_are_kept_once_each_up_to_the_limit() -> None:
    many = [f"msg_{number}" for number in range(limits.SOURCE_IDS_MAX)]
    fields = made({"source_message_ids": [*many[:-1], "msg_0"]})
    assert fields["source_message_ids"] == many[:-1]
    assert made({"source_message_ids": many})["source_message_ids"] == many
    with pytest.raises(LimitExceeded) as caught:
        made({"source_message_ids": [*many, "msg_more"]})
    assert caught.value.field == "source_message_ids"


def test_marking_stale_is_a_change_of_state_only_once() -> None:
    fields = made({})
    draft = mark_stale(fields, at=LATER)
    assert draft is not None and draft.kind == "ItemMarkedStale"
    assert draft.changes["state"] == ("active", "stale")
    assert mark_stale({**fields, "state": "stale"}, at=LATER) is None


EDITS = st.fixed_dictionaries(
    {},
    optional={
        "title": st.text(max_size=220),
        "content": st.none() | st.text(max_size=60),
        "kind": st.sampled_from(["task", "memory", "idea"]),
        "type": st.none() | st.sampled_from(["strategic_goal", "fact", "nonsense"]),
        "state": st.sampled_from([*CURRENT_STATES, "completed", "archived", "deleted", "gone"]),
        "progress": st.sampled_from(["pending", "done", "failed", "?"]),
        "priority": st.integers(-1, 5),
        "startup_priority": st.integers(-1, 12),
        "tags": st.lists(st.text(max_size=70), max_size=4),
        "pinned": st.booleans(),
        "due_at": st.none() | st.integers(0, 4_000_000_000_000),
        "recurrence_kind": st.none() | st.sampled_from(["daily", "monthly", "weekdays", "hourly"]),
        "recurrence_interval": st.none() | st.integers(-1, 400),
        "add_note": st.text(max_size=20),
        "valid_from": st.none() | st.integers(0, 10),
        "valid_to": st.none() | st.integers(0, 10),
    },
)


@given(st.lists(EDITS, min_size=1, max_size=4))
def test_any_edits_give_a_sound_item_or_a_domain_error(edits: list[dict[str, object]]) -> None:
    fields = made({})
    for edit in edits:
        try:
            fields = edited(fields, cast(ItemEdit, edit))
        except DomainError:
            continue
        assert fields["title"] and len(str(fields["title"])) <= limits.TITLE_CHARS_MAX
        assert (fields["state"] == "completed") == (fields.get("progress") == "done")
        assert fields["kind"] == "task" or fields["state"] != "completed"
        assert fields["kind"] == "task" or fields.get("recurrence_kind") is None
        assert ("recurrence_interval" in fields) == ("recurrence_kind" in fields)
        assert None not in fields.values()
        create_item(cast(ItemEdit, {"title": fields["title"]}), at=NOW)
