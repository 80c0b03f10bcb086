"""Looks for the constants of recall on the halves marked dev; nothing else is looked at.

Prints the log-odds of `core.recall.fusion` as logistic regression finds them, what a turn's
neighbours are worth, and what the gates of `core.recall.gates` let pass. Changes nothing:
`scripts/bench_recall.py --tune` is its face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recall_measures import Figures, recall_at, table
from recall_sets import LabelledSet, Part, Question
from recall_shelf import shelve
from remembrancer.core.recall.fusion import FACT, TURN, Candidate, Evidence, fuse, measured
from remembrancer.ports.models import Embedder

SHARES: Final = (0.0, 0.1, 0.15, 0.2, 0.3)
"""Shares of a neighbour's words that are tried."""

FLOORS: Final = (0.005, 0.01, 0.02, 0.05)
BEST_SHARES: Final = (0.0, 0.1, 0.25)
"""Gates that are tried."""

_STEPS: Final = 60
"""Steps of Newton's method; it stands still after some ten."""

_RIDGE: Final = 1e-6
"""Keeps the matrix regular where a side is left out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the dev half and its candidates."""

    question: Question
    candidates: Sequence[Candidate]


async def collect(parts: Sequence[Part], embedder: Embedder) -> list[Asked]:
    """Ask every question of the dev half of both sides."""
    asked: list[Asked] = []
    for part in parts:
        questions = [question for question in part.questions if question.split == "dev"]
        if questions:
            shelf = await shelve(part, embedder)
            asked += [Asked(question, await shelf.candidates(question)) for question in questions]
    return asked


def fit(asked: Sequence[Asked], *, has_words: bool = True, has_meaning: bool = True) -> Evidence:
    """Return the log-odds that make the right candidates most likely."""
    rows: list[tuple[float, float, float]] = []
    right: list[bool] = []
    for one in asked:
        if one.question.answers:
            values = measured(one.candidates)
            rows += [(1.0, words * has_words, meaning * has_meaning) for words, meaning in values]
            right += [candidate.id in one.question.answers for candidate in one.candidates]
    inputs: NDArray[np.float64] = np.array(rows)
    wanted: NDArray[np.float64] = np.array(right, float)
    weights = np.zeros(3)
    for _ in range(_STEPS):
        odds = 1 / (1 + np.exp(-inputs @ weights))
        bend = (inputs * (odds * (1 - odds))[:, None]).T @ inputs + _RIDGE * np.eye(3)
        weights = weights + np.linalg.solve(bend, inputs.T @ (wanted - odds))
    base, words, meaning = (float(weight) for weight in weights)
    return Evidence(base, words, meaning)


def with_share(one: Asked, share: float) -> list[str]:
    """Rank turns with another share of their neighbours' words."""
    values = measured(one.candidates, neighbour_share=share)
    scores = {
        candidate.id: TURN.score(*value)
        for candidate, value in zip(one.candidates, values, strict=True)
    }
    return sorted(scores, key=lambda id_: -scores[id_])


def with_gates(one: Asked, floor: float, best_share: float) -> list[str]:
    """Rank as the product does, and drop what other gates would drop."""
    fused = fuse(one.candidates)
    least = max(floor, best_share * fused[0].score) if fused else floor
    return [each.candidate.id for each in fused if each.score >= least]


def show_fits(asked: Sequence[Asked], used: Evidence) -> None:
    """Print what regression finds beside what is used."""
    fits = {
        "used": used,
        "both": fit(asked),
        "words": fit(asked, has_meaning=False),
        "meaning": fit(asked, has_words=False),
    }
    rows: dict[str, Figures] = {
        name: {"base": one.base, "words": one.words, "meaning": one.meaning}
        for name, one in fits.items()
    }
    print(table(rows))


async def tune(labelled: LabelledSet, embedder: Embedder) -> None:
    """Print what one set's dev half says about the constants."""
    asked = await collect(labelled.parts, embedder)
    if not asked:
        return
    cut = 10 if labelled.measure == "turns" else 5
    print(f"\n-- {labelled.name}, dev")
    show_fits(asked, TURN if labelled.measure == "turns" else FACT)
    if labelled.measure == "turns":
        print("neighbours' share, recall@10")
        print(table({f"{share}": {"recall": _share_recall(asked, share)} for share in SHARES}))
    print(f"floor / share of the best, recall@{cut}, and what passes")
    print(table(_gate_rows(asked, cut)))


def _share_recall(asked: Sequence[Asked], share: float) -> float:
    return fmean(
        recall_at(with_share(one, share), one.question.answers, 10)
        for one in asked
        if one.question.answers
    )


def _gate_rows(asked: Sequence[Asked], cut: int) -> dict[str, Figures]:
    rows: dict[str, Figures] = {}
    for floor in FLOORS:
        for share in BEST_SHARES:
            kept = [(one.question, with_gates(one, floor, share)) for one in asked]
            rows[f"{floor} / {share}"] = {
                "recall": fmean(
                    recall_at(ids, question.answers, cut)
                    for question, ids in kept
                    if question.answers
                ),
                "passing": fmean(len(ids) for question, ids in kept if question.answers),
                "false": fmean(bool(ids) for question, ids in kept if not question.answers),
            }
    return rows
