"""Runs the suites of the ports over the Worker's drivers; inside Pyodide only.

pytest cannot wait there: it has no loop of its own, and JavaScript's promises need the one that
runs. So it only collects; each test is then awaited here, with fixtures made by hand.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import _harness  # type: ignore[import-not-found] # registered by the harness
import pytest
from tests.pyodide.suites import queues

from remembrancer.edge.convert import binding, required_binding
from remembrancer.edge.d1 import D1Store
from remembrancer.edge.kv import WorkersKeyValue
from remembrancer.edge.locks import PatientLock
from remembrancer.edge.r2 import R2Blobs
from remembrancer.edge.runtime import EdgeRuntime
from remembrancer.edge.vectorize import VectorizeIndex
from remembrancer.local.runtime import LocalRuntime
from remembrancer.ports.models import EmbeddingModel

PLATFORMS = {
    "sql": "d1",
    "kv": "workers-kv",
    "blobs": "r2",
    "index": "memory",
    "make": LocalRuntime,
}
"""Fixture → the parameter of the implementation in whose place the Worker's is put."""


ELSEWHERE: dict[str, dict[str, object]] = {
    "httpx": {},
    "remembrancer.local.vector_array": {"NEAR_ROWS": 0},
    "remembrancer.local.vectors": {"LocalVectors": None},
}
"""What suites import for other implementations, and what is not to be had here."""


WEAKER = ("test_query_equal_scores_come_by_id_at_every_top",)
"""What the platform does not keep: at the cut it chooses freely among vectors that are as near."""


class Collector:
    """Keeps what pytest collects."""

    def __init__(self) -> None:
        self.items: list[pytest.Function] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = [item for item in items if isinstance(item, pytest.Function)]


@dataclass(frozen=True)
class Test:
    """One test of a suite with its parameters."""

    name: str
    function: Callable[..., Awaitable[None] | None]
    params: dict[str, Any]

    @property
    def is_ours(self) -> bool:
        return any(self.params.get(name) == value for name, value in PLATFORMS.items())


class DrainedRuntime(EdgeRuntime):
    """The isolate's runtime, whose work can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._work: list[asyncio.Task[object]] = []

    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        before = set(self._tasks)
        super().run_later(work)
        self._work += self._tasks - before

    async def drain(self) -> None:
        while self._work:
            await self._work.pop(0)


def collect(paths: Sequence[str]) -> list[Test]:
    """The tests of these files that can run over the platform."""
    for name, members in ELSEWHERE.items():
        vars(sys.modules.setdefault(name, ModuleType(name))).update(members)
    collector = Collector()
    code = pytest.main(["-p", "no:cacheprovider", "--collect-only", *paths], plugins=[collector])
    assert code == 0, f"pytest could not collect: {code}"
    found = [
        Test(item.nodeid, item.function, dict(item.callspec.params))
        for item in collector.items
        if hasattr(item, "callspec")
    ]
    return [test for test in found if test.is_ours and test.function.__name__ not in WEAKER]


def given(test: Test) -> dict[str, Any]:
    """What a test is called with."""
    values: dict[str, Any] = {}
    bound: Any
    for name in inspect.signature(test.function).parameters:
        if name == "sql":
            bound = binding(_harness.freshDatabase(), "DB")
            values[name] = D1Store(bound)
        elif name == "kv":
            bound = binding(_harness.freshNamespace(), "KV")
            values[name] = WorkersKeyValue(bound)
        elif name == "blobs":
            values[name] = R2Blobs(required_binding(_harness.freshBucket(), "ARTIFACTS"))
        elif name == "index":
            bound = required_binding(_harness.freshIndex(3), "VECTORS")
            values[name] = VectorizeIndex(bound, EmbeddingModel("test", 3))
        elif name == "make":
            values[name] = DrainedRuntime
        else:
            values[name] = test.params[name]
    return values


async def run(paths: Sequence[str]) -> str:
    """Run the tests of these files over the platform; return their outcomes as JSON."""
    ports = [await outcome(one.name, one.function, given(one)) for one in collect(paths)]
    place = "tests/pyodide/suites/queues.py"
    sent = [await outcome(f"{place}::{one.__name__}", one, {}) for one in queues.CHECKS]
    return json.dumps([*ports, *sent, await check_lock()])


async def outcome(
    name: str, function: Callable[..., Awaitable[None] | None], values: dict[str, Any]
) -> tuple[str, str, str]:
    """Run one test; return its name, how it went, and what went wrong."""
    try:
        made = function(**values)
        if made is not None:
            await made
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - as pytest does
        return name, "failed", traceback.format_exc()
    return name, "passed", ""


async def check_lock() -> tuple[str, str, str]:
    """The lock's promises are JavaScript's here: one after another, and none is left waiting."""
    lock, seen = PatientLock(), list[str]()

    async def take(name: str) -> None:
        async with lock:
            seen.append(name)
            await asyncio.sleep(0)
            seen.append(name)

    await asyncio.wait_for(asyncio.gather(*(take(name) for name in "abc")), 5)
    words = "" if seen == list("aabbcc") else f"the order was {seen}"
    return "tests/edge/locks.py::order", "failed" if words else "passed", words
