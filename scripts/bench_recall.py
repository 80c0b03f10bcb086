"""Measures recall on the labelled sets: found, ranked, wrongly brought up, and how fast.

The memories are written and searched for through the product's own use cases, on a store in
memory. Constants may be looked for on the half marked dev; the half marked test is reported.
On `precision-mem-bench` only what must come back for a query is measured, not what a startup
bundle shows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
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
from recall_sets import LabelledSet, Question, load_sets
from recall_shelf import Arm, answers_of, find_embedder
from recall_tuning import tune

DATA_VARIABLE: Final = "REMEMBRANCER_DATA_SETS"
"""Names the folder of the labelled sets."""

DATA_DEFAULT: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where the sets lie unless told: beside the repository."""

ARMS: Final[tuple[Arm, ...]] = (
    "words",
    "no vectors",
    "brought up, no vectors",
    "meaning",
    "fused",
    "brought up",
)


def report(labelled: LabelledSet, answered: Sequence[Answered]) -> dict[str, Figures]:
    """Return an arm's figures: in all, per split, and per kind and language of the test half."""
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


def latency(answered: Sequence[Answered]) -> Figures:
    """Return how long the questions took. *Units:* ms."""
    times = [one.seconds * 1_000 for one in answered]
    return {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}


def show(labelled: LabelledSet, rows: dict[Arm, dict[str, Figures]]) -> None:
    """Print the arms beside each other, then the kinds of the last that only ranks."""
    halves = [name for name in ("dev", "test", "all") if name in rows["words"]]
    print(f"\n-- {labelled.name}")
    print(table({f"{half} {arm}": found[half] for half in halves for arm, found in rows.items()}))
    arm: Arm = "fused" if "fused" in rows else "words"
    print(f"\n{arm}, by kind and language")
    print(table({name: row for name, row in rows[arm].items() if name not in halves}))


def main(arguments: Sequence[str]) -> int:
    """Measure every set that is there."""
    parser = argparse.ArgumentParser(description="Measures recall on the labelled sets.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"instead of {DATA_VARIABLE}")
    parser.add_argument("--tune", action="store_true", help="look for constants on dev and end")
    chosen = parser.parse_args(arguments)
    folder = chosen.data or Path(os.environ.get(DATA_VARIABLE) or DATA_DEFAULT)
    sets, missing = load_sets(folder)
    for name in missing:
        print(f"{name} is not in {str(folder)!r}: skipped; {DATA_VARIABLE} names another folder")
    embedder = find_embedder()
    if embedder is None:
        print("the local embedder is not installed: words alone are measured")
    if chosen.tune and embedder is not None:
        for labelled in sets:
            asyncio.run(tune(labelled, embedder))
        return 0
    arms = ARMS if embedder is not None else ARMS[:3]
    figures: dict[str, object] = {"missing": missing}
    for labelled in sets:
        is_precision = labelled.measure == "precision"
        answered = asyncio.run(
            answers_of(labelled.parts, arms, embedder, is_precision=is_precision)
        )
        rows = {arm: report(labelled, some) for arm, some in answered.items()}
        times = {arm: latency(some) for arm, some in answered.items()}
        show(labelled, rows)
        print(table(dict(times.items())))
        figures[labelled.name] = {arm: {**rows[arm], "latency": times[arm]} for arm in arms}
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2, sort_keys=True), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
