"""The outbox: what a change queues, and how it is drained, through every failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from tests.app.indexing import Indexed, make_indexed
from tests.builders import NAMESPACE, id_of

from remembrancer.app.forget import forget_item
from remembrancer.app.items.states import delete_items, restore_item, set_item_state
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.rebuild import rebuild
from remembrancer.app.vectors.index import BACKOFF_MS, BACKOFF_MS_MAX, PAUSE_MS
from remembrancer.app.vectors.indexing import RUN_MS_MAX, TOLD_MS
from remembrancer.core.errors import StoreUnavailable
from remembrancer.local.sqlite import Moment
from remembrancer.ports.models import Embedder, EmbeddingModel, Vector
from remembrancer.ports.vectors import VectorScope
from remembrancer.testing.faults import CrashPoint
from remembrancer.testing.queue import RecordingQueue

SCOPE = VectorScope(NAMESPACE)

CAT = "我的猫叫拿铁"
PORT = "The NAS listens on port 2222"


async def memory(indexed: Indexed, title: str, **given: object) -> str:
    return id_of(
        await create_item(
            indexed.app,
            indexed.bench.caller(),
            {"kind": "memory", "title": title, **given},  # type: ignore[typeddict-item]
        )
    )


async def change(indexed: Indexed, item_id: str, **given: object) -> None:
    await update_item(indexed.app, indexed.bench.caller(), item_id, given)  # type: ignore[arg-type]


async def test_write_queues_one_row_and_the_drain_makes_it_findable() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT, tags=["宠物"])
    assert await indexed.outbox() == [(item_id, 1, 0, 0)]
    assert await indexed.nearest("猫叫什么") == []
    done = await indexed.drain()
    assert done == {"embedded": 1, "deleted": 0, "retried": 0, "postponed": 0, "left": 0}
    assert await indexed.outbox() == []
    assert await indexed.nearest("猫叫什么", kind="memory") == [item_id]
    assert await indexed.agrees()


async def test_many_changes_of_an_item_are_one_row_of_the_newest_version() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    await change(indexed, item_id, title="我的狗叫可可")
    await change(indexed, item_id, tags=["宠物"])
    assert await indexed.outbox() == [(item_id, 3, 0, 0)]
    assert (await indexed.drain())["embedded"] == 1
    assert indexed.embedder.calls == 1


async def test_change_that_is_not_embedded_queues_nothing() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, PORT)
    await indexed.drain()
    await change(indexed, item_id, pinned=True, startup_priority=8, due="tomorrow")
    assert await indexed.outbox() == []


@pytest.mark.parametrize("field", ["project_name", "topic_name"])
async def test_moving_an_item_embeds_its_new_place(field: str) -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, PORT)
    await indexed.drain()
    await change(indexed, item_id, **{field: "书房 Study"})
    assert await indexed.outbox() == [(item_id, 2, 0, 0)]
    await indexed.drain()
    [project] = await indexed.bench.rows("SELECT project_id FROM items")
    assert item_id in await indexed.nearest("书房", project=str(project["project_id"] or ""))


async def test_state_takes_a_vector_away_and_brings_it_back() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    await indexed.drain()
    await delete_items(indexed.app, indexed.bench.caller(), [item_id])
    assert await indexed.outbox() == [(item_id, 2, 1, 0)]
    assert (await indexed.drain())["deleted"] == 1
    assert await indexed.nearest(CAT) == []
    await restore_item(indexed.app, indexed.bench.caller(), item_id)
    assert (await indexed.drain())["embedded"] == 1
    assert await indexed.nearest(CAT) == [item_id]
    await set_item_state(indexed.app, indexed.bench.caller(), item_id, "archived")
    assert (await indexed.drain())["embedded"] == 1
    assert await indexed.nearest(CAT, kind="memory") == []
    assert await indexed.nearest(CAT, kind="cold") == [item_id]
    assert await indexed.agrees()


async def test_superseded_memory_loses_its_vector() -> None:
    indexed = make_indexed()
    for text in (PORT, "The NAS listens on port 2223"):
        new = NewMemory(text, {"fact_key": "nas:port"})
        await save_memory(indexed.app, indexed.bench.caller(), new)
    assert (await indexed.drain())["embedded"] == 1
    assert await indexed.agrees()


async def test_item_that_came_and_went_before_the_drain_leaves_nothing() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    await delete_items(indexed.app, indexed.bench.caller(), [item_id])
    assert await indexed.outbox() == [(item_id, 2, 1, 0)]
    await indexed.drain()
    assert indexed.embedder.calls == 0
    assert await indexed.agrees()


async def test_forget_removes_the_vector_at_once() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    await indexed.drain()
    await forget_item(indexed.app, indexed.bench.caller(), item_id)
    assert not await indexed.holds(item_id)
    await indexed.drain()
    assert await indexed.outbox() == []
    assert await indexed.agrees()


async def test_forget_beside_a_failing_index_is_done_later() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    await indexed.drain()
    indexed.vectors.fail_every = 1
    await forget_item(indexed.app, indexed.bench.caller(), item_id)
    for attempt in range(1, 30):
        assert (await indexed.drain())["retried"] == 1
        assert await indexed.outbox() == [(item_id, 2, 1, attempt)]
        assert (await indexed.drain())["retried"] == 0
        indexed.bench.runtime.advance(BACKOFF_MS_MAX)
    indexed.vectors.fail_every = 0
    assert (await indexed.drain())["deleted"] == 1
    assert not await indexed.holds(item_id)
    assert await indexed.agrees()


async def test_failure_backs_off_twice_as_long_each_time_and_names_no_text() -> None:
    indexed = make_indexed()
    await memory(indexed, CAT)
    indexed.embedder.fail_every = 1
    now = indexed.bench.runtime.now_ms()
    waits = []
    for _ in range(12):
        await indexed.drain()
        [row] = await indexed.bench.rows("SELECT not_before, last_error FROM vector_outbox")
        waits.append(int(str(row["not_before"])) - now)
        assert row["last_error"] == "upstream_failed: the embedder fails on purpose"
        now = indexed.bench.runtime.advance(waits[-1])
    assert waits[:3] == [BACKOFF_MS, 2 * BACKOFF_MS, 4 * BACKOFF_MS]
    assert waits[-1] == BACKOFF_MS_MAX
    indexed.embedder.fail_every = 0
    assert (await indexed.drain())["embedded"] == 1


async def test_spent_quota_postpones_and_counts_no_failure() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    gone = await memory(indexed, PORT)
    await indexed.drain()
    await change(indexed, item_id, title="我的狗叫可可")
    indexed.embedder.is_spent = True
    assert (await indexed.drain())["postponed"] == 1
    calls = indexed.embedder.calls
    await delete_items(indexed.app, indexed.bench.caller(), [gone])
    done = await indexed.drain()
    assert (done["deleted"], done["postponed"], done["left"]) == (1, 1, 1)
    assert indexed.embedder.calls == calls
    assert await indexed.outbox() == [(item_id, 2, 0, 0)]
    indexed.embedder.is_spent = False
    indexed.bench.runtime.advance(PAUSE_MS)
    assert (await indexed.drain())["embedded"] == 1
    assert await indexed.agrees()


class Watched:
    """An embedder that refuses one text, and does something once, before it answers."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.refused = ""
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    @property
    def model(self) -> EmbeddingModel:
        return self.inner.model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.refused in texts:
            raise StoreUnavailable("refused on purpose")
        vectors = await self.inner.embed(texts)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return vectors


def watched(indexed: Indexed) -> Watched:
    """The app's embedder from now on."""
    embedder = Watched(indexed.embedder)
    indexed.app = replace(indexed.app, embedder=embedder)
    return embedder


async def test_text_that_is_refused_holds_nothing_else_up() -> None:
    indexed = make_indexed()
    watched(indexed).refused = "记忆 7"
    for number in range(30):
        await memory(indexed, f"记忆 {number}")
    embedded = 0
    for _ in range(8):
        done = await indexed.drain()
        embedded += int(str(done["embedded"]))
        indexed.bench.runtime.advance(BACKOFF_MS_MAX)
    assert embedded == 29
    assert len(await indexed.outbox()) == 1


async def test_change_while_it_is_embedded_is_not_lost() -> None:
    indexed = make_indexed()
    embedder = watched(indexed)
    item_id = await memory(indexed, CAT)
    embedder.meanwhile = lambda: change(indexed, item_id, title="海边的房子")
    await indexed.drain(limit=1)
    assert await indexed.outbox() == [(item_id, 2, 0, 0)]
    await indexed.drain()
    other = await memory(indexed, CAT)
    await indexed.drain()
    assert await indexed.nearest("海边的房子") == [item_id, other]


@pytest.mark.parametrize("ending", ["edited", "deleted", "forgotten"])
async def test_drain_that_was_overtaken_by_another_repairs_what_it_overwrote(ending: str) -> None:
    indexed = make_indexed()
    embedder = watched(indexed)
    item_id = await memory(indexed, CAT)

    async def overtake() -> None:
        caller = indexed.bench.caller()
        if ending == "edited":
            await change(indexed, item_id, title="海边的房子")
        elif ending == "deleted":
            await delete_items(indexed.app, caller, [item_id])
        else:
            await forget_item(indexed.app, caller, item_id)
        await indexed.drain()

    embedder.meanwhile = overtake
    await indexed.drain(limit=1)
    [(again, version, is_gone, _)] = await indexed.outbox()
    assert (again, version, is_gone) == (item_id, -1, 0)
    await indexed.drain()
    assert await indexed.outbox() == []
    assert await indexed.agrees()
    if ending == "edited":
        [found] = await indexed.embedder.inner.embed(["海边的房子"])
        [match] = await indexed.vectors.inner.query(SCOPE, found, top=1)
        assert match.score > 0.99


async def test_two_drains_of_the_same_row_embed_it_and_stop() -> None:
    indexed = make_indexed()
    embedder = watched(indexed)
    await memory(indexed, CAT)
    embedder.meanwhile = indexed.drain
    await indexed.drain(limit=1)
    assert await indexed.outbox() == []
    assert await indexed.agrees()


async def test_removal_that_was_overtaken_by_a_restore_repairs_it() -> None:
    indexed = make_indexed()
    item_id = await memory(indexed, CAT)
    await indexed.drain()
    await delete_items(indexed.app, indexed.bench.caller(), [item_id])
    sound = indexed.vectors.delete

    async def restored_meanwhile(ids: Sequence[str]) -> None:
        indexed.vectors.delete = sound  # type: ignore[method-assign]
        await restore_item(indexed.app, indexed.bench.caller(), item_id)
        await indexed.drain()
        await sound(ids)

    indexed.vectors.delete = restored_meanwhile  # type: ignore[method-assign]
    await indexed.drain(limit=1)
    await indexed.drain()
    assert await indexed.outbox() == []
    assert await indexed.holds(item_id)
    assert await indexed.agrees()


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("statement", range(3))
async def test_crash_in_any_statement_of_the_drain_is_made_good(
    statement: int, moment: Moment
) -> None:
    indexed = make_indexed()
    kept, gone = await memory(indexed, CAT), await memory(indexed, PORT)
    await indexed.drain()
    await change(indexed, kept, title="海边的房子")
    await delete_items(indexed.app, indexed.bench.caller(), [gone])
    for write in (1, 2):
        point = CrashPoint(statement, moment, write=indexed.store.faults.writes + write)
        indexed.store.faults.crash, indexed.store.faults.has_crashed = point, False
        with pytest.raises(StoreUnavailable):
            await indexed.drain()
        assert indexed.store.faults.has_crashed
    indexed.store.faults.crash = None
    await indexed.drain()
    assert await indexed.outbox() == []
    assert await indexed.nearest("海边的房子") == [kept]
    assert await indexed.agrees()


async def test_drain_through_failures_of_every_part_ends_right() -> None:
    indexed = make_indexed()
    ids = [await memory(indexed, f"记忆 {number} memory") for number in range(40)]
    await delete_items(indexed.app, indexed.bench.caller(), ids[::4])
    indexed.embedder.fail_every, indexed.vectors.fail_every = 3, 4
    indexed.vectors.deliver_twice = True
    indexed.store.faults.fail_every, indexed.store.faults.lose_answer_every = 7, 5
    for _ in range(200):
        try:
            await indexed.drain(limit=5)
        except StoreUnavailable:
            pass
        indexed.bench.runtime.advance(BACKOFF_MS_MAX)
    indexed.store.faults.fail_every = indexed.store.faults.lose_answer_every = 0
    indexed.vectors.fail_every = 0
    assert await indexed.outbox() == []
    assert await indexed.agrees()


async def test_index_that_shows_writes_late_is_right_in_the_end() -> None:
    indexed = make_indexed()
    indexed.vectors.lag_ms = 5_000
    item_id = await memory(indexed, CAT)
    await indexed.drain()
    await forget_item(indexed.app, indexed.bench.caller(), item_id)
    await indexed.drain()
    indexed.bench.runtime.advance(5_000)
    await indexed.vectors.describe()
    assert not await indexed.holds(item_id)
    assert await indexed.outbox() == []


async def test_limit_bounds_a_run_and_the_next_one_goes_on() -> None:
    indexed = make_indexed()
    for number in range(7):
        await memory(indexed, f"第{number}条 memory")
    done = await indexed.drain(limit=3)
    assert (done["embedded"], done["left"]) == (3, 4)
    assert (await indexed.drain(limit=3))["embedded"] == 3
    assert (await indexed.drain(limit=3))["left"] == 0


async def test_rebuild_neither_loses_nor_floods_the_outbox() -> None:
    indexed = make_indexed()
    done, waits = await memory(indexed, CAT), await memory(indexed, PORT)
    await indexed.drain(limit=1)
    await rebuild(indexed.app)
    assert [row[0] for row in await indexed.outbox()] == [waits]
    await indexed.drain()
    assert await indexed.holds(done)
    assert await indexed.agrees()


async def test_without_an_embedder_rows_wait_for_one() -> None:
    indexed = make_indexed()
    app, indexed.app = indexed.app, replace(indexed.app, embedder=None, vectors=None)
    await memory(indexed, CAT)
    assert (await indexed.drain())["left"] == 1
    indexed.app = app
    assert (await indexed.drain())["embedded"] == 1


async def test_writes_start_one_drain_behind_the_answers() -> None:
    indexed = make_indexed(runs_later=True)
    ids = [await memory(indexed, text) for text in (CAT, PORT, "海边的房子")]
    await change(indexed, ids[0], pinned=True)
    assert indexed.bench.runtime.pending == 1
    await indexed.bench.runtime.drain()
    assert await indexed.outbox() == []
    assert indexed.embedder.calls == 1
    await change(indexed, ids[0], title="我的狗叫可可")
    assert indexed.bench.runtime.pending == 1
    await indexed.bench.runtime.drain()
    assert await indexed.agrees()


async def test_writes_during_the_rest_are_of_the_same_drain() -> None:
    indexed = make_indexed(runs_later=True)
    rests = [CAT, PORT]

    async def rest() -> None:
        if rests:
            await memory(indexed, rests.pop())

    indexed.app.indexing.rest = rest
    await memory(indexed, "海边的房子")
    await indexed.bench.runtime.drain()
    assert indexed.embedder.calls == 2
    assert await indexed.agrees()


async def test_drain_that_was_killed_does_not_stop_later_ones() -> None:
    indexed = make_indexed(runs_later=True)
    await memory(indexed, CAT)
    indexed.bench.runtime.discard()
    await memory(indexed, PORT)
    assert indexed.bench.runtime.pending == 0
    indexed.bench.runtime.advance(RUN_MS_MAX)
    await memory(indexed, "海边的房子")
    await indexed.bench.runtime.drain()
    assert await indexed.agrees()


async def test_write_leaves_one_message_for_a_burst_where_there_is_a_queue() -> None:
    indexed = make_indexed(runs_later=True)
    queue = RecordingQueue()
    indexed.app = replace(indexed.app, queue=queue)
    for text in (CAT, PORT, "海边的房子"):
        await memory(indexed, text)
        await indexed.bench.runtime.drain()
    assert [(one.kind, one.namespace) for one in queue.messages] == [("index", "default")]
    indexed.bench.runtime.advance(TOLD_MS)
    await memory(indexed, "山上的房子")
    await indexed.bench.runtime.drain()
    assert len(queue.messages) == 2
    assert indexed.embedder.calls == 0


async def test_message_that_could_not_be_left_is_left_with_the_next_write() -> None:
    indexed = make_indexed(runs_later=True)
    queue = RecordingQueue(fail_every=1)
    indexed.app = replace(indexed.app, queue=queue)
    await memory(indexed, CAT)
    await indexed.bench.runtime.drain()
    queue.fail_every = 0
    await memory(indexed, PORT)
    await indexed.bench.runtime.drain()
    assert len(queue.messages) == 1


async def test_write_drains_here_beside_a_queue_where_it_shall() -> None:
    indexed = make_indexed(runs_later=True)
    indexed.app = replace(indexed.app, queue=RecordingQueue())
    indexed.app.indexing.is_here = True
    await memory(indexed, CAT)
    await indexed.bench.runtime.drain()
    assert await indexed.agrees()


async def test_closing_lets_nothing_new_begin() -> None:
    indexed = make_indexed(runs_later=True)
    await memory(indexed, CAT)
    indexed.app.indexing.close()
    await indexed.bench.runtime.drain()
    await memory(indexed, PORT)
    assert indexed.bench.runtime.pending == 0
    assert len(await indexed.outbox()) == 2
