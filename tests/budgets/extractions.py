"""What one batch of an extraction costs, its model's answer given: forty messages of one day."""

from __future__ import annotations

from tests.app.distill.nightly import Distiller, counted, echoing, facts
from tests.budgets.places import Place

from remembrancer.app.commit import Answer
from remembrancer.core.values import DAY_MS

MESSAGES = 40
"""Messages of one batch."""


async def _batch(place: Place, *, finds: bool) -> Answer:
    bench = Distiller(
        actor="agent:claude",
        runtime=place.bench.runtime,
        sql=place.bench.sql,
        given={"EXTRACT_MAX_RUNS": "1"},
    )
    bench.runtime.advance(DAY_MS)
    bench.teach(facts())
    while counted(await bench.run(), "messages"):
        pass  # what other operations have said comes first
    bench.teach(echoing if finds else facts())
    words = "cycled" if finds else "walked"
    await bench.say(*(f"I {words} to the town number {n} last week 去年" for n in range(MESSAGES)))
    place.start()
    done = await bench.run()
    assert counted(done, "created") == (MESSAGES if finds else 0), done
    return done


async def finding_facts(place: Place) -> Answer:
    return await _batch(place, finds=True)


async def finding_none(place: Place) -> Answer:
    return await _batch(place, finds=False)
