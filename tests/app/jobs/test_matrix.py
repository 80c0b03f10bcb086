"""The whole matrix of faults: every job, every await, every statement, every word of the queue.

After recovery the result is that of the undisturbed run: no message unread, no fact twice, page and
digest written once. A handful runs always; the whole is marked `long`.
"""

from __future__ import annotations

import asyncio
import itertools
import random

import pytest
from tests.app.jobs.matrix import HOWS, MODEL_HOWS, MODELS, Fate, How
from tests.app.jobs.scenarios import SCENARIOS
from tests.builders import NAMESPACE

from remembrancer.app.jobs.catalogue import JOBS
from remembrancer.app.jobs.running import handle_message
from remembrancer.app.rebuild import rebuild
from remembrancer.ports.queue import JobMessage
from remembrancer.testing.faults import CrashPoint

EVERY = pytest.mark.parametrize("name", SCENARIOS)
OF_QUEUE = pytest.mark.parametrize("name", [n for n, one in SCENARIOS.items() if not one.asked])


def test_every_job_of_the_catalogue_has_a_scenario() -> None:
    assert {one.job for one in SCENARIOS.values()} == set(JOBS)


@EVERY
async def test_undisturbed_run_has_work_and_then_none(name: str) -> None:
    scenario = SCENARIOS[name]
    world = await scenario.world()
    before = await scenario.seen(world)
    expected = await scenario.expected()
    assert before != expected
    # A run with nothing new reads only: no write, no model, no word.
    world = await scenario.world()
    await scenario.settle(world)
    fate = Fate()
    answer = await scenario.visit(world, world.fated(fate))
    assert answer is not None and answer["status"] == "nothing"
    assert set(fate.log) <= {"sql.read"}


@EVERY
async def test_each_await_meets_one_of_the_faults(name: str) -> None:
    scenario = SCENARIOS[name]
    awaits = await scenario.awaits()
    for at in range(1, len(awaits) + 1):
        assert await scenario.disturbed(at, HOWS[at % len(HOWS)])


@pytest.mark.long
@EVERY
@pytest.mark.parametrize("how", HOWS)
async def test_every_await_meets_every_fault(name: str, how: How) -> None:
    scenario = SCENARIOS[name]
    awaits = await scenario.awaits()
    for at in itertools.count(1):
        if not await scenario.disturbed(at, how):
            break
    # Up to the last await of the undisturbed run, and no further.
    assert at == len(awaits) + 1


@EVERY
@pytest.mark.parametrize("how", MODEL_HOWS)
async def test_every_call_of_a_model_meets_what_only_models_do(name: str, how: How) -> None:
    scenario = SCENARIOS[name]
    calls = [
        at for at, call in enumerate(await scenario.awaits(), 1) if call.split(".")[0] in MODELS
    ]
    for at in calls:
        assert await scenario.disturbed(at, how)
    uses_model = scenario.script is not None or "embedder" in scenario.uses
    assert bool(calls) == uses_model


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in SCENARIOS if "rules" not in name])
async def test_crash_at_every_statement_of_every_batch(name: str) -> None:
    scenario = SCENARIOS[name]
    points = 0
    writes = itertools.count(1)
    # What is undone with its batch is the same behind a statement and before the next one.
    while await scenario.crashed(CrashPoint(0, "after", write := next(writes))):
        statements = itertools.count()
        while await scenario.crashed(CrashPoint(next(statements), "before", write)):
            points += 1
    awaits = await scenario.awaits()
    assert write == awaits.count("sql.write") + 1
    assert points > write


@OF_QUEUE
@pytest.mark.parametrize("order", ["first in", "last in", "shuffled"])
async def test_words_of_the_queue_twice_and_out_of_order(name: str, order: str) -> None:
    scenario = SCENARIOS[name]
    world = await scenario.world()
    world.bench.runtime.advance(scenario.wait_ms)
    chance = random.Random(name)
    waiting = [JobMessage(scenario.job, NAMESPACE)] * 2
    delivered = 0
    while waiting and delivered < 200:
        at = {"first in": 0, "last in": -1}.get(order, chance.randrange(len(waiting)))
        await handle_message(world.app, waiting.pop(at))
        delivered += 1
        # Every word comes twice; what is repeated of an empty queue does no harm.
        waiting += [word for word in world.queue.messages for _ in range(2)]
        world.queue.messages.clear()
    assert not waiting
    assert await scenario.settle(world) == await scenario.expected()


@OF_QUEUE
async def test_words_of_the_queue_at_the_same_time(name: str) -> None:
    scenario = SCENARIOS[name]
    world = await scenario.world()
    world.bench.runtime.advance(scenario.wait_ms)
    word = JobMessage(scenario.job, NAMESPACE)
    for _ in range(6):
        await asyncio.gather(*(handle_message(world.app, word) for _ in range(3)))
    assert await scenario.settle(world) == await scenario.expected()


@pytest.mark.long
@EVERY
@pytest.mark.parametrize("seed", range(6))
async def test_one_death_after_another(name: str, seed: int) -> None:
    scenario = SCENARIOS[name]
    world, chance = await scenario.world(), random.Random(seed)
    awaits = len(await scenario.awaits())
    for _ in range(5):
        world.bench.runtime.advance(scenario.wait_ms)
        fate = Fate(chance.randint(1, awaits), chance.choice(HOWS))
        await scenario.visit(world, world.fated(fate))
    assert await scenario.settle(world) == await scenario.expected()


@EVERY
async def test_what_a_job_leaves_survives_a_rebuild(name: str) -> None:
    scenario = SCENARIOS[name]
    world = await scenario.world()
    await scenario.settle(world)
    before = await world.bench.tables()
    await rebuild(world.app)
    assert await world.bench.tables() == before
