"""What only the local cache promises: any file, or none, is good enough to begin with."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from remembrancer.core.errors import StoreUnavailable
from remembrancer.local import kv as cache
from remembrancer.local.kv import PUTS_BETWEEN_PURGES, SqliteKeyValue
from remembrancer.testing.runtime import FixedRuntime

HOUR_S = 3_600


def opened(path: Path, clock: FixedRuntime | None = None) -> SqliteKeyValue:
    """A cache over the file, run inline."""
    return SqliteKeyValue(path, clock or FixedRuntime(), threads=0)


def broken_with(path: Path, content: bytes) -> None:
    """Overwrite the file."""
    path.write_bytes(content)


@pytest.mark.parametrize(
    "content", [b"no database", b"SQLite format 3\0" + b"\xff" * 8_176], ids=["text", "damaged"]
)
async def test_broken_file_is_made_anew_silently(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.db"
    broken_with(path, content)
    store = opened(path)
    assert await store.get("k") is None
    await store.put("k", "v", ttl_s=HOUR_S)
    assert await store.get("k") == "v"
    store.close()


async def test_file_broken_while_open_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    store = opened(path)
    await store.put("k", "v", ttl_s=HOUR_S)
    store.close()
    reopened = opened(path)
    assert await reopened.get("k") == "v"
    broken_with(path, b"\0" * 100)
    await reopened.put("k", "w", ttl_s=HOUR_S)
    await reopened.put("k", "x", ttl_s=HOUR_S)
    assert await reopened.get("k") == "x"
    reopened.close()


async def test_deleted_file_only_costs_what_was_cached(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cache.db"
    store = opened(path)
    await store.put("k", "v", ttl_s=HOUR_S)
    store.close()
    path.unlink()
    again = opened(path)
    assert await again.get("k") is None
    await again.put("k", "w", ttl_s=HOUR_S)
    assert await again.get("k") == "w"
    again.close()


async def test_two_processes_share_one_file(tmp_path: Path) -> None:
    server, command = opened(tmp_path / "cache.db"), opened(tmp_path / "cache.db")
    await server.put("k", "v", ttl_s=HOUR_S)
    assert await command.get("k") == "v"
    await command.delete("k")
    assert await server.get("k") is None
    server.close()
    command.close()


async def test_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = opened(tmp_path / "cache.db")
    await store.put("k", "v", ttl_s=HOUR_S)
    assert stat.S_IMODE((tmp_path / "cache.db").stat().st_mode) == 0o600
    store.close()


async def test_busy_cache_refuses_to_store_and_still_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "CACHE_WAIT_S", 0.0)
    store = opened(tmp_path / "cache.db")
    await store.put("k", "v", ttl_s=HOUR_S)
    other = sqlite3.connect(tmp_path / "cache.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="busy"):
        await store.put("k", "w", ttl_s=HOUR_S)
    assert await store.get("k") == "v"
    other.close()
    store.close()


async def test_folder_that_cannot_be_made_is_a_miss_and_refuses_to_store(tmp_path: Path) -> None:
    broken_with(tmp_path / "file", b"")
    store = opened(tmp_path / "file" / "cache.db")
    assert await store.get("k") is None
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await store.put("k", "v", ttl_s=HOUR_S)


async def test_path_that_is_a_folder_refuses_to_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        await opened(tmp_path).put("k", "v", ttl_s=HOUR_S)


async def test_expired_values_are_removed_from_the_file(tmp_path: Path) -> None:
    clock = FixedRuntime()
    store = opened(tmp_path / "cache.db", clock)
    for number in range(PUTS_BETWEEN_PURGES - 1):
        await store.put(f"old-{number}", "v", ttl_s=60)
    clock.advance(60_000)
    await store.put("new", "v", ttl_s=60)
    file = sqlite3.connect(tmp_path / "cache.db")
    assert file.execute("SELECT key FROM cache_entries_1").fetchall() == [("new",)]
    file.close()
    store.close()
