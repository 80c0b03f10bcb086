"""The ports of a chat's memory: first reads as one round trip, and work that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from remembrancer.app.gateway.together import HeldBack, SharedStore
from remembrancer.core.errors import InvalidInput, StoreUnavailable
from remembrancer.ports.sql import Outcome, SqlStore, Statement
from remembrancer.testing.runtime import FixedRuntime

ONE, TWO, THREE = (Statement(f"SELECT {text}") for text in ("1", "'二'", "3"))
REFUSED = Statement("SELECT ?", ("\ud800",))


class Counted:
    """A store that answers each statement with its text, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.fails = False
        self.waits: asyncio.Event | None = None

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        if self.waits is not None:
            await self.waits.wait()
        self.asked.append([one.sql for one in statements])
        if self.fails:
            raise StoreUnavailable("gone")
        if REFUSED in statements:
            raise InvalidInput("half a character")
        return [Outcome(rows=[{"sql": one.sql}]) for one in statements]

    write = read

    def session(self, _bookmark: str | None) -> SqlStore:
        raise NotImplementedError

    def bookmark(self) -> str | None:
        return "b"

    async def scrub(self) -> None:
        raise NotImplementedError


def texts(outcomes: Sequence[Outcome]) -> list[object]:
    return [outcome.rows[0]["sql"] for outcome in outcomes]


async def test_reads_that_begin_together_are_one_round_trip_and_run_no_statement_twice() -> None:
    inner = Counted()
    shared = SharedStore(inner)
    left, right = await asyncio.gather(shared.read([ONE, TWO]), shared.read([TWO, THREE, ONE]))
    assert texts(left) == [ONE.sql, TWO.sql]
    assert texts(right) == [TWO.sql, THREE.sql, ONE.sql]
    assert inner.asked == [[ONE.sql, TWO.sql, THREE.sql]]
    assert texts(await shared.read([ONE])) == [ONE.sql]
    assert len(inner.asked) == 2


async def test_writes_that_begin_together_are_one_batch_in_which_each_runs() -> None:
    inner = Counted()
    shared = SharedStore(inner)
    await asyncio.gather(shared.write([ONE]), shared.write([ONE, TWO]))
    assert inner.asked == [[ONE.sql, ONE.sql, TWO.sql]]


async def test_what_the_store_refuses_in_one_does_not_fail_the_other() -> None:
    shared = SharedStore(Counted())
    left, right = await asyncio.gather(
        shared.read([ONE]), shared.read([REFUSED]), return_exceptions=True
    )
    assert not isinstance(left, BaseException)
    assert texts(left) == [ONE.sql]
    assert isinstance(right, InvalidInput)


async def test_store_that_is_gone_is_told_to_all() -> None:
    inner = Counted()
    inner.fails = True
    shared = SharedStore(inner)
    told = await asyncio.gather(shared.read([ONE]), shared.read([TWO]), return_exceptions=True)
    assert [type(one) for one in told] == [StoreUnavailable, StoreUnavailable]
    assert len(inner.asked) == 1


async def test_reader_that_gives_up_does_not_stop_the_other() -> None:
    inner = Counted()
    inner.waits = asyncio.Event()
    shared = SharedStore(inner)
    left, right = (asyncio.ensure_future(shared.read([one])) for one in (ONE, TWO))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.sleep(0)
    inner.waits.set()
    assert texts(await right) == [TWO.sql]
    with pytest.raises(asyncio.CancelledError):
        await left


async def test_read_that_is_given_up_ends() -> None:
    inner = Counted()
    inner.waits = asyncio.Event()
    shared = SharedStore(inner)
    reading = asyncio.ensure_future(shared.read([ONE]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    shared.give_up()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_work_waits_until_it_may_begin_and_what_was_promised_is_waited_for() -> None:
    runtime, done = FixedRuntime(), list[str]()

    async def work(name: str) -> None:
        await asyncio.sleep(0)
        done.append(name)

    held = HeldBack(runtime)
    held.run_later(work("kept 后"))
    held.promise(lambda: work("promised 先"))
    assert runtime.pending == 0
    held.begin()
    await held.settle(5)
    assert done == ["promised 先"]
    held.run_later(work("later"))
    await runtime.drain()
    assert done == ["promised 先", "kept 后", "later"]


async def test_waiting_for_what_was_promised_has_an_end() -> None:
    runtime, go = FixedRuntime(), asyncio.Event()

    async def work() -> None:
        await go.wait()

    held = HeldBack(runtime)
    held.promise(work)
    await held.settle(0.01)
    go.set()
    await runtime.drain()
