"""Searching items by words, and finding what a new statement may conflict with.

Vectors have no part in it yet, which every answer of a search says. Consolidating what was found
is `app.consolidation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypedDict, Unpack

from remembrancer.app.commit import Answer
from remembrancer.app.items.read import refuse_unknown
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.items.fields import CURRENT_STATES
from remembrancer.core.items.query import ItemQuery, check_query
from remembrancer.core.items.record import ItemRecord, References, brief_view
from remembrancer.core.search.likeness import Gist, Likeness, closest, gist_of, suggested_action
from remembrancer.core.search.ranking import chosen_terms, score
from remembrancer.core.text.segment import QUERY_TERMS_MAX, Term, query_terms
from remembrancer.core.values import JSON, Caller
from remembrancer.store import item_lists
from remembrancer.store import items as item_store
from remembrancer.store import search as store
from remembrancer.store.item_filters import Asked
from remembrancer.store.search import Match

MATCHES_MAX: Final = 50
"""Matches of one search. Source: the predecessor's schema."""

ALIKE_MIN: Final = 0.78
"""Likeness from which an item is reported as a conflict. Source: the predecessor's schema."""

_POOL: Final = 60
"""Matches by BM25 among which the score decides. Our choice; above `MATCHES_MAX`."""

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


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search brought: matches by BM25, and how common the query's terms are."""

    terms: Sequence[Term]
    documents: dict[str, int]
    matches: Sequence[Match] = ()
    references: References = field(default_factory=References)


async def search_items(
    app: App, caller: Caller, query: str, **filters: Unpack[SearchFilters]
) -> Answer:
    """Return the items that hold most of the query's words, the surest first.

    *Shape:* `{"query", "matches": [{"score", "item"}], "count", "degraded"}`; `score` 0…1 is the
    share of the query's words, each by how rare it is. *Raises:* InvalidInput, LimitExceeded,
    NotFound (a project or topic that does not exist). *Promise:* two round trips; writes nothing.
    """
    limit = _check(query, filters.get("limit", 10))
    asked = _asked(app, caller, filters)
    found = await _search(app, asked, query_terms(query))
    scored = [(_score(found, match), match) for match in found.matches]
    # A stable sort: among equals, BM25's order and then the newest first.
    best = sorted(scored, key=lambda pair: -pair[0])[:limit]
    return {
        "query": query,
        "matches": [
            {
                "score": round(value, _SCORE_DIGITS),
                "item": brief_view(match.record, found.references),
            }
            for value, match in best
        ],
        "count": len(best),
        "degraded": ["no_vectors"],
    }


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


async def _search(app: App, asked: Asked, terms: Sequence[Term]) -> _Found:
    """Read the best matches. *Promise:* two round trips, one when no item has any of the terms."""
    texts = [term.text for term in terms]
    named = [
        (area, names)
        for area, names in (("project", asked.query.projects), ("topic", asked.query.topics))
        if names
    ]
    outcomes = await app.sql.read(
        [
            *(item_lists.owners_statement(asked, area, names) for area, names in named),
            store.frequencies_statement(texts),
        ]
    )
    refuse_unknown(named, outcomes)
    documents = store.frequencies(outcomes[-1].rows)
    chosen = chosen_terms(terms, documents)
    if not chosen:
        return _Found(terms, documents)
    [outcome] = await app.sql.read([store.matches_statement(asked, chosen, texts, limit=_POOL)])
    matches, references = store.matches_of(outcome.rows)
    return _Found(terms, documents, matches, references)


def _score(found: _Found, match: Match) -> float:
    return score(found.terms, found.documents, held=match.held, strength=match.strength)


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
    most alike first; `score` 0…1 is the symmetric share of words, without numbers, dates and
    negations, which are named in `differences`. *Raises:* InvalidInput (both or neither of
    `query` and `item_id`), NotFound. *Promise:* at most three round trips; writes nothing.
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
    found = await _search(app, asked, query_terms(text, limit=QUERY_TERMS_MAX))
    gist = gist_of(text)
    likely = [
        (_likeness(gist, match.record, is_item=item_id is not None), match.record)
        for match in found.matches
        if match.record.id != item_id and match.record.fields.get("progress") != "done"
    ]
    alike = sorted(
        (pair for pair in likely if pair[0].score >= threshold),
        key=lambda pair: (-pair[0].score, pair[1].id),
    )[:limit]
    return {
        "matches": [
            _conflict(likeness, record, found.references, now_ms=asked.now_ms)
            for likeness, record in alike
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
    return _texts(records[0])[0]


def _texts(record: ItemRecord) -> list[str]:
    """Return the whole text of an item, then its title and its content alone."""
    title, content = str(record.fields["title"]), str(record.fields.get("content") or "")
    if not content:
        return [title]
    return [content if content.startswith(title) else f"{title}\n{content}", title, content]


def _likeness(asked: Gist, record: ItemRecord, *, is_item: bool) -> Likeness:
    """Compare with the whole item; a statement may also be like its title or its content."""
    texts = _texts(record)
    return closest(asked, [gist_of(text) for text in (texts[:1] if is_item else texts)])


def _conflict(
    likeness: Likeness, record: ItemRecord, references: References, *, now_ms: int
) -> dict[str, JSON]:
    return {
        "score": round(likeness.score, _SCORE_DIGITS),
        "item": brief_view(record, references),
        "suggested_action": suggested_action(likeness, updated_at=record.updated_at, now_ms=now_ms),
        "differences": list(likeness.differences),
    }
