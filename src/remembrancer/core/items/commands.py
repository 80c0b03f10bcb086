"""What can be asked of an item, in resolved form: ids instead of names, milliseconds not words.

`app.items` resolves names and dates before it comes here. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict
from zoneinfo import ZoneInfo

from remembrancer.core.values import JSON


@dataclass(frozen=True, slots=True)
class Moment:
    """When a decision is taken: milliseconds UTC, and the namespace's time zone."""

    now_ms: int
    zone: ZoneInfo


class ItemEdit(TypedDict, total=False):
    """The fields that a command gives; a missing name is left alone, None clears.

    *Units:* times in milliseconds UTC. *Shape:* `type` None means infer again; `steps` replaces
    the check list, `step_done` ticks by step id; `add_*` append a dated line; `recurrence_day` is
    the wished day of a monthly series (31 its last) where the due date's is not meant, `due_wall`
    the clock that is meant where it is skipped on the due date.
    """

    title: str
    content: str | None
    summary: str | None
    raw_input: str | None
    kind: str
    type: str | None
    state: str
    progress: str
    priority: int
    startup_priority: int
    fact_key: str | None
    importance: float | None
    confidence: float | None
    tags: Sequence[str]
    source: str | None
    source_message_ids: Sequence[str]
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    pinned: bool
    authored_by: str
    due_at: int | None
    due_text: str | None
    due_wall: str | None
    recurrence_kind: str | None
    recurrence_interval: int | None
    recurrence_until: int | None
    recurrence_day: int
    project_id: str | None
    topic_id: str | None
    objective_id: str | None
    artifact_id: str | None
    steps: list[JSON] | None
    step_done: dict[str, bool]
    add_note: str
    add_decision: str
    add_problem: str
