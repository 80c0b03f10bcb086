"""Decisions on relations: add, remove, refuse what would close a circle.

All relations of a namespace are one record: `source|type|target` → what is known of the edge.
The use case hands in which items the target already leads to. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.core import limits
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded
from remembrancer.core.ledger.changes import changes_between
from remembrancer.core.ledger.events import Draft
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

TYPES: Final = (
    "supersedes",
    "replaces",
    "derived_from",
    "duplicate_of",
    "blocks",
    "depends_on",
    "supports",
    "contradicts",
)
"""Types of relations. Source: DESIGN section 4."""

ACYCLIC: Final = frozenset({"supersedes", "blocks", "depends_on"})
"""Types in which a circle is refused. Source: DESIGN section 4."""


def relation_key(source_id: str, type_: str, target_id: str) -> str:
    """Return the name of an edge in the record of all relations."""
    return f"{source_id}|{type_}|{target_id}"


def split_key(key: str) -> tuple[str, str, str]:
    """Return source, type and target of an edge's name."""
    source_id, type_, target_id = key.split("|")
    return source_id, type_, target_id


def check_relation(source_id: str, type_: str, target_id: str) -> None:
    """Refuse an unknown type and an edge from an item to itself."""
    if type_ not in TYPES:
        raise InvalidInput(
            f"{type_!r} is not a relation",
            hint=f"one of {', '.join(TYPES)}",
            field="relationship_type",
        )
    if source_id == target_id:
        raise InvalidInput(
            f"{source_id!r} cannot be related to itself",
            hint="name two items",
            field="target_item_id",
        )


def check_reason(reason: str | None) -> str | None:
    """Return the reason, or None when empty. *Raises:* LimitExceeded."""
    if reason is None or not reason.strip():
        return None
    reason = clean(reason).strip()
    if len(reason) > limits.REASON_CHARS_MAX:
        raise LimitExceeded(
            f"the reason has {len(reason)} characters",
            hint=f"at most {limits.REASON_CHARS_MAX}",
            field="reason",
        )
    return reason


def refuse_circle(source_id: str, type_: str, target_id: str, reachable: frozenset[str]) -> None:
    """Refuse an edge whose target leads back to its source.

    *Shape:* `reachable` are the items that edges of this type lead to from the target.
    *Raises:* Conflict (`cycle`).
    """
    if type_ in ACYCLIC and source_id in reachable:
        raise Conflict(
            f"{source_id!r} {type_} {target_id!r} would close a circle",
            hint="remove a relation on the way back first",
            code="cycle",
        )


def add_relations(
    present: Mapping[str, JSON],
    edges: Mapping[str, tuple[float, str | None]],
    *,
    now_ms: int,
) -> Draft | None:
    """Draft new edges; None when all of them are there already.

    *Shape:* `edges` edge name → (confidence 0…1, reason); `present` has the named edges at least.
    """
    after: dict[str, JSON] = {
        key: {"confidence": confidence, "reason": reason, "created_at": now_ms}
        for key, (confidence, reason) in edges.items()
        if key not in present
    }
    changes = changes_between(present, after)
    return Draft("RelationsAdded", changes) if changes else None


def remove_relation(present: Mapping[str, JSON], key: str) -> Draft | None:
    """Draft the removal of an edge; None when it is not there."""
    if key not in present:
        return None
    return Draft("RelationRemoved", changes_between(present, {key: None}))
