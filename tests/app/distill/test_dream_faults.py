"""A model that wants to delete everything, and taking a night back. Faults: `test_matrix`."""

from __future__ import annotations

import json

import pytest
from tests.app.distill.nightly import Distiller, counted, visible
from tests.app.distill.test_dream import memories_of, remember
from tests.app.jobs.scenarios import DREAM_SAID, KNOWN, tidying

from remembrancer.app.rebuild import rebuild
from remembrancer.app.undo import redo, undo
from remembrancer.app.verify import verify
from remembrancer.core.errors import UpstreamFailed
from remembrancer.core.values import DAY_MS
from remembrancer.ports.models import Prompt


async def seeded() -> Distiller:
    bench = Distiller(actor="agent:claude", script=tidying, given={"DREAM_MAX_MESSAGES": "1"})
    await remember(bench, *KNOWN)
    await bench.say(*DREAM_SAID)
    bench.runtime.advance(DAY_MS)
    return bench


async def test_undisturbed_night_does_one_of_everything() -> None:
    bench = await seeded()
    await bench.run("dream", force=False)
    found = await visible(bench)
    states = [str(row["state"]) for row in found["items"]]
    assert [states.count(name) for name in ("active", "superseded", "archived")] == [5, 1, 1]
    assert [row["kind"] for row in found["candidates"]] == ["retire"]
    assert [row["version"] for row in found["pages"]] == [1, 1]
    assert [row["version"] for row in found["digest"]] == [1]


@pytest.mark.parametrize("answer", ["I cannot do that.", "{}", "[1, 2]"])
async def test_refusal_leaves_everything_for_the_next_night(answer: str) -> None:
    bench = await seeded()
    bench.teach(answer)
    before = await bench.tables()
    with pytest.raises(UpstreamFailed):
        await bench.run("dream")
    assert await bench.tables() == before
    bench.teach(tidying)
    assert counted(await bench.run("dream"), "days") == 1


def deleting(prompt: Prompt) -> str:
    """A model that proposes to delete everything, each because of any other."""
    ids = memories_of(prompt)
    retire = [{"id": id_, "by": ids[n - 1], "reason": "old"} for n, id_ in enumerate(ids)]
    return json.dumps({"summary": "", "retire": [*retire, *ids], "memories_to_delete": ids})


@pytest.mark.parametrize(("count", "bound"), [(30, 5), (140, 7)])
async def test_model_that_deletes_everything_is_bounded_and_undone_exactly(
    count: int, bound: int
) -> None:
    bench = Distiller(
        actor="agent:claude", script=deleting, given={"DREAM_MEMORY_CONTEXT_LIMIT": "200"}
    )
    await remember(bench, *(f"My port number is {n + 1000}" for n in range(count)))
    await bench.say("my port number changed")
    before = await visible(bench)
    done = await bench.run("dream")
    assert counted(done, "retired") == bound
    assert len(await bench.texts()) == count - bound
    assert len(await bench.texts("archived")) == bound
    assert len(await bench.candidates()) == 24
    cause = str(done["run_id"])
    assert await bench.rows("SELECT DISTINCT cause FROM events WHERE actor = 'job:dream'") == [
        {"cause": cause}
    ]
    after = await visible(bench)
    taking = bench.caller(actor="user")
    await undo(bench.app, taking, cause=cause)
    undone = await visible(bench)
    for name in ("items", "candidates", "pages", "digest", "relations"):
        assert undone[name] == before[name], name
    assert (await verify(bench.app))["ok"]
    await redo(bench.app, bench.caller(actor="user"), cause=taking.cause)
    again = await visible(bench)
    assert again["items"] == after["items"]
    assert again["candidates"] == after["candidates"]


async def test_night_with_everything_is_taken_back_and_brought_again() -> None:
    bench = await seeded()
    before = await visible(bench)
    done = await bench.run("dream", force=False)
    taking = bench.caller(actor="user")
    await undo(bench.app, taking, cause=str(done["run_id"]))
    undone = await visible(bench)
    assert undone == before
    tables = await bench.tables()
    await rebuild(bench.app)
    assert await bench.tables() == tables
    assert (await verify(bench.app))["ok"]


async def test_bound_holds_for_all_days_of_one_run_together() -> None:
    bench = Distiller(
        actor="agent:claude", script=deleting, given={"DREAM_MEMORY_CONTEXT_LIMIT": "100"}
    )
    await remember(bench, *(f"My port number is {n + 1000}" for n in range(40)))
    for _ in range(3):
        await bench.say("my port number changed")
        bench.runtime.advance(DAY_MS)
    done = await bench.run("dream", force=False)
    assert (counted(done, "days"), counted(done, "retired")) == (3, 5)
