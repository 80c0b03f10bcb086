"""What draining and comparing vectors costs on a real D1, and that its SQL runs there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from tests.budgets.places import Cost, Place, make_place
from tests.d1.bridge import D1Bridge

from remembrancer.app.health import check_health
from remembrancer.app.items.states import delete_items
from remembrancer.app.state import App
from remembrancer.app.vectors.filling import fill_next
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.app.vectors.repair import reindex_vectors
from remembrancer.app.vectors.start import find_gaps
from remembrancer.core.limits import SQL_BATCH_STATEMENTS_MAX
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import EmbeddingModel, Vector
from remembrancer.ports.sql import Statement

ITEMS = 1_000


class Same:
    """An embedder whose vectors are all alike: only rows are counted here."""

    def __init__(self, name: str) -> None:
        self.model = EmbeddingModel(name, 32)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [(1.0, *[0.0] * 31) for _ in texts]


@dataclass(slots=True)
class Measured:
    """The place, its app with vectors, and what was just counted."""

    place: Place
    app: App

    def cost(self) -> Cost:
        counts = self.place.counts
        cost = Cost(counts.round_trips, counts.statements, counts.rows_read, counts.rows_written)
        self.place.start()
        return cost


@pytest.fixture(scope="module")
def measured(d1_bridge: D1Bridge) -> Measured:
    place = asyncio.run(make_place(d1_bridge.fresh(), ITEMS))
    embedder, following = Same("one"), Same("two")
    app = replace(
        place.app,
        embedder=embedder,
        vectors=LocalVectors(MEMORY, embedder.model, threads=0),
        embedder_next=following,
        vectors_next=LocalVectors(MEMORY, following.model, threads=0),
    )
    app.indexing.is_eager = False
    place.start()
    return Measured(place, app)


async def test_vectors_of_a_store_on_d1_are_made_compared_and_repaired(
    measured: Measured,
) -> None:
    app, caller = measured.app, measured.place.caller
    alone = replace(app, embedder_next=None, vectors_next=None)

    # What was completed before it was ever embedded.
    assert (await drain_outbox(alone, limit=100))["deleted"] == 100
    await app.sql.write([Statement("DELETE FROM vector_outbox WHERE is_gone = 1")])
    measured.cost()

    assert (await drain_outbox(alone, limit=100))["embedded"] == 100
    cost = measured.cost()
    # One trip to read, one to note, one that finds nothing more, one that counts what is left.
    assert cost.trips <= 4 and cost.statements <= SQL_BATCH_STATEMENTS_MAX
    assert cost.written <= 100 * 3, cost
    assert cost.read <= 100 * 20 + 1_000, cost

    while (await drain_outbox(alone, limit=500))["left"]:
        pass
    measured.cost()
    assert (await drain_outbox(alone))["left"] == 0
    assert measured.cost().written == 0

    await check_health(alone)
    cost = measured.cost()
    assert (cost.trips, cost.written) == (1, 0) and cost.read <= 30, cost

    told = await reindex_vectors(alone, caller, limit=100)
    assert (told["missing"], told["orphans"]) == (0, 0)
    assert measured.cost().read <= 1_500

    rows = await measured.place.bench.rows("SELECT item_id FROM vector_rows LIMIT 5")
    ids = [str(row["item_id"]) for row in rows]
    gone, lost = ids[:3], ids[3:]
    await delete_items(alone, caller, gone)
    assert (await drain_outbox(alone))["deleted"] == 3
    await app.sql.write(
        [Statement("DELETE FROM vector_rows WHERE item_id = ?", (id_,)) for id_ in lost]
    )
    assert await find_gaps(alone) == 2
    assert (await drain_outbox(alone))["embedded"] == 2

    assert app.vectors is not None and app.vectors_next is not None
    filled, is_whole = 0, False
    while not is_whole:
        step = await fill_next(app, limit=500)
        filled, is_whole = filled + step.filled, step.is_whole
    count = (await app.vectors.describe()).count
    assert filled == count == (await app.vectors_next.describe()).count
