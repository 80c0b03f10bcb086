"""Which implementations each port's suite runs over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.d1.bridge import D1Bridge
from tests.d1.plugin import d1_bridge

from remembrancer.local.connection import SqliteOptions, Synchronous
from remembrancer.local.sqlite import SqliteStore
from remembrancer.ports.sql import SqlStore
from remembrancer.testing.faults import FaultyStore
from remembrancer.testing.stores import CountingStore, memory_store

__all__ = ["d1_bridge"]


def in_file(path: Path, threads: int, synchronous: Synchronous = "OFF") -> SqliteStore:
    """A store over a file, as a server (with threads) or a command (without) opens it.

    Only one kind waits for the disk: nothing here can lose power, and waiting is slow.
    """
    return SqliteStore(path / "store.db", SqliteOptions(threads, synchronous))


LOCAL: dict[str, Callable[[Path], SqlStore]] = {
    "memory": lambda _: memory_store(is_migrated=False, numbers_as_d1=False),
    "memory-d1-numbers": lambda _: memory_store(is_migrated=False),
    "file-threads": lambda path: in_file(path, 2, "FULL"),
    "file-inline": lambda path: in_file(path, 0),
    "counting": lambda path: CountingStore(in_file(path, 2)),
    "faulty-off": lambda path: FaultyStore(in_file(path, 2)),
}
"""Every implementation that needs nothing but Python."""


def inner_store(store: SqlStore) -> SqlStore:
    """What lies inside a wrapper, which is what can be closed."""
    return store.inner if isinstance(store, CountingStore | FaultyStore) else store


@pytest.fixture(params=[*LOCAL, "d1"])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """A store of each kind, without tables."""
    if request.param == "d1":
        bridge: D1Bridge = request.getfixturevalue("d1_bridge")
        yield bridge.fresh(is_migrated=False)
        return
    store = LOCAL[request.param](tmp_path)
    yield store
    inner = inner_store(store)
    assert isinstance(inner, SqliteStore)
    inner.close()
