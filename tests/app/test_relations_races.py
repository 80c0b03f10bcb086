"""Writers of relations that meet: between processes by the version, within one by the turnstile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from tests.app.test_relations import items, relate
from tests.builders import Bench, id_of

from remembrancer.app.commit import Answer
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import create_project
from remembrancer.app.relations import add_relation, remove_relation, supersede_items
from remembrancer.app.turnstile import Turnstile
from remembrancer.app.undo import undo
from remembrancer.core.errors import Conflict
from remembrancer.core.ids import Namespace
from remembrancer.ports.sql import Outcome, SqlStore, Statement
from remembrancer.testing.stores import memory_store


class Interleaved:
    """A store that lets somebody else act right before a write; and that waits on every call."""

    def __init__(self, inner: SqlStore) -> None:
        self.inner = inner
        self.meanwhile: list[Callable[[], Awaitable[object]]] = []
        self.clashes = 0

    async def read(self, statements: Sequence[Statement]) -> list[Outcome]:
        await asyncio.sleep(0)
        return await self.inner.read(statements)

    async def write(self, statements: Sequence[Statement]) -> list[Outcome]:
        await asyncio.sleep(0)
        if self.meanwhile:
            await self.meanwhile.pop()()
        try:
            return await self.inner.write(statements)
        except Conflict:
            self.clashes += 1
            raise

    def session(self, bookmark: str | None) -> SqlStore:
        del bookmark
        return self

    def bookmark(self) -> str | None:
        return None

    async def scrub(self) -> None:
        await self.inner.scrub()


async def test_two_writers_in_two_processes_cannot_close_a_circle() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    a, b, c = await items(quick, 3)
    await relate(quick, a, "blocks", b)
    store.meanwhile = [lambda: relate(quick, b, "blocks", c)]
    with pytest.raises(Conflict) as caught:
        await relate(slow, c, "blocks", a)
    assert caught.value.code == "cycle"
    assert store.clashes == 1
    rows = await quick.rows("SELECT count(*) AS n FROM relations")
    assert rows == [{"n": 2}]


async def test_a_writer_overtaken_without_harm_tries_again() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    a, b, c = await items(quick, 3)
    store.meanwhile = [lambda: relate(quick, a, "blocks", b)]
    assert await relate(slow, b, "blocks", c) == "created"
    assert store.clashes == 1


async def test_the_same_relation_from_two_processes_is_made_once() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    a, b = await items(quick, 2)
    store.meanwhile = [lambda: relate(quick, a, "supports", b)]
    assert await relate(slow, a, "supports", b) == "unchanged"


async def test_a_writer_overtaken_each_time_says_so() -> None:
    inner = memory_store()
    store = Interleaved(inner)
    slow, quick = Bench(sql=store), Bench(sql=inner)
    ids = await items(quick, 5)
    store.meanwhile = [
        lambda target=target: relate(quick, ids[0], "supports", target)  # type: ignore[misc]
        for target in ids[2:]
    ]
    with pytest.raises(Conflict) as caught:
        await relate(slow, ids[0], "supports", ids[1])
    assert caught.value.code == "version_conflict"


async def test_eight_supersessions_at_once_all_succeed_without_a_clash() -> None:
    store = Interleaved(memory_store())
    bench = Bench(sql=store)
    app = bench.app
    ids = await items(bench, 16)

    def one(source: str, target: str) -> Awaitable[Answer]:
        return supersede_items(app, bench.caller(), source_item_id=source, target_item_ids=[target])

    answers = await asyncio.gather(*map(one, ids[:8], ids[8:]))
    assert [answer["superseded"] for answer in answers] == [[target] for target in ids[8:]]
    assert store.clashes == 0
    assert app.turnstile.waiting == 0


async def test_without_the_turnstile_they_do_clash() -> None:
    store = Interleaved(memory_store())
    bench = Bench(sql=store)
    ids = await items(bench, 16)
    answers = await asyncio.gather(
        *(
            add_relation(
                bench.app,  # an App of its own each: as many processes
                bench.caller(),
                source_id=source,
                type="supports",
                target_id=target,
            )
            for source, target in zip(ids[:8], ids[8:], strict=True)
        ),
        return_exceptions=True,
    )
    assert store.clashes > 0
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    assert failed and all(isinstance(error, Conflict) for error in failed)


async def test_a_supersession_and_its_reverse_at_once_leave_one() -> None:
    store = Interleaved(memory_store())
    bench = Bench(sql=store)
    app = bench.app
    a, b = await items(bench, 2)
    answers = await asyncio.gather(
        supersede_items(app, bench.caller(), source_item_id=a, target_item_ids=[b]),
        supersede_items(app, bench.caller(), source_item_id=b, target_item_ids=[a]),
        return_exceptions=True,
    )
    errors = [answer for answer in answers if isinstance(answer, Conflict)]
    assert [error.code for error in errors] == ["cycle"]


async def test_objectives_set_at_once_form_one_chain() -> None:
    store = Interleaved(memory_store())
    bench = Bench(sql=store)
    app = bench.app
    await create_project(app, bench.caller(), name="P")
    await asyncio.gather(
        *(
            set_active_objective(app, bench.caller(), project="p", title=f"目标 {number}")
            for number in range(6)
        )
    )
    rows = await bench.rows(
        "SELECT state, count(*) AS n FROM items WHERE type = 'strategic_goal' GROUP BY state"
    )
    assert [tuple(row.values()) for row in rows] == [("active", 1), ("superseded", 5)]
    [row] = await bench.rows("SELECT count(*) AS n FROM relations WHERE type = 'supersedes'")
    assert row["n"] == 5
    assert store.clashes == 0


async def test_a_turnstile_serves_a_namespace_in_order_and_others_beside_it() -> None:
    turnstile = Turnstile()
    log: list[str] = []

    async def pass_(namespace: str, name: str) -> None:
        async with turnstile.passing(Namespace(namespace)):
            log.append(f"{name} in")
            await asyncio.sleep(0)
            log.append(f"{name} out")

    await asyncio.gather(pass_("a", "1"), pass_("a", "2"), pass_("b", "3"))
    assert [entry for entry in log if entry[0] != "3"] == ["1 in", "1 out", "2 in", "2 out"]
    assert log.index("3 in") < log.index("1 out")
    assert turnstile.waiting == 0


async def test_a_turnstile_is_free_after_a_failure_and_a_cancellation() -> None:
    turnstile = Turnstile()
    namespace = Namespace("a")
    with pytest.raises(ValueError, match="oops"):
        async with turnstile.passing(namespace):
            raise ValueError("oops")

    async def hold() -> None:
        async with turnstile.passing(namespace):
            await asyncio.Event().wait()

    holder = asyncio.ensure_future(hold())
    waiter = asyncio.ensure_future(hold())
    await asyncio.sleep(0)
    assert turnstile.waiting == 2
    waiter.cancel()
    holder.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    assert turnstile.waiting == 0
    async with turnstile.passing(namespace):
        assert turnstile.waiting == 1


async def test_undoing_a_removal_cannot_close_a_circle() -> None:
    bench = Bench()
    a, b, c = await items(bench, 3)
    await relate(bench, a, "blocks", b)
    removal = bench.caller()
    await remove_relation(bench.app, removal, source_id=a, type="blocks", target_id=b)
    await relate(bench, b, "blocks", c)
    await relate(bench, c, "blocks", a)
    with pytest.raises(Conflict) as caught:
        await undo(bench.app, bench.caller(), cause=removal.cause)
    assert caught.value.code == "cycle"
    await remove_relation(bench.app, bench.caller(), source_id=c, type="blocks", target_id=a)
    await undo(bench.app, bench.caller(), cause=removal.cause)
    assert (await bench.rows("SELECT count(*) AS n FROM relations")) == [{"n": 2}]


async def test_undoing_a_removal_of_what_may_go_round_brings_it_back() -> None:
    bench = Bench()
    a, b = await items(bench, 2)
    await relate(bench, a, "supports", b)
    removal = bench.caller()
    await remove_relation(bench.app, removal, source_id=a, type="supports", target_id=b)
    await relate(bench, b, "supports", a)
    await undo(bench.app, bench.caller(), cause=removal.cause)
    assert (await bench.rows("SELECT count(*) AS n FROM relations")) == [{"n": 2}]


async def test_undoing_a_turn_of_the_chain_turns_it_back() -> None:
    bench = Bench()
    await create_project(bench.app, bench.caller(), name="P")
    goals = [
        id_of(await set_active_objective(bench.app, bench.caller(), project="p", title=title))
        for title in ("A", "B", "C")
    ]
    turn = bench.caller()
    before = (await bench.tables())["relations"]
    await set_active_objective(bench.app, turn, project="p", item_id=goals[0])
    assert (await bench.tables())["relations"] != before
    await undo(bench.app, bench.caller(), cause=turn.cause)
    edges = [row[:4] for row in (await bench.tables())["relations"]]
    assert edges == [row[:4] for row in before]
