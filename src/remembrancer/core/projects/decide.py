"""Decisions on one project: make, rename, delete, change its objective.

Fields: name, slug, description, state (`active`, `deleted`), active_objective_id,
objective_since. The slug is made once and stays, so that links to it do. Uniqueness of slugs is a
rule of the store. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.ledger.changes import Fields, changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.text.fold import clean, fold
from remembrancer.core.values import JSON

DEFAULTS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        "name": "",
        "slug": "",
        "description": None,
        "state": "active",
        "active_objective_id": None,
        "objective_since": None,
    }
)
"""Field → its default."""


OBJECTIVE_STARTUP_PRIORITY: Final = 8
"""Least startup priority of an active objective, so that it is loaded at startup. Source: DESIGN
section 4."""


def check_name(name: str) -> str:
    """Return the trimmed name, 1–200 characters. *Raises:* InvalidInput, LimitExceeded."""
    text = clean(name).strip()
    if not fold(text):  # invisible characters alone are no name
        raise InvalidInput(f"the name {name[:20]!r} is empty", hint="give a name", field="name")
    if len(text) > limits.NAME_CHARS_MAX:
        raise LimitExceeded(
            f"the name has {len(text)} characters",
            hint=f"at most {limits.NAME_CHARS_MAX}",
            field="name",
        )
    return text


def spellings(name: str | None) -> list[str]:
    """Return how a name may be stored that is written so, for the store's lookup; empty for None.

    The store compares Latin letters without regard to case; these are the cases of other scripts.
    What it finds is compared by folding.
    """
    if name is None:
        return []
    text = " ".join(clean(name).split())
    forms = (name.strip(), text, text.lower(), text.upper(), text.title(), text.capitalize())
    return list(dict.fromkeys([*forms, fold(name)]))


def check_description(text: str | None) -> str | None:
    """Return the description, or None when empty. *Raises:* LimitExceeded."""
    if text is None or not text.strip():
        return None
    text = clean(text)
    if len(text) > limits.DESCRIPTION_CHARS_MAX:
        raise LimitExceeded(
            f"the description has {len(text)} characters",
            hint=f"at most {limits.DESCRIPTION_CHARS_MAX}",
            field="description",
        )
    return text


def create_project(*, name: str, slug: str, description: str | None) -> Draft:
    """Draft the making of a project."""
    fields: Fields = dict(DEFAULTS)
    fields |= {
        "name": check_name(name),
        "slug": slug,
        "description": check_description(description),
    }
    return Draft("ProjectCreated", changes_between({}, fields))


def edit_project(fields: Fields, given: Mapping[str, JSON]) -> Draft | None:
    """Draft a change of name or description; None when nothing changes."""
    after: Fields = {}
    if "name" in given:
        after["name"] = check_name(str(given["name"]))
    if "description" in given:
        text = given["description"]
        after["description"] = check_description(None if text is None else str(text))
    changes = changes_between(fields, after)
    return Draft("ProjectUpdated", changes) if changes else None


def delete_project(fields: Fields) -> Draft:
    """Draft the removal of a project; its items stay, and it can be undone."""
    return Draft("ProjectDeleted", changes_between(fields, {"state": "deleted"}))


def set_objective(fields: Fields, item_id: str | None, *, now_ms: int) -> Draft | None:
    """Draft the change of the active objective; None clears it."""
    if fields.get("active_objective_id") == item_id:
        return None
    after: Fields = {"active_objective_id": item_id, "objective_since": now_ms}
    kind = "ObjectiveSet" if item_id else "ObjectiveCleared"
    return Draft(kind, changes_between(fields, after))
