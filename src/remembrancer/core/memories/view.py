"""A memory's form in answers of the memory doors: the predecessor's names, all always there.

It is made from an item's answer form, full or brief. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.core.memories.wording import content_of
from remembrancer.core.values import JSON

_KEPT: Final = (
    "id",
    "type",
    "title",
    "summary",
    "fact_key",
    "importance",
    "confidence",
    "source",
    "authored_by",
    "project",
    "topic",
    "superseded_by",
    "artifact_id",
    "valid_from",
    "valid_to",
    "expires_at",
    "created_at",
    "updated_at",
    "version",
)

UNUSED: Final[Mapping[str, JSON]] = {
    "recall_count": 0,
    "last_recalled_at": None,
    "seen_count": 0,
    "last_seen_at": None,
}
"""Use of a memory that was never recalled and never said again."""


def memory_view(item: Mapping[str, JSON], use: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
    """Return a memory's answer form; what has no value is null, false, 0 or empty.

    *Shape:* with the counters of `use` where they were read.
    """
    view: dict[str, JSON] = {name: item.get(name) for name in _KEPT}
    view["content"] = content_of(item)
    view["status"] = item.get("state")
    view["pinned"] = bool(item.get("pinned"))
    view["tags"] = item.get("tags") or []
    view["source_message_ids"] = item.get("source_message_ids") or []
    return {**view, **(use or {})}


def found_view(item: Mapping[str, JSON], score: float) -> dict[str, JSON]:
    """Return the form in which a search shows a memory: what a reader of matches needs."""
    return {
        "id": item.get("id"),
        "content": content_of(item),
        "score": score,
        "type": item.get("type"),
        "fact_key": item.get("fact_key"),
        "status": item.get("state"),
        "pinned": bool(item.get("pinned")),
        "tags": item.get("tags") or [],
        "updated_at": item.get("updated_at"),
    }
