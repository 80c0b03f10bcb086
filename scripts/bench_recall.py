"""Measures recall on the labelled sets: found, ranked, wrongly brought up, and how fast.

The memories are written and the questions asked through the product's own use cases, on a store
in memory. Constants may be looked for on the half marked dev; the half marked test is reported.
On `precision-mem-bench` only what must come back for a query is measured, not what a startup
bundle shows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from recall_measures import (
    Answered,
    Figures,
    by,
    figures_of,
    percentile,
    precision_figures,
    table,
)
from recall_sets import LabelledSet, Memory, Part, Question, load_sets
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.states import set_item_state
from remembrancer.app.items.write import create_item
from remembrancer.app.projects import create_project
from remembrancer.app.search import MATCHES_MAX, search_items
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.text.slugs import slugify
from remembrancer.core.values import Caller
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

DATA_VARIABLE: Final = "REMEMBRANCER_DATA_SETS"
"""Names the folder of the labelled sets."""

DATA_DEFAULT: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where the sets lie unless told: beside the repository."""

INJECTED_MAX: Final = 10
"""Matches that a precision case may bring: the default of a search."""

TITLE_CHARS: Final = 200
"""Characters of a title; a longer text is its item's content as well."""


@dataclass(slots=True)
class Shelf:
    """One part, planted: an app over its store, and which item holds which memory."""

    part: Part
    app: App
    runtime: FixedRuntime
    memories: dict[str, Memory] = field(default_factory=dict)
    """By the item's id."""
    commands: int = 0

    def caller(self) -> Caller:
        self.commands += 1
        return Caller(Namespace("default"), "user", f"req_{self.commands}")

    async def plant(self) -> None:
        projects = {memory.project for memory in self.part.memories if memory.project}
        projects |= {asked.project for asked in self.part.questions if asked.project}
        for name in sorted(projects):
            await create_project(self.app, self.caller(), name=name)
        for memory in self.part.memories:
            self.runtime.at_ms = memory.at_ms
            answer = await create_item(self.app, self.caller(), _input(memory))
            item = answer["item"]
            assert isinstance(item, dict)
            item_id = str(item["id"])
            self.memories[item_id] = memory
            if memory.is_superseded:
                await set_item_state(self.app, self.caller(), item_id, "superseded")

    async def ask(self, question: Question, limit: int) -> Answered:
        """Search as the product does, and look up what came back."""
        scope = None if question.project is None else slugify(question.project)
        began = time.perf_counter()
        found: list[Memory] = []
        if question.text.strip():
            answer = await search_items(
                self.app, self.caller(), question.text, project=scope, limit=limit
            )
            matches = answer["matches"]
            assert isinstance(matches, list)
            found = [self.memories[_id_of(match)] for match in matches]
        seconds = time.perf_counter() - began
        groups = {memory.id: memory.group for memory in self.part.memories}
        return Answered(
            question,
            [memory.id for memory in found if not memory.is_silent],
            question.answers,
            groups=list(dict.fromkeys(memory.group for memory in found)),
            gold_groups=[groups[id_] for id_ in question.answers if groups[id_]],
            seconds=seconds,
            old_count=sum(memory.is_superseded for memory in found[:5]),
        )


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


def _id_of(match: object) -> str:
    assert isinstance(match, dict)
    return str(match["item"]["id"])


async def shelve(part: Part) -> Shelf:
    """Return a part, planted in a store of its own."""
    runtime = FixedRuntime()
    settings = load_settings({"CHATBOX_API_KEY": "sk-bench"})
    shelf = Shelf(part, App(memory_store(), MemoryKeyValue(runtime), runtime, settings), runtime)
    await shelf.plant()
    return shelf


async def answers_of(labelled: LabelledSet) -> list[Answered]:
    """Ask every question of a set."""
    limit = INJECTED_MAX if labelled.measure == "precision" else MATCHES_MAX
    answered: list[Answered] = []
    for part in labelled.parts:
        if part.questions:
            shelf = await shelve(part)
            answered += [await shelf.ask(question, limit) for question in part.questions]
    return answered


def report(labelled: LabelledSet, answered: Sequence[Answered]) -> dict[str, Figures]:
    """Return a set's figures: in all, per split, and per kind and language of its test half."""
    count = precision_figures if labelled.measure == "precision" else figures_of
    rows = {"all": count(answered)}
    splits = by(answered, lambda question: question.split)
    if len(splits) > 1:
        rows |= {split: count(some) for split, some in splits.items()}
    reported = splits.get("test", [])
    rows |= {f"test {kind}": count(some) for kind, some in by(reported, _kind).items()}
    languages = by(reported, lambda question: question.language)
    if len(languages) > 1:
        rows |= {f"test {language}": count(some) for language, some in languages.items()}
    return rows


def _kind(question: Question) -> str:
    return question.kind


def main(arguments: Sequence[str]) -> int:
    """Measure every set that is there; 1 when there is none."""
    parser = argparse.ArgumentParser(description="Measures recall on the labelled sets.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"instead of {DATA_VARIABLE}")
    chosen = parser.parse_args(arguments)
    folder = chosen.data or Path(os.environ.get(DATA_VARIABLE) or DATA_DEFAULT)
    sets, missing = load_sets(folder)
    for name in missing:
        print(f"{name} is not in {str(folder)!r}: skipped; {DATA_VARIABLE} names another folder")
    figures: dict[str, object] = {"missing": missing}
    for labelled in sets:
        answered = asyncio.run(answers_of(labelled))
        rows = report(labelled, answered)
        times = [one.seconds * 1_000 for one in answered]
        latency: Figures = {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}
        print(f"\n-- {labelled.name}, words alone")
        print(table(rows))
        print(f"search p50 {latency['p50_ms']:.1f} ms, p95 {latency['p95_ms']:.1f} ms")
        figures[labelled.name] = {"words": {**rows, "latency": latency}}
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2, sort_keys=True), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
