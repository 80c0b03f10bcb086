"""What the doors hand in for an item: names and words, typed but not yet resolved.

`resolve.py` turns it into a `core.items.commands.ItemEdit`. A missing key is left alone, None
clears. Doors may import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from remembrancer.core.values import JSON


class ItemInput(TypedDict, total=False):
    """Fields of an item as a person or an agent gives them.

    *Shape:* dates are words or ISO 8601 in the namespace's zone; a day without a time of day is
    its first moment in `valid_from`, its last in `valid_to`, `expires_at` and `recurrence_until`,
    and at its default hour in `due`; `project` and `topic` are a slug or a name; with `…_name` the
    slug may be new and is made; `steps` are texts or `{"text", "done", "steps"}`; `completed` and
    `archived` set the state.
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
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    pinned: bool
    due: str | None
    recurrence_kind: str | None
    recurrence_interval: int | None
    recurrence_until: str | None
    project: str | None
    project_name: str
    topic: str | None
    topic_name: str
    objective_id: str | None
    steps: Sequence[JSON] | None
    step_done: dict[str, bool]
    add_note: str
    add_decision: str
    add_problem: str
    completed: bool
    archived: bool
