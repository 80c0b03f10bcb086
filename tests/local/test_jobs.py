"""The queue and the clock of one process, each with a time that is set by hand."""

from __future__ import annotations

import asyncio
import logging

import pytest

from remembrancer.core.errors import LimitExceeded, StoreUnavailable
from remembrancer.local.cron import FIRST_S, TICK_S, at_work, tick_on
from remembrancer.local.jobs import WAITING_MAX, TaskQueue
from remembrancer.ports.queue import JobMessage


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def word(kind: str = "extract", namespace: str = "默认") -> JobMessage:
    return JobMessage(kind, namespace)


async def test_words_are_due_in_the_order_of_their_times() -> None:
    clock = Clock()
    queue = TaskQueue(clock)
    await queue.send([word("dream")], delay_s=60)
    await queue.send([word("extract"), word("index")], delay_s=0)

    assert {one.kind for one in queue.take_due()} == {"extract", "index"}
    assert queue.take_due() == [] and queue.wait_s() == 60
    clock.now_s = 60
    assert [one.kind for one in queue.take_due()] == ["dream"] and queue.wait_s() is None


async def test_equal_word_begins_its_wait_anew() -> None:
    clock = Clock()
    queue = TaskQueue(clock)
    await queue.send([word()], delay_s=60)
    clock.now_s = 50
    await queue.send([word(), word(namespace="other")], delay_s=60)
    clock.now_s = 100
    assert queue.take_due() == []
    clock.now_s = 110
    assert queue.take_due(busy={"extract"}) == [] and queue.wait_s(busy={"extract"}) is None
    # One of a kind at a time.
    assert [len(queue.take_due()) for _ in range(3)] == [1, 1, 0]


async def test_queue_that_is_full_refuses() -> None:
    queue = TaskQueue(Clock())
    await queue.send([word(namespace=str(number)) for number in range(WAITING_MAX)])
    with pytest.raises(LimitExceeded):
        await queue.send([word()])


async def test_consumer_goes_on_after_words_that_fail(caplog: pytest.LogCaptureFixture) -> None:
    queue, done, over = TaskQueue(), [], asyncio.Event()

    async def handle(message: JobMessage) -> None:
        done.append(message.kind)
        if message.kind == "extract":
            raise StoreUnavailable("on purpose")
        if message.kind == "dream":
            raise ZeroDivisionError
        over.set()

    with caplog.at_level(logging.WARNING):
        async with at_work(queue.consume(handle)), asyncio.timeout(5):
            await queue.send([word("extract")])
            await queue.send([word("dream")])
            await queue.send([word("index")])
            await over.wait()
    assert sorted(done) == ["dream", "extract", "index"]
    assert "store_unavailable" in caplog.text and "ZeroDivisionError" in caplog.text


async def test_consumer_wakes_for_a_word_that_comes_while_it_waits() -> None:
    queue, over = TaskQueue(), asyncio.Event()

    async def handle(_: JobMessage) -> None:
        over.set()

    async with at_work(queue.consume(handle)), asyncio.timeout(5):
        await queue.send([word("late")], delay_s=3_600)
        await asyncio.sleep(0)
        await queue.send([word()])
        await over.wait()


async def test_word_of_another_kind_does_not_wait_for_a_slow_one() -> None:
    queue, seen, over = TaskQueue(), [], asyncio.Event()

    async def handle(message: JobMessage) -> None:
        seen.append((message.kind, message.namespace))
        if message.kind == "index":
            over.set()
        elif message.namespace == "slow":
            try:
                await asyncio.Event().wait()
            finally:
                seen.append(("extract", "stopped"))

    async with at_work(queue.consume(handle)), asyncio.timeout(5):
        await queue.send([word(namespace="slow")])
        await queue.send([word(namespace="behind")], delay_s=0)
        await queue.send([word("index")])
        await over.wait()
    # The second of a kind waited for the first, which was stopped with the server.
    assert ("extract", "behind") not in seen and seen[-1] == ("extract", "stopped")


async def test_clock_ticks_on_after_a_tick_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    pauses: list[float] = []
    ticks: list[int] = []
    over = asyncio.Event()

    async def tick() -> None:
        ticks.append(len(ticks))
        if len(ticks) == 1:
            raise ZeroDivisionError
        over.set()
        await asyncio.Event().wait()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    with caplog.at_level(logging.ERROR):
        async with at_work(tick_on(tick, pause)), asyncio.timeout(5):
            await over.wait()
    assert pauses == [FIRST_S, TICK_S] and ticks == [0, 1]
    assert "a tick of the schedule failed" in caplog.text


async def test_work_is_over_when_the_block_ends() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async with at_work(work(), work()):
        await asyncio.sleep(0)
    assert ended == ["ended", "ended"]
