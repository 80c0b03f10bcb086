"""An app whose items are embedded, over fakes that can fail, and what tests ask of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.builders import NAMESPACE, Bench

from remembrancer.app.state import App
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.core.values import JSON
from remembrancer.core.vectors.embedding import item_of_vector, vector_id
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.vectors import VectorScope
from remembrancer.testing.faults import FaultyStore
from remembrancer.testing.models import FaultyEmbedder, HashingEmbedder
from remembrancer.testing.stores import memory_store
from remembrancer.testing.vectors import FaultyVectors


@dataclass(slots=True)
class Indexed:
    """The app and its fakes."""

    bench: Bench
    app: App
    store: FaultyStore
    embedder: FaultyEmbedder
    vectors: FaultyVectors

    async def drain(self, limit: int = 500) -> dict[str, JSON]:
        return await drain_outbox(self.app, limit=limit)

    async def outbox(self) -> list[tuple[object, ...]]:
        """Item, version, whether it is gone, and attempts."""
        rows = await self.bench.rows(
            "SELECT item_id, version, is_gone, attempts FROM vector_outbox ORDER BY item_id"
        )
        return [tuple(row.values()) for row in rows]

    async def nearest(self, text: str, *, kind: str = "", project: str = "") -> list[str]:
        """Ids of the nearest items, the nearest first."""
        [values] = await self.embedder.inner.embed([text])
        scope = VectorScope(NAMESPACE, kind, project)
        return [
            item_of_vector(match.id)
            for match in await self.vectors.inner.query(scope, values, top=10)
        ]

    async def holds(self, item_id: str) -> bool:
        return bool(await self.vectors.inner.held([vector_id(NAMESPACE, item_id)]))

    async def agrees(self, *, model: str = "%") -> bool:
        """Whether exactly what is to be found has a vector, and the books say so."""
        rows = await self.bench.rows(
            "SELECT namespace, id FROM items WHERE state IN ('active', 'dormant', 'stale')"
            " OR kind = 'memory' AND state = 'archived'"
        )
        ids = [vector_id(str(row["namespace"]), str(row["id"])) for row in rows]
        held: set[str] = set()
        for start in range(0, len(ids), 1_000):
            held |= await self.vectors.inner.held(ids[start : start + 1_000])
        count = (await self.vectors.inner.describe()).count
        booked = await self.bench.rows(
            "SELECT namespace, item_id FROM vector_rows WHERE model LIKE ?", model
        )
        books = {vector_id(str(row["namespace"]), str(row["item_id"])) for row in booked}
        return set(ids) == held == books and count == len(ids)


def make_indexed(*, runs_later: bool = False) -> Indexed:
    """A fresh one; without `runs_later` nothing is drained but by hand."""
    bench = Bench()
    store = FaultyStore(memory_store())
    bench.sql = store
    embedder = FaultyEmbedder(HashingEmbedder())
    vectors = FaultyVectors(LocalVectors(MEMORY, embedder.model, threads=0), bench.runtime)
    app = replace(bench.app, embedder=embedder, vectors=vectors)
    app.indexing.is_eager = runs_later
    return Indexed(bench, app, store, embedder, vectors)
