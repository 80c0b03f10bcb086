"""What tools take in common: argument types, the writable fields of an item, and how they are
handed to `app/`.

Published names are the predecessor's, so that its clients need not learn new ones; our own names
are taken as well. Null means "not given", because some clients send every argument each time:
what empties a field is an argument of its own. No results here (`result_schemas.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from remembrancer.app.items.inputs import ItemInput
from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import (
    PRIORITIES,
    TYPES,
    Kind,
    MemoryType,
    Progress,
    RecurrenceKind,
    State,
    TaskType,
)
from remembrancer.core.values import JSON
from remembrancer.mcp.arguments import Arguments

_WORD_OF: Final[Mapping[object, str]] = {
    **{number: word for word, number in PRIORITIES.items()},
    **{str(number): word for word, number in PRIORITIES.items()},
}


def _priority_word(value: object) -> object:
    if isinstance(value, str):
        value = value.strip().lower()
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return _WORD_OF.get(value, value) if is_plain else value


def as_list(value: object) -> object:
    """Return a single text as a list of one: what models often send for a list."""
    # A list as JSON text is the kernel's part.
    return [value] if isinstance(value, str) and value[:1] != "[" else value


Priority = Annotated[Literal["low", "medium", "high"], BeforeValidator(_priority_word)]
"""A priority by word; 1, 2 and 3 are taken too."""

Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]
"""Texts; a single one is taken as a list of one."""

Kinds = Annotated[tuple[Kind, ...], BeforeValidator(as_list)]
States = Annotated[tuple[State, ...], BeforeValidator(as_list)]
ItemType = Annotated[TaskType | MemoryType, WithJsonSchema({"type": "string", "enum": list(TYPES)})]
Types = Annotated[
    tuple[ItemType, ...],
    BeforeValidator(as_list),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
"""Types of items to filter by; the closed set is published where one is chosen."""

Startup = Annotated[int, Field(ge=0, le=10)]
"""A startup priority: 10 always, 8 usually, 5 with its topic, 2 history, 0 never."""

Share = Annotated[float, Field(ge=0, le=1)]


def page_limit(default: int, maximum: int = limits.PAGE_ITEMS_MAX) -> Any:  # Any: as pydantic's
    """Return the field of a page's size."""
    return Field(default, ge=1, le=maximum)


def named(published: str, *accepted: str, **more: Any) -> Any:  # Any: as pydantic's own Field
    """Return a field that is published under one name and answers to others; None by default."""
    more.setdefault("default", None)
    return Field(validation_alias=AliasChoices(published, *accepted), **more)


def project_slug() -> Any:  # Any: as pydantic's
    """Return the field that names a project."""
    return named("project_slug", "project")


def topic_slug() -> Any:  # Any: as pydantic's
    """Return the field that names a topic."""
    return named("group_slug", "topic", "topic_slug", "group")


class OfItem(Arguments):
    """The argument of every tool that works on one item."""

    item_id: str = named("id", "item_id", default=...)


class Paged(Arguments):
    """The arguments of every list that is paged by cursor."""

    cursor: str | None = Field(None, description="next_cursor of the page before")


class Step(BaseModel):
    """One step of a check list, with steps of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    text: str
    done: bool = False
    id: str | None = None
    steps: tuple[str | Step, ...] = ()


class CaptureFields(Arguments):
    """The fields that every tool takes that makes or edits an item."""

    due: str | None = Field(
        None, description="ISO 8601 or words: 'in 3 days', 'next friday 3pm', '明天下午三点'"
    )
    priority: Priority | None = None
    tags: Names | None = None
    project: str | None = project_slug()
    topic: str | None = topic_slug()
    pinned: bool | None = None
    startup_priority: Startup | None = Field(
        None, description="Load at startup: 10 always, 8 usually, 5 with topic, 2 history, 0 never"
    )


class MemoryFields(CaptureFields):
    """What is said of a memory besides its text."""

    type: ItemType | None = named("entity_type", "type")
    fact_key: str | None = Field(
        None, description="Stable name of a fact, as 'profile:timezone'; one active item each"
    )
    importance: Share | None = None
    confidence: Share | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None
    source: str | None = None
    source_message_ids: Names | None = None


class ItemFields(MemoryFields):
    """Every writable field of an item but its title."""

    content: str | None = named("description", "content")
    summary: str | None = None
    raw_input: str | None = None
    kind: Kind | None = named("item_kind", "kind")
    state: State | None = named("lifecycle_state", "state")
    progress: Progress | None = None
    objective_id: str | None = Field(None, description="The goal item that this one serves")
    project_name: str | None = Field(None, description="Makes the project when it is new")
    topic_name: str | None = named(
        "group_name", "topic_name", description="Makes the topic when it is new"
    )
    recurrence_kind: RecurrenceKind | None = None
    recurrence_interval: Annotated[int, Field(ge=1, le=365)] | None = None
    recurrence_until: str | None = None
    steps: tuple[str | Step, ...] | None = Field(None, description="The check list, as a whole")


Clearable = Literal[
    "description",
    "summary",
    "entity_type",
    "fact_key",
    "importance",
    "confidence",
    "valid_from",
    "valid_to",
    "expires_at",
    "source",
    "source_message_ids",
    "steps",
]
"""Fields that `clear` of update_item empties; an emptied type is inferred again."""


class EditFields(ItemFields):
    """What an edit takes beside the fields: emptying, ticking, adding a line."""

    archived: bool | None = None
    completed: bool | None = None
    step_done: dict[str, bool] | None = Field(None, description="Step id → done")
    add_note: str | None = None
    add_decision: str | None = None
    add_problem: str | None = None
    clear_due: bool = False
    clear_project: bool = False
    clear_group: bool = named("clear_group", "clear_topic", default=False)
    clear_objective: bool = False
    clear_recurrence: bool = False
    clear: Annotated[tuple[Clearable, ...], BeforeValidator(as_list)] = ()


_CLEARED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "clear_due": ("due",),
    "clear_project": ("project", "project_name"),
    "clear_group": ("topic", "topic_name"),
    "clear_objective": ("objective_id",),
    "clear_recurrence": ("recurrence_kind", "recurrence_interval", "recurrence_until"),
}
"""Flag → the fields that may not be given beside it; the first one is set to None."""

_FIELD_OF: Final[Mapping[str, str]] = {"description": "content", "entity_type": "type"}


def item_input(arguments: CaptureFields) -> ItemInput:
    """Return the given fields as `app/` takes them: what was not given, or was null, is left out.

    *Raises:* InvalidInput when a field is both given and cleared.
    """
    given: dict[str, Any] = arguments.model_dump(
        include=set(ItemInput.__optional_keys__), exclude_unset=True, exclude_none=True
    )
    if "priority" in given:
        given["priority"] = PRIORITIES[given["priority"]]
    if isinstance(arguments, EditFields):
        for name in _cleared(arguments, given):
            given[name] = [] if name == "source_message_ids" else None
    # The models' fields have the names and the types of ItemInput's.
    return cast(ItemInput, given)


def _cleared(arguments: EditFields, given: Mapping[str, object]) -> list[str]:
    cleared: list[str] = []
    flags = {flag: names for flag, names in _CLEARED_BY.items() if arguments.__dict__[flag]}
    flags |= {name: (_FIELD_OF.get(name, name),) for name in arguments.clear}
    for flag, names in flags.items():
        for name in names:
            if name in given:
                raise InvalidInput(
                    f"{flag!r} asks to empty what {name!r} sets.",
                    hint="Give only one of them.",
                    field=flag,
                )
        cleared.append(names[0])
    return cleared


def given_of(arguments: Arguments) -> dict[str, JSON]:
    """Return the arguments that were given and are not null, by their own names."""
    return arguments.model_dump(exclude_unset=True, exclude_none=True)


def priority_numbers(words: tuple[str, ...]) -> tuple[int, ...]:
    """Return stored priorities for their words."""
    return tuple(PRIORITIES[word] for word in words)
