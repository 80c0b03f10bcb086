"""Measures how recall grows with a store: milliseconds, and how long the processor worked.

In this process, with the threads of a server, over a file. The store is years of one person's items
(`tests.seeding`) with vectors that are random and spread as sentences' are. Embedding is measured
apart, for it does not grow: beside recall with the embedder, one whose answers are there already.
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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from tests.seeding import NAMESPACE, Seeded, seed

from bench_embedder import chunks_of
from measuring import Timing, clock, machine, print_table, resident_mib
from recall_shelf import find_embedder
from remembrancer.app.recall.recall import recall
from remembrancer.app.recall.segments import Segments
from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.local.connection import SqliteOptions
from remembrancer.local.embedder import ENCODER, SentenceEncoder
from remembrancer.local.folder import DataFolder
from remembrancer.local.migrate import migrate
from remembrancer.local.sqlite import SqliteStore
from remembrancer.local.vectors import LocalVectors
from remembrancer.local.wire import make_asgi, open_app
from remembrancer.ports.models import Embedder, EmbeddingModel, Vector
from remembrancer.ports.vectors import VectorRow, VectorScope

COUNTS: Final = (1_000, 10_000, 100_000)
TIMES: Final = 60
"""Recalls of each kind."""

MEMORY: Final = "memory, MiB"
"""What this process holds in the end: every route loaded, the embedder, all vectors, after all
recalls."""

BUDGET_MIB: Final = 200.0
"""Of it. Source: DESIGN, part 14."""

BUDGET_MS: Final = 15.0
"""Milliseconds of a recall without the embedder, p50, at 100,000 items. Source: DESIGN, part 14."""

QUESTIONS: Final = (
    "去里昂的火车票订了吗",
    "what did Anna say about the deposit",
    "体检报告什么时候出来",
    "where are the passport forms",
    "阳台的番茄架修好了没有",
    "the band's set list for the rehearsal",
    "护照材料还缺哪些",
    "how is the newsletter intro going",
    "我和陈伟多久见一次面",
    "do I eat peanuts or am I allergic",
    "早上几点效率最高",
    "where do I keep my receipts",
    "为什么决定用 SQLite",
    "are there meetings on Fridays",
    "阳台上种了什么",
    "what do I read before sleep",
)
"""Messages as people type them, half of them about tasks that a recall leaves aside; no two in a
row ask the same."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An embedder whose answers are there already."""

    vectors: dict[str, Vector]
    model: EmbeddingModel = ENCODER

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self.vectors[text] for text in texts]


async def ready(encoder: Embedder) -> Ready:
    """Return the questions' embeddings."""
    values = await encoder.embed(list(QUESTIONS))
    return Ready(dict(zip(QUESTIONS, values, strict=True)))


async def plant(folder: DataFolder, count: int) -> Seeded:
    """Seed a data folder; commits wait for nothing meanwhile."""
    folder.make()
    store = SqliteStore(folder.database, SqliteOptions(threads=0, synchronous="OFF"))
    await migrate(store)
    seeded = await seed(store, count, until_ms=int(time.time() * 1000))
    store.close()
    return seeded


async def fill(vectors: LocalVectors, seeded: Seeded) -> None:
    """Give every item a vector."""
    tasks = set(seeded.tasks)
    for start, rows in chunks_of(len(seeded.items)):
        some = seeded.items[start : start + len(rows)]
        await vectors.upsert(
            [
                VectorRow(
                    vector_id(NAMESPACE, item_id),
                    VectorScope(NAMESPACE, "task" if item_id in tasks else "memory"),
                    row.tolist(),
                )
                for item_id, row in zip(some, rows, strict=True)
            ]
        )


def prepare(path: Path, count: int) -> None:
    """Seed a data folder, and give every item a vector."""

    async def prepared() -> None:
        seeded = await plant(DataFolder(path), count)
        filling = LocalVectors(path / "bench-vectors.db", ENCODER)
        await fill(filling, seeded)
        filling.close()

    asyncio.run(prepared())


async def timed(app: App) -> Timing:
    """Time recalls, as a chat asks for them."""
    caller = Caller(NAMESPACE, "user", "req_bench")

    async def one(number: int) -> object:
        return await recall(app, caller, QUESTIONS[number % len(QUESTIONS)])

    return await clock(one, times=TIMES)


async def measure(path: Path, count: int) -> tuple[dict[str, Timing], float]:
    """Seed a store, recall from it in every way, and return the times and the memory in the end."""
    # In a process of its own: what seeding leaves behind is no memory of a server's.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(prepare, path, count).result()
    found: dict[str, Timing] = {}
    # A server would embed all that was seeded meanwhile.
    async with open_app(str(path), {"EMBEDDING_MODEL": "off"}, is_server=True) as local:
        # A server merges the index's segments when two looks find the same.
        watch = Segments(local.app)
        await watch.tick()
        await watch.tick()
        found["words"] = await timed(local.app)
        if find_embedder() is None:
            return found, held()
        make_asgi(local)
        vectors = LocalVectors(path / "bench-vectors.db", ENCODER)
        encoder = SentenceEncoder(folder=path)
        app = replace(local.app, embedder=await ready(encoder), vectors=vectors)
        found["both, without the embedder"] = await timed(app)
        found["both"] = await timed(replace(app, embedder=encoder))
        memory = held()
        encoder.close()
        vectors.close()
    return found, memory


def held() -> float:
    """Mebibytes that this process holds now; 0 where nothing can tell."""
    sizes = resident_mib(os.getpid())
    return 0.0 if sizes is None else sizes[0]


def main(arguments: Sequence[str]) -> int:
    """Measure every size that is asked for."""
    parser = argparse.ArgumentParser(prog="scripts/bench growth")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--items", type=int, action="append", help="a size, instead of all three")
    chosen = parser.parse_args(arguments)
    print(machine())
    figures: dict[str, dict[str, object]] = {}
    for count in chosen.items or COUNTS:
        with tempfile.TemporaryDirectory(prefix="remembrancer-bench-") as folder:
            found, memory = asyncio.run(measure(Path(folder), count))
        print_table(
            [f"{count:,} items, ms", "p50", "p95", "processor"],
            [
                (name, f"{one.p50:.1f}", f"{one.p95:.1f}", f"{one.cpu:.1f}")
                for name, one in found.items()
            ],
        )
        print(f"{MEMORY}: {memory:.0f}")
        figures[str(count)] = {name: one.figures() for name, one in found.items()}
        figures[str(count)][MEMORY] = memory
    print(
        f"budgets at 100,000 items: both without the embedder, p50 {BUDGET_MS:.0f} ms;"
        f" {BUDGET_MIB:.0f} MiB"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps(figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    os.environ.pop("REMEMBRANCER_DATA", None)
    sys.exit(main(sys.argv[1:]))
