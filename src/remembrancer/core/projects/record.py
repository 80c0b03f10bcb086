"""A project or topic as it was read, and a project's form in answers.

Topics have the same envelope; their form is `core.topics.record`. Every ring may import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from remembrancer.core.dates import format_iso
from remembrancer.core.ledger.changes import Fields, apply_changes
from remembrancer.core.ledger.events import Draft
from remembrancer.core.values import JSON


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """One project or topic as stored. *Units:* times in milliseconds UTC."""

    id: str
    version: int
    created_at: int
    updated_at: int
    fields: Fields


def after_draft(record: OwnerRecord, draft: Draft, now_ms: int) -> OwnerRecord:
    """Return the project or topic as it will be once the draft is written."""
    return replace(
        record,
        version=record.version + 1,
        updated_at=now_ms,
        fields=apply_changes(record.fields, draft.changes),
    )


def made_by_draft(id_: str, draft: Draft, now_ms: int) -> OwnerRecord:
    """Return the project or topic that a draft makes."""
    return OwnerRecord(id_, 1, now_ms, now_ms, apply_changes({}, draft.changes))


def recount(
    counts: Mapping[str, int], *, gone: Sequence[str], come: Sequence[str]
) -> dict[str, int]:
    """Return state → items after some have left a state and some have come to one."""
    total = Counter(counts)
    total.subtract(gone)
    total.update(come)
    return {state: number for state, number in total.items() if number > 0 and state != "deleted"}


def project_view(
    record: OwnerRecord, *, objective: Mapping[str, JSON] | None, counts: Mapping[str, int] | None
) -> dict[str, JSON]:
    """Return a project's answer form.

    *Shape:* `objective` is the goal's brief view; `counts` state → number of items, None when it
    is not known (a look into the past).
    """
    view: dict[str, JSON] = {
        "id": record.id,
        "slug": record.fields.get("slug"),
        "name": record.fields.get("name"),
        "description": record.fields.get("description"),
        "active_objective": None if objective is None else dict(objective),
    }
    if counts is not None:
        view["counts"] = dict(counts)
    return view | envelope(record)


def envelope(record: OwnerRecord) -> dict[str, JSON]:
    """Return version and times, as every project and topic shows them."""
    return {
        "version": record.version,
        "created_at": format_iso(record.created_at),
        "updated_at": format_iso(record.updated_at),
    }
