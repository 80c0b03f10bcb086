"""Finding what the index lacks: by hand page by page, at a server's start, after an import."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.app.indexing import Indexed, make_indexed
from tests.builders import NAMESPACE, id_of
from tests.seeding import seed

from remembrancer.app.health import check_health
from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import create_item
from remembrancer.app.rebuild import rebuild
from remembrancer.app.vectors.health import (
    CANARY_POLLS_MAX,
    WAIT_MS_MAX,
    vector_health,
)
from remembrancer.app.vectors.index import BACKOFF_MS_MAX
from remembrancer.app.vectors.repair import REINDEX_ITEMS_MAX, reindex_vectors
from remembrancer.app.vectors.start import keep_indexed
from remembrancer.core.errors import InvalidInput
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.ports.sql import Statement


async def filled(count: int = 12) -> tuple[Indexed, list[str]]:
    """An app with so many memories, all embedded."""
    indexed = make_indexed()
    ids = [
        id_of(
            await create_item(
                indexed.app,
                indexed.bench.caller(),
                {"kind": "memory", "title": f"记忆 {number} memory"},
            )
        )
        for number in range(count)
    ]
    await indexed.drain()
    return indexed, ids


async def look(indexed: Indexed, *, step_ms: int = 0) -> dict[str, Any]:
    """The long look; between two looks of the canary the clock goes on by `step_ms`."""

    async def pause(seconds: float) -> None:
        del seconds
        indexed.bench.runtime.advance(step_ms)

    return dict(await vector_health(indexed.app, indexed.bench.caller(), pause=pause))


async def reindex(indexed: Indexed, **given: Any) -> dict[str, Any]:
    return dict(await reindex_vectors(indexed.app, indexed.bench.caller(), **given))


async def lose_vectors(indexed: Indexed, ids: list[str]) -> None:
    await indexed.vectors.inner.delete([vector_id(NAMESPACE, id_) for id_ in ids])


async def lose_books(indexed: Indexed, ids: list[str]) -> None:
    for id_ in ids:
        await indexed.bench.sql.write(
            [Statement("DELETE FROM vector_rows WHERE item_id = ?", (id_,))]
        )


async def lose_outbox(indexed: Indexed, ids: list[str]) -> None:
    """Deleted items whose removal was never queued."""
    await delete_items(indexed.app, indexed.bench.caller(), ids)
    await indexed.bench.sql.write([Statement("DELETE FROM vector_outbox")])


LOSSES = [lose_vectors, lose_books, lose_outbox]
Loss = Callable[[Indexed, list[str]], Awaitable[None]]


async def test_health_of_a_sound_index_is_ok_and_leaves_nothing() -> None:
    indexed, _ = await filled()
    told = await look(indexed)
    assert told["status"] == "ok" and told["reasons"] == []
    assert (told["model"], told["dims"]) == ("hashing", 64)
    assert told["items"] == told["vectors"] == told["index_count"] == 12
    assert told["outbox"]["waiting"] == 0
    assert told["canary"] == {"written": True, "found": True, "deleted": True, "polls": 2, "ms": 0}
    assert await indexed.agrees()


@pytest.mark.parametrize("loss", LOSSES[:2])
async def test_health_names_what_is_missing(loss: Loss) -> None:
    indexed, ids = await filled()
    await loss(indexed, ids[3:5])
    told = await look(indexed)
    assert told["status"] == "degraded"
    assert any("10" in reason and "12" in reason for reason in told["reasons"])


async def test_health_waits_for_an_index_that_is_late_but_not_for_ever() -> None:
    indexed, _ = await filled()
    indexed.vectors.lag_ms = 5_000
    told = await look(indexed, step_ms=2_500)
    assert told["status"] == "ok" and told["canary"]["polls"] == 6
    indexed.vectors.lag_ms = 3_600_000
    told = await look(indexed, step_ms=2_500)
    assert told["status"] == "degraded" and not told["canary"]["found"]
    assert told["canary"]["polls"] <= 2 * CANARY_POLLS_MAX


@pytest.mark.parametrize("part", ["embedder", "quota", "vectors"])
async def test_health_names_a_part_that_fails(part: str) -> None:
    indexed, _ = await filled(2)
    if part == "vectors":
        indexed.vectors.fail_every = 1
    else:
        indexed.embedder.fail_every, indexed.embedder.is_spent = 1, part == "quota"
    told = await look(indexed)
    assert told["status"] == "degraded"
    assert not told["canary"]["written"]
    assert any("canary" in reason for reason in told["reasons"])


async def test_health_without_an_index_says_so() -> None:
    indexed = make_indexed()
    indexed.app = replace(indexed.app, embedder=None, vectors=None)
    assert (await look(indexed))["status"] == "off"
    with pytest.raises(InvalidInput, match="no vector index"):
        await reindex(indexed)
    await create_item(indexed.app, indexed.bench.caller(), {"title": "猫"})
    indexed.bench.runtime.advance(10 * WAIT_MS_MAX)
    health = await check_health(indexed.app)
    assert health.status == "ok"
    assert health.details["vectors"] == {"status": "off", "waiting": 1}
    await keep_indexed(indexed.app)


async def test_short_look_says_when_a_change_waits_too_long() -> None:
    indexed = make_indexed()
    await create_item(indexed.app, indexed.bench.caller(), {"title": "猫叫拿铁"})
    indexed.bench.runtime.advance(WAIT_MS_MAX)
    assert (await check_health(indexed.app)).status == "ok"
    indexed.bench.runtime.advance(60_000)
    health = await check_health(indexed.app)
    assert health.status == "degraded"
    [reason] = health.reasons
    assert "31 minutes" in reason
    indexed.embedder.is_spent = True
    await indexed.drain()
    assert any("quota" in reason for reason in (await check_health(indexed.app)).reasons)
    indexed.embedder.is_spent = False
    indexed.bench.runtime.advance(BACKOFF_MS_MAX)
    await indexed.drain()
    assert (await check_health(indexed.app)).status == "ok"


@pytest.mark.parametrize("loss", LOSSES)
async def test_reindex_shows_first_and_repairs_then(loss: Loss) -> None:
    indexed, ids = await filled()
    await loss(indexed, ids[3:5])
    before = await indexed.bench.rows("SELECT * FROM vector_outbox")
    told = await reindex(indexed)
    assert told["dry_run"] is True
    assert told["missing"] + told["orphans"] == 2
    assert told["queued"] == told["embedded"] == told["deleted"] == 0
    assert await indexed.bench.rows("SELECT * FROM vector_outbox") == before
    told = await reindex(indexed, dry_run=False)
    assert told["queued"] == told["embedded"] + told["deleted"] == 2
    assert await indexed.agrees()
    assert (await look(indexed))["status"] == "ok"


async def test_reindex_goes_on_at_its_cursor_with_progress() -> None:
    indexed, ids = await filled()
    await lose_vectors(indexed, ids)
    cursor, steps = None, []
    while True:
        told = await reindex(indexed, dry_run=False, limit=5, cursor=cursor)
        steps.append((told["examined"], told["embedded"], told["progress"]["done"]))
        assert told["progress"]["total"] == 12
        cursor = told["next_cursor"]
        if cursor is None:
            break
    assert steps == [(5, 5, 5), (5, 5, 10), (2, 2, 12)]
    assert await indexed.agrees()


async def test_reindex_by_force_embeds_all() -> None:
    indexed, _ = await filled()
    calls = indexed.embedder.calls
    told = await reindex(indexed, dry_run=False, force=True)
    assert (told["missing"], told["queued"], told["embedded"]) == (0, 12, 12)
    assert indexed.embedder.calls == calls + 1
    assert await indexed.outbox() == []


@pytest.mark.parametrize(
    "given",
    [{"limit": 0}, {"limit": REINDEX_ITEMS_MAX + 1}, {"cursor": "nonsense"}],
    ids=str,
)
async def test_reindex_refuses_what_it_cannot_take(given: dict[str, Any]) -> None:
    indexed, _ = await filled(1)
    with pytest.raises(InvalidInput):
        await reindex(indexed, **given)


@pytest.mark.parametrize("loss", LOSSES)
async def test_start_repairs_what_was_lost_and_goes_on(loss: Loss) -> None:
    indexed, ids = await filled()
    await loss(indexed, ids[3:5])
    waits = id_of(await create_item(indexed.app, indexed.bench.caller(), {"title": "海边的房子"}))
    await keep_indexed(indexed.app)
    assert await indexed.outbox() == []
    assert await indexed.holds(waits)
    assert await indexed.agrees()


async def test_start_over_an_empty_store_loads_nothing() -> None:
    indexed = make_indexed()
    await keep_indexed(indexed.app)
    assert indexed.embedder.calls == 0


async def test_start_survives_whatever_fails() -> None:
    indexed, _ = await filled(2)
    indexed.store.faults.fail_every = 1
    await keep_indexed(indexed.app)
    indexed.store.faults.fail_every = 0
    indexed.vectors.fail_every = indexed.embedder.fail_every = 1
    await keep_indexed(indexed.app)


async def test_items_from_before_the_outbox_are_embedded_at_the_next_start() -> None:
    indexed = make_indexed()
    await seed(indexed.store, 60)
    await indexed.store.write([Statement("DELETE FROM vector_outbox")])
    await keep_indexed(indexed.app)
    assert await indexed.agrees()


async def test_rebuild_and_reindex_agree() -> None:
    indexed = make_indexed()
    await seed(indexed.store, 60)
    await indexed.drain()
    await rebuild(indexed.app)
    assert (await reindex(indexed, limit=100))["missing"] == 0
    assert await indexed.agrees()
