"""Decisions on one topic: make, edit, delete.

Fields: name, slug, description, state, kind (`topic`, `profile`, `project`, `system`),
retrieval_priority 0–100, canonical_item_id, summary_mode (`auto`, `manual`). That a canonical
item belongs to the topic and is current is checked by the use case, which can see the item.
Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.ledger.changes import Fields, changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.projects.decide import check_description, check_name
from remembrancer.core.values import JSON

KINDS: Final = ("topic", "profile", "project", "system")
SUMMARY_MODES: Final = ("auto", "manual")

RETRIEVAL_PRIORITY_MAX: Final = 100
"""Largest retrieval priority. Source: the predecessor's tool schema."""

PROFILE_SLUG: Final = "profile"
"""Slug of the topic that says who the user is; it is there from the start, with priority 10."""

PROFILE_NAME: Final = "Profile"
"""Name of that topic until somebody renames it."""

PROFILE_PRIORITY: Final = 10
"""Retrieval priority of that topic until somebody changes it. Source: the predecessor's row."""

DEFAULTS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        "name": "",
        "slug": "",
        "description": None,
        "state": "active",
        "kind": "topic",
        "retrieval_priority": 0,
        "canonical_item_id": None,
        "summary_mode": "auto",
    }
)
"""Field → its default."""


def create_topic(given: Mapping[str, JSON], *, slug: str) -> Draft:
    """Draft the making of a topic."""
    fields: Fields = dict(DEFAULTS)
    fields["slug"] = slug
    if slug == PROFILE_SLUG:
        fields |= {"kind": "profile", "retrieval_priority": PROFILE_PRIORITY}
    fields |= _checked(given)
    return Draft("TopicCreated", changes_between({}, fields))


def edit_topic(fields: Fields, given: Mapping[str, JSON]) -> Draft | None:
    """Draft an edit; None when nothing changes."""
    changes = changes_between(fields, _checked(given))
    return Draft("TopicUpdated", changes) if changes else None


def delete_topic(fields: Fields) -> Draft:
    """Draft the removal of a topic; its items stay, and it can be undone."""
    return Draft("TopicDeleted", changes_between(fields, {"state": "deleted"}))


def _checked(given: Mapping[str, JSON]) -> Fields:
    after: Fields = {}
    for name, value in given.items():
        if name == "name":
            after[name] = check_name(str(value))
        elif name == "description":
            after[name] = check_description(None if value is None else str(value))
        elif name == "kind":
            after[name] = _one_of(name, value, KINDS)
        elif name == "summary_mode":
            after[name] = _one_of(name, value, SUMMARY_MODES)
        elif name == "retrieval_priority":
            after[name] = _priority(name, value)
        elif name == "canonical_item_id":
            after[name] = value
        else:
            raise InvalidInput(
                f"{name!r} is not a field of a topic",
                hint="name, description, kind, retrieval_priority or summary_mode",
                field=name,
            )
    return after


def _priority(name: str, value: JSON) -> JSON:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not 0 <= int(str(value)) <= RETRIEVAL_PRIORITY_MAX:
        raise InvalidInput(
            f"{name} {value!r} is out of range",
            hint=f"0 to {RETRIEVAL_PRIORITY_MAX}",
            field=name,
        )
    return value


def _one_of(name: str, value: JSON, allowed: tuple[str, ...]) -> JSON:
    if value not in allowed:
        raise InvalidInput(
            f"{value!r} is not a {name}", hint=f"one of {', '.join(allowed)}", field=name
        )
    return value
