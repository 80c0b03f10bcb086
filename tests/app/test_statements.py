"""No request sends more statements than the free plan lets one, however much it is asked to do.

What works on a bounded, small number of things is held by the budgets; here is each thing that a
request may name many of, at its limit and on a store where all of them differ. Import, export,
verify and rebuild have tests of their own, as jobs have.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.app.candidates.test_queue import waiting
from tests.builders import NAMESPACE, Bench, id_of
from tests.rival import Rival
from tests.seeding import Seeded, seed

from remembrancer.app.candidates.decide import decide_candidates
from remembrancer.app.consolidation import consolidate_memories, find_consolidation_candidates
from remembrancer.app.forget import forget_item
from remembrancer.app.history import item_history
from remembrancer.app.items.read import get_item
from remembrancer.app.items.states import delete_items, restore_item
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.memories.read import export_memories
from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.messages import ingest_messages
from remembrancer.app.objectives import set_active_objective
from remembrancer.app.projects import delete_project
from remembrancer.app.relations import supersede_items
from remembrancer.app.state import App
from remembrancer.app.topics import delete_topic
from remembrancer.app.undo import redo, undo
from remembrancer.core import limits
from remembrancer.core.errors import Conflict
from remembrancer.core.messages import Message
from remembrancer.core.values import Idempotency
from remembrancer.testing.stores import memory_store

STATEMENTS_MAX = limits.SQL_BATCH_STATEMENTS_MAX - 2
"""Of those that a request may send, two are for whoever asks: its key, and that it was used."""


class Counted:
    """A large store, and what one request on it sends."""

    def __init__(self, seeded: Seeded, sql: Rival) -> None:
        self.seeded = seeded
        self.counting = sql
        self.bench = Bench(sql=sql, causes=itertools.count(1_000_000))

    @property
    def app(self) -> App:
        """As a request on the platform has it."""
        return replace(self.bench.app, request_pieces=1).serving(None)

    async def sends_few(self, work: Awaitable[Any]) -> Any:
        self.counting.counts.reset()
        answer = await work
        assert self.counting.counts.statements <= STATEMENTS_MAX, self.counting.counts.statements
        return answer

    async def is_overtaken(self, clashes: int, work: Awaitable[Any]) -> bool:
        """Do something while somebody else is faster; tell whether it is to be repeated."""
        self.counting.counts.reset()
        self.counting.clashes = clashes
        try:
            await work
        except Conflict as refused:
            assert refused.hint == "read again and repeat"
            return True
        finally:
            self.counting.clashes = 0
            assert self.counting.counts.statements <= STATEMENTS_MAX
        return False


@pytest.fixture
def large() -> Counted:
    sql = memory_store()
    seeded = asyncio.run(seed(sql, 1_000))
    return Counted(seeded, Rival(sql))


async def differing(large: Counted, count: int) -> list[str]:
    """Items of which no two have changed in the same fields, some of them goals of projects."""
    chance = Random(7)
    ids: list[str] = []
    for number in range(count):
        bench = large.bench
        given: Any = {"title": f"任务 {number} task", "tags": [f"t{number}", "工作"]}
        given |= {"project_name": f"项目 {number}"} if number < 40 else {}
        made = id_of(await create_item(bench.app, bench.caller(), given))
        changes: Any = {
            "due": "2027-01-01",
            "pinned": True,
            "startup_priority": 9,
            "summary": "短",
            "snoozed_until": "2027-02-01",
        }
        chosen: Any = {name: changes[name] for name in changes if chance.random() < 0.5}
        if chosen:
            await update_item(bench.app, bench.caller(), made, chosen)
        ids.append(made)
    for number in range(40):
        project = f"项目-{number}"
        await set_active_objective(
            large.bench.app, large.bench.caller(), project=project, item_id=ids[number]
        )
    return ids


Act = Callable[[Counted, list[str], Any], Awaitable[Any]]

BULK: dict[str, Act] = {
    "delete_items": lambda large, ids, caller: delete_items(large.app, caller, ids),
    "supersede_items": lambda large, ids, caller: supersede_items(
        large.app, caller, source_item_id=ids[-1], target_item_ids=ids[:-1], reason="旧"
    ),
    "consolidate_memories": lambda large, ids, caller: consolidate_memories(
        large.app,
        caller,
        source_item_id=ids[-1],
        target_item_ids=ids[:-1],
        relationship_type="duplicate_of",
        reason="同",
    ),
}


@pytest.mark.parametrize("name", BULK)
async def test_hundred_items_of_one_call_and_taking_it_back(large: Counted, name: str) -> None:
    ids = await differing(large, limits.BULK_ITEMS_MAX)
    caller = large.bench.caller(idempotency=Idempotency("once", "hash"))
    await large.sends_few(BULK[name](large, ids, caller))
    taker = large.bench.caller()
    await large.sends_few(undo(large.app, taker, cause=caller.cause))
    await large.sends_few(redo(large.app, large.bench.caller(), cause=taker.cause))


@pytest.mark.parametrize("clashes", [1, 2, 3])
@pytest.mark.parametrize("name", BULK)
async def test_hundred_items_while_others_are_faster(
    large: Counted, name: str, clashes: int
) -> None:
    ids = await differing(large, limits.BULK_ITEMS_MAX)
    caller = large.bench.caller(idempotency=Idempotency("once", "hash"))
    before = await large.bench.tables()
    states = await large.bench.rows("SELECT id, state FROM items ORDER BY id")
    if await large.is_overtaken(clashes, BULK[name](large, ids, caller)):
        assert await large.bench.tables() == before
        await large.sends_few(BULK[name](large, ids, caller))
    taker = large.bench.caller()
    if await large.is_overtaken(clashes, undo(large.app, taker, cause=caller.cause)):
        await large.sends_few(undo(large.app, taker, cause=caller.cause))
    assert await large.bench.rows("SELECT id, state FROM items ORDER BY id") == states


@pytest.mark.parametrize("clashes", [1, 2, 3])
async def test_small_command_is_tried_three_times(large: Counted, clashes: int) -> None:
    project = next(iter(large.seeded.projects))
    given: Any = {"title": "买牛奶", "project": project, "tags": ["a"], "due": "明天"}
    is_refused = await large.is_overtaken(
        clashes, create_item(large.app, large.bench.caller(), given)
    )
    assert is_refused is (clashes == 3)


async def test_large_command_is_tried_as_often_as_ever_where_nothing_is_bounded(
    large: Counted,
) -> None:
    ids = await differing(large, limits.BULK_ITEMS_MAX)
    large.counting.clashes = 2
    await delete_items(large.bench.app.serving(None), large.bench.caller(), ids)
    assert large.counting.clashes == 0
    assert large.counting.counts.statements > STATEMENTS_MAX


async def test_many_edits_of_one_item_by_one_command_are_taken_back(large: Counted) -> None:
    bench = large.bench
    [item_id] = large.seeded.items[7:8]
    before = await bench.rows("SELECT * FROM items WHERE id = ?", item_id)
    caller = bench.caller()
    for number in range(60):
        changes: Any = {"title": f"第 {number} 版", "pinned": number % 2 == 0}
        await update_item(bench.app, caller, item_id, changes | {"tags": [f"t{number}"]})
    taker = bench.caller()
    answer = await large.sends_few(undo(large.app, taker, cause=caller.cause))
    assert len(answer["undone"]) == 60
    [restored] = await bench.rows("SELECT * FROM items WHERE id = ?", item_id)
    moved = ("version", "position", "updated_at")
    assert all(restored[name] == value for name, value in before[0].items() if name not in moved)
    shown = await get_item(bench.app, bench.caller(), item_id, as_of=str(restored["position"]))
    assert shown["item"]["title"] == restored["title"]  # type: ignore[index,call-overload] # JSON
    twins = "SELECT count(*) AS n FROM item_versions WHERE id = ?"
    versions = await bench.rows("SELECT version AS n FROM items WHERE id = ?", item_id)
    assert await bench.rows(twins, item_id) == versions
    await large.sends_few(redo(large.app, bench.caller(), cause=taker.cause))
    [again] = await bench.rows("SELECT title FROM items WHERE id = ?", item_id)
    assert again["title"] == "第 59 版"


async def test_messages_that_ask_to_remember_more_than_one_call_saves(large: Counted) -> None:
    for again in (False, True):
        messages = [
            Message(
                "user", f"请记住：{n} 号柜子的密码是 {n * 37}。Remember that door {n} is {n * 7}."
            )
            for n in range(limits.MESSAGES_MAX)
        ]
        if again:  # other messages, the same statements
            messages = [replace(one, content=one.content + " ok") for one in messages]
        caller = large.bench.caller(idempotency=Idempotency(f"once{again}", "hash"))
        answer = await large.sends_few(ingest_messages(large.app, caller, messages))
        assert len(answer["saved"]) == 20
        assert answer["deferred"] >= 80
        assert {one["outcome"] for one in answer["saved"]} == {"seen" if again else "created"}
        assert answer["stored"] == limits.MESSAGES_MAX


async def test_decisions_of_one_call_are_taken_as_far_as_one_request_goes(large: Counted) -> None:
    bench = large.bench
    ids = []
    for n in range(9):
        key = f"p:city{n}"
        new = NewMemory(f"住在里斯本 {n}", {"fact_key": key})
        await save_memory(bench.app, bench.caller(), new)
        ids.append(await waiting(bench, f"住在第 {n} 个城市 city", fact_key=key, tags=(f"t{n}",)))
    olds = [
        str((await create_item(bench.app, bench.caller(), {"title": f"like {n}", "kind": "memory"}))
            ["item"]["id"])  # type: ignore[index,call-overload]  # an item's JSON
        for n in range(4)
    ]  # fmt: skip
    ids += [await waiting(bench, "b", kind="conflict", target_ids=tuple(olds[:2]))]
    ids += [await waiting(bench, "both", kind="merge", target_ids=tuple(olds[2:]))]
    left: list[Any] = [(id_, "approve", {}) for id_ in ids]
    rounds = 0
    while left:
        caller = large.bench.caller(idempotency=Idempotency(f"round{rounds}", "hash"))
        answer = await large.sends_few(decide_candidates(large.app, caller, left))
        assert answer["failed"] == 0 and answer["decided"] > 0
        assert answer["left"] == [id_ for id_, _, _ in left[answer["decided"] :]]
        left = left[answer["decided"] :]
        rounds += 1
    assert rounds <= len(ids)


async def test_forgetting_what_is_in_many_places(large: Counted) -> None:
    bench = large.bench
    text = "绝密的句子 top secret phrase 4711"
    made = await create_item(
        bench.app,
        bench.caller(),
        {"title": text, "content": text * 900, "kind": "memory", "tags": ["秘密"]},
    )
    item_id = id_of(made)
    for number in range(10):
        await update_item(bench.app, bench.caller(), item_id, {"title": f"{text} {number}"})
    said = [Message("user", f"{n}: {text}。" + "话" * 2_000) for n in range(60)]
    await ingest_messages(bench.app, bench.caller(), said)
    for number in range(10):
        await waiting(bench, f"{number} {text}", target_ids=(item_id,))
    for number in range(8):
        newer = id_of(await create_item(bench.app, bench.caller(), {"title": f"newer {number}"}))
        await supersede_items(
            bench.app, bench.caller(), source_item_id=newer, target_item_ids=[item_id], reason=text
        )
    answer = await large.sends_few(item_history(large.app, bench.caller(), item_id))
    assert answer
    answer = await large.sends_few(forget_item(large.app, bench.caller(), item_id))
    assert answer["messages_redacted"] == 60
    left = "SELECT 1 FROM messages WHERE instr(content, '绝密的句子') > 0"
    assert await bench.rows(left) == []


async def test_item_with_a_long_history_is_restored_and_taken_back(large: Counted) -> None:
    bench = large.bench
    [item_id] = large.seeded.items[5:6]
    for number in range(40):
        await update_item(bench.app, bench.caller(), item_id, {"title": f"第 {number} 版"})
    await delete_items(bench.app, bench.caller(), [item_id])
    await large.sends_few(restore_item(large.app, bench.caller(), item_id))
    await large.sends_few(undo(large.app, bench.caller(), item_id=item_id))


async def test_projects_and_topics_with_hundreds_of_items_and_whole_lists(large: Counted) -> None:
    bench = large.bench
    project, topic = next(iter(large.seeded.projects)), list(large.seeded.topics)[3]
    await large.sends_few(delete_project(large.app, bench.caller(), project))
    await large.sends_few(delete_topic(large.app, bench.caller(), topic))
    await large.sends_few(find_consolidation_candidates(large.app, bench.caller()))
    await large.sends_few(
        export_memories(large.app, bench.caller(scopes=frozenset({"export:read"})))
    )
    assert bench.caller().namespace == NAMESPACE
