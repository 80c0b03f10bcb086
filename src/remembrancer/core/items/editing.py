"""Edits: what a set of given fields makes of an item, with the rules that tie fields together.

Not a decision about events; `decide.py` turns the result into a draft. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from remembrancer.core import limits
from remembrancer.core.dates.zones import to_local
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.items import edit as check
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.fields import (
    CURRENT_STATES,
    KINDS,
    MEMORY_TYPES,
    PROGRESS,
    RECURRENCE_KINDS,
    TASK_TYPES,
    infer_type,
    with_defaults,
)
from remembrancer.core.items.secrecy import as_memory, lines_without_secrets
from remembrancer.core.items.states import check_transition
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

_PLAIN: Final = (
    "valid_from",
    "valid_to",
    "expires_at",
    "due_at",
    "due_wall",
    "project_id",
    "topic_id",
    "objective_id",
    "artifact_id",
    "recurrence_until",
    "authored_by",
)
"""Fields whose values were resolved before they came here."""

_LINES: Final[Mapping[str, str]] = MappingProxyType(
    {"add_note": "notes", "add_decision": "decisions", "add_problem": "problems"}
)

INTERVAL_MAX: Final = 365
"""Largest recurrence interval. Source: the predecessor's tool schema."""


def edited_fields(fields: Mapping[str, JSON], edit: ItemEdit, *, at: Moment) -> Fields:
    """Return the fields that the edit sets, checked and with everything that follows from them.

    *Raises:* InvalidInput, LimitExceeded naming the field.
    """
    before = with_defaults(fields)
    after: Fields = {}
    if edit.get("kind", before["kind"]) == "memory":
        edit = as_memory(before, edit)
        if before["kind"] == "task":
            after = lines_without_secrets(before)
            before |= after
    given = cast(dict[str, object], edit)
    for name, checker in _CHECKS.items():
        if name in given:
            after[name] = checker(given[name])
    for name in _PLAIN:
        if name in given:
            after[name] = cast(JSON, given[name])
    if "due_at" in after and "due_text" not in after:
        after["due_text"] = None
    if after.get("due_at", before["due_at"]) != before["due_at"] and "due_wall" not in after:
        after["due_wall"] = None
    _set_kind_and_type(before, after, edit, at)
    _set_state(before, after, edit, at)
    _set_steps(before, after, edit, at)
    _add_lines(before, after, edit, at)
    _check_validity(before | after)
    return after


def _check_kind(value: object) -> JSON:
    if value not in KINDS:
        raise InvalidInput(
            f"{value!r} is not a kind", hint=f"one of {', '.join(KINDS)}", field="item_kind"
        )
    return cast(str, value)


def _check_content(value: object) -> JSON:
    text = cast("str | None", value)
    if text is None or not text.strip():
        return None
    text = clean(text)
    # The app turns longer content into an artifact and hands over an excerpt.
    if len(text) > limits.CONTENT_CHARS_MAX:
        raise LimitExceeded(
            f"the content has {len(text)} characters",
            hint=f"at most {limits.CONTENT_CHARS_MAX}",
            field="content",
        )
    return text


def _check_recurrence_kind(value: object) -> JSON:
    if value is not None and value not in RECURRENCE_KINDS:
        raise InvalidInput(
            f"{value!r} is not a recurrence",
            hint=f"one of {', '.join(RECURRENCE_KINDS)}",
            field="recurrence_kind",
        )
    return cast("str | None", value)


def _check_interval(value: object) -> JSON:
    if value is None:
        return None
    return check.check_range("recurrence_interval", cast(int, value), 1, INTERVAL_MAX)


_CHECKS: Final[Mapping[str, Callable[[object], JSON]]] = MappingProxyType(
    {
        "title": lambda v: check.check_title(cast(str, v)),
        "content": _check_content,
        "summary": lambda v: check.check_text("summary", cast("str | None", v)),
        "raw_input": lambda v: check.check_text("raw_input", cast("str | None", v)),
        "due_text": lambda v: check.check_text("due_text", cast("str | None", v)),
        "source": lambda v: check.check_text("source", cast("str | None", v)),
        "kind": _check_kind,
        "priority": lambda v: check.check_range("priority", cast(int, v), 1, 3),
        "startup_priority": lambda v: check.check_range("startup_priority", cast(int, v), 0, 10),
        "fact_key": lambda v: check.check_fact_key(cast("str | None", v)),
        "importance": lambda v: check.check_share("importance", cast("float | None", v)),
        "confidence": lambda v: check.check_share("confidence", cast("float | None", v)),
        "tags": lambda v: check.check_tags(cast("list[str]", v)),
        "source_message_ids": lambda v: check.check_source_ids(cast("list[str]", v)),
        "pinned": lambda v: True if v else None,
        "recurrence_kind": _check_recurrence_kind,
        "recurrence_interval": _check_interval,
    }
)


def _set_kind_and_type(before: Fields, after: Fields, edit: ItemEdit, at: Moment) -> None:
    both = before | after
    kind = str(both["kind"])
    recurrence = both["recurrence_kind"]
    if recurrence is not None and kind != "task":
        raise InvalidInput(
            "a memory cannot recur", hint="clear the recurrence, or keep a task", field="kind"
        )
    # What is only said again is no change: a short month has lent the due date its day.
    is_new_series = recurrence != before["recurrence_kind"]
    is_moved = both["due_at"] != before["due_at"]
    if "recurrence_kind" in after:
        if recurrence is None:
            after |= {"recurrence_interval": None, "recurrence_until": None}
        else:
            after["recurrence_interval"] = both["recurrence_interval"] or 1
        if is_new_series:
            after["recurrence_day"] = None
    elif recurrence is None:
        _refuse_loose_recurrence(after)
    is_set = is_new_series or is_moved or "recurrence_day" in edit
    if recurrence in ("monthly", "yearly") and is_set:
        due = both["due_at"]
        moment = due if isinstance(due, int) else at.now_ms
        after["recurrence_day"] = edit.get("recurrence_day", to_local(moment, at.zone).day)
    if edit.get("type") is not None:
        after["type"] = check.check_type(kind, cast(str, edit["type"]))
        after["type_by_hand"] = True
        return
    types = TASK_TYPES if kind == "task" else MEMORY_TYPES
    if "type" in edit or both["type"] not in types:
        after["type_by_hand"] = None
        both["type_by_hand"] = None
    state = str(edit.get("state") or both["state"])
    is_back = both["type"] == "archived_history" and state != "archived" and "state" in edit
    is_due = is_back or {"kind", "recurrence_kind", "type_by_hand"} & after.keys()
    if both["type_by_hand"] is None and is_due:
        after["type"] = infer_type(kind, is_recurring=recurrence is not None, state=state)


def _refuse_loose_recurrence(after: Fields) -> None:
    for name in ("recurrence_interval", "recurrence_until"):
        if after.get(name) is not None:
            raise InvalidInput(
                f"{name} was given for an item that does not recur",
                hint="give recurrence_kind as well",
                field=name,
            )


def _set_state(before: Fields, after: Fields, edit: ItemEdit, at: Moment) -> None:
    kind = str((before | after)["kind"])
    wanted = edit.get("state")
    progress = edit.get("progress")
    if kind == "memory" and before["kind"] == "task":
        if before["state"] == "completed" and wanted in (None, "completed"):
            raise InvalidInput(
                "a memory cannot be 'completed'",
                hint="give a lifecycle_state as well, such as 'active' or 'archived'",
                field="item_kind",
                code="invalid_transition",
            )
        after |= {"progress": None, "snoozed_until": None, "ignored_until": None}
    if progress is not None:
        if progress not in PROGRESS or kind != "task":
            raise InvalidInput(
                f"{progress!r} is not the progress of a {kind}",
                hint=f"for a task one of {', '.join(PROGRESS)}",
                field="progress",
            )
        after["progress"] = progress
        if wanted is not None and (wanted == "completed") != (progress == "done"):
            raise InvalidInput(
                f"progress {progress!r} and lifecycle_state {wanted!r} do not go together",
                hint="'done' goes with 'completed'; give only one of them",
                field="progress",
            )
        if progress == "done":
            wanted = "completed"
        elif before["state"] == "completed":
            wanted = wanted or "active"
    if wanted is None:
        return
    check_transition(kind, str(before["state"]), wanted)
    if wanted != before["state"]:
        # A snooze or an ignore belongs to the state it was said in.
        after |= {"state": wanted, "state_since": at.now_ms}
        after |= {"snoozed_until": None, "ignored_until": None}
    if wanted == "completed":
        after["progress"] = "done"
        if before["state"] != "completed":
            after |= {"last_completed_at": at.now_ms, "last_completed_due_at": before["due_at"]}
    elif (before | after)["progress"] == "done":
        after["progress"] = None
    if wanted in CURRENT_STATES:
        after["superseded_by"] = None
        expires_at = (before | after)["expires_at"]
        if wanted != before["state"] and isinstance(expires_at, int) and expires_at <= at.now_ms:
            after["expires_at"] = None  # else it would be gone again at once


def _set_steps(before: Fields, after: Fields, edit: ItemEdit, at: Moment) -> None:
    if "steps" in edit:
        after["steps"] = edit["steps"] or None
    ticks = dict(edit.get("step_done", {}))
    if ticks:
        after["steps"] = _ticked((before | after)["steps"], ticks, at.now_ms)
        if ticks:
            raise InvalidInput(
                f"the item has no step {sorted(ticks)[0]!r}",
                hint="get_item shows the step ids",
                field="step_done",
            )
    steps = after.get("steps")
    if isinstance(steps, list) and _count_steps(steps) > limits.STEPS_MAX:
        raise LimitExceeded(
            f"{_count_steps(steps)} steps", hint=f"at most {limits.STEPS_MAX}", field="steps"
        )


def _ticked(steps: JSON, ticks: dict[str, bool], now_ms: int) -> list[JSON]:
    result: list[JSON] = []
    for step in steps if isinstance(steps, list) else []:
        assert isinstance(step, dict)
        fresh = dict(step)
        wanted = ticks.pop(str(step["id"]), None)
        if wanted is not None:
            fresh["done_at"] = (step.get("done_at") or now_ms) if wanted else None
        if step.get("steps"):
            fresh["steps"] = _ticked(step["steps"], ticks, now_ms)
        result.append(fresh)
    return result


def _count_steps(steps: list[JSON]) -> int:
    total = 0
    for step in steps:
        assert isinstance(step, dict)
        children = step.get("steps")
        total += 1 + (_count_steps(children) if isinstance(children, list) else 0)
    return total


def _add_lines(before: Fields, after: Fields, edit: ItemEdit, at: Moment) -> None:
    given = cast(dict[str, object], edit)
    for name, column in _LINES.items():
        if name not in given:
            continue
        text = clean(str(given[name])).strip()
        present = before[column]
        lines = list(present) if isinstance(present, list) else []
        if not text or len(text) > limits.LINE_CHARS_MAX or len(lines) >= limits.LINES_MAX:
            raise LimitExceeded(
                f"{name} has {len(text)} characters and the item {len(lines)} such lines",
                hint=f"1 to {limits.LINE_CHARS_MAX} characters, at most {limits.LINES_MAX} lines",
                field=name,
            )
        after[column] = [*lines, {"at": at.now_ms, "text": text}]


def _check_validity(fields: Fields) -> None:
    start, end = fields["valid_from"], fields["valid_to"]
    if isinstance(start, int) and isinstance(end, int) and end < start:
        raise InvalidInput(
            "valid_to lies before valid_from", hint="swap or clear one", field="valid_to"
        )
