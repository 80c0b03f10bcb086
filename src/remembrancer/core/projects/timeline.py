"""A project's timeline: one line of plain English for an event. Not a diff; `history` has that.

Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from remembrancer.core.dates import format_iso
from remembrancer.core.ledger.events import Event
from remembrancer.core.ledger.undo import REDONE, UNDONE
from remembrancer.core.values import JSON

_VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ItemCreated": "created",
        "ItemCompleted": "completed",
        "ItemSnoozed": "snoozed",
        "ItemIgnored": "put aside",
        "ItemReactivated": "reactivated",
        "ItemArchived": "archived",
        "ItemSuperseded": "superseded",
        "ItemMarkedStale": "marked as stale",
        "ItemDeleted": "deleted",
        "ItemRestored": "restored",
        "ProjectCreated": "created",
        "ProjectDeleted": "deleted",
        UNDONE: "took back a change of",
        REDONE: "brought back a change of",
    }
)
"""Kind of event → what was done to the thing that is named behind it."""

_UNTIL: Final[Mapping[str, str]] = MappingProxyType(
    {"ItemSnoozed": "snoozed_until", "ItemIgnored": "ignored_until"}
)

_QUIET: Final = frozenset(
    {"state_since", "due_text", "due_wall", "type_by_hand", "recurrence_day", "slug"}
)
"""Fields that follow from others and say nothing on a line."""


def timeline_entry(event: Event, *, item_id: str | None, title: str | None) -> dict[str, JSON]:
    """Return the answer form of one event.

    *Shape:* `title` the item's, or that of the objective when the event is the project's own.
    """
    return {
        "position": event.position,
        "at": format_iso(event.at_ms),
        "kind": event.kind,
        "actor": event.actor,
        "item_id": item_id,
        "title": title if item_id is not None else None,
        "summary": summarise(event, is_item=item_id is not None, title=title),
    }


def summarise(event: Event, *, is_item: bool, title: str | None) -> str:
    """Return what happened as a short line, such as `completed "Water the plants"`."""
    quoted = f'"{title}"' if title else "an item"
    if event.kind == "ObjectiveSet":
        return f"made {quoted} the objective"
    if event.kind == "ObjectiveCleared":
        return "ended the objective"
    if event.kind == "ItemChosenAsObjective":
        return f"chose {quoted} as the objective"
    thing = quoted if is_item else "the project"
    if event.kind == "ItemStateChanged":
        return f"set {thing} to {_after(event, 'state')}"
    verb = _VERBS.get(event.kind)
    if verb is None:
        return f"changed {_names(event)} of {thing}"
    if event.kind == "ItemCreated" and title:
        thing = f"the {_after(event, 'kind') or 'item'} {thing}"
    return f"{verb} {thing}{_rest(event)}"


def _rest(event: Event) -> str:
    until = _after(event, _UNTIL.get(event.kind, ""))
    if isinstance(until, int):
        return f" until {format_iso(until)}"
    following = event.note.get("next_due_at")
    if isinstance(following, int):
        return f"; due again {format_iso(following)}"
    reason = event.note.get("reason")
    return f": {reason}" if isinstance(reason, str) else ""


def _after(event: Event, name: str) -> JSON:
    return event.changes.get(name, (None, None))[1]


def _names(event: Event) -> str:
    shown = sorted(name.removesuffix("_id") for name in event.changes if name not in _QUIET)
    return ", ".join(name.replace("_", " ") for name in shown) or "details"
