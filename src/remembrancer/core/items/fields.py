"""The fields of an item, their closed sets and their defaults.

Names are the ledger's names and the columns' names. Not a parser of input: `edit.py` checks
values. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

from remembrancer.core.ledger.changes import Fields
from remembrancer.core.values import JSON

Kind = Literal["task", "memory"]
TaskType = Literal["tactical_task", "strategic_goal", "recurring_system"]
MemoryType = Literal[
    "context_memory",
    "fact",
    "event",
    "preference",
    "relationship",
    "boundary",
    "habit",
    "decision",
    "note",
    "world_fact",
    "learning",
    "rule",
    "identity",
    "persona",
    "excerpt",
    "archived_history",
]
State = Literal[
    "active", "dormant", "stale", "superseded", "archived", "completed", "expired", "deleted"
]
Progress = Literal["pending", "in_progress", "failed", "done"]
RecurrenceKind = Literal["daily", "weekly", "monthly", "yearly", "weekdays"]

KINDS: Final = get_args(Kind)
TASK_TYPES: Final = get_args(TaskType)
MEMORY_TYPES: Final = get_args(MemoryType)
TYPES: Final = TASK_TYPES + MEMORY_TYPES
STATES: Final = get_args(State)
PROGRESS: Final = get_args(Progress)
RECURRENCE_KINDS: Final = get_args(RecurrenceKind)

PRIORITIES: Final[Mapping[str, int]] = MappingProxyType({"low": 1, "medium": 2, "high": 3})
"""Name → stored priority. Source: DESIGN section 4."""

CURRENT_STATES: Final = ("active", "dormant", "stale")
"""States that normal retrieval returns; the rest is history. Source: seed, raw level."""

DEFAULTS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        "kind": "task",
        "type": "tactical_task",
        "type_by_hand": None,
        "state": "active",
        "state_since": None,
        "progress": None,
        "title": "",
        "content": None,
        "summary": None,
        "raw_input": None,
        "priority": 2,
        "startup_priority": 5,
        "fact_key": None,
        "importance": None,
        "confidence": None,
        "tags": None,
        "source": None,
        "source_message_ids": None,
        "valid_from": None,
        "valid_to": None,
        "expires_at": None,
        "pinned": None,
        "authored_by": "human",
        "due_at": None,
        "due_text": None,
        "due_wall": None,
        "snoozed_until": None,
        "ignored_until": None,
        "recurrence_kind": None,
        "recurrence_interval": None,
        "recurrence_until": None,
        "recurrence_day": None,
        "last_completed_at": None,
        "last_completed_due_at": None,
        "project_id": None,
        "topic_id": None,
        "objective_id": None,
        "superseded_by": None,
        "artifact_id": None,
        "steps": None,
        "notes": None,
        "decisions": None,
        "problems": None,
    }
)
"""Field → its default. None is also how false, empty and absent are stored.

Times are milliseconds since the epoch, UTC; `type_by_hand` and `pinned` are True or None;
`tags`, `source_message_ids`, `steps` and the dated lines are lists; `recurrence_day` is the
series' day of the month, so that 31 January – 28 February – 31 March keeps its 31; `due_wall` the
local wall clock that a series is due at where clocks skip it and `due_at` lies behind the gap.
"""


def infer_type(kind: str, *, is_recurring: bool, state: str = "active") -> str:
    """Return the type that follows from kind and recurrence when nobody chose one by hand."""
    if kind == "memory":
        return "archived_history" if state == "archived" else "context_memory"
    return "recurring_system" if is_recurring else "tactical_task"


def with_defaults(fields: Mapping[str, JSON]) -> Fields:
    """Return the record with every field present."""
    return {**DEFAULTS, **fields}
