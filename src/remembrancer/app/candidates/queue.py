"""The review queue as it is read: a page of candidates, one with what it is about.

Deciding is `decide.py`. Nothing is written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from remembrancer.app.commit import Answer
from remembrancer.app.items.resolve import Surroundings, look_around
from remembrancer.app.state import App
from remembrancer.core.candidates import decide as rules
from remembrancer.core.candidates.decide import Candidate, candidate_view
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.items.record import item_view
from remembrancer.core.ledger.events import Head
from remembrancer.core.values import JSON, Caller
from remembrancer.store import candidates as store
from remembrancer.store import messages, relations
from remembrancer.store.candidates import LoadedCandidate
from remembrancer.store.items import LoadedItem, require

PAGE_MAX: Final = 200
"""Candidates of one page. Source: the predecessor's route."""


async def list_candidates(
    app: App,
    caller: Caller,
    *,
    status: str = "pending",
    limit: int = 100,
    cursor: str | None = None,
) -> Answer:
    """Return a page of candidates, the least sure first.

    *Shape:* `{"candidates", "count", "total", "next_cursor"}`. *Raises:* InvalidInput.
    *Promise:* one round trip.
    """
    if status not in rules.STATUSES:
        raise InvalidInput(
            f"{status!r} is no status of a candidate",
            hint=f"one of {', '.join(rules.STATUSES)}",
            field="status",
        )
    if isinstance(limit, bool) or not 1 <= limit <= PAGE_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {PAGE_MAX}", field="limit"
        )
    after = (-1.0, "")
    if cursor is not None:
        sureness, id_ = decode_cursor(cursor, kind="candidates", types=(float, str))
        after = (float(str(sureness)), str(id_))
    page, counted = await app.sql.read(
        [
            store.queue_statement(caller.namespace, status, after=after, limit=limit + 1),
            store.count_statement(caller.namespace, status),
        ]
    )
    found = [store.candidate_of(row) for row in page.rows]
    shown = found[:limit]
    place: list[str | float] = []
    if shown:
        place = [float(str(shown[-1].fields["confidence"])), shown[-1].id]
    return {
        "candidates": [candidate_view(one) for one in shown],
        "count": len(shown),
        "total": int(str(counted.rows[0]["total"])),
        "next_cursor": encode_cursor("candidates", place) if len(found) > limit else None,
    }


@dataclass(frozen=True, slots=True)
class Scene:
    """A candidate with the items that it, or the decision, names."""

    loaded: LoadedCandidate
    around: Surroundings
    relations_head: Head

    @property
    def candidate(self) -> Candidate:
        """The candidate as it stands."""
        return self.loaded.candidate

    def targets(self, target_id: str | None) -> list[LoadedItem]:
        """Return the item that is named, else those that the candidate is about.

        *Raises:* NotFound for one that is gone.
        """
        ids = [target_id] if target_id else targets_of(self.candidate)
        return [require(self.around.items, id_) for id_ in ids]


def targets_of(candidate: Candidate) -> list[str]:
    """Return the ids of the items that a candidate is about."""
    ids = candidate.fields.get("target_ids")
    return [str(id_) for id_ in ids] if isinstance(ids, list) else []


async def look(app: App, caller: Caller, candidate_id: str, target_id: str | None) -> Scene:
    """Read a candidate with what it is about. *Raises:* NotFound. *Promise:* two round trips."""
    [outcome] = await app.sql.read([store.load_statement(caller.namespace, [candidate_id])])
    found = store.loaded(outcome)
    if not found:
        raise NotFound(
            f"there is no candidate {candidate_id[:60]!r}", hint="candidates_list shows the ids"
        )
    ids = [*targets_of(found[0].candidate), *([target_id] if target_id else [])]
    around = await look_around(
        app,
        caller.namespace,
        list(dict.fromkeys(ids)),
        {},
        more=[relations.head_statement(caller.namespace)],
    )
    return Scene(found[0], around, relations.head_of(around.more[0].rows))


async def get_candidate(app: App, caller: Caller, candidate_id: str) -> Answer:
    """Show a candidate with the items it is about, and the messages that it came from.

    *Shape:* `{"candidate", "targets": [items], "sources": [messages]}`; targets that are gone are
    left out, and messages that retention has taken. *Raises:* NotFound. *Promise:* three round
    trips, two without sources.
    """
    scene = await look(app, caller, candidate_id, None)
    known = scene.around.items
    named = scene.candidate.fields.get("source_message_ids")
    sources: list[JSON] = []
    if isinstance(named, list) and named:
        ids = [str(id_) for id_ in named]
        [said] = await app.sql.read([messages.named_statement(caller.namespace, ids)])
        sources = [messages.message_view(row) for row in said.rows]
    return {
        "candidate": candidate_view(scene.candidate),
        "targets": [
            item_view(known[id_].record, scene.around.references)
            for id_ in targets_of(scene.candidate)
            if id_ in known
        ],
        "sources": sources,
    }
