"""Looks for the constants of recall on the halves marked dev; nothing else is looked at.

Prints the log-odds of `core.recall.fusion` as logistic regression finds them, how a turn's
neighbours and its conversation count, how often a name that is said is meant, and what floors on
the score let pass; what tells an answer is `recall_answers`. Every answerable question about facts
is asked once more with its answers taken away, so that there are enough that nothing answers.
Changes nothing: `scripts/bench_recall.py --tune` is its face.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Final

from recall_answers import WEIGHTS, tune_answers
from recall_measures import Figures, recall_at, reciprocal_rank, table
from recall_regression import regression
from recall_sets import LabelledSet, Part, Question
from recall_shelf import BOTH, Sides, shelve
from remembrancer.core.recall.fusion import (
    NEIGHBOUR_SHARE,
    THREAD_MEANING,
    TURN,
    Asked,
    Candidate,
    Evidence,
    Odds,
    fuse,
    measured,
)
from remembrancer.core.recall.query import build_query
from remembrancer.ports.models import Embedder

BEST: Final = 12
"""Candidates of a question, the surest, that a fit looks at: those on which a gate decides."""

FLOORS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.3, 0.4, 0.5, 0.6)
"""Gates that are tried."""

SHARES: Final = (0.1, 0.2, 0.3, 0.4)
MEANINGS: Final = (0.2, 0.35, 0.5)
THREADS: Final = (0.0, 0.5, 1.0)
"""What a turn's neighbours, its cosine and its conversation may count beside its words."""

_FITTED: Final = ("words", "meaning", "elsewhere", "lacks_exact", "named")


@dataclass(frozen=True, slots=True)
class Tried:
    """A question of the dev half, its candidates and their evidence. *Shape:* `is_emptied`: its
    answers were taken away."""

    question: Question
    asked: Asked
    candidates: Sequence[Candidate]
    evidence: Sequence[Evidence]
    is_emptied: bool = False

    @property
    def is_answerable(self) -> bool:
        return bool(self.question.answers) and not self.is_emptied

    def right(self, candidate: Candidate) -> bool:
        return candidate.id in self.question.answers


def _tried(question: Question, asked: Asked, found: Sequence[Candidate], *, empty: bool) -> Tried:
    kept = [one for one in found if not (empty and one.id in question.answers)]
    return Tried(question, asked, kept, measured(kept, asked), empty)


async def collect(parts: Sequence[Part], embedder: Embedder, sides: Sides) -> list[Tried]:
    """Ask every question of the dev half."""
    tried: list[Tried] = []
    for part in parts:
        questions = [question for question in part.questions if question.split == "dev"]
        if not questions:
            continue
        shelf = await shelve(part, embedder)
        for question in questions:
            query = build_query(question.text, question.context)
            if query is None:
                continue
            found, asked = await shelf.contenders(question, query, sides)
            tried.append(_tried(question, asked, found, empty=False))
            if question.answers:
                tried.append(_tried(question, asked, found, empty=True))
    return tried


def _row(found: Evidence) -> list[float]:
    return [
        found.words,
        found.meaning,
        found.elsewhere,
        float(found.lacks_exact),
        float(found.bearers == 1),
    ]


def fit(tried: Sequence[Tried], sides: Sides) -> Odds:
    """Return the log-odds of facts; unanswerable questions weigh as much as the others."""
    answerable = sum(one.is_answerable for one in tried)
    without = sum(not one.question.answers for one in tried)
    rows: list[list[float]] = []
    right: list[bool] = []
    weights: list[float] = []
    has = [float("words" in sides), float("meaning" in sides), *[float("words" in sides)] * 3]
    for one in tried:
        weight = 1.0 if one.question.answers else answerable / without
        best = sorted(
            zip(one.candidates, one.evidence, strict=True),
            key=lambda pair: -(pair[1].meaning + pair[1].words / 4),
        )
        for candidate, found in best[:BEST]:
            rows.append([value * part for value, part in zip(_row(found), has, strict=True)])
            right.append(one.right(candidate))
            weights.append(weight)
    base, *values = regression(rows, right, weights)
    return Odds(base, **dict(zip(_FITTED, values, strict=True)))


def fit_turns(tried: Sequence[Tried], meaning: float, thread: float) -> Odds:
    """Return the log-odds of turns, whose evidence counts in the ratio that is given, and what the
    speaker and the question before say in that of the product."""
    rows: list[list[float]] = []
    right: list[bool] = []
    before, other = TURN.asked_before / TURN.words, TURN.of_other / TURN.words
    for one in tried:
        if not one.is_emptied:
            for candidate, found in zip(one.candidates, one.evidence, strict=True):
                shared = found.words + meaning * found.meaning + thread * found.thread
                rows.append([shared + before * found.asked_before + other * found.of_other])
                right.append(one.right(candidate))
    base, slope = regression(rows, right, [1.0] * len(rows))
    return Odds(
        base,
        slope,
        slope * meaning,
        thread=slope * thread,
        asked_before=slope * before,
        of_other=slope * other,
    )


def ranked(one: Tried, odds: Odds) -> list[str]:
    """Rank a question's candidates by other odds."""
    scores = [odds.score(found) for found in one.evidence]
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [one.candidates[place].id for place in order]


def show_odds(named: dict[str, Odds]) -> None:
    """Print odds beside each other."""
    rows: dict[str, Figures] = {
        name: {field.name: getattr(odds, field.name) for field in fields(odds)}
        for name, odds in named.items()
    }
    print(table(rows))


def show_names(tried: Sequence[Tried]) -> None:
    """Print how often one of the bearers of a name that is said is meant."""
    borne: Counter[int] = Counter()
    meant: Counter[int] = Counter()
    for one in tried:
        if not one.is_emptied:
            for candidate, found in zip(one.candidates, one.evidence, strict=True):
                borne[found.bearers] += 1
                meant[found.bearers] += one.right(candidate)
    print("a name that is said, by how many bear it")
    rows: dict[str, Figures] = {
        str(count): {"said": borne[count], "meant": meant[count]} for count in sorted(borne)
    }
    print(table(rows))


def show_gates(tried: Sequence[Tried], cut: int) -> None:
    """Print what floors on the product's own score let pass."""
    scored = [(one, fuse(one.candidates, one.asked)) for one in tried]
    rows: dict[str, Figures] = {}
    for floor in FLOORS:
        kept = [
            (one, [each.candidate.id for each in fused if each.score >= floor])
            for one, fused in scored
        ]
        answered = [(one, ids) for one, ids in kept if one.is_answerable]
        rows[f"{floor}"] = {
            "recall": fmean(recall_at(ids, one.question.answers, cut) for one, ids in answered),
            "passing": fmean(len(ids) for _, ids in answered),
            "unanswerable": fmean(bool(ids) for one, ids in kept if not one.question.answers),
            "emptied": fmean(bool(ids) for one, ids in kept if one.is_emptied),
        }
    print(
        f"floor, recall@{cut}, what passes, and for how many questions without an answer any does"
    )
    print(table(rows))


def show_ranking(tried: Sequence[Tried], named: dict[str, Odds], cut: int) -> None:
    """Print how well odds rank."""
    answerable = [one for one in tried if one.is_answerable]
    rows: dict[str, Figures] = {}
    for name, odds in named.items():
        ids = [(one.question.answers, ranked(one, odds)) for one in answerable]
        rows[name] = {
            f"recall@{cut}": fmean(recall_at(order, gold, cut) for gold, order in ids),
            "mrr": fmean(reciprocal_rank(order, gold) for gold, order in ids),
        }
    print(table(rows))


async def tune(labelled: LabelledSet, embedder: Embedder) -> None:
    """Print what one set's dev half says about the constants."""
    print(f"\n-- {labelled.name}, dev")
    by_side: dict[str, Sides] = {
        "both": BOTH,
        "words": frozenset({"words"}),
        "meaning": frozenset({"meaning"}),
    }
    for name, sides in by_side.items():
        tried = await collect(labelled.parts, embedder, sides)
        if not tried:
            return
        print(f"\n{name}")
        if labelled.measure == "turns":
            _tune_turns(tried, has_meaning="meaning" in sides)
        else:
            odds = {"fitted": fit(tried, sides)}
            show_odds(odds)
            show_ranking(tried, odds, 5)
            show_names(tried)
        show_gates(tried, 10 if labelled.measure == "turns" else 5)
    if labelled.measure in WEIGHTS:
        await tune_answers(labelled, embedder, by_side)


def _tune_turns(tried: Sequence[Tried], *, has_meaning: bool) -> None:
    odds: dict[str, Odds] = {}
    for meaning in MEANINGS if has_meaning else (0.0,):
        for thread in THREADS:
            odds[f"{meaning} {thread}"] = fit_turns(tried, meaning, thread)
    print(f"cosine, conversation; neighbours {NEIGHBOUR_SHARE}, cosine in it {THREAD_MEANING}")
    show_odds(odds)
    show_ranking(tried, odds, 10)
