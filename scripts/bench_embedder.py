"""Measures the local embedder and the vectors: loading, memory, one sentence, the nearest of many.

In this process, with the threads of a server. Vectors are random, since only their number counts.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

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

SCOPE: Final = VectorScope("default", "memory")

Figures = dict[str, float]


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
    chance = np.random.default_rng(count)
    filled = LocalVectors(folder / f"{count}.db", ENCODER)
    began = time.perf_counter()
    for start in range(0, count, UPSERT_ROWS_MAX):
        some = chance.standard_normal((min(UPSERT_ROWS_MAX, count - start), ENCODER.dims))
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        rows = [
            VectorRow(f"itm_{start + n:026}", SCOPE, row.tolist()) for n, row in enumerate(some)
        ]
        await filled.upsert(rows)
    filled_s = time.perf_counter() - began
    filled.close()
    del filled
    before = resident()
    index = LocalVectors(folder / f"{count}.db", ENCODER)
    began = time.perf_counter()
    await index.describe()
    opened_s = time.perf_counter() - began
    asked = chance.standard_normal(ENCODER.dims)
    asked /= np.linalg.norm(asked)
    values = asked.tolist()
    nearest = await clock(lambda _: index.query(SCOPE, values, top=100), times=TIMES)
    memory = resident() - before
    index.close()
    return {
        "fill, ms": filled_s * 1_000,
        "open, ms": opened_s * 1_000,
        "nearest 100, p50 ms": nearest.p50,
        "nearest 100, p95 ms": nearest.p95,
        "memory, MiB": memory,
    }


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
