"""The item's states and which may follow which: one table, checked by every door.

Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import STATES

TRANSITIONS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "active": frozenset(STATES) - {"active"},
        "dormant": frozenset(STATES) - {"dormant"},
        "stale": frozenset(STATES) - {"stale"},
        "superseded": frozenset({"active", "dormant", "archived", "deleted"}),
        "archived": frozenset({"active", "dormant", "superseded", "deleted"}),
        "completed": frozenset({"active", "archived", "superseded", "deleted"}),
        "expired": frozenset({"active", "dormant", "archived", "superseded", "deleted"}),
        "deleted": frozenset(),
    }
)
"""State → states that may follow. A deleted item comes back only by `restore_item` or `undo`."""


def check_transition(kind: str, present: str, wanted: str) -> None:
    """Refuse a change of state that the table does not have.

    *Raises:* InvalidInput (`invalid_transition`) naming both states and the way out.
    """
    if wanted not in STATES:
        raise InvalidInput(
            f"{wanted!r} is not a state",
            hint=f"one of {', '.join(STATES)}",
            field="lifecycle_state",
        )
    if present == wanted:
        return
    if kind == "memory" and wanted == "completed":
        raise InvalidInput(
            "a memory cannot be 'completed'",
            hint="archive it, or make it a task first",
            field="lifecycle_state",
            code="invalid_transition",
        )
    if wanted not in TRANSITIONS[present]:
        after = ", ".join(sorted(TRANSITIONS[present])) or "only restore_item"
        raise InvalidInput(
            f"an item that is {present!r} cannot become {wanted!r}",
            hint=f"from {present!r}: {after}",
            field="lifecycle_state",
            code="invalid_transition",
        )
