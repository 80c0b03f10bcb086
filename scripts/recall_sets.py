"""The labelled sets that recall is measured on, read into one shape.

The sets lie beside the repository, never in it (`REMEMBRANCER_DATA_SETS` or `--data` names their
folder). A missing set is left out; whoever asked says so. Nothing here ranks or measures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

Split = Literal["dev", "test"]
Measure = Literal["facts", "turns", "precision"]

EVERYDAY: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "everyday"
"""The set of the repository's own: what is asked of people, near to what is known of them."""

LOCOMO_DEV: Final = frozenset({0, 1, 2})
"""Conversations that constants may be looked for on. Source: the sets' own description."""

UNANSWERABLE: Final = 5
"""LoCoMo's category of questions that nothing answers."""

_CATEGORIES: Final = {1: "multi_hop", 2: "temporal", 3: "open", 4: "single_hop", 5: "unanswerable"}
_START_MS: Final = 1_767_225_600_000
"""2026-01-01 UTC: when rows without a date of their own begin."""
_HAN: Final = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_LATIN: Final = re.compile("[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing to remember. *Units:* `at_ms` milliseconds UTC; `group` a session, or nothing."""

    id: str
    text: str
    type: str
    at_ms: int
    tags: Sequence[str] = ()
    fact_key: str | None = None
    project: str | None = None
    group: str = ""
    is_superseded: bool = False
    is_silent: bool = False
    """It is shown elsewhere (pinned, an open question), so that finding it counts for nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and which memories answer: the best first, none when nothing should come."""

    text: str
    answers: Sequence[str]
    kind: str
    split: Split
    context: Sequence[str] = ()
    project: str | None = None

    @property
    def language(self) -> str:
        """Return the script that it is written in."""
        if not _HAN.search(self.text):
            return "en"
        return "mixed" if _LATIN.search(self.text) else "zh"


@dataclass(frozen=True, slots=True)
class Part:
    """Memories of one person, and the questions about them."""

    memories: Sequence[Memory]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """One labelled set. *Shape:* `measure` says which figures mean something on it."""

    name: str
    measure: Measure
    parts: Sequence[Part] = field(repr=False)


def load_sets(folder: Path) -> tuple[list[LabelledSet], list[str]]:
    """Return the sets that are there, and the names of those that are not."""
    found: list[LabelledSet] = []
    missing: list[str] = []
    for name, load in _LOADERS.items():
        if (folder / name).is_dir():
            found.append(load(folder / name))
        else:
            missing.append(name)
    return found, missing


# Any: what a JSON file holds.
def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _moment(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1_000)


def facts_of(folder: Path) -> LabelledSet:
    """Return a set of facts: a folder for each person, with memories and questions in lines."""
    parts = []
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        memories = [
            Memory(
                row["id"],
                row["text"],
                row["type"],
                _moment(row["created_at"]),
                tags=row["tags"],
                fact_key=row["fact_key"],
                is_superseded=row["superseded"],
            )
            for row in _lines(part / "memories.jsonl")
        ]
        questions = [
            Question(
                row["question"], row["answers"], row["kind"], row["split"], row.get("context", [])
            )
            for row in _lines(part / "questions.jsonl")
        ]
        parts.append(Part(sorted(memories, key=lambda one: one.at_ms), questions))
    return LabelledSet(folder.name, "facts", parts)


def _locomo(folder: Path) -> LabelledSet:
    parts = []
    for path in sorted(folder.glob("*.json")):
        for talk in json.loads(path.read_text(encoding="utf-8")):
            split: Split = "dev" if talk["conversation"] in LOCOMO_DEV else "test"
            parts.append(Part(_turns(talk), _asked(talk, split)))
    return LabelledSet(folder.name, "turns", parts)


def _turns(talk: dict[str, Any]) -> list[Memory]:
    memories: list[Memory] = []
    for session in talk["sessions"]:
        for turn in session["turns"]:
            text = f"{turn['speaker']}: {turn['text']}"
            if turn.get("image_caption"):
                text += f" ({turn['image_caption']})"
            at_ms = _START_MS + len(memories) * 60_000
            memories.append(
                Memory(turn["id"], text, "excerpt", at_ms, group=str(session["session"]))
            )
    return memories


def _asked(talk: dict[str, Any], split: Split) -> list[Question]:
    known = {turn["id"] for session in talk["sessions"] for turn in session["turns"]}
    questions = []
    for row in talk["questions"]:
        gold = [id_ for id_ in row["evidence"] if id_ in known]
        if row["category"] == UNANSWERABLE:
            gold = []
        elif not gold:
            continue  # its gold names no turn of this conversation
        questions.append(Question(row["question"], gold, _CATEGORIES[row["category"]], split))
    return questions


def _precision(folder: Path) -> LabelledSet:
    beliefs = json.loads((folder / "beliefs.seed.json").read_text(encoding="utf-8"))
    cases = json.loads((folder / "retrieval.cases.json").read_text(encoding="utf-8"))
    parts = []
    for user in dict.fromkeys(row["user_id"] for row in beliefs):
        memories = [
            _belief(row, number)
            for number, row in enumerate(row for row in beliefs if row["user_id"] == user)
        ]
        questions = [
            Question(
                case["query"],
                case["expect"]["relevantBeliefs"]["shouldOnlyInclude"],
                case["category"],
                "test",
                project=case["scope"][0],
            )
            for case in cases
            if case.get("userId", beliefs[0]["user_id"]) == user
            and "shouldOnlyInclude" in case["expect"].get("relevantBeliefs", {})
        ]
        parts.append(Part(memories, questions))
    return LabelledSet(folder.name, "precision", parts)


def _belief(row: dict[str, Any], number: int) -> Memory:
    kinds = {"preference": "preference", "decision": "decision", "relation": "relationship"}
    scope = row["scope"][0]
    return Memory(
        row["_id"],
        row["content"],
        kinds.get(row["type"], "fact"),
        _START_MS + number * 60_000,
        tags=row["aliases"],
        fact_key=f"belief:{row['canonical_name']}",
        project=scope,
        is_superseded=row["epistemic_status"] == "superseded",
        is_silent=row["pinned"] or row["type"] == "open_question",
    )


_LOADERS: Final[dict[str, Callable[[Path], LabelledSet]]] = {
    "zh-recall": facts_of,
    "locomo": _locomo,
    "precision-mem-bench": _precision,
}
