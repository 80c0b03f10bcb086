"""Many at once: ten thousand imported items are embedded to the last, and all counts agree."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.app.indexing import make_indexed
from tests.app.transfers import export
from tests.builders import Bench

from remembrancer.app.importing import import_ledger
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.vectors.health import vector_health
from remembrancer.core.dates.zones import load_zone
from remembrancer.core.ids import item_stream
from remembrancer.core.items import decide
from remembrancer.core.items.commands import Moment
from remembrancer.core.ledger.events import SALT_BYTES, Head
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import EmbeddingModel, Vector
from remembrancer.store import ledger
from remembrancer.store.ledger import StreamEdit

FEW, MANY = 1_200, 10_000
"""More than one round of the drain, and a person's whole store."""
BATCH = 400


class Quick:
    """An embedder that understands nothing at all, for many texts."""

    model = EmbeddingModel("quick", 64)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        digests = (hashlib.sha512(text.encode()).digest() for text in texts)
        vectors = [[byte - 127.5 for byte in digest] for digest in digests]
        return [tuple(value / math.hypot(*one) for value in one) for one in vectors]


async def short_memories(count: int) -> list[bytes]:
    """The export of so many short memories."""
    bench = Bench()
    moment = Moment(bench.runtime.now_ms(), load_zone("Asia/Shanghai"))
    for start in range(0, count, BATCH):
        edits = [
            StreamEdit(
                item_stream(bench.runtime.new_id("itm")),
                Head(),
                {},
                (decide.create_item({"kind": "memory", "title": f"第{number}条"}, at=moment),),
            )
            for number in range(start, start + BATCH)
        ]
        salts = [bytes(SALT_BYTES)] * len(edits)
        at_ms = moment.now_ms - 86_400_000
        sealed, placed = ledger.place(edits, caller=bench.caller(), at_ms=at_ms, salts=salts)
        await bench.sql.write(ledger.append(sealed, placed))
    return await export(bench)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
async def test_many_imported_items_drain_to_zero_and_agree(count: int) -> None:
    lines = await short_memories(count)
    indexed = make_indexed()
    indexed.vectors.inner = LocalVectors(MEMORY, Quick.model, threads=0)
    indexed.app = replace(indexed.app, embedder=Quick())
    await import_ledger(indexed.app, lambda: lines)
    [oldest] = await indexed.bench.rows("SELECT min(queued_at) AS at FROM vector_outbox")
    assert oldest["at"] == indexed.bench.runtime.now_ms()
    embedded = 0
    while (done := await indexed.drain(limit=1_000))["embedded"]:
        embedded += int(str(done["embedded"]))
    assert (embedded, done["left"]) == (count, 0)
    told = await vector_health(indexed.app, indexed.bench.caller(), pause=asyncio.sleep)
    assert told["status"] == "ok", told["reasons"]
    assert told["items"] == told["vectors"] == told["index_count"] == count
    assert await indexed.agrees()


@pytest.mark.timeout(1_200)  # ten thousand commands, each a batch of its own
@pytest.mark.parametrize("count", [240, pytest.param(MANY, marks=pytest.mark.long)])
async def test_many_saved_memories_hold_each_key_once_and_repeat_nothing(count: int) -> None:
    """A third have a key that a later one takes over, a third repeat a text, a third are new."""
    indexed = make_indexed()
    indexed.vectors.inner = LocalVectors(MEMORY, Quick.model, threads=0)
    indexed.app = replace(indexed.app, embedder=Quick())
    keys, texts = count // 12, count // 6
    for number in range(count):
        given: ItemInput = {}
        text = f"第 {number} 件事：receipt {number} 在抽屉里"
        if number % 3 == 0:
            given = {"fact_key": f"fact:drawer-{number // 3 % keys}"}
        elif number % 3 == 1:
            text = f"第 {number // 3 % texts} 位邻居住在 {number // 3 % texts} 号"
        await save_memory(indexed.app, indexed.bench.caller(), NewMemory(text, given, "fact"))
        if number % 1_000 == 999:
            indexed.bench.runtime.discard()
    held = await indexed.bench.rows(
        "SELECT count(*) AS held, count(DISTINCT fact_key) AS keys FROM items"
        " WHERE fact_key IS NOT NULL AND state = 'active'"
    )
    assert held == [{"held": keys, "keys": keys}]
    [active] = await indexed.bench.rows(
        "SELECT count(*) AS items, count(DISTINCT title) AS texts FROM items WHERE state = 'active'"
    )
    keyed, new = (sum(number % 3 == rest for number in range(count)) for rest in (0, 2))
    kept = keys + texts + new
    assert active == {"items": kept, "texts": kept}
    [all_] = await indexed.bench.rows("SELECT count(*) AS items FROM items")
    assert all_["items"] == kept + keyed - keys  # superseded, nothing is lost
    for _ in range(2 + count // 1_000):
        done = await indexed.drain(limit=1_000)
    assert done["left"] == 0
    told = await vector_health(indexed.app, indexed.bench.caller(), pause=asyncio.sleep)
    assert told["status"] == "ok", told["reasons"]
    assert told["items"] == told["vectors"] == told["index_count"] == kept
    assert await indexed.agrees()
