"""Decisions on relations: add, remove, refuse what would close a circle.

All relations of a namespace are one record: `source|type|target` → what is known of the edge.
The use case hands in which items already lead to the source. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
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


def check_confidence(value: float) -> float:
    """Return a confidence between 0 and 1. *Raises:* InvalidInput."""
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidInput(
            f"confidence {value!r} is out of range", hint="0 to 1", field="confidence"
        )
    return float(value)


def refuse_circle(
    source_id: str, type_: str, target_ids: Sequence[str], ancestors: Container[str]
) -> None:
    """Refuse edges to targets from which a way leads back to the source.

    *Shape:* `ancestors` are the items from which edges of this type lead to the source.
    *Raises:* Conflict (`cycle`) naming the first such edge.
    """
    for target_id in target_ids:
        if type_ in ACYCLIC and target_id in ancestors:
            raise Conflict(
                f"{source_id!r} {type_} {target_id!r} would close a circle",
                hint="remove a relation on the way back first",
                code="cycle",
                details={"source_id": source_id, "target_id": target_id},
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


def remove_relations(present: Mapping[str, JSON], keys: Sequence[str]) -> Draft | None:
    """Draft the removal of edges; None when none of them is there."""
    changes = changes_between(present, dict.fromkeys(keys))
    return Draft("RelationRemoved", changes) if changes else None
