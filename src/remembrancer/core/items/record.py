"""An item as it was read, what it refers to, and its form in answers.

The view is the same at every door: DESIGN's names, beside the predecessor's for the three that
its clients read. Derived fields (`completed`, `archived_at`, …) come from the one state. Every
ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from remembrancer.core.dates import format_iso
from remembrancer.core.items.fields import with_defaults
from remembrancer.core.ledger.changes import Fields, apply_changes
from remembrancer.core.ledger.events import Draft
from remembrancer.core.values import JSON


class ItemRecord(NamedTuple):
    """One item as stored: envelope and fields. *Units:* times in milliseconds UTC."""

    id: str
    version: int
    created_at: int
    updated_at: int
    fields: Fields
    position: int = 0
    seq: int = 0


def after_draft(record: ItemRecord, draft: Draft, now_ms: int) -> ItemRecord:
    """Return the item as it will be once the draft is written."""
    return record._replace(
        version=record.version + 1,
        updated_at=now_ms,
        fields=apply_changes(record.fields, draft.changes),
    )


@dataclass(frozen=True, slots=True)
class Owner:
    """A project or topic that items refer to."""

    id: str
    slug: str
    name: str
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class References:
    """Projects and topics by id, as far as the items at hand refer to them."""

    projects: Mapping[str, Owner] = field(default_factory=dict)
    topics: Mapping[str, Owner] = field(default_factory=dict)


MOMENTS: Final = (
    "valid_from",
    "valid_to",
    "expires_at",
    "due_at",
    "snoozed_until",
    "ignored_until",
    "recurrence_until",
    "last_completed_at",
)
"""Fields that are moments, in milliseconds UTC, and are shown as such."""
_PLAIN: Final = (
    "summary",
    "due_text",
    "fact_key",
    "importance",
    "confidence",
    "source",
    "source_message_ids",
    "recurrence_kind",
    "recurrence_interval",
    "objective_id",
    "superseded_by",
    "artifact_id",
)


def item_view(record: ItemRecord, references: References) -> dict[str, JSON]:
    """Return an item's answer form; absent values are left out, times are ISO 8601 UTC."""
    fields = with_defaults(record.fields)
    state, kind = fields["state"], fields["kind"]
    view: dict[str, JSON] = {
        "id": record.id,
        "title": fields["title"],
        "content": fields["content"] or "",
        "kind": kind,
        "type": fields["type"],
        "state": state,
        "item_kind": kind,
        "entity_type": fields["type"],
        "lifecycle_state": state,
        "completed": state == "completed",
        "priority": fields["priority"],
        "startup_priority": fields["startup_priority"],
        "pinned": bool(fields["pinned"]),
        "tags": fields["tags"] or [],
        "due_at": _time(fields["due_at"]),
        "project": _owner(references.projects, fields["project_id"]),
        "topic": _owner(references.topics, fields["topic_id"]),
        "authored_by": fields["authored_by"],
        "version": record.version,
        "created_at": format_iso(record.created_at),
        "updated_at": format_iso(record.updated_at),
    }
    if kind == "task":
        view["progress"] = fields["progress"] or "pending"
    for name in _PLAIN:
        if fields[name] is not None:
            view[name] = fields[name]
    for name in MOMENTS:
        if fields[name] is not None:
            view[name] = _time(fields[name])
    since = _time(fields["state_since"])
    if state in ("completed", "archived", "superseded", "deleted") and since:
        view[f"{state}_at"] = since
    for name in ("notes", "decisions", "problems"):
        lines = fields[name]
        if isinstance(lines, list):
            view[name] = [_line(line) for line in lines]
    if fields["steps"]:
        view["steps"] = _steps(fields["steps"])
    return view


_BRIEF: Final = (
    "id",
    "title",
    "content",
    "kind",
    "type",
    "state",
    "priority",
    "startup_priority",
    "pinned",
    "tags",
    "due_at",
    "project",
    "topic",
    "fact_key",
    "recurrence_kind",
    "updated_at",
)


def brief_view(record: ItemRecord, references: References) -> dict[str, JSON]:
    """Return the form in which bundles and search results show an item: what a reader needs.

    Empty values and the predecessor's names are left out: a bundle costs its reader tokens.
    """
    view = item_view(record, references)
    return {name: view[name] for name in _BRIEF if not _is_empty(view.get(name))}


def _is_empty(value: JSON) -> bool:
    # Not by truth: a startup priority of 0 says something.
    return value is None or value is False or value in ("", [])


def _time(value: JSON) -> JSON:
    return format_iso(value) if isinstance(value, int) else None


def _owner(owners: Mapping[str, Owner], id_: JSON) -> JSON:
    owner = owners.get(str(id_)) if id_ is not None else None
    if owner is None or not owner.is_active:
        return None
    return {"slug": owner.slug, "name": owner.name}


def _line(line: JSON) -> JSON:
    assert isinstance(line, dict)
    return {"at": _time(line.get("at")), "text": line.get("text")}


def _steps(steps: JSON) -> list[JSON]:
    result: list[JSON] = []
    for step in steps if isinstance(steps, list) else []:
        assert isinstance(step, dict)
        view: dict[str, JSON] = {
            "id": step["id"],
            "text": step["text"],
            "done": step.get("done_at") is not None,
        }
        if step.get("done_at") is not None:
            view["done_at"] = _time(step["done_at"])
        if step.get("steps"):
            view["steps"] = _steps(step["steps"])
        result.append(view)
    return result
