"""What a ranking is worth: recall, reciprocal rank, discounted gain, precision; and their tables.

Pure: rankings and gold come in. Which questions are asked is `recall_sets`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from recall_sets import Question

CUTS: Final = (1, 5, 10)
"""Places up to which recall is counted."""

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with what came back, the best first. *Units:* `seconds` for the search."""

    question: Question
    ranking: Sequence[str]
    gold: Sequence[str]
    groups: Sequence[str] = ()
    """The distinct groups (sessions) of the ranking, in its order."""
    gold_groups: Sequence[str] = ()
    seconds: float = 0.0
    old_count: int = 0
    """Superseded memories among the first five."""


def recall_at(ranking: Sequence[str], gold: Sequence[str], cut: int) -> float:
    """Return the share of the gold, or of `cut` when there is more, among the first `cut`."""
    wanted = set(gold)
    return len(wanted & set(ranking[:cut])) / min(cut, len(wanted))


def reciprocal_rank(ranking: Sequence[str], gold: Sequence[str]) -> float:
    """Return 1 ÷ the place of the first that is right, 0 without one."""
    wanted = set(gold)
    return next((1 / place for place, id_ in enumerate(ranking, 1) if id_ in wanted), 0.0)


def discounted_gain(ranking: Sequence[str], gold: Sequence[str], cut: int = 10) -> float:
    """Return nDCG of the first `cut`, each right one worth the same. *Source:* Järvelin 2002."""
    wanted = set(gold)
    got = sum(
        1 / math.log2(place + 1) for place, id_ in enumerate(ranking[:cut], 1) if id_ in wanted
    )
    best = sum(1 / math.log2(place + 1) for place in range(1, min(cut, len(wanted)) + 1))
    return got / best


def precision_of(returned: Sequence[str], gold: Sequence[str]) -> float:
    """Return right ÷ returned; of nothing returned, 1 when nothing was wanted and else 0."""
    if not returned:
        return 0.0 if gold else 1.0
    return len(set(returned) & set(gold)) / len(returned)


def figures_of(answered: Sequence[Answered]) -> Figures:
    """Return the means over the questions that have an answer, and what the others brought.

    *Shape:* `false_injection` is the share of questions without answers for which anything came.
    """
    figures: Figures = {"questions": len(answered)}
    with_gold = [one for one in answered if one.gold]
    if with_gold:
        for cut in CUTS:
            figures[f"recall@{cut}"] = fmean(recall_at(a.ranking, a.gold, cut) for a in with_gold)
        figures["mrr"] = fmean(reciprocal_rank(a.ranking, a.gold) for a in with_gold)
        figures["ndcg@10"] = fmean(discounted_gain(a.ranking, a.gold) for a in with_gold)
        if with_gold[0].gold_groups:
            figures["session@10"] = fmean(recall_at(a.groups, a.gold_groups, 10) for a in with_gold)
    without = [one for one in answered if not one.gold]
    if without:
        figures["false_injection"] = fmean(bool(one.ranking) for one in without)
    figures["superseded"] = sum(one.old_count for one in answered)
    return figures


def precision_figures(answered: Sequence[Answered]) -> Figures:
    """Return mean precision, mean recall where something is wanted, and the exact cases."""
    with_gold = [one for one in answered if one.gold]
    figures: Figures = {
        "questions": len(answered),
        "precision": fmean(precision_of(one.ranking, one.gold) for one in answered),
        "exact": sum(set(one.ranking) == set(one.gold) for one in answered),
    }
    if with_gold:
        figures["recall"] = fmean(
            recall_at(one.ranking, one.gold, max(len(one.ranking), len(one.gold)))
            for one in with_gold
        )
    return figures


def by(answered: Iterable[Answered], name: Callable[[Question], str]) -> dict[str, list[Answered]]:
    """Return the answered questions by a property of theirs, sorted by its value."""
    groups: dict[str, list[Answered]] = {}
    for one in answered:
        groups.setdefault(name(one.question), []).append(one)
    return dict(sorted(groups.items()))


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value below which a share of them lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def table(rows: Mapping[str, Figures]) -> str:
    """Return figures as aligned columns: one row a name, a column for each figure that any has."""
    columns = list(dict.fromkeys(name for figures in rows.values() for name in figures))
    width = max((len(name) for name in rows), default=0)
    lines = [" " * width + "".join(f" {name:>{_column(name)}}" for name in columns)]
    for name, figures in rows.items():
        cells = (f" {_cell(figures.get(column)):>{_column(column)}}" for column in columns)
        lines.append(f"{name:<{width}}" + "".join(cells))
    return "\n".join(lines)


def _column(name: str) -> int:
    return max(len(name), 6)


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
