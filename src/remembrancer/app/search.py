"""Searching items by words and meaning, and finding what a new statement may conflict with.

A search is asked for, so no gate of recall holds anything back but what only meaning found and is
far off. Consolidating what was found is `app.consolidation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict, Unpack

from remembrancer.app.commit import Answer
from remembrancer.app.recall.candidates import Found, Side, Wanted, find_candidates
from remembrancer.app.recall.meaning import PATIENT_MS
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.items.fields import CURRENT_STATES
from remembrancer.core.items.query import ItemQuery, check_query
from remembrancer.core.items.record import ItemRecord, References, brief_view
from remembrancer.core.recall.fusion import fuse
from remembrancer.core.recall.gates import SCORE_MIN
from remembrancer.core.recall.query import RecallQuery
from remembrancer.core.recall.scale import shown
from remembrancer.core.search.likeness import (
    Gist,
    Likeness,
    closest,
    gist_of,
    nearer,
    suggested_action,
)
from remembrancer.core.search.ranking import score
from remembrancer.core.text.segment import query_terms
from remembrancer.core.values import JSON, Caller
from remembrancer.store import item_lists
from remembrancer.store import items as item_store
from remembrancer.store.item_filters import Asked

MATCHES_MAX: Final = 50
"""Matches of one search. Source: the predecessor's schema."""

ALIKE_MIN: Final = 0.78
"""Likeness from which an item is reported as a conflict. Source: the predecessor's schema."""

_SCORE_DIGITS: Final = 4
"""Digits of a score in answers."""


class SearchFilters(TypedDict, total=False):
    """Filters of a search, all of which hold.

    *Shape:* `project` and `topic` slugs; `tags` any of them. Without `include_obsolete`, and unless
    `states` names history, only what is active, dormant or stale, neither expired nor outdated.
    """

    kinds: Sequence[str]
    types: Sequence[str]
    states: Sequence[str]
    project: str | None
    topic: str | None
    tags: Sequence[str]
    include_obsolete: bool
    limit: int


async def search_items(
    app: App, caller: Caller, query: str, **filters: Unpack[SearchFilters]
) -> Answer:
    """Return the items that say what a query asks for, the surest first.

    *Shape:* `{"query", "matches": [{"score", "item"}], "count", "degraded"}`; `score` 0…1 is how
    sure a match is or, by words alone, the share of the query's words, each by how rare it is;
    `degraded` says what had no part. *Raises:* InvalidInput, LimitExceeded, NotFound (a project or
    topic that does not exist). *Promise:* three round trips; writes nothing.
    """
    limit = _check(query, filters.get("limit", 10))
    found = await _find(app, _asked(app, caller, filters), query)
    best = _scored(query, found)[:limit]
    return {
        "query": query,
        "matches": [
            {
                "score": round(value, _SCORE_DIGITS),
                "item": brief_view(side.match.record, found.references),
            }
            for value, side in best
        ],
        "count": len(best),
        "degraded": list(found.degraded),
    }


async def _find(app: App, asked: Asked, text: str) -> Found:
    wanted = Wanted(asked, RecallQuery(text, text, text), wait_ms=PATIENT_MS)
    return await find_candidates(app, wanted)


def _scored(query: str, found: Found) -> list[tuple[float, Side]]:
    """Return the matches with their scores, the best first; among equals, BM25's order."""
    if found.degraded:
        terms = query_terms(query)
        scored = [
            (score(terms, found.documents, held=one.match.held, strength=one.match.strength), one)
            for one in found.sides
        ]
        return sorted(scored, key=lambda pair: -pair[0])
    sides = {side.id: side for side in found.sides}
    fused = fuse([side.candidate for side in found.sides], found.asked)
    return [
        (shown(one.score), sides[one.candidate.id])
        for one in fused
        if one.candidate.held or one.score >= SCORE_MIN
    ]


def _check(query: str, limit: int) -> int:
    if not query.strip():
        raise InvalidInput(f"the query {query[:20]!r} is empty", hint="give words", field="query")
    if not 1 <= limit <= MATCHES_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {MATCHES_MAX}", field="limit"
        )
    return limit


def _asked(app: App, caller: Caller, filters: SearchFilters) -> Asked:
    project, topic = filters.get("project"), filters.get("topic")
    states = filters.get("states", ())
    query = ItemQuery(
        kinds=filters.get("kinds", ()),
        types=filters.get("types", ()),
        states=states,
        projects=() if project is None else (project,),
        topics=() if topic is None else (topic,),
        tags=filters.get("tags", ()),
        current_only=not filters.get("include_obsolete", False)
        and set(states) <= set(CURRENT_STATES),
    )
    check_query(query)
    return Asked(caller.namespace, query, app.runtime.now_ms())


class ConflictQuery(TypedDict, total=False):
    """What a new statement, or an item that is there, may conflict with.

    *Shape:* either `query` or `item_id`; `threshold` 0…1, by default `ALIKE_MIN`; `limit` 1…50.
    """

    query: str | None
    item_id: str | None
    project: str | None
    threshold: float
    limit: int


async def find_semantic_conflicts(
    app: App, caller: Caller, **given: Unpack[ConflictQuery]
) -> Answer:
    """Return active items that say nearly the same as a statement or an item.

    *Shape:* `{"matches": [{"score", "item", "suggested_action", "differences"}], "count"}`, the
    most alike first; `score` 0…1 is the symmetric share of words or the nearness in meaning,
    whichever is greater, less what differs: numbers, dates and negations count for neither, and
    are named in `differences`. *Raises:* InvalidInput (both or neither of `query` and `item_id`),
    NotFound. *Promise:* at most four round trips; writes nothing.
    """
    query, item_id = given.get("query"), given.get("item_id")
    threshold, limit = given.get("threshold", ALIKE_MIN), given.get("limit", 10)
    if (query is None) == (item_id is None):
        raise InvalidInput(
            "give either query or item_id", hint="one of the two, not both", field="query"
        )
    if not 0 <= threshold <= 1:
        raise InvalidInput(
            f"threshold {threshold!r} is out of range", hint="0 to 1", field="threshold"
        )
    text = query if query is not None else await _text_of_item(app, caller, str(item_id))
    _check(text, limit)
    asked = _asked(app, caller, {"states": ["active"], "project": given.get("project")})
    found = await _find(app, asked, text)
    gist = gist_of(text)
    likely = [
        (_likeness(gist, side, threshold, is_item=item_id is not None), side)
        for side in found.sides
        if side.id != item_id and side.match.texts["progress"] != "done"
    ]
    alike = sorted(
        (pair for pair in likely if pair[0].score >= threshold),
        key=lambda pair: (-pair[0].score, pair[1].id),
    )[:limit]
    return {
        "matches": [
            _conflict(likeness, side.match.record, found.references, now_ms=asked.now_ms)
            for likeness, side in alike
        ],
        "count": len(alike),
    }


async def _text_of_item(app: App, caller: Caller, item_id: str) -> str:
    [outcome] = await app.sql.read([item_lists.items_statement(caller.namespace, [item_id])])
    records, _ = item_store.records_of(outcome.rows)
    if not records:
        raise NotFound(
            f"there is no item {item_id[:60]!r}", hint="list_items or semantic_search find ids"
        )
    return _texts(records[0].fields)[0]


def _texts(fields: Mapping[str, JSON]) -> list[str]:
    """Return the whole text of an item, then its title and its content alone."""
    title, content = str(fields["title"]), str(fields.get("content") or "")
    if not content:
        return [title]
    return [content if content.startswith(title) else f"{title}\n{content}", title, content]


def _likeness(asked: Gist, side: Side, threshold: float, *, is_item: bool) -> Likeness:
    """Compare with the whole item; a statement may also be like its title or its content.

    Nearness in meaning counts from the threshold on, and for less where something differs: no
    cosine can tell “port 2222” from “port 2223”.
    """
    texts = _texts(side.match.texts)
    likeness = closest(asked, [gist_of(text) for text in (texts[:1] if is_item else texts)])
    cosine = side.meaning or 0.0
    if cosine < threshold or likeness.is_same:
        return likeness
    return nearer(likeness, cosine)


def _conflict(
    likeness: Likeness, record: ItemRecord, references: References, *, now_ms: int
) -> dict[str, JSON]:
    return {
        "score": round(likeness.score, _SCORE_DIGITS),
        "item": brief_view(record, references),
        "suggested_action": suggested_action(likeness, updated_at=record.updated_at, now_ms=now_ms),
        "differences": list(likeness.differences),
    }
