"""Schemas of what tools answer: what a program may rely on, and no more.

Views grow, so every object is open and only members that are always there are required. An item
is described in full once, with `get_item`; a tool list is paid for in tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.core.values import JSON
from remembrancer.mcp.schema import Schema

TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "integer"}
FLAG: Final[Schema] = {"type": "boolean"}
OBJECT: Final[Schema] = {"type": "object"}
TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
OBJECT_OR_NULL: Final[Schema] = {"type": ["object", "null"]}


def record(properties: Mapping[str, JSON], *required: str) -> Schema:
    """Return the schema of an open object."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    return schema


def listed(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


IDS: Final = listed(TEXT)

ITEM: Final = record({"id": TEXT, "title": TEXT, "due_at": TEXT_OR_NULL}, "id", "title")
"""An item as far as most tools say it."""

FULL_ITEM: Final = record(
    {
        "id": TEXT,
        "title": TEXT,
        "content": TEXT,
        "item_kind": TEXT,
        "entity_type": TEXT,
        "lifecycle_state": TEXT,
        "priority": NUMBER,
        "startup_priority": NUMBER,
        "pinned": FLAG,
        "tags": IDS,
        "due_at": TEXT_OR_NULL,
        "project": OBJECT_OR_NULL,
        "topic": OBJECT_OR_NULL,
        "version": NUMBER,
        "created_at": TEXT,
        "updated_at": TEXT,
    },
    "id",
    "title",
    "item_kind",
    "lifecycle_state",
    "due_at",
    "version",
)
"""An item in full."""

CREATED: Final = record({"item": ITEM, "outcome": TEXT})
CHANGED: Final = record({"item": ITEM, "changed": FLAG})
ITEM_OR_NONE: Final = record({"item": OBJECT_OR_NULL, "reason": TEXT_OR_NULL})
DELETED: Final = record({"deleted": IDS, "already_deleted": IDS, "restorable_days": NUMBER})
MATCHES: Final = record(
    {
        "matches": listed(record({"score": {"type": "number"}, "item": OBJECT}, "score", "item")),
        "count": NUMBER,
    }
)
BUNDLE: Final = record({"level": TEXT, "source": TEXT, "generated_at": TEXT})


def page_of(name: str, entry: Schema = OBJECT) -> Schema:
    """Return the schema of one page of a list."""
    return record({name: listed(entry), "count": NUMBER, "next_cursor": TEXT_OR_NULL})


def owner(name: str) -> Schema:
    """Return the schema of one project or topic."""
    return record(
        {name: record({"slug": TEXT, "name": TEXT, "version": NUMBER}, "slug"), "outcome": TEXT}
    )
