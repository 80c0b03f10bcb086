"""A file with broken pages: found by a failed read, or looked for, and told by health."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.builders import Bench

from remembrancer.app.health import check_health
from remembrancer.core.errors import CorruptData
from remembrancer.local import checkup
from remembrancer.local.migrate import migrate
from remembrancer.local.sqlite import SqliteStore
from remembrancer.ports.sql import Statement


async def _filled(path: Path) -> None:
    store = await SqliteStore.open(path)
    await migrate(store)
    await store.with_writer(
        lambda raw: raw.executescript(
            "CREATE TABLE t (c TEXT) STRICT; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
            " SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO t"
            f" SELECT '{'茉' * 300}' FROM n; PRAGMA wal_checkpoint(TRUNCATE);"
        )
    )
    store.close()


def _break(path: Path) -> None:
    """Overwrite the pages in the file's last third, which are the table's."""
    held = bytearray(path.read_bytes())
    start = len(held) // 3 * 2 // 4096 * 4096
    held[start:] = b"\xff" * (len(held) - start)
    path.write_bytes(held)


async def test_failed_read_turns_health_degraded_until_the_file_is_opened_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    await _filled(path)
    _break(path)
    store = await SqliteStore.open(path)
    bench = Bench(sql=store)
    assert store.damage() is None
    with pytest.raises(CorruptData):
        await store.read([Statement("SELECT sum(length(c)) AS n FROM t", ())])
    health = await check_health(replace(bench.app, damage=store.damage))
    assert health.status == "degraded"
    assert any(reason.startswith("the database is damaged: ") for reason in health.reasons)
    store.close()


@pytest.mark.parametrize("is_broken", [True, False], ids=["broken", "whole"])
async def test_watch_looks_through_every_table(tmp_path: Path, is_broken: bool) -> None:
    path = tmp_path / "记忆.db"
    await _filled(path)
    if is_broken:
        _break(path)
    store = await SqliteStore.open(path)
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)
        if seconds == checkup.CHECK_PAUSE_S:
            raise asyncio.CancelledError

    try:
        await checkup.watch(store, pause)
    except asyncio.CancelledError:
        assert not is_broken
    assert waited[0] == checkup.FIRST_CHECK_S
    assert (store.damage() is not None) == is_broken
    store.close()


async def test_file_that_cannot_be_looked_at_is_not_called_damaged(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "absent.db")
    assert checkup._tables(store) == []
    assert store.damage() is None
    store.close()
