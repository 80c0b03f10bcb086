"""Measures the local embedder and the vectors: loading, memory, one sentence, the nearest of many.

In this process, with the threads of a server. Vectors are random, spread as sentences' are.
The longest pause of the event loop while the weights are loaded is measured as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from measuring import clock, machine, print_table, resident_mib
from remembrancer.core.vectorcheck import UPSERT_ROWS_MAX
from remembrancer.local.embedder import ENCODER, SentenceEncoder
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.vectors import VectorRow, VectorScope

COUNTS: Final = (1_000, 10_000, 100_000)
"""Vectors among which the nearest are looked for."""

BEAT_S: Final = 0.005
"""Seconds between two beats of the loop."""

TIMES: Final = 100
"""Calls of each operation."""

TOP: Final = 100
"""Nearest vectors that are asked for."""

ASKED: Final = 20
"""Vectors that are asked for to see whether the right ones are found."""

STEEPNESS: Final = 0.42
"""How steeply the spread over directions falls. Source: 11,679 sentences of the labelled sets are
spread as if over 61 directions, which this gives."""

SCOPE: Final = VectorScope("default", "memory")

Figures = dict[str, float]
Rows = NDArray[np.float64]


def resident() -> float:
    """Mebibytes that this process holds now; 0 where nothing can tell."""
    sizes = resident_mib(os.getpid())
    return 0.0 if sizes is None else sizes[0]


async def measure_embedder() -> tuple[Figures, SentenceEncoder]:
    """Load the weights while the loop beats, then embed sentences."""
    before = resident()
    encoder = SentenceEncoder()
    beats: list[float] = []
    is_loading = True

    async def beat() -> None:
        while is_loading:
            began = time.perf_counter()
            await asyncio.sleep(BEAT_S)
            beats.append(time.perf_counter() - began - BEAT_S)

    beating = asyncio.create_task(beat())
    began = time.perf_counter()
    await encoder.embed(["第一句"])
    loaded_s = time.perf_counter() - began
    is_loading = False
    await beating
    chinese = await clock(lambda n: encoder.embed([f"我的测试暗号是什么，第{n}次？"]), times=TIMES)
    english = await clock(lambda n: encoder.embed([f"What is word number {n}?"]), times=TIMES)
    return {
        "memory before, MiB": before,
        "memory with the embedder, MiB": resident(),
        "load and first sentence, ms": loaded_s * 1_000,
        "longest pause of the loop meanwhile, ms": max(beats) * 1_000,
        "a Chinese sentence, p50 ms": chinese.p50,
        "a Chinese sentence, p95 ms": chinese.p95,
        "an English sentence, p50 ms": english.p50,
        "an English sentence, p95 ms": english.p95,
    }, encoder


async def measure_vectors(folder: Path, count: int) -> Figures:
    """Fill a file, open it anew, and look for the nearest."""
    filled = LocalVectors(folder / f"{count}.db", ENCODER)
    began = time.perf_counter()
    for start, some in chunks_of(count):
        rows = [VectorRow(name_of(start + n), SCOPE, row.tolist()) for n, row in enumerate(some)]
        await filled.upsert(rows)
    filled_s = time.perf_counter() - began
    filled.close()
    del filled
    before = resident()
    index = LocalVectors(folder / f"{count}.db", ENCODER)
    began = time.perf_counter()
    await index.describe()
    opened_s = time.perf_counter() - began
    asked = unit_rows(np.random.default_rng(0), ASKED)
    values = asked[0].tolist()
    nearest = await clock(lambda _: index.query(SCOPE, values, top=TOP), times=TIMES)
    memory = resident() - before
    found = [await index.query(SCOPE, row.tolist(), top=TOP) for row in asked]
    exact = nearest_of(count, asked)
    index.close()
    return {
        "fill, ms": filled_s * 1_000,
        "open, ms": opened_s * 1_000,
        "nearest 100, p50 ms": nearest.p50,
        "nearest 100, p95 ms": nearest.p95,
        "memory, MiB": memory,
        "found of the nearest 100, %": fmean(
            100 * len({match.id for match in matches} & names) / len(names)
            for matches, names in zip(found, exact, strict=True)
        ),
    }


def unit_rows(chance: np.random.Generator, count: int) -> Rows:
    """Random vectors of unit length, one a row, as unevenly spread as those of sentences."""
    some = chance.standard_normal((count, ENCODER.dims)) @ spread()
    unit: Rows = some / np.linalg.norm(some, axis=1, keepdims=True)
    return unit


def chunks_of(count: int) -> Iterator[tuple[int, Rows]]:
    """The vectors of a size, always the same, as many at a time as are written at once."""
    chance = np.random.default_rng(count)
    for start in range(0, count, UPSERT_ROWS_MAX):
        yield start, unit_rows(chance, min(UPSERT_ROWS_MAX, count - start))


@cache
def spread() -> Rows:
    """What makes some directions commoner than others, in no dimension's favour."""
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((ENCODER.dims, ENCODER.dims)))
    steps = np.arange(1, ENCODER.dims + 1, dtype=np.float64) ** -STEEPNESS
    uneven: Rows = steps[:, None] * turned
    return uneven


def name_of(number: int) -> str:
    """The id of one vector."""
    return f"itm_{number:026}"


def nearest_of(count: int, asked: Rows) -> list[set[str]]:
    """The ids of the nearest by plain multiplication."""
    scores = np.concatenate([some @ asked.T for _, some in chunks_of(count)])
    best = np.argsort(-scores, axis=0)[:TOP].T
    return [{name_of(place) for place in row} for row in best.tolist()]


async def measure(folder: Path) -> dict[str, Figures]:
    """Measure all, the embedder first."""
    figures: dict[str, Figures] = {}
    figures["embedder"], encoder = await measure_embedder()
    encoder.close()
    for count in COUNTS:
        figures[f"{count} vectors"] = await measure_vectors(folder, count)
    return figures


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write the figures when asked."""
    parser = argparse.ArgumentParser(prog="scripts/bench embedder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    chosen = parser.parse_args(arguments)
    print(machine())
    with tempfile.TemporaryDirectory(prefix="remembrancer-bench-") as folder:
        figures = asyncio.run(measure(Path(folder)))
    for name, found in figures.items():
        print_table([name, ""], [(key, f"{value:.1f}") for key, value in found.items()])
    if chosen.json:
        chosen.json.write_text(json.dumps(figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
