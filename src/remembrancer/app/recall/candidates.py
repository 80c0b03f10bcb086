"""The candidates of a query from both sides: what words find, and what is near in meaning.

Filters are applied before anything is ranked. How sure a candidate is, and what is done with it,
is decided elsewhere; searching items stands on this as well as recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from remembrancer.app.items.read import refuse_unknown
from remembrancer.app.recall.meaning import Meaning, MeaningSearch
from remembrancer.app.state import App
from remembrancer.core.items.record import References
from remembrancer.core.memories.wording import whole_of
from remembrancer.core.recall.evidence import chosen_forms, forms_of, shares, wanted_of
from remembrancer.core.recall.fusion import Asked as QueryAsked
from remembrancer.core.recall.fusion import Candidate, asked_of
from remembrancer.core.recall.names import names_of
from remembrancer.core.recall.query import RecallQuery
from remembrancer.core.vectors.embedding import COLD
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.ports.vectors import VectorScope
from remembrancer.store import item_lists
from remembrancer.store import search as store
from remembrancer.store.item_filters import Asked
from remembrancer.store.search import Match, Tier

WORDS_POOL: Final = 60
"""Matches by BM25 among which the score decides. Our choice; above what a search answers."""

COLD_POOL: Final = 12
"""Candidates of the cold tier. Our choice: it is a last resort."""

TURN_TYPE: Final = "excerpt"
"""Type of memories that are turns of a conversation, word for word."""

TURNS_WIDENED: Final = 20
"""Turns, the best by words, whose neighbours are read as well. Our choice: twice what is shown."""

WEAK_SHARE: Final = 0.5
"""Share of a query's words below which the best match is weak, so that the cold tier is read along.
Our choice: half of what was asked."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for.

    *Shape:* `nearest` how many items that only meaning found are read; `has_cold`: what a job
    archived is read where little else is found; `more` other statements for the first round trip.
    *Units:* `wait_ms` that the embedder and the index may take, each.
    """

    asked: Asked
    query: RecallQuery
    tier: Tier = "asked"
    nearest: int = 50
    has_cold: bool = False
    wait_ms: int = 0
    more: Sequence[Statement] = ()


class Side(NamedTuple):
    """A candidate with its record. *Shape:* `meaning` the cosine, None where the index did not
    bring it."""

    match: Match
    meaning: float | None = None
    is_cold: bool = False

    @property
    def id(self) -> str:
        """The item's id."""
        return self.match.id

    @property
    def candidate(self) -> Candidate:
        """The candidate as fusing takes it."""
        match = self.match
        texts = match.texts
        key, source = texts["fact_key"], texts["source"]
        fact_key = None if key is None else str(key)
        return Candidate(
            match.id,
            None,
            self.meaning,
            str(source) if source and texts["type"] == TURN_TYPE else None,
            match.seq,
            match.held,
            names_of(match.tags, fact_key),
            whole_of(texts),
            fact_key,
        )

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a conversation, which is where an excerpt comes from."""
        texts = self.match.texts
        return texts["type"] == TURN_TYPE and bool(texts["source"])


@dataclass(frozen=True, slots=True)
class Found:
    """What both sides brought.

    *Shape:* `asked` the query as fusing takes it, `documents` how many items hold each of its
    tokens; `sides` by BM25 first, then by nearness; `more` the outcomes of the other statements;
    `degraded` why a side had no part in it.
    """

    asked: QueryAsked
    documents: Mapping[str, int]
    sides: Sequence[Side] = ()
    references: References = field(default_factory=References)
    degraded: Sequence[str] = ()
    more: Sequence[Outcome] = ()


async def find_candidates(app: App, wanted: Wanted) -> Found:
    """Return the candidates of a query.

    *Raises:* NotFound (a project or topic that does not exist), StoreUnavailable. *Promise:* at
    most three round trips; writes nothing; a failing embedder or index leaves the words.
    """
    search = MeaningSearch(app, wanted.query.meaning, wait_ms=wanted.wait_ms)
    try:
        return await _find(app, wanted, search)
    finally:
        search.give_up()


async def _find(app: App, wanted: Wanted, search: MeaningSearch) -> Found:
    words = wanted_of(wanted.query.words)
    named = [
        (area, names)
        for area, names in (
            ("project", wanted.asked.query.projects),
            ("topic", wanted.asked.query.topics),
        )
        if names
    ]
    # What is near is looked for while words are counted and looked for; a project's id comes first.
    early = None if wanted.asked.query.projects else search.near(_scope(wanted.asked, [], []))
    forms, now_ms = forms_of(words), wanted.asked.now_ms
    common = app.common.known(forms, now_ms=now_ms)
    rest = [form for form in forms if form not in common]
    outcomes = await app.sql.read(
        [
            *(item_lists.owners_statement(wanted.asked, area, names) for area, names in named),
            store.frequencies_statement(wanted.asked.namespace, rest),
            *wanted.more,
        ]
    )
    refuse_unknown(named, outcomes)
    frequencies = outcomes[len(named)].rows
    counted = store.frequencies(frequencies)
    app.common.keep(counted, now_ms=now_ms)
    every = {**common, **counted}
    documents = {form: every[form] for form in forms if form in every}
    chosen = chosen_forms(words, documents)
    foreign = store.foreign_rows(frequencies, chosen, common)
    reader = _Reader(app, wanted, documents, chosen=chosen, foreign=foreign)
    scope = _scope(wanted.asked, outcomes, named)
    nearing = early or search.near(scope)
    found, references = await reader.by_words()
    is_weak = wanted.has_cold and reader.is_weak(found)
    cooling = search.near(replace(scope, kind=COLD)) if is_weak else None
    meaning = await nearing
    sides = [Side(match, meaning.near.get(match.id)) for match in found]
    cold = None if cooling is None else await cooling
    others, known = await reader.others(sides, meaning, cold)
    return Found(
        asked=reader.asked,
        documents=documents,
        sides=[*sides, *others],
        references=joined(references, known),
        degraded=[] if meaning.degraded is None else [meaning.degraded],
        more=outcomes[len(named) + 1 :],
    )


class _Reader:
    """Reads the candidates of one query from the store."""

    def __init__(
        self,
        app: App,
        wanted: Wanted,
        documents: Mapping[str, int],
        *,
        chosen: Sequence[str],
        foreign: int,
    ) -> None:
        self.asked = asked_of(wanted.query, documents)
        self._app = app
        self._wanted = wanted
        self._chosen = chosen
        self._foreign = foreign
        # What no row holds is not looked for in each.
        self._forms = list(documents)

    async def by_words(self) -> tuple[list[Match], References]:
        """Return what words find. *Promise:* one round trip, none without a word that is known."""
        if not self._chosen:
            return [], References()
        [outcome] = await self._app.sql.read([self._matches(WORDS_POOL, self._wanted.tier)])
        return store.matches_of(outcome.rows, self._forms)

    async def others(
        self, sides: Sequence[Side], meaning: Meaning, cold: Meaning | None
    ) -> tuple[list[Side], References]:
        """Return what only meaning found, the neighbours of turns that words found, and the cold
        tier where words found little.

        *Promise:* one round trip, none when there is nothing to read.
        """
        held = {side.id for side in sides}
        ids = [id_ for id_ in meaning.near if id_ not in held][: self._wanted.nearest]
        statements = self._current(ids, sides)
        count = len(statements)
        near = meaning.near
        if cold is not None:
            statements += self._cold([*cold.near][:COLD_POOL])
            near = {**cold.near, **near}
        if not statements:
            return [], References()
        found: dict[str, Side] = {}
        references = References()
        for number, outcome in enumerate(await self._app.sql.read(statements)):
            matches, known = store.matches_of(outcome.rows, self._forms)
            references = joined(references, known)
            for match in matches:
                id_ = match.id
                found[id_] = Side(match, near.get(id_), is_cold=number >= count)
        fresh = [side for id_, side in found.items() if id_ not in held]
        return sorted(fresh, key=lambda side: -(side.meaning or 0.0)), references

    def _current(self, ids: Sequence[str], sides: Sequence[Side]) -> list[Statement]:
        tier = self._wanted.tier
        statements = [self._named(ids, tier)] if ids else []
        turns = [side.match.seq for side in sides if side.is_turn]
        around = {seq + step for seq in turns[:TURNS_WIDENED] for step in (-1, 1)} - {*turns}
        if around:
            statements.append(
                store.placed_statement(self._wanted.asked, sorted(around), self._forms, tier=tier)
            )
        return statements

    def _cold(self, ids: Sequence[str]) -> list[Statement]:
        statements = [self._named(ids, "cold")] if ids else []
        if self._chosen:
            statements.append(self._matches(COLD_POOL, "cold"))
        return statements

    def is_weak(self, matches: Sequence[Match]) -> bool:
        """Tell whether words found little, so that the cold tier is looked at."""
        kinds = {match.held for match in matches}  # most hold the same few words
        return all(shares(self.asked.words, held).held < WEAK_SHARE for held in kinds)

    def _matches(self, limit: int, tier: Tier) -> Statement:
        return store.matches_statement(
            self._wanted.asked,
            self._chosen,
            self._forms,
            limit=limit,
            tier=tier,
            foreign=self._foreign,
        )

    def _named(self, ids: Sequence[str], tier: Tier) -> Statement:
        return store.named_statement(self._wanted.asked, ids, self._forms, tier=tier)


def _scope(
    asked: Asked, outcomes: Sequence[Outcome], named: Sequence[tuple[str, Sequence[str]]]
) -> VectorScope:
    """Return what the index is narrowed to: one kind and one project where just one is wanted."""
    kinds = asked.query.kinds
    project = ""
    for (area, _), outcome in zip(named, outcomes, strict=False):
        if area == "project" and len(outcome.rows) == 1:
            project = str(outcome.rows[0]["id"])
    return VectorScope(asked.namespace, kinds[0] if len(kinds) == 1 else "", project)


def joined(left: References, right: References) -> References:
    """Return what both refer to."""
    return References({**left.projects, **right.projects}, {**left.topics, **right.topics})
