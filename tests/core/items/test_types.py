"""Kind and type: inferred again when they must, kept when a person chose them."""

from __future__ import annotations

from typing import cast

import pytest
from tests.core.items.moments import edited, made

from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.commands import ItemEdit
from remembrancer.core.items.fields import MEMORY_TYPES, TASK_TYPES, infer_type

Step = dict[str, object]

TABLE: dict[str, tuple[list[Step], str]] = {
    "a task": ([{}], "tactical_task"),
    "a memory": ([{"kind": "memory"}], "context_memory"),
    "a recurring task": ([{"recurrence_kind": "daily"}], "recurring_system"),
    "a task that begins to recur": ([{}, {"recurrence_kind": "weekly"}], "recurring_system"),
    "a task that no longer recurs": (
        [{"recurrence_kind": "weekly"}, {"recurrence_kind": None}],
        "tactical_task",
    ),
    "a task turned memory": ([{}, {"kind": "memory"}], "context_memory"),
    "a memory turned task": ([{"kind": "memory"}, {"kind": "task"}], "tactical_task"),
    "a memory turned recurring task": (
        [{"kind": "memory"}, {"kind": "task", "recurrence_kind": "daily"}],
        "recurring_system",
    ),
    "a type by hand": ([{"type": "strategic_goal"}], "strategic_goal"),
    "a type by hand outlives recurrence": (
        [{"type": "strategic_goal"}, {"recurrence_kind": "daily"}],
        "strategic_goal",
    ),
    "a type by hand ends with its kind": (
        [{"type": "strategic_goal"}, {"kind": "memory"}],
        "context_memory",
    ),
    "a type by hand does not come back with its kind": (
        [{"type": "strategic_goal"}, {"kind": "memory"}, {"kind": "task"}],
        "tactical_task",
    ),
    "a type by hand given up": ([{"type": "strategic_goal"}, {"type": None}], "tactical_task"),
    "a recurring type given up": (
        [{"type": "strategic_goal", "recurrence_kind": "daily"}, {"type": None}],
        "recurring_system",
    ),
    "another edit": ([{"type": "rule", "kind": "memory"}, {"title": "y"}], "rule"),
    "a memory born archived": ([{"kind": "memory", "state": "archived"}], "archived_history"),
    "a memory archived later": ([{"kind": "memory"}, {"state": "archived"}], "context_memory"),
    "a memory back from the archive": (
        [{"kind": "memory", "state": "archived"}, {"state": "active"}],
        "context_memory",
    ),
}


@pytest.mark.parametrize(("steps", "expected"), list(TABLE.values()), ids=list(TABLE))
def test_type_after_edits_follows_kind_and_recurrence(steps: list[Step], expected: str) -> None:
    fields = made(cast(ItemEdit, steps[0]))
    for step in steps[1:]:
        fields = edited(fields, cast(ItemEdit, step))
    assert fields["type"] == expected


@pytest.mark.parametrize("type_", MEMORY_TYPES)
def test_every_memory_type_is_taken_for_memories_only(type_: str) -> None:
    assert made({"kind": "memory", "type": type_})["type"] == type_
    with pytest.raises(InvalidInput, match="a task cannot be of type"):
        made({"type": type_})


@pytest.mark.parametrize("type_", TASK_TYPES)
def test_every_task_type_is_taken_for_tasks_only(type_: str) -> None:
    assert made({"type": type_})["type"] == type_
    with pytest.raises(InvalidInput, match="a memory cannot be of type"):
        made({"kind": "memory", "type": type_})


def test_an_unknown_kind_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidInput) as caught:
        made({"kind": "idea"})
    assert caught.value.field == "item_kind" and caught.value.hint == "one of task, memory"


@pytest.mark.parametrize(
    ("kind", "is_recurring", "state", "expected"),
    [
        ("task", False, "active", "tactical_task"),
        ("task", False, "archived", "tactical_task"),
        ("task", True, "archived", "recurring_system"),
        ("memory", False, "active", "context_memory"),
        ("memory", False, "archived", "archived_history"),
    ],
)
def test_inference_knows_kind_recurrence_and_archive(
    kind: str, is_recurring: bool, state: str, expected: str
) -> None:
    assert infer_type(kind, is_recurring=is_recurring, state=state) == expected


def test_a_memory_cannot_recur() -> None:
    with pytest.raises(InvalidInput, match="a memory cannot recur"):
        made({"kind": "memory", "recurrence_kind": "daily"})
    with pytest.raises(InvalidInput, match="a memory cannot recur"):
        edited(made({"recurrence_kind": "daily"}), {"kind": "memory"})
    both = edited(made({"recurrence_kind": "daily"}), {"kind": "memory", "recurrence_kind": None})
    assert (both["kind"], both["type"]) == ("memory", "context_memory")


def test_a_completed_task_becomes_a_memory_only_with_a_state() -> None:
    done = edited(made({}), {"state": "completed"})
    with pytest.raises(InvalidInput) as caught:
        edited(done, {"kind": "memory"})
    assert caught.value.code == "invalid_transition"
    kept = edited(done, {"kind": "memory", "state": "archived"})
    assert (kept["kind"], kept["state"], kept.get("progress")) == ("memory", "archived", None)
