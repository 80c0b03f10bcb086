"""What only the local driver promises: files, locks, time limits, other processes."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from remembrancer.core.errors import (
    CorruptData,
    RemembrancerError,
    StoreUnavailable,
    TimedOut,
)
from remembrancer.local.connection import SqliteOptions
from remembrancer.local.sqlite import Moment, SqliteStore
from remembrancer.ports.sql import Row, SqlStore, Statement
from remembrancer.testing.stores import memory_store

TABLE = Statement("CREATE TABLE things(id TEXT PRIMARY KEY, i INTEGER) STRICT")
COUNT = Statement("SELECT count(*) AS n FROM things")
ENDLESS = Statement(
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) AS n FROM r"
)


def insert(name: str) -> Statement:
    """A row of that name."""
    return Statement("INSERT INTO things(id) VALUES (?)", (name,))


def names_in(folder: Path) -> set[str]:
    """The files of a folder."""
    return {file.name for file in folder.iterdir()}


async def only_row(store: SqlStore, statement: Statement) -> Row:
    """The one row that a statement answers."""
    (outcome,) = await store.read([statement])
    (row,) = outcome.rows
    return row


@pytest.fixture(params=[2, 0], ids=["threads", "inline"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteStore]:
    """A store over a file that stops waiting soon."""
    options = SqliteOptions(threads=request.param, busy_wait_s=0.01)
    made = SqliteStore(tmp_path / "a" / "store.db", options)
    yield made
    made.close()


async def test_store_makes_no_file_before_its_first_call(
    store: SqliteStore, tmp_path: Path
) -> None:
    assert names_in(tmp_path) == set()
    await store.write([TABLE])
    assert "store.db" in names_in(tmp_path / "a")


async def test_files_are_for_their_owner_alone(store: SqliteStore, tmp_path: Path) -> None:
    await store.write([TABLE])
    files = list((tmp_path / "a").iterdir())
    assert {"store.db", "store.db-wal"} <= {file.name for file in files}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


async def test_connections_are_durable_and_check_foreign_keys(store: SqliteStore) -> None:
    def pragmas(raw: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "query_only")
        return [raw.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store.with_writer(pragmas) == ["wal", 2, 1, 0]
    await store.write([TABLE])
    await store.read([COUNT])
    assert await store.with_writer(pragmas) == ["wal", 2, 1, 0]


async def test_threads_keep_the_event_loop_free(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    seen: list[int] = []
    store.on_statement = lambda *_: seen.append(threading.get_ident())
    await store.write([TABLE])
    await asyncio.gather(*(store.write([insert(str(number))]) for number in range(4)))
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen
    store.close()


async def test_readers_run_beside_a_writer_and_see_the_state_before_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.write([TABLE])
    entered, leave = threading.Event(), threading.Event()

    def hold(moment: Moment, index: int, statement: Statement) -> None:
        if moment == "after":
            entered.set()
            assert leave.wait(5)

    store.on_statement = hold
    writing = asyncio.create_task(store.write([insert("a")]))
    await asyncio.to_thread(entered.wait, 5)
    before = await asyncio.gather(*(only_row(store, COUNT) for _ in range(5)))
    assert before == [{"n": 0}] * 5
    leave.set()
    await writing
    assert await only_row(store, COUNT) == {"n": 1}
    store.close()


async def test_lock_of_another_process_is_waited_for(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.write([TABLE])
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    other.execute("INSERT INTO things(id) VALUES ('other')")
    writing = asyncio.create_task(store.write([insert("ours")]))
    # The reader is not kept waiting by the lock that the writer waits for.
    assert await only_row(store, COUNT) == {"n": 0}
    await asyncio.to_thread(other.execute, "COMMIT")
    await writing
    assert await only_row(store, COUNT) == {"n": 2}
    other.close()
    store.close()


async def test_lock_held_too_long_is_store_unavailable_and_harmless(store: SqliteStore) -> None:
    await store.write([TABLE])
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="busy"):
        await store.write([insert("ours")])
    assert await only_row(store, COUNT) == {"n": 0}
    other.execute("ROLLBACK")
    other.close()
    await store.write([insert("ours")])
    assert await only_row(store, COUNT) == {"n": 1}


async def test_stores_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(4)]
    await stores[0].write([TABLE])

    async def work(number: int) -> None:
        for turn in range(20):
            await stores[number].write([insert(f"{number}-{turn}")])
            await stores[number].read([COUNT, COUNT])

    await asyncio.gather(*(work(number) for number in range(4)))
    assert await only_row(stores[0], COUNT) == {"n": 80}
    for each in stores:
        each.close()


async def test_endless_statement_is_timed_out(tmp_path: Path) -> None:
    options = SqliteOptions(call_s_max=0.0)
    for store in (SqliteStore(tmp_path / "store.db", options), SqliteStore(":memory:", options)):
        with pytest.raises(TimedOut):
            await store.read([ENDLESS])
        with pytest.raises(TimedOut):
            await store.write([TABLE, ENDLESS])
        with pytest.raises(RemembrancerError):  # the table was undone
            await store.read([COUNT])
        await store.write([TABLE])
        assert await only_row(store, COUNT) == {"n": 0}
        store.close()


async def test_full_disk_is_store_unavailable_and_undoes_the_batch(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.write([TABLE])
    await store.with_writer(lambda raw: raw.execute("PRAGMA max_page_count = 8").fetchone())
    long = [insert(f"{number:04}" + "x" * 2_000) for number in range(100)]
    with pytest.raises(StoreUnavailable, match="full"):
        await store.write(long)
    assert await only_row(store, COUNT) == {"n": 0}
    await store.write(long)  # a new connection: the disk has room again
    assert await only_row(store, COUNT) == {"n": 100}
    store.close()


@pytest.mark.parametrize("content", [b"x" * 4_096, b"SQLite format 3\0" + b"\xff" * 4_080])
async def test_damaged_file_is_corrupt_data(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(CorruptData):
        await SqliteStore.open(path)
    assert path.read_bytes() == content


async def test_path_that_cannot_be_a_file_is_store_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "store.db"):
        with pytest.raises(StoreUnavailable) as raised:
            await SqliteStore.open(path)
        assert repr(str(path)) in raised.value.message


async def test_error_of_local_work_is_translated_too(store: SqliteStore) -> None:
    await store.write([TABLE, insert("a")])
    with pytest.raises(RemembrancerError) as raised:
        await store.with_writer(lambda raw: raw.execute("INSERT INTO things(id) VALUES ('a')"))
    assert raised.value.code == "conflict"


async def test_store_closed_twice_is_no_error(store: SqliteStore) -> None:
    await store.write([TABLE])
    await store.read([COUNT])
    store.close()
    store.close()
    again = await SqliteStore.open(store.path)
    assert await only_row(again, COUNT) == {"n": 0}
    again.close()


async def test_memory_store_binds_integers_as_d1_does_and_gives_them_back_whole() -> None:
    store = memory_store()
    row = await only_row(store, Statement("SELECT 7 / ? AS half, ? AS whole", (2, 3)))
    assert row == {"half": 3.5, "whole": 3}
    assert type(row["whole"]) is int


WRITER = """
import asyncio, sys
from remembrancer.local.sqlite import SqliteStore
from remembrancer.ports.sql import Statement

async def main(path, name, count):
    store = await SqliteStore.open(path)
    for number in range(count):
        batch = [
            Statement("INSERT INTO things(id) VALUES (?)", (f"{name}-{number}-{part}",))
            for part in "ab"
        ]
        await store.write(batch)
        print(number, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def writer_process(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Another process that writes pairs of rows and says each number when it is durable."""
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def test_processes_writing_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path)
    await store.write([TABLE])
    processes = [writer_process(path, name, 40) for name in ("p", "q")]
    for number in range(40):
        await store.write([insert(f"here-{number}")])
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert await only_row(store, COUNT) == {"n": 2 * 2 * 40 + 40}
    store.close()


async def test_killed_process_leaves_every_answered_batch_and_no_half_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path)
    await store.write([TABLE])
    process = writer_process(path, "p", 1_000_000)
    assert process.stdout is not None
    answered = [int(process.stdout.readline()) for _ in range(50)][-1]
    process.kill()
    answered = max([answered, *(int(line) for line in process.stdout if line.endswith("\n"))])
    process.wait(timeout=10)
    process.stdout.close()
    pairs = await store.read(
        [
            Statement(
                "SELECT substr(id, 1, length(id) - 2) AS pair, count(*) AS n "
                "FROM things GROUP BY pair"
            )
        ]
    )
    found = {row["pair"]: row["n"] for row in pairs[0].rows}
    assert set(found.values()) == {2}
    assert {f"p-{number}" for number in range(answered + 1)} <= set(found)
    store.close()
