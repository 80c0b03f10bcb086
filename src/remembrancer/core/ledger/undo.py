"""Undo and redo: the inverse of an event, unless something stands in the way.

Undoing appends; nothing is taken out of the ledger. What stands in the way is a later edit of the
same field (a taken fact key shows as a clash when the batch is written). Pure; every ring may
import it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.errors import Conflict
from remembrancer.core.ledger.changes import Fields, edited_since, invert
from remembrancer.core.ledger.events import ENDINGS, Draft, Event
from remembrancer.core.values import JSON

UNDONE: Final = "ChangeUndone"
"""Kind of the event that takes an earlier one back."""

REDONE: Final = "ChangeRedone"
"""Kind of the event that takes an undo back."""

NEVER_UNDONE: Final = ENDINGS | {"KeyCreated", "KeyRevoked"}
"""Kinds that cannot be taken back: what is gone is gone, and access is changed on purpose only."""


def invert_event(event: Event, present: Fields, *, created_fields: Mapping[str, JSON]) -> Draft:
    """Draft the inverse of one event against the record's present fields.

    *Shape:* `created_fields` is what taking back a creation leaves (an item that is made is
    undone by being deleted, not by having no fields).
    *Raises:* Conflict naming the fields that a later edit holds.
    """
    if event.kind in NEVER_UNDONE or event.is_forgotten:
        raise Conflict(f"a {event.kind} event cannot be undone")
    changes = invert(event.changes)
    if event.version == 1 and created_fields:
        changes = {name: (present.get(name), value) for name, value in created_fields.items()}
    else:
        standing = edited_since(present, event.changes)
        if standing:
            raise Conflict(
                f"{event.stream} was edited later in {', '.join(standing)}",
                hint="undo the later change first, or edit the fields by hand",
                details={"stream": event.stream, "fields": standing},
            )
    kind = REDONE if event.kind == UNDONE else UNDONE
    return Draft(kind, changes, {"undoes_version": event.version, "undoes_kind": event.kind})


def undone_versions(events: Sequence[Event]) -> frozenset[int]:
    """Return the versions of one stream's events that are taken back as of its last event.

    *Shape:* `events` oldest first. A redo makes the undone version count again.
    """
    target: dict[int, int] = {}
    undone: set[int] = set()
    for event in events:
        version = event.note.get("undoes_version")
        if not isinstance(version, int):
            continue
        target[event.version] = version
        if event.kind == UNDONE:
            undone.add(version)
        else:
            undone.add(version)
            undone.discard(target.get(version, 0))
    return frozenset(undone)
