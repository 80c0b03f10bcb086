"""What may be sent of an item: the fields of a new one, of an edit and of a captured line.

Lengths are checked by the rules of the items, so that every door answers the same; the
description names them. No queries (`items.py`) and no answers (`item_shapes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, cast

from pydantic import BeforeValidator, Field

from remembrancer.app.items.inputs import ItemInput
from remembrancer.core import limits
from remembrancer.core.items.editing import INTERVAL_MAX
from remembrancer.core.items.fields import (
    PRIORITIES,
    Kind,
    MemoryType,
    Progress,
    RecurrenceKind,
    State,
    TaskType,
)
from remembrancer.http.parsing import Body
from remembrancer.http.rest.names import Named, optional

ItemType = Literal[TaskType, MemoryType]
"""Types of tasks and of memories."""


def _not_a_boolean(value: object) -> object:
    # True equals 1, and would be taken for it.
    if isinstance(value, bool):
        raise ValueError("a boolean is not a priority")
    return value


Priority = Annotated[Literal[1, 2, 3, "low", "medium", "high"], BeforeValidator(_not_a_boolean)]
"""A priority by number or by word."""

Share = Annotated[float, Field(ge=0, le=1)]
StartupPriority = Annotated[int, Field(ge=0, le=10)]

ITEM_NAMES: Final[Mapping[str, str]] = {
    "item_kind": "kind",
    "entity_type": "type",
    "lifecycle_state": "state",
    "description": "content",
    "due_at": "due",
    "project_slug": "project",
    "group": "topic",
    "group_slug": "topic",
    "group_name": "topic_name",
}
"""The predecessor's name of a field → ours."""

OTHER_NAMES_TAKEN: Final = (
    f"The predecessor's names are taken too: {', '.join(f'`{name}`' for name in ITEM_NAMES)}."
)
"""A sentence for the routes that take them."""


def text(chars_max: int, words: str = "", **more: Any) -> Any:  # Any: as pydantic's own Field
    """Return an optional text field; its length is described here and checked by the rules."""
    if words:
        more["description"] = words
    return optional(json_schema_extra={"maxLength": chars_max}, **more)


class Step(Body):
    """One step of a check list, with steps of its own."""

    text: str
    done: bool = False
    id: str | None = None
    steps: list[str | Step] | None = None


class CaptureFields(Named):
    """What can be said of a captured line beside its text."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = ITEM_NAMES

    kind: Kind = optional()
    type: ItemType | None = optional(description="Inferred from kind and recurrence when left out.")
    content: str | None = text(
        limits.ARTIFACT_CHARS_MAX,
        f"Above {limits.CONTENT_CHARS_MAX} characters it becomes an artifact.",
    )
    summary: str | None = text(limits.SUMMARY_CHARS_MAX)
    raw_input: str | None = text(limits.RAW_INPUT_CHARS_MAX)
    state: State = optional()
    progress: Progress = optional(description="Of a task.")
    priority: Priority = optional()
    startup_priority: StartupPriority = optional(
        description="10 always, 8 usually, 5 with its topic, 2 history, 0 never."
    )
    pinned: bool = optional()
    tags: list[str] | None = optional(description="As a whole; null for none.")
    fact_key: str | None = text(
        limits.FACT_KEY_CHARS_MAX, "Stable name of a fact, such as profile:timezone."
    )
    importance: Share | None = optional()
    confidence: Share | None = optional()
    source: str | None = text(limits.NAME_CHARS_MAX)
    source_message_ids: list[str] | None = optional()
    valid_from: str | None = optional(description="Words or ISO 8601, as every date.")
    valid_to: str | None = optional()
    expires_at: str | None = optional()
    due: str | None = text(
        limits.TITLE_CHARS_MAX, "ISO 8601 or words: in 3 days, next friday 3pm, 明天下午三点."
    )
    recurrence_kind: RecurrenceKind | None = optional(description="Null ends the series.")
    recurrence_interval: Annotated[int, Field(ge=1, le=INTERVAL_MAX)] | None = optional()
    recurrence_until: str | None = optional()
    project: str | None = optional(description="A slug or a name; null takes it away.")
    project_name: str = text(limits.NAME_CHARS_MAX, "Makes the project when it is new.")
    topic: str | None = optional(description="A slug or a name; null takes it away.")
    topic_name: str = text(limits.NAME_CHARS_MAX, "Makes the topic when it is new.")
    objective_id: str | None = optional(description="The goal that this item serves.")
    steps: list[str | Step] | None = optional(description="The check list, as a whole.")
    completed: bool = optional(description="True completes, false makes active again.")
    archived: bool = optional(description="True archives, false makes active again.")


class Capture(CaptureFields):
    """A line to capture."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {**ITEM_NAMES, "input": "text"}

    text: str = Field(
        description="With markers: #tag +project @topic due:…; note: or 记住：makes a memory.",
        json_schema_extra={"minLength": 1, "maxLength": limits.RAW_INPUT_CHARS_MAX},
    )


class NewItem(CaptureFields):
    """A new item."""

    title: str = Field(json_schema_extra={"minLength": 1, "maxLength": limits.TITLE_CHARS_MAX})


class ItemChange(CaptureFields):
    """Fields to change; what is left out stays, null empties."""

    title: str = optional(json_schema_extra={"minLength": 1, "maxLength": limits.TITLE_CHARS_MAX})
    step_done: dict[str, bool] = optional(description="Step id → done.")
    add_note: str = text(limits.LINE_CHARS_MAX)
    add_decision: str = text(limits.LINE_CHARS_MAX)
    add_problem: str = text(limits.LINE_CHARS_MAX)


def item_input(body: CaptureFields) -> ItemInput:
    """Return the fields that were sent as the use cases take them."""
    given = body.given()
    given.pop("text", None)
    if given.get("priority") in PRIORITIES:
        given["priority"] = PRIORITIES[given["priority"]]
    for name in ("tags", "source_message_ids"):
        if name in given and given[name] is None:
            given[name] = []
    # The models' fields have the names and the types of ItemInput's.
    return cast(ItemInput, given)
