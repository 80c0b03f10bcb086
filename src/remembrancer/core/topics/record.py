"""A topic's form in answers, and the profile that is there before anybody wrote it.

Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.core.projects.record import OwnerRecord, envelope
from remembrancer.core.topics.decide import PROFILE_NAME, PROFILE_PRIORITY, PROFILE_SLUG
from remembrancer.core.values import JSON

_SHOWN = ("description", "kind", "retrieval_priority", "summary_mode")


def topic_view(
    record: OwnerRecord, *, canonical: Mapping[str, JSON] | None, counts: Mapping[str, int] | None
) -> dict[str, JSON]:
    """Return a topic's answer form; `canonical` is its canonical item's brief view."""
    view: dict[str, JSON] = {"id": record.id}
    view |= {name: record.fields.get(name) for name in ("slug", "name", *_SHOWN)}
    view["canonical_item"] = None if canonical is None else dict(canonical)
    if counts is not None:
        view["counts"] = dict(counts)
    return view | envelope(record)


def unwritten_profile() -> dict[str, JSON]:
    """Return the answer form of the profile topic while no event has made it.

    *Shape:* as `topic_view`, without id and times, at version 0.
    """
    return {
        "id": None,
        "slug": PROFILE_SLUG,
        "name": PROFILE_NAME,
        "description": None,
        "kind": "profile",
        "retrieval_priority": PROFILE_PRIORITY,
        "summary_mode": "auto",
        "canonical_item": None,
        "counts": {},
        "version": 0,
        "created_at": None,
        "updated_at": None,
    }
