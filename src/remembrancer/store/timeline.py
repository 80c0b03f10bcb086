"""Reading a project's timeline: its own events and those of items while they were in it.

An item's version in the twin stands at the position of the event that made it, so an index on
the twin finds the events of a project. Rows read are bounded by the page. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.events import Event
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import ledger


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the timeline, and what it was about.

    *Shape:* `item_id` None for the project's own; `title` of the item as the event left it, or
    the title of the objective that the event set.
    """

    event: Event
    item_id: str | None
    title: str | None


def timeline_statements(
    namespace: Namespace, project_id: str, *, before: int, limit: int
) -> list[Statement]:
    """Return the two statements that read a project's newest events before a position."""
    values = (namespace, project_id, before, limit)
    return [
        Statement(
            f"SELECT {ledger.EVENT_COLUMNS}, NULL AS item_id, (SELECT i.title FROM items AS i"
            " WHERE i.namespace = ?1 AND i.id = v.active_objective_id) AS title"
            " FROM project_versions AS v CROSS JOIN events AS e ON e.position = v.from_position"
            " WHERE v.namespace = ?1 AND v.id = ?2 AND v.from_position < ?3"
            " ORDER BY v.from_position DESC LIMIT ?4",
            values,
        ),
        Statement(
            f"SELECT {ledger.EVENT_COLUMNS}, v.id AS item_id, v.title"
            " FROM item_versions AS v CROSS JOIN events AS e ON e.position = v.from_position"
            " WHERE v.namespace = ?1 AND v.project_id = ?2 AND v.from_position < ?3"
            " ORDER BY v.from_position DESC LIMIT ?4",
            values,
        ),
    ]


def entries(outcomes: Sequence[Outcome]) -> list[Entry]:
    """Return the entries of the outcomes of `timeline_statements`, newest first."""
    found = [
        Entry(
            ledger.event_of(row),
            None if row["item_id"] is None else str(row["item_id"]),
            None if row["title"] is None else str(row["title"]),
        )
        for outcome in outcomes
        for row in outcome.rows
    ]
    found.sort(key=lambda entry: entry.event.position, reverse=True)
    return found
