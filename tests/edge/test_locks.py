"""The lock between requests: one after another, in order, and nobody waits for the dead."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from remembrancer.edge import locks
from remembrancer.edge.locks import PatientLock


async def _take(lock: PatientLock, name: str, seen: list[str], let_go: asyncio.Event) -> None:
    async with lock:
        seen.append(name)
        await let_go.wait()
        seen.append(f"{name} done")


async def _until(count: int, seen: list[str]) -> None:
    for _ in range(1_000):
        if len(seen) >= count:
            return
        await asyncio.sleep(0)
    raise AssertionError(seen)


async def test_holders_follow_one_another_in_their_order() -> None:
    lock, seen, let_go = PatientLock(), list[str](), asyncio.Event()
    tasks = [asyncio.create_task(_take(lock, name, seen, let_go)) for name in ("a", "b", "c")]
    await _until(1, seen)
    assert seen == ["a"]
    let_go.set()
    await asyncio.gather(*tasks)
    assert seen == ["a", "a done", "b", "b done", "c", "c done"]
    await _take(lock, "d", seen, let_go)


async def test_one_that_gives_up_waiting_is_passed_over() -> None:
    lock, seen, let_go = PatientLock(), list[str](), asyncio.Event()
    tasks = [asyncio.create_task(_take(lock, name, seen, let_go)) for name in ("a", "b", "c")]
    await _until(1, seen)
    tasks[1].cancel()
    with suppress(asyncio.CancelledError):
        await tasks[1]
    let_go.set()
    await asyncio.gather(tasks[0], tasks[2])
    assert seen == ["a", "a done", "c", "c done"]


async def test_one_that_gives_up_when_its_turn_has_come_lets_the_next_go() -> None:
    lock, seen, let_go = PatientLock(), list[str](), asyncio.Event()
    await lock.__aenter__()
    tasks = [asyncio.create_task(_take(lock, name, seen, let_go)) for name in ("b", "c")]
    for _ in range(5):
        await asyncio.sleep(0)
    await lock.__aexit__()  # b's promise is fulfilled, b itself has not run yet
    tasks[0].cancel()
    let_go.set()
    with suppress(asyncio.CancelledError):
        await tasks[0]
    await asyncio.wait_for(tasks[1], 5)
    assert seen == ["c", "c done"]


async def test_turn_of_a_dead_holder_is_taken_when_it_is_overdue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(locks, "WAIT_S_MAX", 0)
    lock, seen, let_go = PatientLock(), list[str](), asyncio.Event()
    await lock.__aenter__()  # and never lets go
    let_go.set()
    await asyncio.wait_for(_take(lock, "b", seen, let_go), 5)
    await asyncio.wait_for(_take(lock, "c", seen, let_go), 5)
    assert seen == ["b", "b done", "c", "c done"]
