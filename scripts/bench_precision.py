"""Measures precision-mem-bench whole: what must come back for a message, and what must not.

Beliefs become memories with keys, saved and asked for through the product's use cases: an alias is
a tag, a scope a project, a user a namespace. What is pinned in a scope is shown there anyway, so it
is handed to recall as visible; pinned open questions and pinned preferences that hold everywhere
are listed apart. A case passes when everything that it asserts holds, and what may be brought up
only is exactly what is. The set has no half to tune on: no constant was fitted on it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

# Any: what a JSON file holds, and answers read by key.
from typing import Any, Final

from bench_recall import DATA_DEFAULT, DATA_VARIABLE
from recall_measures import Figures, precision_of, table
from recall_shelf import find_embedder
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.read import list_items
from remembrancer.app.items.states import set_item_state
from remembrancer.app.memories.change import update_memory
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.projects import create_project
from remembrancer.app.recall.recall import RecallScope, recall
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.core.ids import Namespace
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.recall.gates import INJECTED_MAX
from remembrancer.core.text.slugs import slugify
from remembrancer.core.values import Caller
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import Embedder
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import memory_store

FOLDER: Final = "precision-mem-bench"
EVERYWHERE: Final = "user:universal"
"""The scope of what holds whatever is spoken of."""

OPEN_QUESTION: Final = "open_question"
"""Type of beliefs, and tag of memories, that are not decided yet."""

Belief = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back. *Shape:* ids of beliefs; `prelude` the texts that are always shown."""

    relevant: Sequence[str]
    pinned: Sequence[str]
    questions: Sequence[str]
    prelude: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A case with what it asserts and whether that holds. *Shape:* `wanted` None: it says nothing
    of what is brought up."""

    name: str
    wanted: Sequence[str] | None
    answered: Answered
    failures: Sequence[str]


@dataclass(slots=True)
class Minds:
    """The memories of every user, and which belief each holds."""

    app: App
    runtime: FixedRuntime
    beliefs: dict[str, str] = field(default_factory=dict)
    """Item id → belief id."""
    commands: int = 0

    def caller(self, user: str) -> Caller:
        self.commands += 1
        return Caller(Namespace(user), "user", f"req_{self.commands}")

    async def open(self, user: str, scopes: Sequence[str]) -> None:
        """Make a user's projects."""
        for scope in dict.fromkeys(scopes):
            await create_project(self.app, self.caller(user), name=scope)

    async def save(self, belief: Belief) -> None:
        """Save a belief as a client saves a memory."""
        kinds = {"preference": "preference", "decision": "decision", "relation": "relationship"}
        marks = [OPEN_QUESTION] if belief["type"] == OPEN_QUESTION else []
        given: ItemInput = {
            "type": kinds.get(belief["type"], "fact"),
            "tags": [*belief["aliases"], *marks],
            "fact_key": f"belief:{belief['canonical_name']}",
            "project": slugify(belief["scope"][0]),
            "pinned": belief["pinned"],
        }
        caller = self.caller(belief["user_id"])
        answer: Any = await save_memory(self.app, caller, NewMemory(belief["content"], given))
        item_id = str(answer["memory"]["id"])
        self.beliefs[item_id] = belief["_id"]
        ended = "superseded" if belief["epistemic_status"] == "superseded" else "archived"
        if ended == "superseded" or belief["resolved_at"] is not None:
            await set_item_state(self.app, self.caller(belief["user_id"]), item_id, ended)
        self.runtime.advance(60_000)

    async def add_aliases(self, user: str, change: Belief) -> None:
        """Give a belief more names."""
        item_id = next(id_ for id_, name in self.beliefs.items() if name == change["beliefId"])
        answer: Any = await list_items(self.app, self.caller(user), ItemQuery(ids=(item_id,)))
        tags = [*answer["items"][0]["tags"], *change["addAliases"]]
        await update_memory(self.app, self.caller(user), item_id, {"tags": tags})

    async def index(self) -> None:
        """Embed what was written."""
        while self.app.vectors is not None:
            done = await drain_outbox(self.app)
            if not done["left"]:
                return

    async def ask(self, case: Belief, user: str, before: Sequence[str]) -> Answered:
        """Ask what a message brings up, and what is shown anyway."""
        scopes: list[str] = case["scope"]
        shown = [one for scope in scopes for one in await self._pinned(user, scope)]
        limit = INJECTED_MAX
        facts = [id_ for id_, is_question, _ in shown if not is_question]
        if "budget" in case:
            limit = max(0, case["budget"]["maxBeliefs"] - len(facts))
        prelude = await self._pinned(user, EVERYWHERE)
        relevant: dict[str, None] = {}
        message = str(case.get("query", case.get("userMessage")))
        for scope in scopes if limit and message.strip() else ():
            found = await recall(
                self.app,
                self.caller(user),
                message,
                turns=before,
                visible=[id_ for id_, _, _ in [*shown, *prelude]],
                limit=limit,
                scope=RecallScope(project=slugify(scope)),
                purpose="rest",
                used="nothing",
            )
            relevant |= dict.fromkeys(self.beliefs[hit.record.id] for hit in found.hits)
        await self.runtime.drain()
        return Answered(
            list(relevant)[:limit],
            [self.beliefs[id_] for id_ in facts],
            [self.beliefs[id_] for id_, is_question, _ in shown if is_question],
            "\n".join(text for _, _, text in prelude),
        )

    async def _pinned(self, user: str, scope: str) -> list[tuple[str, bool, str]]:
        """Return what is pinned in a scope: id, whether it is an open question, text."""
        query = ItemQuery(
            kinds=("memory",),
            pinned=True,
            projects=(slugify(scope),),
            current_only=True,
            limit=50,
        )
        answer: Any = await list_items(self.app, self.caller(user), query)
        return [
            (item["id"], OPEN_QUESTION in item["tags"], item.get("content") or item["title"])
            for item in answer["items"]
        ]


def failures_of(expect: Belief, answered: Answered) -> list[str]:
    """Return what a case asserts and does not hold, in words."""
    failures: list[str] = []
    lists = {
        "relevantBeliefs": answered.relevant,
        "pinnedFacts": answered.pinned,
        "openQuestions": answered.questions,
        "noiseCheck": answered.relevant,
    }
    for name, got in lists.items():
        wants = expect.get(name, {})
        unwanted = {*wants.get("mustExclude", ()), *wants.get("mustNotSurface", ())}
        failures += [
            f"{name} lacks {id_}" for id_ in wants.get("mustInclude", ()) if id_ not in got
        ]
        failures += [f"{name} has {id_}" for id_ in got if id_ in unwanted]
        if "shouldOnlyInclude" in wants and set(got) != set(wants["shouldOnlyInclude"]):
            failures.append(f"{name} is {sorted(got)}, not {sorted(wants['shouldOnlyInclude'])}")
    return failures + _prelude_failures(expect.get("personaPrelude", {}), answered.prelude)


def _prelude_failures(wants: Belief, prelude: str) -> list[str]:
    failures = [
        f"the prelude lacks {word!r}" for word in wants.get("contains", ()) if word not in prelude
    ]
    failures += [
        f"the prelude has {word!r}" for word in wants.get("mustNotContain", ()) if word in prelude
    ]
    if wants.get("nonEmpty") and not prelude:
        failures.append("the prelude is empty")
    if wants.get("isNull") and prelude:
        failures.append("the prelude is not empty")
    return failures


async def open_minds(
    beliefs: Sequence[Belief], cases: Sequence[Belief], embedder: Embedder | None
) -> Minds:
    """Return every user's memories, saved and embedded."""
    runtime = FixedRuntime()
    vectors = None if embedder is None else LocalVectors(MEMORY, embedder.model, threads=0)
    settings = load_settings({"CHATBOX_API_KEY": "sk-bench"})
    minds = Minds(
        App(
            memory_store(),
            MemoryKeyValue(runtime),
            runtime,
            settings,
            embedder=embedder,
            vectors=vectors,
        ),
        runtime,
    )
    users = dict.fromkeys([*(one["user_id"] for one in beliefs), *map(_user, cases)])
    scopes = [scope for one in [*beliefs, *cases] for scope in one["scope"]]
    for user in users:
        await minds.open(user, [EVERYWHERE, *scopes])
    for belief in beliefs:
        await minds.save(belief)
    await minds.index()
    return minds


def _user(case: Belief) -> str:
    return str(case.get("userId", "test-user"))


def _marked(name: str, case: Belief, answered: Answered) -> Marked:
    expect = case.get("expect") or {}
    wanted = expect.get("relevantBeliefs", {}).get("shouldOnlyInclude")
    return Marked(name, wanted, answered, failures_of(expect, answered))


async def mark_cases(minds: Minds, cases: Sequence[Belief]) -> list[Marked]:
    """Ask every case by itself."""
    return [_marked(case["caseId"], case, await minds.ask(case, _user(case), ())) for case in cases]


async def mark_sessions(minds: Minds, sessions: Sequence[Belief]) -> list[Marked]:
    """Go through conversations; what a turn teaches is known from the next on."""
    marked: list[Marked] = []
    for session in sessions:
        before: list[str] = []
        for turn in session["turns"]:
            answered = await minds.ask(turn, _user(session), before)
            marked.append(_marked(f"{session['caseId']} {turn['turnIndex']}", turn, answered))
            before.append(turn["userMessage"])
            if "createBeliefAtTurn" in turn:
                await minds.save(turn["createBeliefAtTurn"])
            if "updateBeliefAtTurn" in turn:
                await minds.add_aliases(_user(session), turn["updateBeliefAtTurn"])
            await minds.index()
    return marked


def figures_of(marked: Sequence[Marked]) -> Figures:
    """Return the cases that pass, and precision and recall where a case says what it wants."""
    asserted = [(one.answered.relevant, one.wanted) for one in marked if one.wanted is not None]
    return {
        "cases": len(marked),
        "passed": sum(not one.failures for one in marked),
        "precision": fmean(precision_of(got, wanted) for got, wanted in asserted),
        "recall": fmean(
            len(set(got) & set(wanted)) / len(wanted) for got, wanted in asserted if wanted
        ),
    }


async def measure(folder: Path, embedder: Embedder | None) -> dict[str, list[Marked]]:
    """Ask all cases, then all conversations."""
    read = [
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("beliefs.seed", "retrieval.cases", "session-retrieval.cases")
    ]
    beliefs, cases, sessions = read
    minds = await open_minds(beliefs, cases, embedder)
    return {
        "cases": await mark_cases(minds, cases),
        "sessions": await mark_sessions(minds, sessions),
    }


def main(arguments: Sequence[str]) -> int:
    """Measure with vectors, and without."""
    parser = argparse.ArgumentParser(description="Measures precision-mem-bench whole.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"instead of {DATA_VARIABLE}")
    chosen = parser.parse_args(arguments)
    folder = (chosen.data or Path(os.environ.get(DATA_VARIABLE) or DATA_DEFAULT)) / FOLDER
    if not folder.is_dir():
        print(f"{FOLDER} is not there: skipped; {DATA_VARIABLE} names another folder")
        write(chosen.json, {})
        return 0
    rows: dict[str, Figures] = {}
    embedder = find_embedder()
    ways: dict[str, Embedder | None] = {"no vectors": None}
    if embedder is not None:
        ways["both"] = embedder
    for way, used in ways.items():
        marked = asyncio.run(measure(folder, used))
        rows |= {f"{name}, {way}": figures_of(some) for name, some in marked.items()}
        print(f"\n{way}: cases that fail")
        for one in (one for some in marked.values() for one in some if one.failures):
            print(f"  {one.name}: {'; '.join(one.failures)}")
    print(table(rows))
    write(chosen.json, rows)
    return 0


def write(path: Path | None, rows: dict[str, Figures]) -> None:
    """Write the figures where they are wanted."""
    if path is not None:
        path.write_text(json.dumps(rows, indent=2, sort_keys=True), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
