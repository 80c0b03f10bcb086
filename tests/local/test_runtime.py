"""What only the local runtime promises: ids under a strange clock, tasks kept and logged."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from remembrancer.core.ids import RANDOM_BYTES, make_id
from remembrancer.local.runtime import LocalRuntime

SECOND_NS = 1_000_000_000


def test_ids_sort_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = LocalRuntime()
    made = []
    for seconds in (1_000, 1_001, 999, 999, 1_000, 1_001, 1_002):
        monkeypatch.setattr(time, "time_ns", lambda now=seconds: now * SECOND_NS)
        made.append(runtime.new_id("evt"))
    assert made == sorted(set(made))


def test_ids_sort_when_one_millisecond_runs_out_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_000 * SECOND_NS)
    monkeypatch.setattr(os, "urandom", lambda count: b"\xff" * count)
    runtime = LocalRuntime()
    assert runtime.new_id("evt") == make_id("evt", 1_000_000, b"\xff" * RANDOM_BYTES)
    assert runtime.new_id("evt") == make_id("evt", 1_000_001, b"\0" * RANDOM_BYTES)


def test_ids_of_several_threads_are_all_different() -> None:
    runtime = LocalRuntime()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: runtime.new_id("evt"), range(2_000)))
    assert len(set(made)) == 2_000


async def test_failing_work_is_logged_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    runtime = LocalRuntime()
    done: list[str] = []

    async def fail() -> None:
        raise ValueError("broken on purpose")

    async def work() -> None:
        done.append("worked")

    runtime.run_later(fail())
    runtime.run_later(work())
    with caplog.at_level(logging.ERROR):
        await runtime.drain()
    assert done == ["worked"]
    (record,) = caplog.records
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)


async def test_waiting_work_is_not_collected_as_garbage() -> None:
    runtime = LocalRuntime()
    gate = asyncio.Event()
    done: list[str] = []

    async def work() -> None:
        await gate.wait()
        done.append("worked")

    runtime.run_later(work())
    await asyncio.sleep(0)
    gc.collect()
    gate.set()
    await runtime.drain()
    assert done == ["worked"]
