"""Looks for what tells an answer from what is about the same, on the halves marked dev.

Fits the log-odds of `core.recall.bearing` and prints, for the floors of `core.recall.gates`, how
many answers are brought up, and for how many questions that nothing answers anything is. There are
few of those, so questions about facts are asked twice more: with their answers taken away, and of
the other person's memories. What is printed as cross-validated was fitted without the questions
that it is counted on. The table of `core.recall.matters` covers what these sets ask better than
what others will, so a fit overlooks a share of what it tells. Changes nothing:
`scripts/bench_recall.py --tune` is its face.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from statistics import fmean
from typing import Final, Literal

from recall_measures import Figures, recall_at, table
from recall_regression import regression
from recall_sets import EVERYDAY, LabelledSet, Part, Question, facts_of
from recall_shelf import Shelf, Sides, shelve
from remembrancer.core.recall.answering import LOOKED_AT, bearings, lacks_identifier, spoken_of
from remembrancer.core.recall.bearing import Answering, Bearing
from remembrancer.core.recall.fusion import Asked, Candidate, fuse
from remembrancer.core.recall.gates import INJECTED_MAX, SURE_SHARE_MIN, WORK_WORDS_MIN
from remembrancer.core.recall.matters import in_common, matters_held, matters_of
from remembrancer.core.recall.query import build_query
from remembrancer.ports.models import Embedder

Kind = Literal["answerable", "unanswerable", "emptied", "another's"]
"""What a question is asked of: all memories, with or without an answer among them; all but its
answers; the other person's memories."""

FLOORS: Final = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 2 / 3, 0.75)

FOLDS: Final = 24
"""Parts of the questions about facts that are left out in turn; of turns, each conversation is."""

ANSWERED_TOO: Final = frozenset({(0, 14), (0, 32), (0, 36), (0, 62)})
"""Places (part, number) of zh-recall's questions that the other person's memories answer as well.
Read off its dev half."""

WEIGHTS: Final = {"facts": 6.0, "turns": 8.0}
"""How much a question that nothing answers weighs in a fit: there are few. Our choice."""

EVERYDAY_SHARE: Final = {"answered": 0.5, "unanswered": 0.25}
"""How much a question of the everyday set counts beside one of zh-recall: every second of them has
no answer. Our choice."""

FITTED: Final = {
    "facts": (
        *("stated", "elsewhere", "unknown", "meaning", "of_other"),
        *("of_kin", "lacked", "unspoken", "is_untold", "has_identifier"),
    ),
    "turns": (
        *("stated", "meaning", "asked_before", "told_by_other", "of_other"),
        *("is_first", "is_beside", "tells_time"),
    ),
}
"""What counts. Source: of more that was tried (DECISIONS), what helped on questions left out."""


BY_MEANING: Final = frozenset({"meaning"})
"""What only cosines tell."""

OVERLOOKED: Final = 0.2
"""Share of the matters of texts that a fit overlooks. Our choice."""

TIMES: Final = 10
"""Times that a question about facts is looked at, each with other matters overlooked."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A question with how its best candidates bear on it. *Shape:* `fold` the part that it is left
    out with; `open` the places of candidates that no rule drops; `matters` what the question is
    about, `held` which of it each candidate speaks of; `share` how much it counts in a fit."""

    question: Question
    kind: Kind
    fold: int
    ids: Sequence[str] = ()
    found: Sequence[Bearing] = ()
    open: Sequence[int] = ()
    matters: frozenset[str] = frozenset()
    held: Sequence[frozenset[str]] = ()
    share: float = 1.0

    def right(self, place: int) -> bool:
        return self.kind == "answerable" and self.ids[place] in self.question.answers


def _weighed(
    question: Question, kind: Kind, fold: int, found: Sequence[Candidate], asked: Asked
) -> Weighed:
    gone = set(question.answers) if kind == "emptied" else set()
    ranked = fuse([one for one in found if one.id not in gone], asked)
    best = ranked[:LOOKED_AT]
    kept: list[int] = []
    for place, one in enumerate(best):
        is_turn = one.candidate.thread is not None
        is_work = asked.query.asks == "work" and not one.evidence.bearers
        if not (
            (not is_turn and lacks_identifier(one.candidate, asked))
            or (is_work and one.evidence.words < WORK_WORDS_MIN)
        ):
            kept.append(place)
    ids = [one.candidate.id for one in best]
    matters = matters_of(asked.query.words)
    held = [matters_held(matters, spoken_of(one.candidate)) for one in best]
    return Weighed(question, kind, fold, ids, bearings(best, ranked, asked), kept, matters, held)


async def collect(labelled: LabelledSet, embedder: Embedder, sides: Sides) -> list[Weighed]:
    """Ask every question of the dev half, those about facts in each way."""
    is_facts = labelled.measure == "facts"
    weighed: list[Weighed] = []
    for number, part in enumerate(labelled.parts):
        others = [other for other in labelled.parts if other is not part] if is_facts else []
        if not any(question.split == "dev" for question in part.questions):
            continue
        shelf = await shelve(part, embedder)
        for place, question in _dev(part):
            fold = place % FOLDS if is_facts else number
            kind: Kind = "answerable" if question.answers else "unanswerable"
            kinds: list[Kind] = [kind, "emptied"] if is_facts and question.answers else [kind]
            weighed += await _ask(shelf, question, kinds, fold, sides)
        for other in others:
            at = labelled.parts.index(other)
            for place, question in _dev(other):
                if (at, place) not in ANSWERED_TOO:
                    weighed += await _ask(shelf, question, ["another's"], place % FOLDS, sides)
    return weighed


async def collect_everyday(embedder: Embedder, sides: Sides) -> list[Weighed]:
    """Ask everyday people, whose questions that nothing answers are near to what is known."""
    weighed: list[Weighed] = []
    for part in facts_of(EVERYDAY).parts:
        questions = _dev(part)
        shelf = await shelve(part, embedder) if questions else None
        for place, question in questions:
            assert shelf is not None
            kinds: list[Kind] = ["answerable", "emptied"] if question.answers else ["unanswerable"]
            for one in await _ask(shelf, question, kinds, place % FOLDS, sides):
                share = EVERYDAY_SHARE["answered" if question.answers else "unanswered"]
                weighed.append(replace(one, share=share))
    return weighed


def _dev(part: Part) -> list[tuple[int, Question]]:
    return [
        (place, question)
        for place, question in enumerate(part.questions)
        if question.split == "dev"
    ]


async def _ask(
    shelf: Shelf, question: Question, kinds: Sequence[Kind], fold: int, sides: Sides
) -> list[Weighed]:
    query = build_query(question.text, question.context)
    if query is None:
        return [Weighed(question, kind, fold) for kind in kinds if kind == "unanswerable"]
    found, asked = await shelf.contenders(question, query, sides)
    return [_weighed(question, kind, fold, found, asked) for kind in kinds]


def _row(found: Bearing, names: Sequence[str]) -> list[float]:
    coverage = found.coverage
    values = {
        "stated": coverage.stated,
        "elsewhere": coverage.elsewhere,
        "unknown": coverage.unknown,
        "meaning": found.meaning,
        "asked_before": found.asked_before,
        "told_by_other": found.told_by_other,
        "of_other": float(found.of_other),
        "of_kin": float(found.of_kin),
        "is_untold": float(found.is_untold),
        "lacked": found.common.elsewhere,
        "unspoken": found.common.nowhere,
        "has_identifier": float(found.has_identifier),
        "is_first": float(found.is_first),
        "is_beside": float(found.is_beside),
        "tells_time": float(found.tells_time),
    }
    return [values[name] for name in names]


def fit(weighed: Sequence[Weighed], names: Sequence[str], weight: float) -> Answering:
    """Return the log-odds that make the right candidates most likely."""
    rows: list[list[float]] = []
    right: list[bool] = []
    weights: list[float] = []
    for one in weighed:
        looks = _overlooking(one) if "lacked" in names else [one.found]
        for found in looks:
            for place in one.open:
                rows.append(_row(found[place], names))
                right.append(one.right(place))
                counts = weight if one.kind == "unanswerable" else 1.0
                weights.append(counts * one.share / len(looks))
    base, *values = regression(rows, right, weights)
    return Answering(base, **dict(zip(names, values, strict=True)))


def _overlooking(one: Weighed) -> list[Sequence[Bearing]]:
    """Return the bearings of a question several times, each with other matters overlooked."""
    if not one.matters:
        return [one.found]
    chance = random.Random(one.question.text)  # noqa: S311 - the same in every run
    looks: list[Sequence[Bearing]] = []
    for _ in range(TIMES):
        held = [
            frozenset(name for name in sorted(own) if chance.random() >= OVERLOOKED)
            for own in one.held
        ]
        commons = in_common(one.matters, held)
        looks.append(
            [
                replace(found, common=common)
                for found, common in zip(one.found, commons, strict=True)
            ]
        )
    return looks


Brought = tuple[Weighed, list[tuple[float, str]]]


def _scored(weighed: Sequence[Weighed], odds: Answering) -> list[Brought]:
    return [
        (one, sorted(((odds.score(one.found[at]), one.ids[at]) for at in one.open), reverse=True))
        for one in weighed
    ]


def cross_validated(
    weighed: Sequence[Weighed], fitting: Callable[[Sequence[Weighed]], Answering]
) -> list[Brought]:
    """Return every question scored by odds that were fitted without its fold."""
    scored: list[Brought] = []
    for fold in sorted({one.fold for one in weighed}):
        odds = fitting([one for one in weighed if one.fold != fold])
        scored += _scored([one for one in weighed if one.fold == fold], odds)
    return scored


def show_floors(scored: Sequence[Brought], cut: int) -> None:
    """Print what floors let pass."""
    rows: dict[str, Figures] = {}
    for floor in FLOORS:
        kept = [(one, _kept(best, floor)) for one, best in scored]
        answered = [(ids, one.question.answers) for one, ids in kept if one.kind == "answerable"]
        brought = sum(len(ids) for ids, _ in answered)
        rows[f"{floor:.2f}"] = {
            "recall": fmean(recall_at(ids, gold, cut) for ids, gold in answered),
            "right": sum(len({*ids} & {*gold}) for ids, gold in answered) / (brought or 1),
        }
        for kind in ("unanswerable", "emptied", "another's"):
            some = [bool(ids) for one, ids in kept if one.kind == kind]
            if some:
                rows[f"{floor:.2f}"][f"{kind} ({len(some)})"] = fmean(some)
    print(table(rows))


def _kept(best: Sequence[tuple[float, str]], floor: float) -> list[str]:
    top = best[0][0] if best else 0.0
    return [id_ for score, id_ in best if score >= max(floor, SURE_SHARE_MIN * top)][:INJECTED_MAX]


async def tune_answers(
    labelled: LabelledSet, embedder: Embedder, by_side: dict[str, Sides]
) -> None:
    """Print the fit of one set's dev half, and its floors."""
    cut = 10 if labelled.measure == "turns" else 5
    for side in ("both", "words"):
        names = [
            name for name in FITTED[labelled.measure] if side == "both" or name not in BY_MEANING
        ]
        fitting = partial(fit, names=names, weight=WEIGHTS[labelled.measure])
        weighed = await collect(labelled, embedder, by_side[side])
        everyday: list[Weighed] = []
        if labelled.measure == "facts":
            everyday = await collect_everyday(embedder, by_side[side])
        odds = fitting([*weighed, *everyday])
        print(f"\nwhat answers, {side}")
        print(table({"fitted": {one.name: getattr(odds, one.name) for one in fields(odds)}}))
        print(f"floor, recall@{cut}, share that is right, and for how many anything passes")
        scored = cross_validated([*weighed, *everyday], fitting)
        own = {id(one) for one in weighed}
        show_floors([one for one in scored if id(one[0]) in own], cut)
        if everyday:
            print("everyday")
            show_floors([one for one in scored if id(one[0]) not in own], cut)
