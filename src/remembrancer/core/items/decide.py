"""Decisions on one item: create it, edit it, change its state.

Each takes the present fields and gives a draft event, or None when nothing would change. Rules
that need other rows (a cycle, a slug, a taken key) are not here. Every ring may import it.
"""

from __future__ import annotations

from typing import Final, cast

from remembrancer.core import limits
from remembrancer.core.dates import Recurrence, next_occurrence
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.items import edit as check
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.editing import edited_fields
from remembrancer.core.items.fields import DEFAULTS, RecurrenceKind, with_defaults
from remembrancer.core.items.states import check_transition
from remembrancer.core.ledger.changes import Fields, changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.values import DAY_MS, HOUR_MS, JSON

RECOMPLETE_GUARD_MS: Final = 60_000
"""Milliseconds after a recurring completion in which a second one is taken as a repeat."""


def create_item(edit: ItemEdit, *, at: Moment) -> Draft:
    """Draft the making of an item from what is given and the defaults.

    *Raises:* InvalidInput, LimitExceeded naming the field.
    """
    check.check_title(edit.get("title", ""))
    start: Fields = dict(DEFAULTS)
    if edit.get("kind", "task") == "memory":
        start["type"] = "context_memory"
    after = edited_fields(start | {"kind": edit.get("kind", "task")}, edit, at=at)
    full: Fields = start | {"kind": edit.get("kind", "task")} | after
    full["state_since"] = at.now_ms
    return Draft("ItemCreated", changes_between({}, full))


def edit_item(fields: Fields, edit: ItemEdit, *, at: Moment) -> Draft | None:
    """Draft an edit; None when it changes nothing.

    *Raises:* InvalidInput, LimitExceeded, Conflict (the item is deleted).
    """
    refuse_deleted(fields)
    changes = changes_between(fields, edited_fields(fields, edit, at=at))
    return Draft("ItemUpdated", changes) if changes else None


def refuse_deleted(fields: Fields) -> None:
    """Refuse to touch a deleted item."""
    if fields.get("state") == "deleted":
        raise Conflict(
            "the item is deleted",
            hint="restore_item brings it back within 30 days",
            details={"state": "deleted"},
        )


def complete_item(fields: Fields, *, at: Moment, occurrence_ms: int | None = None) -> Draft | None:
    """Draft a completion: a recurring task moves to its next due date, any other is done.

    *Shape:* `occurrence_ms` names the due date that is meant; None when it was completed already
    (the same occurrence, or a second call within a minute). *Raises:* InvalidInput for a memory
    or a state that cannot be completed.
    """
    refuse_deleted(fields)
    present = with_defaults(fields)
    if present["kind"] != "task":
        raise InvalidInput(
            "only a task can be completed", hint="archive a memory instead", field="action"
        )
    if present["state"] == "completed":
        return None
    check_transition("task", str(present["state"]), "completed")
    if present["recurrence_kind"] is None:
        return _finish(present, at)
    return _next_occurrence(present, at, occurrence_ms)


def _finish(present: Fields, at: Moment) -> Draft:
    after: Fields = {
        "state": "completed",
        "state_since": at.now_ms,
        "progress": "done",
        "last_completed_at": at.now_ms,
        "last_completed_due_at": present["due_at"],
        "snoozed_until": None,
        "ignored_until": None,
    }
    return Draft("ItemCompleted", changes_between(present, after))


def _next_occurrence(present: Fields, at: Moment, occurrence_ms: int | None) -> Draft | None:
    due, last_at = present["due_at"], present["last_completed_at"]
    last_due = present["last_completed_due_at"]
    if occurrence_ms is not None and occurrence_ms != due:
        if isinstance(last_due, int) and occurrence_ms <= last_due:
            return None
        raise InvalidInput(
            f"the task has no occurrence due at {occurrence_ms!r}",
            hint="give the present due_at, or leave it out",
            field="occurrence_due_at",
        )
    is_repeat = isinstance(last_at, int) and at.now_ms - last_at < RECOMPLETE_GUARD_MS
    is_early = isinstance(last_due, int) and at.now_ms <= last_due
    if occurrence_ms is None and (is_repeat or is_early):
        return None
    recurrence = recurrence_of(present)
    assert recurrence is not None
    following = next_occurrence(
        recurrence,
        due_ms=due if isinstance(due, int) else None,
        now_ms=at.now_ms,
        zone=at.zone,
        due_wall=None if present["due_wall"] is None else str(present["due_wall"]),
    )
    if following is None:
        return _finish(present, at)
    after: Fields = {
        "state": "active",
        "state_since": present["state_since"] if present["state"] == "active" else at.now_ms,
        "progress": None,
        "due_at": following.at_ms,
        "due_text": None,
        "due_wall": following.wall,
        "last_completed_at": at.now_ms,
        "last_completed_due_at": due if due is not None else at.now_ms,
        "snoozed_until": None,
        "ignored_until": None,
        "steps": _unticked(present["steps"]),
    }
    return Draft("ItemCompleted", changes_between(present, after), {"next_due_at": following.at_ms})


def _unticked(steps: JSON) -> JSON:
    if not isinstance(steps, list):
        return None
    fresh: list[JSON] = []
    for step in steps:
        assert isinstance(step, dict)
        children = _unticked(step.get("steps"))
        fresh.append({**step, "done_at": None, **({"steps": children} if children else {})})
    return fresh


def recurrence_of(fields: Fields) -> Recurrence | None:
    """Return the item's recurrence as a value, or None when it has none."""
    present = with_defaults(fields)
    kind = present["recurrence_kind"]
    if kind is None:
        return None
    interval, until = present["recurrence_interval"], present["recurrence_until"]
    day = present["recurrence_day"]
    return Recurrence(
        kind=cast(RecurrenceKind, kind),
        interval=interval if isinstance(interval, int) else 1,
        until_ms=until if isinstance(until, int) else None,
        anchor_day=day if isinstance(day, int) else None,
    )


def snooze_item(fields: Fields, *, until_ms: int, at: Moment) -> Draft | None:
    """Draft a snooze until a moment in the future; it takes back an ignore.

    *Raises:* InvalidInput when the moment has passed, or for a memory or a finished task.
    """
    _require_open_task(fields, "snoozed")
    if until_ms <= at.now_ms:
        raise InvalidInput(
            "a task cannot be snoozed until a past moment", hint="give a later one", field="until"
        )
    changes = changes_between(fields, {"snoozed_until": until_ms, "ignored_until": None})
    return Draft("ItemSnoozed", changes) if changes else None


def ignore_item(fields: Fields, *, at: Moment) -> Draft | None:
    """Draft a cool-down of 48 hours in which the focus leaves the task out; ends a snooze."""
    _require_open_task(fields, "ignored")
    until = at.now_ms + limits.IGNORE_HOURS * HOUR_MS
    changes = changes_between(fields, {"ignored_until": until, "snoozed_until": None})
    return Draft("ItemIgnored", changes) if changes else None


def _require_open_task(fields: Fields, verb: str) -> None:
    refuse_deleted(fields)
    if fields.get("kind") != "task":
        raise InvalidInput(
            f"only a task can be {verb}", hint="archive a memory instead", field="action"
        )
    if fields.get("state") not in ("active", "dormant", "stale"):
        raise InvalidInput(
            f"a task that is {fields.get('state')!r} cannot be {verb}",
            hint="reactivate it first",
            field="action",
            code="invalid_transition",
        )


def reactivate_item(fields: Fields, *, at: Moment) -> Draft | None:
    """Draft the return to `active`: un-completes, un-archives, ends a snooze or an ignore."""
    refuse_deleted(fields)
    present = with_defaults(fields)
    after = _state_fields(present, "active", at)
    after |= {"snoozed_until": None, "ignored_until": None, "superseded_by": None}
    changes = changes_between(present, after)
    return Draft("ItemReactivated", changes) if changes else None


def archive_item(fields: Fields, *, at: Moment) -> Draft | None:
    """Draft the move to `archived`."""
    refuse_deleted(fields)
    present = with_defaults(fields)
    changes = changes_between(present, _state_fields(present, "archived", at))
    return Draft("ItemArchived", changes) if changes else None


def supersede_item(fields: Fields, *, by_id: str, at: Moment, reason: str | None) -> Draft | None:
    """Draft the move to `superseded` with the id of what takes its place."""
    refuse_deleted(fields)
    present = with_defaults(fields)
    after = _state_fields(present, "superseded", at)
    after["superseded_by"] = by_id
    changes = changes_between(present, after)
    note: dict[str, JSON] = {"reason": reason} if reason else {}
    return Draft("ItemSuperseded", changes, note) if changes else None


def mark_stale(fields: Fields, *, at: Moment) -> Draft | None:
    """Draft the move to `stale` of an untouched task."""
    changes = changes_between(fields, _state_fields(fields, "stale", at))
    return Draft("ItemMarkedStale", changes) if changes else None


def expire_item(fields: Fields, *, at: Moment) -> Draft:
    """Draft the end of a memory that nobody used for long."""
    changes = changes_between(fields, _state_fields(with_defaults(fields), "expired", at))
    return Draft("ItemExpired", changes)


def delete_item(fields: Fields, *, at: Moment) -> Draft | None:
    """Draft the soft delete; None when it is deleted already."""
    if fields.get("state") == "deleted":
        return None
    after: Fields = {"state": "deleted", "state_since": at.now_ms}
    return Draft("ItemDeleted", changes_between(fields, after), {"state": fields.get("state")})


def restore_item(
    fields: Fields, *, state: str, at: Moment, days: int = limits.RESTORE_DAYS
) -> Draft | None:
    """Draft the return of a deleted item to the state it had; None when it is not deleted.

    *Raises:* Conflict when it was deleted longer ago than the period of restoring, in days.
    """
    if fields.get("state") != "deleted":
        return None
    since = fields.get("state_since")
    if isinstance(since, int) and at.now_ms - since > days * DAY_MS:
        raise Conflict(
            f"the item was deleted more than {days} days ago",
            hint="make it anew from its history",
        )
    after: Fields = {"state": state, "state_since": at.now_ms}
    return Draft("ItemRestored", changes_between(fields, after))


def set_state(fields: Fields, state: str, *, at: Moment) -> Draft | None:
    """Draft a change of state by name: the verb that belongs to it decides what else changes."""
    refuse_deleted(fields)
    check_transition(str(fields.get("kind")), str(fields.get("state")), state)
    if state == "completed":
        return complete_item({**fields, "recurrence_kind": None}, at=at)
    if state == "active":
        return reactivate_item(fields, at=at)
    if state == "archived":
        return archive_item(fields, at=at)
    if state == "deleted":
        return delete_item(fields, at=at)
    present = with_defaults(fields)
    changes = changes_between(present, _state_fields(present, state, at))
    return Draft("ItemStateChanged", changes) if changes else None


def _state_fields(present: Fields, state: str, at: Moment) -> Fields:
    return edited_fields(present, {"state": state}, at=at)
