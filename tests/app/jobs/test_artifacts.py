"""Long texts move out of the database and back into answers; what is forgotten goes everywhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from tests.app.jobs.benches import add_messages, message_ids
from tests.app.jobs.mortal import HOWS, How, disturbed
from tests.app.transfers import export, load
from tests.builders import NAMESPACE, Bench, item_of

from remembrancer.app.forget import forget_item
from remembrancer.app.items.read import get_artifact
from remembrancer.app.items.states import delete_items
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs import artifacts as job
from remembrancer.app.jobs import retention
from remembrancer.app.jobs.artifacts import TEXTS_AT_ONCE
from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.app.jobs.frame import LEASE_MS, Asked, Job
from remembrancer.app.jobs.running import run
from remembrancer.app.jobs.schedule import sweep
from remembrancer.core.artifacts import blob_key
from remembrancer.core.errors import CorruptData, InvalidInput, NotFound, StoreUnavailable
from remembrancer.core.limits import BLOB_KEY_BYTES_MAX
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.ports.sql import Statement
from remembrancer.store import artifacts as store
from remembrancer.testing.blobs import FaultyBlobs, MemoryBlobs
from remembrancer.testing.queue import RecordingQueue
from remembrancer.testing.stores import CountingStore

JOB = replace(JOBS["artifacts"], code=job.CODE)
RETENTION = Job("retention", "Retention", None, code=retention.CODE)
LONG = "很长的内容，a long text. 🧠" * 520


@dataclass(frozen=True, slots=True)
class Artifact:
    """A long item and its artifact."""

    item_id: str
    id: str
    text: str

    @property
    def key(self) -> str:
        return blob_key(NAMESPACE, self.id)


class Place:
    """A bench with a blob store that can fail, and what is in both."""

    def __init__(self) -> None:
        self.memory = MemoryBlobs()
        self.faulty = FaultyBlobs(self.memory)
        self.bench = Bench(blobs=self.faulty)

    async def make(self, text: str = LONG) -> Artifact:
        caller = self.bench.caller()
        answer = await create_item(
            self.bench.app, caller, {"title": "长文", "kind": "memory", "content": text}
        )
        item = item_of(answer)
        return Artifact(str(item["id"]), str(item["artifact_id"]), text)

    async def read(self, made: Artifact) -> object:
        answer = await get_artifact(self.bench.app, self.bench.caller(), made.id)
        artifact = answer["artifact"]
        assert isinstance(artifact, dict)
        return artifact["text"]

    async def work(self) -> None:
        """Let the schedule come by until nothing is left."""
        for _ in range(10):
            self.bench.runtime.advance(max(LEASE_MS, store.PUT_MS_MAX))
            answer = await run(self.bench.app, JOB, NAMESPACE, trigger="cron")
            if answer["status"] == "nothing":
                return
        raise AssertionError(answer)

    async def chunks(self) -> int:
        return len(await self.bench.rows("SELECT 1 FROM artifact_chunks"))

    async def forget(self, made: Artifact) -> None:
        await forget_item(self.bench.app, self.bench.caller(), made.item_id)

    async def is_clean(self) -> bool:
        """Whether nothing of any artifact is left anywhere."""
        rows = [
            await self.bench.rows(f"SELECT 1 FROM {table}")
            for table in ("artifacts", "artifact_chunks", "blob_removals")
        ]
        return not any(rows) and not self.memory.held


async def test_text_moves_out_and_is_read_as_before() -> None:
    place = Place()
    made = await place.make()
    assert await place.read(made) == LONG and place.memory.held == {}
    done = await run(place.bench.app, JOB, NAMESPACE, trigger="cron")
    assert (done["status"], done["counts"]) == ("done", {"removed": 0, "moved": 1})
    assert place.memory.held == {made.key: LONG.encode()}
    assert await place.chunks() == 0
    assert await place.read(made) == LONG
    again = await run(place.bench.app, JOB, NAMESPACE, trigger="cron")
    assert again["status"] == "nothing"


async def test_more_texts_than_a_piece_takes_all_move() -> None:
    place = Place()
    made = [await place.make(f"{number} {LONG}") for number in range(2 * TEXTS_AT_ONCE + 1)]
    done = await run(place.bench.app, JOB, NAMESPACE, trigger="cron")
    assert done["counts"] == {"removed": 0, "moved": len(made)}
    assert [await place.read(one) for one in made] == [one.text for one in made]


async def test_piece_stays_within_the_statements_of_a_request() -> None:
    place = Place()
    for number in range(TEXTS_AT_ONCE + 1):
        await place.make(f"{number} {LONG}")
    counting = CountingStore(place.bench.sql)
    app = replace(place.bench.app, sql=counting)
    await run(app, JOB, NAMESPACE, asked=Asked(pieces_max=1), trigger="cron")
    assert counting.counts.statements <= 45


async def test_without_a_blob_store_all_stays_in_the_database() -> None:
    place = Place()
    made = await place.make()
    place.bench.blobs = None
    assert (await run(place.bench.app, JOB, NAMESPACE, trigger="cron"))["status"] == "nothing"
    assert await place.read(made) == LONG


async def test_text_in_a_bucket_that_is_not_bound_any_more_is_told_with_a_way_out() -> None:
    place = Place()
    made = await place.make()
    await place.work()
    place.bench.blobs = None
    with pytest.raises(InvalidInput, match=made.id) as raised:
        await place.read(made)
    assert "ARTIFACTS" in str(raised.value.hint)
    with pytest.raises(InvalidInput, match=made.id):
        await export(place.bench)


async def test_blob_store_that_is_away_loses_nothing_and_is_tried_again() -> None:
    place = Place()
    made = await place.make()
    place.faulty.is_away = True
    assert (await run(place.bench.app, JOB, NAMESPACE, trigger="cron"))["status"] == "failed"
    assert await place.read(made) == LONG
    place.faulty.is_away = False
    await place.work()
    assert place.memory.held == {made.key: LONG.encode()}
    place.faulty.is_away = True
    with pytest.raises(StoreUnavailable):
        await place.read(made)


@pytest.mark.parametrize("damage", [b"", LONG.encode()[:-1], b"\xff\xfe"], ids=len)
async def test_damaged_blob_is_told_and_never_shown(damage: bytes) -> None:
    place = Place()
    made = await place.make()
    await place.work()
    place.memory.held[made.key] = damage
    with pytest.raises(CorruptData, match=made.id):
        await place.read(made)
    with pytest.raises(CorruptData, match=made.id):
        await export(place.bench)


async def test_lost_blob_is_told() -> None:
    place = Place()
    made = await place.make()
    await place.work()
    place.memory.held.clear()
    with pytest.raises(CorruptData, match=made.id):
        await place.read(made)


async def test_text_that_is_damaged_in_the_database_stays_there_and_stops_nothing() -> None:
    place = Place()
    damaged, sound = await place.make(), await place.make(f"2 {LONG}")
    await place.bench.sql.write(
        [Statement("UPDATE artifact_chunks SET text = 'x' WHERE artifact_id = ?", (damaged.id,))]
    )
    await place.work()
    assert set(place.memory.held) == {sound.key}
    with pytest.raises(CorruptData, match=damaged.id):
        await place.read(damaged)
    await place.forget(damaged)
    await place.forget(sound)
    assert await place.is_clean()


async def test_what_the_blob_store_refuses_stays_in_the_database() -> None:
    place = Place()
    id_ = "a" * BLOB_KEY_BYTES_MAX
    await place.bench.sql.write(store.keep_statements(NAMESPACE, id_, "itm_1", "长", at_ms=1))
    await place.work()
    assert place.memory.held == {}
    assert await place.read(Artifact("itm_1", id_, "长")) == "长"


async def test_forgetting_removes_the_blob_at_once() -> None:
    place = Place()
    made, other = await place.make(), await place.make(f"2 {LONG}")
    await place.work()
    await place.forget(made)
    assert set(place.memory.held) == {other.key}
    with pytest.raises(NotFound):
        await place.read(made)


async def test_blob_that_cannot_be_removed_now_is_removed_later() -> None:
    place = Place()
    made = await place.make()
    await place.work()
    place.faulty.is_away = True
    await place.forget(made)
    assert set(place.memory.held) == {made.key}
    place.faulty.is_away = False
    await place.work()
    assert await place.is_clean()


async def test_text_that_is_forgotten_while_it_moves_leaves_nothing_behind() -> None:
    place = Place()
    made = await place.make()

    async def forget() -> None:
        place.faulty.before_put = None
        await place.forget(made)

    place.faulty.before_put = forget
    await run(place.bench.app, JOB, NAMESPACE, trigger="cron")
    await place.work()
    assert await place.is_clean()


@pytest.mark.parametrize("how", [*HOWS, "delivered twice"])
async def test_move_with_a_fault_at_any_call_loses_nothing(how: How) -> None:
    for at in itertools.count(1):
        place = Place()
        made, gone = await place.make(), await place.make(f"2 {LONG}")
        reached = await disturbed(place.bench, JOB, at, how)
        assert await place.read(made) == LONG
        await place.forget(gone)
        await place.work()
        assert place.memory.held == {made.key: LONG.encode()}, (at, how)
        assert await place.read(made) == LONG
        await place.forget(made)
        await place.work()
        assert await place.is_clean(), (at, how)
        if not reached:
            break
    assert at > 8


@pytest.mark.parametrize("switch", ["fail_at", "lose_at"])
async def test_blob_store_that_fails_at_any_call_loses_nothing(switch: str) -> None:
    for at in itertools.count(1):
        place = Place()
        made, gone = await place.make(), await place.make(f"2 {LONG}")
        setattr(place.faulty, switch, frozenset({at}))
        await run(place.bench.app, JOB, NAMESPACE, trigger="cron")
        await place.forget(gone)
        await place.work()
        assert place.memory.held == {made.key: LONG.encode()}, at
        calls = place.faulty.calls
        await place.forget(made)
        await place.work()
        assert await place.is_clean(), at
        if calls < at:
            break
    assert at > 3


async def purged_item(place: Place) -> None:
    made = await place.make()
    await place.work()
    await delete_items(place.bench.app, place.bench.caller(), [made.item_id])
    place.bench.runtime.advance(40 * DAY_MS)


async def old_message(place: Place) -> None:
    await add_messages(place.bench, 1)
    [message] = await message_ids(place.bench)
    note = "UPDATE messages SET artifact_ids = '[\"art_1\"]'"
    kept = store.keep_statements(NAMESPACE, "art_1", message, LONG, at_ms=1)
    await place.bench.sql.write([Statement(note), *kept])
    await place.work()
    await place.bench.sql.write(
        [
            Statement(
                "INSERT INTO job_cursors (namespace, name, at_ms, id, holds)"
                " VALUES (?, 'extract', ?, 'z', 1)",
                (NAMESPACE, 1 << 50),
            )
        ]
    )
    place.bench.runtime.advance(40 * DAY_MS)


@pytest.mark.parametrize("prepare", [purged_item, old_message])
async def test_what_retention_deletes_takes_its_blob_along(
    prepare: Callable[[Place], object],
) -> None:
    place = Place()
    await prepare(place)  # type: ignore[misc]  # both are coroutines
    assert len(place.memory.held) == 1
    assert (await run(place.bench.app, RETENTION, NAMESPACE))["status"] == "done"
    place.bench.runtime.advance(HOUR_MS)
    await place.work()
    assert await place.is_clean()


async def test_export_carries_moved_texts_and_is_the_same_bytes() -> None:
    place = Place()
    await place.make("长" * 300_000)
    before = await export(place.bench)
    await place.work()
    assert await export(place.bench) == before
    twin = await load(before)
    assert await export(twin) == before


async def test_import_over_moved_texts_brings_no_chunks_back() -> None:
    place = Place()
    made = await place.make()
    lines = await export(place.bench)
    await place.work()
    await load(lines, place.bench)
    assert await place.chunks() == 0
    assert await place.read(made) == LONG


async def test_sweep_leaves_a_word_only_where_there_is_a_blob_store() -> None:
    place = Place()
    await place.make()
    for blobs, kinds in ((place.faulty, ["index", "artifacts"]), (None, ["index"])):
        queue = RecordingQueue()
        await sweep(replace(place.bench.app, queue=queue, blobs=blobs))
        assert [one.kind for one in queue.messages] == kinds
