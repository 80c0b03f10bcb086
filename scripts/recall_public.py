"""Measures recall on the labelled sets through the use cases that clients call, and nothing else.

Memories are saved as a client saves them, embedded behind the outbox as a server embeds them, and
asked for as the doors ask: `search` is what `/v1/search/memories` answers, `recall` what is quoted
into a conversation. How the parts of recall do one by one is `bench_recall.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from bench_recall import DATA_DEFAULT, DATA_VARIABLE, latency, report
from recall_measures import Answered, Figures, percentile, table
from recall_sets import LabelledSet, Memory, Part, Question, load_sets
from recall_shelf import find_embedder
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.states import set_item_state
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.projects import create_project
from remembrancer.app.recall.recall import Recalled, RecallScope, recall
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.core.ids import Namespace
from remembrancer.core.recall.gates import INJECTED_MAX
from remembrancer.core.text.slugs import slugify
from remembrancer.core.values import Caller
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import Embedder
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

Way = Literal["search", "recall", "search, no vectors", "recall, no vectors"]
"""How memories are asked for: as a search, as a conversation, and both without an index."""

WAYS: Final[tuple[Way, ...]] = ("search", "recall", "search, no vectors", "recall, no vectors")

NAMESPACE: Final = Namespace("default")

SEARCHED: Final = 50
"""Matches of a search. Source: the most that the door gives."""


@dataclass(slots=True)
class PublicShelf:
    """One person's memories, saved; which items hold them; and what was quoted."""

    part: Part
    app: App
    runtime: FixedRuntime
    items: dict[str, str] = field(default_factory=dict)
    """Memory id → the item that holds it; two of one text are one item."""
    tokens: list[int] = field(default_factory=list)
    """Tokens of each text that was quoted, where there was any."""
    commands: int = 0

    def caller(self) -> Caller:
        """A fresh cause for each command."""
        self.commands += 1
        return Caller(NAMESPACE, "user", f"req_{self.commands}")

    async def plant(self) -> None:
        """Save every memory in its time, and embed them."""
        names = {memory.project for memory in self.part.memories}
        names |= {question.project for question in self.part.questions}
        for name in sorted(name for name in names if name):
            await create_project(self.app, self.caller(), name=name)
        for memory in self.part.memories:
            self.runtime.at_ms = memory.at_ms
            new = NewMemory(memory.text, _given(memory), memory.type)
            # Any: an answer read by key.
            answer: Any = await save_memory(self.app, self.caller(), new)
            self.items[memory.id] = str(answer["memory"]["id"])
        for memory in self.part.memories:
            if memory.is_superseded:
                await self._end(self.items[memory.id])
        await self._index()

    async def _end(self, item_id: str) -> None:
        """What is marked as replaced, and was not by its key, is ended by hand."""
        await set_item_state(self.app, self.caller(), item_id, "superseded")

    async def _index(self) -> None:
        while self.app.vectors is not None:
            done = await drain_outbox(self.app)
            if not done["left"]:
                return

    async def ask(self, question: Question, way: Way, limit: int) -> Answered:
        """Ask in one way and look up what came back."""
        began = time.perf_counter()
        found = await self._found(question, way, limit)
        seconds = time.perf_counter() - began
        await self.runtime.drain()
        if found.patch and way.startswith("recall"):
            self.tokens.append(found.tokens)
        by_item: dict[str, list[Memory]] = {}
        for memory in self.part.memories:
            by_item.setdefault(self.items[memory.id], []).append(memory)
        memories = [memory for hit in found.hits for memory in by_item[hit.record.id]]
        by_id = {memory.id: memory for memory in self.part.memories}
        return Answered(
            question,
            [memory.id for memory in memories],
            question.answers,
            groups=list(dict.fromkeys(memory.group for memory in memories)),
            gold_groups=[group for id_ in question.answers if (group := by_id[id_].group)],
            seconds=seconds,
            old_count=sum(memory.is_superseded for memory in memories[:5]),
        )

    async def _found(self, question: Question, way: Way, limit: int) -> Recalled:
        silent = [self.items[one.id] for one in self.part.memories if one.is_silent]
        app = self.app
        if way.endswith("no vectors"):
            app = replace(app, embedder=None, vectors=None)
        return await recall(
            app,
            self.caller(),
            question.text,
            turns=question.context,
            visible=silent,
            limit=limit,
            scope=RecallScope(project=question.project and slugify(question.project)),
            purpose="rest",
            used="nothing",
            is_search=way.startswith("search"),
        )


def _given(memory: Memory) -> ItemInput:
    given: ItemInput = {"type": memory.type, "tags": list(memory.tags)}
    if memory.fact_key is not None:
        given["fact_key"] = memory.fact_key
    if memory.group:
        given["source"] = f"session {memory.group}"
    if memory.project is not None:
        given["project"] = slugify(memory.project)
    return given


async def shelve(part: Part, embedder: Embedder | None) -> PublicShelf:
    """Return a part, saved in a store of its own."""
    runtime = FixedRuntime()
    settings = load_settings({"CHATBOX_API_KEY": "sk-bench"})
    vectors = None if embedder is None else LocalVectors(MEMORY, embedder.model, threads=0)
    app = App(
        memory_store(),
        MemoryKeyValue(runtime),
        runtime,
        settings,
        embedder=embedder,
        vectors=vectors,
    )
    shelf = PublicShelf(part, app, runtime)
    await shelf.plant()
    return shelf


async def answers_of(
    labelled: LabelledSet, ways: Sequence[Way], embedder: Embedder | None
) -> tuple[dict[Way, list[Answered]], list[int]]:
    """Ask every question in every way, and return the tokens of what was quoted, too."""
    limit = INJECTED_MAX if labelled.measure == "precision" else SEARCHED
    answered: dict[Way, list[Answered]] = {way: [] for way in ways}
    tokens: list[int] = []
    for part in labelled.parts:
        if not part.questions:
            continue
        shelf = await shelve(part, embedder)
        for way in ways:
            answered[way] += [await shelf.ask(question, way, limit) for question in part.questions]
        tokens += shelf.tokens
    return answered, tokens


def sessions_of(folder: Path, labelled: LabelledSet) -> LabelledSet | None:
    """Return the set's conversations, each turn a question after those before it; None without."""
    path = folder / labelled.name / "session-retrieval.cases.json"
    if not path.is_file():
        return None
    questions: list[Question] = []
    for case in json.loads(path.read_text(encoding="utf-8")):
        before: list[str] = []
        for turn in case["turns"]:
            wanted = turn["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude")
            if wanted is not None:
                asked = Question(
                    turn["userMessage"],
                    wanted,
                    turn["label"],
                    "test",
                    context=list(before),
                    project=turn["scope"][0],
                )
                questions.append(asked)
            before.append(turn["userMessage"])
    memories = max((part.memories for part in labelled.parts), key=len)
    return LabelledSet(f"{labelled.name}, sessions", "precision", [Part(memories, questions)])


def held(answered: Sequence[Answered]) -> Figures:
    """Return in how many cases nothing came back but what may, and in how many all of that."""
    return {
        "cases": len(answered),
        "only_these": sum(set(one.ranking) <= set(one.gold) for one in answered),
        "just_these": sum(set(one.ranking) == set(one.gold) for one in answered),
    }


def show(labelled: LabelledSet, rows: dict[Way, dict[str, Figures]]) -> None:
    """Print the ways beside each other, for each half and in all."""
    print(f"\n-- {labelled.name}, through the use cases of the doors")
    halves = [name for name in ("dev", "test", "all") if name in rows["search"]]
    print(table({f"{half} {way}": found[half] for half in halves for way, found in rows.items()}))


def main(arguments: Sequence[str]) -> int:
    """Measure every set that is there."""
    parser = argparse.ArgumentParser(description="Measures recall through the use cases.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"instead of {DATA_VARIABLE}")
    parser.add_argument("--only", metavar="NAME", help="one set alone")
    chosen = parser.parse_args(arguments)
    folder = chosen.data or Path(os.environ.get(DATA_VARIABLE) or DATA_DEFAULT)
    sets, missing = load_sets(folder)
    found = [sessions_of(folder, one) for one in sets if one.measure == "precision"]
    sets += [one for one in found if one is not None]
    for name in missing:
        print(f"{name} is not there: skipped; {DATA_VARIABLE} names another folder")
    embedder = find_embedder()
    ways = WAYS if embedder is not None else WAYS[:2]
    figures: dict[str, object] = {"missing": missing}
    for labelled in sets:
        if chosen.only is not None and not labelled.name.startswith(chosen.only):
            continue
        answered, tokens = asyncio.run(answers_of(labelled, ways, embedder))
        rows = {way: report(labelled, some) for way, some in answered.items()}
        show(labelled, rows)
        if labelled.measure == "precision":
            print(table({str(way): held(some) for way, some in answered.items()}))
        quoted: Figures = {
            "tokens_p50": percentile(tokens, 0.5),
            "tokens_p95": percentile(tokens, 0.95),
        }
        times: dict[str, Figures] = {str(way): latency(some) for way, some in answered.items()}
        print(table({**times, "quoted": quoted}))
        figures[labelled.name] = {"ways": rows, "quoted": quoted}
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2, sort_keys=True), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
