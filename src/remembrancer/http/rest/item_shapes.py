"""What is answered of an item: its full form, its brief form, and the answers that hold one.

They describe the views of `core.items.record`; nothing is rendered through them.
"""

from __future__ import annotations

from pydantic import Field

from remembrancer.app.commit import Answer as AppAnswer
from remembrancer.core.items.fields import Kind, Progress, RecurrenceKind, State
from remembrancer.http.answers import Answer
from remembrancer.http.parsing import Shape
from remembrancer.http.rest.item_bodies import ItemType


class OwnerName(Shape):
    """The project or topic that an item refers to."""

    slug: str
    name: str


class LineShape(Shape):
    """One dated line."""

    at: str | None
    text: str


class StepShape(Shape):
    """One step of a check list."""

    id: str
    text: str
    done: bool
    done_at: str | None = None
    steps: list[StepShape] = Field(default_factory=list)


class BriefItem(Shape):
    """An item as matches and bundles show it; what is empty, false or 0 is left out."""

    id: str
    title: str
    kind: Kind
    type: ItemType
    state: State
    priority: int
    updated_at: str
    content: str = ""
    startup_priority: int = 0
    pinned: bool = False
    tags: list[str] = Field(default_factory=list)
    due_at: str | None = None
    project: OwnerName | None = None
    topic: OwnerName | None = None
    fact_key: str | None = None
    recurrence_kind: RecurrenceKind | None = None


class ItemShape(Shape):
    """An item in full; times are ISO 8601 in UTC, and most of what has no value is left out."""

    id: str
    title: str
    content: str
    kind: Kind
    type: ItemType
    state: State
    item_kind: Kind
    entity_type: ItemType
    lifecycle_state: State
    priority: int
    startup_priority: int
    pinned: bool
    tags: list[str]
    due_at: str | None
    project: OwnerName | None
    topic: OwnerName | None
    updated_at: str
    fact_key: str | None = None
    recurrence_kind: RecurrenceKind | None = None
    completed: bool
    authored_by: str
    version: int
    created_at: str
    progress: Progress | None = None
    summary: str | None = None
    due_text: str | None = None
    importance: float | None = None
    confidence: float | None = None
    source: str | None = None
    source_message_ids: list[str] = Field(default_factory=list)
    recurrence_interval: int | None = None
    recurrence_until: str | None = None
    objective_id: str | None = None
    superseded_by: str | None = None
    artifact_id: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    snoozed_until: str | None = None
    ignored_until: str | None = None
    last_completed_at: str | None = None
    completed_at: str | None = None
    archived_at: str | None = None
    superseded_at: str | None = None
    deleted_at: str | None = None
    notes: list[LineShape] = Field(default_factory=list)
    decisions: list[LineShape] = Field(default_factory=list)
    problems: list[LineShape] = Field(default_factory=list)
    steps: list[StepShape] = Field(default_factory=list)


class MomentShape(Shape):
    """The moment of the past that an answer shows."""

    position: int | None
    at: str | None


class RelationShape(Shape):
    """A relation as one of its items sees it."""

    type: str
    direction: str
    item_id: str
    title: str
    state: State
    confidence: float | None
    reason: str | None


class MadeItem(Shape):
    """An item that was made."""

    item: ItemShape
    outcome: str


class ChangedItem(Shape):
    """An item after a change; `changed` is false when it was so already."""

    item: ItemShape
    changed: bool


def item_answer(answer: AppAnswer, status: int = 200) -> Answer:
    """Return an answer with one item; its version is the ETag."""
    item = answer["item"]
    assert isinstance(item, dict)
    version = item["version"]
    assert isinstance(version, int)
    return Answer(answer, status=status, version=version)
