"""Retention: what goes when, what never goes, what is refused, and that it goes once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.app.indexing import make_indexed
from tests.app.jobs.benches import add_messages, message_ids
from tests.builders import NAMESPACE, Bench, id_of

from remembrancer.app.forget import forget_item
from remembrancer.app.history import item_history
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.read import get_item
from remembrancer.app.items.states import delete_items, restore_item, set_item_state
from remembrancer.app.items.write import create_item
from remembrancer.app.jobs import retention
from remembrancer.app.jobs.frame import Asked, Job
from remembrancer.app.jobs.listing import undo_run
from remembrancer.app.jobs.running import run
from remembrancer.app.rebuild import rebuild
from remembrancer.app.relations import add_relation
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.app.topics import set_canonical_item, upsert_topic
from remembrancer.app.undo import undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import Conflict, NotFound
from remembrancer.core.values import DAY_MS, JSON
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import artifacts
from remembrancer.testing.stores import CountingStore

JOB = Job("retention", "Retention", None, code=retention.CODE)
LATER = 200


def bench_of_agent() -> Bench:
    return Bench(actor="agent:claude")


async def memory(bench: Bench, title: str = "喜欢喝乌龙茶", /, **given: object) -> str:
    whole = {"title": title, "kind": "memory", **given}
    return id_of(await create_item(bench.app, bench.caller(), _input(whole)))


def _input(given: dict[str, object]) -> ItemInput:
    return given  # type: ignore[return-value]  # names of ItemInput


async def states(bench: Bench) -> dict[str, str]:
    rows = await bench.rows("SELECT id, state FROM items")
    return {str(row["id"]): str(row["state"]) for row in rows}


async def clean(bench: Bench, app: App | None = None, **asked: object) -> dict[str, JSON]:
    answer = await run(
        app or bench.app,
        JOB,
        NAMESPACE,
        asked=Asked(**asked),  # type: ignore[arg-type]  # names of Asked
        trigger="cron",
    )
    counts = answer["counts"]
    assert isinstance(counts, dict)
    return {name: count for name, count in counts.items() if count} | {"is": answer["status"]}


def with_settings(bench: Bench, **settings: str) -> App:
    return replace(bench.app, settings=load_settings(settings))


async def cursor(bench: Bench, at_ms: int, id_: str) -> None:
    await bench.sql.write(
        [
            Statement(
                "INSERT OR REPLACE INTO job_cursors (namespace, name, at_ms, id, holds)"
                " VALUES (?, 'extract', ?, ?, 1)",
                (NAMESPACE, at_ms, id_),
            )
        ]
    )


async def test_unused_memory_expires_after_the_period_and_not_before() -> None:
    bench = bench_of_agent()
    id_ = await memory(bench)
    bench.runtime.advance(180 * DAY_MS)

    assert await clean(bench) == {"is": "nothing"}
    bench.runtime.advance(1)
    assert await clean(bench) == {"expired": 1, "is": "done"}
    assert await states(bench) == {id_: "expired"}
    assert await clean(bench) == {"is": "nothing"}


@pytest.mark.parametrize(
    "given",
    [
        {"pinned": True},
        {"type": "identity"},
        {"type": "persona"},
        {"type": "rule"},
        {"startup_priority": 8},
        {"kind": "task"},
    ],
    ids=str,
)
async def test_item_that_never_expires_stays(given: dict[str, object]) -> None:
    bench = bench_of_agent()
    id_ = await memory(bench, "喜欢喝乌龙茶", **given)
    bench.runtime.advance(LATER * 10 * DAY_MS)

    assert await clean(bench) == {"is": "nothing"}
    assert (await states(bench))[id_] == "active"


async def test_memory_of_a_person_never_expires() -> None:
    bench = Bench()
    id_ = await memory(bench)
    bench.runtime.advance(LATER * DAY_MS)
    assert await clean(bench) == {"is": "nothing"} and await states(bench) == {id_: "active"}


async def test_canonical_item_of_a_topic_stays_until_it_is_no_longer() -> None:
    bench = bench_of_agent()
    id_ = await memory(bench)
    await upsert_topic(bench.app, bench.caller(), name="茶", slug="tea")
    await set_canonical_item(bench.app, bench.caller(), "tea", id_)
    bench.runtime.advance(LATER * DAY_MS)
    assert await clean(bench) == {"is": "nothing"}
    await set_canonical_item(bench.app, bench.caller(), "tea", None)
    assert await clean(bench) == {"expired": 1, "is": "done"}


@pytest.mark.parametrize("column", ["last_recalled_at", "last_seen_at"])
async def test_use_renews_a_memory(column: str) -> None:
    bench = bench_of_agent()
    used, unused = await memory(bench), await memory(bench, "讨厌香菜")
    bench.runtime.advance(170 * DAY_MS)
    await bench.sql.write(
        [
            Statement(
                f"INSERT INTO item_use (namespace, item_id, recall_count, seen_count, {column})"
                " VALUES (?, ?, 1, 1, ?)",
                (NAMESPACE, used, bench.runtime.now_ms()),
            )
        ]
    )
    bench.runtime.advance(30 * DAY_MS)

    await clean(bench)
    assert await states(bench) == {used: "active", unused: "expired"}


async def test_imported_memory_without_counters_counts_as_used_at_the_import() -> None:
    bench = bench_of_agent()
    plain, counted = await memory(bench), await memory(bench, "讨厌香菜")
    use = "INSERT INTO item_use (namespace, item_id, recall_count, seen_count) VALUES (?, ?, 0, 0)"
    bench.runtime.advance(LATER * DAY_MS)
    now_ms = bench.runtime.now_ms()
    await bench.sql.write(
        [
            Statement(use, (NAMESPACE, counted)),
            Statement("INSERT INTO imports VALUES (?, ?)", (NAMESPACE, now_ms)),
        ]
    )

    assert await clean(bench) == {"expired": 1, "is": "done"}
    assert await states(bench) == {plain: "active", counted: "expired"}
    bench.runtime.advance(181 * DAY_MS)
    await clean(bench)
    assert plain not in await states(bench) or (await states(bench))[plain] == "expired"


async def test_one_run_lets_a_small_share_expire() -> None:
    bench = bench_of_agent()
    for number in range(130):
        await memory(bench, f"第{number}件事")
    bench.runtime.advance(LATER * DAY_MS)

    assert await clean(bench) == {"expired": 6, "is": "done"}
    assert await clean(bench) == {"expired": 6, "is": "done"}
    assert [*(await states(bench)).values()].count("expired") == 12


async def test_few_memories_may_expire_five_at_once() -> None:
    bench = bench_of_agent()
    for number in range(7):
        await memory(bench, f"第{number}件事")
    bench.runtime.advance(LATER * DAY_MS)
    assert await clean(bench) == {"expired": 5, "is": "done"}
    assert await clean(bench) == {"expired": 2, "is": "done"}


async def test_undo_of_a_run_brings_the_expired_back_for_good() -> None:
    bench = bench_of_agent()
    ids = [await memory(bench, f"第{number}件事") for number in range(3)]
    bench.runtime.advance(LATER * DAY_MS)
    answer = await run(bench.app, JOB, NAMESPACE)

    await undo(bench.app, bench.caller(), cause=str(answer["run_id"]))
    assert await states(bench) == dict.fromkeys(ids, "active")
    bench.runtime.advance(DAY_MS)
    assert await clean(bench) == {"is": "nothing"}
    assert (await verify(bench.app))["ok"]


async def test_deleted_item_is_purged_when_it_cannot_be_restored_any_more() -> None:
    bench = Bench()
    kept, gone = await memory(bench), await memory(bench, "乌龙茶 secret-4711", tags=["秘密4711"])
    await add_relation(
        bench.app,
        bench.caller(),
        source_id=kept,
        type="supports",
        target_id=gone,
        reason="因为",
    )
    await delete_items(bench.app, bench.caller(), [gone])
    bench.runtime.advance(30 * DAY_MS)
    assert await clean(bench) == {"is": "nothing"}
    await restore_item(bench.app, bench.caller(), gone)
    await delete_items(bench.app, bench.caller(), [gone])
    bench.runtime.advance(30 * DAY_MS + 1)
    with pytest.raises(Conflict):
        await restore_item(bench.app, bench.caller(), gone)

    assert (await clean(bench))["purged"] == 1

    assert await states(bench) == {kept: "active"}
    assert await bench.rows("SELECT * FROM relations") == []
    for table in await bench.rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
        name = str(table["name"])
        if name.startswith(("search", "idempotency")):
            continue  # the index drops words when its segments are merged
        assert "4711" not in repr(await bench.rows(f"SELECT * FROM {name}")), name
    with pytest.raises(NotFound):
        await restore_item(bench.app, bench.caller(), gone)
    with pytest.raises(Conflict):
        await undo(bench.app, bench.caller(), item_id=gone)
    before = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == before
    assert (await verify(bench.app))["ok"]
    assert await clean(bench) == {"is": "nothing"}


async def test_expired_memory_is_purged_later_and_what_a_person_expired_is_not() -> None:
    bench = bench_of_agent()
    by_agent = await memory(bench)
    bench.actor = "user"
    by_person = await memory(bench, "讨厌香菜")
    for id_ in (by_agent, by_person):
        await set_item_state(bench.app, bench.caller(), id_, "expired")
    bench.runtime.advance(31 * DAY_MS)

    assert await clean(bench) == {"purged": 1, "is": "done"}
    assert await states(bench) == {by_person: "expired"}


async def test_imported_item_that_has_ended_is_purged_a_period_after_the_import() -> None:
    bench = Bench()
    gone = await memory(bench)
    await delete_items(bench.app, bench.caller(), [gone])
    bench.runtime.advance(40 * DAY_MS)
    moment = Statement("INSERT INTO imports VALUES (?, ?)", (NAMESPACE, bench.runtime.now_ms()))
    await bench.sql.write([moment])
    assert await clean(bench) == {"is": "nothing"}
    later = await memory(bench, "讨厌香菜")
    await delete_items(bench.app, bench.caller(), [later])
    bench.runtime.advance(30 * DAY_MS + 1)
    assert await clean(bench) == {"purged": 2, "is": "done"}
    assert await states(bench) == {}


async def test_superseded_item_keeps_its_place_in_the_chain() -> None:
    bench = bench_of_agent()
    id_ = await memory(bench)
    await set_item_state(bench.app, bench.caller(), id_, "superseded")
    bench.runtime.advance(LATER * 3 * DAY_MS)
    assert await clean(bench) == {"is": "nothing"} and await states(bench) == {id_: "superseded"}


async def test_many_deleted_items_are_purged_in_batches_within_the_limits() -> None:
    bench = Bench()
    counting = CountingStore(bench.sql)
    ids = [await memory(bench, f"第{number}件事") for number in range(120)]
    for first in range(0, 120, 60):
        await delete_items(bench.app, bench.caller(), ids[first : first + 60])
    bench.runtime.advance(31 * DAY_MS)
    bench.sql = counting

    bounded = await run(bench.app, JOB, NAMESPACE, asked=Asked(pieces_max=1), trigger="queue")
    assert bounded["more"] is True
    assert counting.counts.statements <= 45
    await clean(bench)
    assert await states(bench) == {} and (await verify(bench.app))["ok"]


async def test_message_goes_when_it_is_old_and_extraction_has_passed_it() -> None:
    bench = Bench()
    await add_messages(bench, 3)
    first, second, third = await message_ids(bench)
    at_ms = bench.runtime.now_ms()
    bench.runtime.advance(14 * DAY_MS + 1)

    assert await clean(bench) == {"is": "nothing"}, "extraction has never run"
    await cursor(bench, at_ms, second)
    assert await clean(bench) == {"messages": 2, "is": "done"}
    assert await message_ids(bench) == [third]
    await cursor(bench, at_ms + 1, third)
    assert await clean(bench) == {"messages": 1, "is": "done"}
    assert first not in await message_ids(bench)


async def test_message_passed_by_extraction_stays_for_its_period() -> None:
    bench = Bench()
    await add_messages(bench, 2)
    ids = await message_ids(bench)
    await cursor(bench, bench.runtime.now_ms(), ids[-1])
    bench.runtime.advance(14 * DAY_MS)
    assert await clean(bench) == {"is": "nothing"}


async def test_messages_go_by_age_alone_where_nothing_is_extracted() -> None:
    bench = Bench()
    await add_messages(bench, 2)
    bench.runtime.advance(15 * DAY_MS)
    app = with_settings(bench, ENABLE_AUTO_MEMORY="false")
    assert await clean(bench, app) == {"messages": 2, "is": "done"}


async def test_item_is_purged_only_after_its_vector_is_gone() -> None:
    indexed = make_indexed()
    bench = indexed.bench
    gone = await memory(bench)
    await indexed.drain()
    await delete_items(indexed.app, bench.caller(), [gone])
    bench.runtime.advance(31 * DAY_MS)

    assert await clean(bench, indexed.app) == {"is": "nothing"}, "its removal waits"
    indexed.vectors.fail_every = 1
    await indexed.drain()
    assert await clean(bench, indexed.app) == {"is": "nothing"}, "its removal failed"
    indexed.vectors.fail_every = 0
    bench.runtime.advance(DAY_MS)
    await indexed.drain()
    assert not await indexed.holds(gone)
    assert await clean(bench, indexed.app) == {"purged": 1, "is": "done"}


async def test_memory_used_while_it_is_about_to_expire_stays() -> None:
    bench = bench_of_agent()
    used, unused = await memory(bench), await memory(bench, "讨厌香菜")
    bench.runtime.advance(LATER * DAY_MS)
    sound = bench.sql
    now_ms = bench.runtime.now_ms()

    class Meanwhile(CountingStore):
        async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
            if any("job_runs SET counts" in one.sql for one in statements):
                sql = "INSERT OR REPLACE INTO item_use VALUES (?, ?, 1, ?, 0, NULL)"
                await sound.write([Statement(sql, (NAMESPACE, used, now_ms))])
            return await super().write(statements)

    bench.sql = Meanwhile(sound)
    assert await clean(bench) == {"expired": 1, "is": "done"}
    assert await states(bench) == {used: "active", unused: "expired"}


async def test_item_restored_while_it_is_about_to_be_purged_stays() -> None:
    bench = Bench()
    ids = [await memory(bench, f"第{number}件事") for number in range(2)]
    await delete_items(bench.app, bench.caller(), ids)
    bench.runtime.advance(31 * DAY_MS)
    sound, app = bench.sql, with_settings(bench, DELETED_KEEP_DAYS="60")
    caught: list[str] = []

    class Meanwhile(CountingStore):
        async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
            if not caught and any("INSERT INTO events" in one.sql for one in statements):
                caught.append(ids[0])
                await restore_item(app, bench.caller(), ids[0])
            return await super().write(statements)

    bench.sql = Meanwhile(sound)
    assert await clean(bench) == {"purged": 1, "is": "done"}
    assert await states(bench) == {ids[0]: "active"} and caught


async def test_many_slices_of_old_rows_go_piece_by_piece() -> None:
    bench = Bench()
    sql = (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4200)"
        " INSERT INTO idempotency (namespace, key, request_hash, at_ms, cause)"
        " SELECT ?, 'k' || i, '', 1, '' FROM n"
    )
    await bench.sql.write([Statement(sql, (NAMESPACE,))])

    first = await clean(bench, pieces_max=1)
    assert 500 <= int(str(first["idempotency"])) < 4_200
    assert (await clean(bench))["is"] == "done"
    assert await bench.rows("SELECT 1 FROM idempotency") == []


async def test_message_takes_its_files_along() -> None:
    bench = Bench()
    await add_messages(bench, 2)
    old, _ = await message_ids(bench)
    note = "UPDATE messages SET artifact_ids = '[\"art_1\"]' WHERE id = ?"
    await bench.sql.write(
        [
            Statement(note, (old,)),
            *artifacts.keep_statements(NAMESPACE, "art_1", old, "很长的文件", at_ms=1),
            *artifacts.keep_statements(NAMESPACE, "art_2", "itm_other", "另一个", at_ms=1),
        ]
    )
    bench.runtime.advance(15 * DAY_MS)
    await clean(bench, with_settings(bench, ENABLE_AUTO_MEMORY="false"))
    for table, name in (("artifacts", "id"), ("artifact_chunks", "artifact_id")):
        assert await bench.rows(f"SELECT {name} AS id FROM {table}") == [{"id": "art_2"}]


async def test_more_messages_than_a_slice_go_in_one_run() -> None:
    bench = Bench()
    for _ in range(13):
        await add_messages(bench, 100)
    bench.runtime.advance(15 * DAY_MS)
    app = with_settings(bench, ENABLE_AUTO_MEMORY="false")
    assert await clean(bench, app) == {"messages": 1_300, "is": "done"}


async def test_rows_get_old_by_their_own_periods() -> None:
    bench = Bench()
    idempotency = (
        "INSERT INTO idempotency (namespace, key, request_hash, at_ms, cause)"
        " VALUES (?, ?, '', ?, '')"
    )
    run_row = (
        "INSERT INTO job_runs (namespace, id, job, started_by, status, started_at, attempt, counts)"
        " VALUES (?, ?, 'extract', 'cron', ?, ?, 1, '{}')"
    )
    now_ms = bench.runtime.now_ms()
    await bench.sql.write(
        [
            Statement(idempotency, (NAMESPACE, "old", now_ms - 1)),
            Statement(idempotency, (NAMESPACE, "new", now_ms)),
            Statement(run_row, (NAMESPACE, "run_old", "done", now_ms - 30 * DAY_MS)),
            Statement(run_row, (NAMESPACE, "run_held", "running", now_ms - 30 * DAY_MS)),
            Statement(run_row, (NAMESPACE, "run_new", "done", now_ms)),
        ]
    )
    bench.runtime.advance(7 * DAY_MS)

    assert await clean(bench) == {"idempotency": 1, "job_runs": 1, "is": "done"}
    rows = await bench.rows("SELECT id FROM job_runs WHERE job = 'extract' ORDER BY id")
    assert [row["id"] for row in rows] == ["run_held", "run_new"]


async def test_cursors_of_days_go_and_those_of_jobs_stay() -> None:
    bench = Bench()
    sql = "INSERT INTO job_cursors VALUES (?, ?, ?, '', 1)"
    now_ms = bench.runtime.now_ms()
    cursors = (
        ("dream", now_ms + 2),
        ("dream/2026-03-01", now_ms),
        ("dream/2026-03-02", now_ms + 1),
    )
    await bench.sql.write([Statement(sql, (NAMESPACE, name, at)) for name, at in cursors])
    bench.runtime.advance(30 * DAY_MS + 1)
    assert await clean(bench) == {"job_cursors": 1, "is": "done"}
    rows = await bench.rows("SELECT name FROM job_cursors ORDER BY name")
    assert [row["name"] for row in rows] == ["dream", "dream/2026-03-02"]


async def test_periods_are_settings() -> None:
    bench = bench_of_agent()
    await memory(bench)
    app = with_settings(bench, MEMORY_EXPIRE_DAYS="1", DELETED_KEEP_DAYS="2")
    bench.runtime.advance(DAY_MS + 1)
    assert await clean(bench, app) == {"expired": 1, "is": "done"}
    bench.runtime.advance(2 * DAY_MS + 1)
    assert await clean(bench, app) == {"purged": 1, "is": "done"}


async def test_purged_item_leaves_no_counter_behind() -> None:
    bench = Bench()
    gone = await memory(bench, tags=["茶"])
    await delete_items(bench.app, bench.caller(), [gone])
    bench.runtime.advance(31 * DAY_MS)
    await clean(bench)
    rows = await bench.rows("SELECT name, value FROM counters WHERE value <> 0")
    assert rows == [] and await bench.rows("SELECT 1 FROM counters WHERE name LIKE 'tag/%'") == []


async def test_purged_item_keeps_its_envelopes_and_is_not_there_any_more() -> None:
    bench = Bench()
    gone = await memory(bench, "独一无二的句子4711")
    await delete_items(bench.app, bench.caller(), [gone])
    bench.runtime.advance(31 * DAY_MS)
    answer = await run(bench.app, JOB, NAMESPACE)

    past = await item_history(bench.app, bench.caller(), gone)
    events = past["events"]
    assert isinstance(events, list)
    shown = [(one["kind"], one.get("forgotten", False)) for one in events if isinstance(one, dict)]
    assert shown == [("ItemPurged", False), ("ItemDeleted", True), ("ItemCreated", True)]
    assert "4711" not in repr(past)
    for look in (get_item, forget_item):
        with pytest.raises(NotFound):
            await look(bench.app, bench.caller(), gone)
    # A purge is no part of what taking its run back means.
    with pytest.raises(Conflict, match="changed nothing"):
        await undo_run(bench.app, bench.caller(), str(answer["run_id"]))
    bench.actor = "job:extract"
    again = await memory(bench, "独一无二的句子4711")
    assert (await states(bench)) == {again: "active"}, "unlike what was forgotten it may come again"
