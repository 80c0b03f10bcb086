"""Decisions on memories: who may replace one, and what the new one takes over from the old.

Reading and writing is `app.memories`. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from remembrancer.core.errors import Conflict, NotFound
from remembrancer.core.items.commands import ItemEdit
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.values import JSON

IMPORTANCE: Final = 0.6
"""Importance of a memory that says none. Source: the predecessor's default."""

CONFIDENCE: Final = 0.8
"""Confidence in a memory that says none. Source: the predecessor's default."""

INHERITED: Final = (
    "tags",
    "importance",
    "pinned",
    "priority",
    "startup_priority",
    "project_id",
    "topic_id",
)
"""Fields that a memory takes over from the one it supersedes, unless given. Source: DESIGN
section 5; where it belongs and what it weighs is not said anew with every update."""


def require_memory(record: ItemRecord) -> None:
    """Refuse an item that is no memory. *Raises:* NotFound naming the door for tasks."""
    if record.fields.get("kind") != "memory":
        raise NotFound(
            f"{record.id} is a task, not a memory", hint="get_item and update_item work on both"
        )


def refuse_job(record: ItemRecord, *, authored_by: str, verb: str) -> None:
    """Refuse a job that would change what a person wrote or pinned. *Raises:* Conflict."""
    fields = record.fields
    if authored_by == "job" and (fields.get("authored_by") == "human" or fields.get("pinned")):
        raise Conflict(
            f"a job cannot {verb} {record.id}: a person wrote or pinned it",
            hint="file a candidate in the review queue instead",
            details={"item_id": record.id, "authored_by": str(fields.get("authored_by"))},
        )


def refuse_ended(record: ItemRecord) -> None:
    """Refuse to supersede what is superseded or deleted already. *Raises:* Conflict."""
    state = record.fields.get("state")
    if state == "superseded":
        by_id = record.fields.get("superseded_by")
        raise Conflict(
            f"{record.id} is superseded by {by_id} already",
            hint="supersede that one, or reactivate this one first",
            details={"item_id": record.id, "superseded_by": by_id},
        )
    if state == "deleted":
        raise Conflict(
            f"{record.id} is deleted",
            hint="restore it first; it can be for 30 days",
            details={"item_id": record.id, "state": "deleted"},
        )


def is_current(fields: Mapping[str, JSON], now_ms: int) -> bool:
    """Tell whether an active memory still counts: neither expired nor outdated."""
    ends = (fields.get("expires_at"), fields.get("valid_to"))
    return not any(isinstance(end, int) and end <= now_ms for end in ends)


def with_inherited(edit: ItemEdit, old: Mapping[str, JSON] | None) -> ItemEdit:
    """Return the edit that makes a memory, with what it takes over from the one it supersedes."""
    full: dict[str, object] = {}
    if old is not None:
        full = {name: old[name] for name in INHERITED if old.get(name) is not None}
    full = {"importance": IMPORTANCE, "confidence": CONFIDENCE, "priority": 1} | full
    # Both sides have the names of an edit.
    return cast(ItemEdit, full | cast("dict[str, object]", edit))
