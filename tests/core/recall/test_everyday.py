"""What is brought up of four everyday people; no constant was looked for on the first two."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

# Any: what a JSON file holds.
from typing import Any

import pytest

from remembrancer.core.recall.answering import answering
from remembrancer.core.recall.evidence import forms_of, wanted_of
from remembrancer.core.recall.fusion import Candidate, asked_of, fuse
from remembrancer.core.recall.gates import judge
from remembrancer.core.recall.names import names_of
from remembrancer.core.recall.query import build_query
from remembrancer.core.text.segment import index_terms

EVERYDAY = Path(__file__).parents[2] / "data" / "everyday"
HELD_OUT = ("part-a", "part-b")
LOOKED_AT = ("part-c", "part-d")


def rows(part: str, name: str) -> list[dict[str, Any]]:
    text = (EVERYDAY / part / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class Store:
    """One person's memories."""

    def __init__(self, part: str) -> None:
        self.memories = rows(part, "memories")
        self.tokens = [
            frozenset(index_terms(f"{row['text']} {row['fact_key'] or ''}").split())
            for row in self.memories
        ]

    def brought_up(self, question: str, cosines: list[float] | None) -> list[str]:
        """What is brought up for a question by itself; cosines None: words alone."""
        query = build_query(question)
        if query is None:
            return []
        forms = frozenset(forms_of(wanted_of(query.words)))
        documents = Counter(form for held in self.tokens for form in held & forms)
        candidates = [
            Candidate(
                row["id"],
                meaning=None if cosines is None else max(0.0, cosines[place]),
                held=self.tokens[place] & forms,
                names=names_of([], row["fact_key"]),
                text=row["text"],
                fact_key=row["fact_key"],
            )
            for place, row in enumerate(self.memories)
        ]
        if cosines is None:
            candidates = [one for one in candidates if one.held]
        asked = asked_of(query, documents)
        ranked = fuse(candidates, asked)
        judged = judge(ranked, asks=query.asks, answers=answering(ranked, asked))
        return [one.fused.candidate.id for one in judged if one.gate is None]


def counted(parts: tuple[str, ...], *, has_meaning: bool = True) -> tuple[float, Counter[str]]:
    """The share of the answers that is brought up, and how many questions that nothing answers
    bring anything up, by kind."""
    shares: list[float] = []
    wrong: Counter[str] = Counter()
    for part in parts:
        store = Store(part)
        for row in rows(part, "questions"):
            cosines = [value / 100 for value in row["cosines"]] if has_meaning else None
            found = store.brought_up(row["question"], cosines)
            if row["answers"]:
                shares.append(len({*found} & {*row["answers"]}) / len(row["answers"]))
            else:
                wrong[row["kind"]] += bool(found)
    return sum(shares) / len(shares), wrong


@pytest.mark.parametrize(
    ("parts", "has_meaning", "least", "most"),
    [
        pytest.param(
            HELD_OUT,
            True,
            0.68,
            # Of 12, 12, 15 and 8; of 9 in small talk.
            {"near_topic": 5, "another_person": 4, "unanswerable": 2, "general": 2},
            id="held-out",
        ),
        pytest.param(
            HELD_OUT,
            False,
            0.44,
            {
                "near_topic": 4,
                "another_person": 3,
                "unanswerable": 3,
                "general": 1,
                "small_talk": 2,
            },
            id="held-out-by-words",
        ),
        pytest.param(
            LOOKED_AT,
            True,
            0.48,
            # Of 27, 20, 18, 10 and 11.
            {"near_topic": 12, "another_person": 7, "unanswerable": 1, "small_talk": 1},
            id="looked-at",
        ),
        pytest.param(
            LOOKED_AT,
            False,
            0.38,
            {"near_topic": 7, "another_person": 5, "unanswerable": 1, "small_talk": 1},
            id="looked-at-by-words",
        ),
    ],
)
def test_what_is_known_is_brought_up_and_little_that_answers_nothing(
    parts: tuple[str, ...], has_meaning: bool, least: float, most: dict[str, int]
) -> None:
    share, wrong = counted(parts, has_meaning=has_meaning)
    assert share >= least
    assert all(count <= most.get(kind, 0) for kind, count in wrong.items()), wrong


def test_every_question_has_a_cosine_for_each_memory() -> None:
    for part in (*HELD_OUT, *LOOKED_AT):
        ids = {row["id"] for row in rows(part, "memories")}
        for row in rows(part, "questions"):
            assert len(row["cosines"]) == len(ids)
            assert ids.issuperset(row["answers"])
            assert (row["split"] == "test") == (part in HELD_OUT)
