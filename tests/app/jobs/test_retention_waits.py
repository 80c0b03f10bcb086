"""Retention waits for the nights as it does for extraction, and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, facts
from tests.app.distill.test_dream import dreaming, pages
from tests.app.jobs.test_retention import clean
from tests.builders import NAMESPACE

from remembrancer.app.health import check_health
from remembrancer.app.jobs import health as limits
from remembrancer.app.jobs.listing import pause_job
from remembrancer.app.jobs.preview import preview_retention
from remembrancer.app.jobs.running import run_job
from remembrancer.app.settings import load_settings
from remembrancer.core.errors import UpstreamFailed
from remembrancer.core.values import DAY_MS, HOUR_MS
from remembrancer.ports.models import Prompt
from remembrancer.ports.sql import Statement

NIGHTS = {"DREAM_MODEL": "custom/night"}


def sleepless(prompt: Prompt) -> str:
    """Models of which only that of the nights is away."""
    if prompt.model == NIGHTS["DREAM_MODEL"]:
        raise UpstreamFailed("away at night")
    return facts()


async def left(bench: Distiller) -> list[str]:
    rows = await bench.rows("SELECT content FROM messages ORDER BY created_at")
    return [str(row["content"]) for row in rows]


async def months_without_nights() -> Distiller:
    bench = Distiller(script=sleepless, given=NIGHTS)
    await bench.say("今天跑了10公里。")
    for _ in range(20):
        bench.runtime.advance(DAY_MS)
        await run_job(bench.app, "extract", NAMESPACE, trigger="cron")
        await run_job(bench.app, "dream", NAMESPACE, trigger="cron")
    return bench


async def shown(bench: Distiller, days: int = 7) -> dict[str, Any]:
    return await preview_retention(bench.app, bench.caller(), days=days)


async def test_message_stays_while_nights_fail_and_goes_behind_the_first_good_one() -> None:
    bench = await months_without_nights()
    assert await clean(bench) == {"is": "nothing"}
    answer = await shown(bench)
    assert answer["messages_waiting"] == 1
    assert (answer["messages_dreamt_to"], answer["counts"]["messages"]) == (None, 0)
    assert answer["messages_passed_to"] == "2026-03-01T12:00:00Z"

    bench.teach(dreaming())
    await run_job(bench.app, "dream", NAMESPACE, trigger="cron")
    assert "10公里" in (await pages(bench))["2026-03-01"]
    answer = await shown(bench)
    assert (answer["messages_waiting"], answer["counts"]["messages"]) == (0, 1)
    assert answer["messages_dreamt_to"] == "2026-03-01T16:00:00Z"
    assert (await clean(bench))["messages"] == 1
    assert await left(bench) == []


async def test_health_says_that_messages_wait_for_the_night_from_the_first_one_on() -> None:
    bench = Distiller(script=sleepless, given=NIGHTS)
    await bench.say("今天跑了10公里。", step_ms=0)
    bench.runtime.advance(30 * HOUR_MS)
    for name in ("extract", "dream"):
        await run_job(bench.app, name, NAMESPACE, trigger="cron")
    bench.runtime.advance(limits.UNDREAMT_MS_MAX - 30 * HOUR_MS)
    behind = "the nights are behind: a message waits for 50 hours"
    assert behind not in (await check_health(bench.app)).reasons
    bench.runtime.advance(1)
    found = await check_health(bench.app)
    assert behind in found.reasons
    assert found.details["jobs"]["oldest_undreamt_s"] == 50 * 3_600  # type: ignore[index,call-overload]  # an object
    # What waits is no delay of retention.
    bench.runtime.advance(30 * DAY_MS)
    assert not [one for one in (await check_health(bench.app)).reasons if "retention" in one]
    bench.teach(dreaming())
    await run_job(bench.app, "dream", NAMESPACE, trigger="cron")
    reasons = (await check_health(bench.app)).reasons
    assert [one.split(":")[0] for one in reasons] == ["retention is behind"]


async def test_paused_nights_are_waited_for_as_well() -> None:
    bench = Distiller(script=sleepless, given=NIGHTS)
    await pause_job(bench.app, bench.caller(), "dream")
    await bench.say("今天跑了10公里。")
    bench.runtime.advance(20 * DAY_MS)
    await bench.run()
    assert await clean(bench) == {"is": "nothing"}
    assert "the nights are behind" in " ".join((await check_health(bench.app)).reasons)


async def test_nights_are_waited_for_where_nothing_is_extracted() -> None:
    bench = await months_without_nights()
    app = replace(bench.app, settings=load_settings({"ENABLE_AUTO_MEMORY": "false"}))
    assert await clean(bench, app) == {"is": "nothing"}


async def test_where_nights_never_began_messages_do_not_wait_for_them() -> None:
    bench = Distiller(script=sleepless, given=NIGHTS)
    await bench.say("今天跑了10公里。")
    bench.runtime.advance(20 * DAY_MS)
    await bench.run()
    assert (await shown(bench))["messages_waiting"] == 0
    assert await clean(bench) == {"messages": 1, "is": "done"}


async def test_message_of_the_next_day_stays_until_its_night() -> None:
    bench = Distiller(script=dreaming())
    await bench.say("今天跑了10公里。")
    bench.runtime.advance(DAY_MS)
    await bench.say("今天跑了12公里。")
    await bench.run("dream", force=False)
    bench.teach(sleepless)
    bench.runtime.advance(20 * DAY_MS)
    await bench.run()
    assert await clean(bench) == {"messages": 1, "is": "done"}
    assert await left(bench) == ["今天跑了12公里。"]


async def test_night_that_was_left_half_way_goes_on_after_weeks() -> None:
    bench = Distiller(script=dreaming(), given={"DREAM_MAX_MESSAGES": "1", "DREAM_MAX_RUNS": "1"})
    await bench.say("今天跑了10公里。", "晚上吃了火锅。")
    bench.runtime.advance(DAY_MS)
    await bench.run("dream", force=False)
    bench.teach(facts())
    await bench.run()
    bench.runtime.advance(60 * DAY_MS)
    assert "messages" not in await clean(bench)
    bench.teach(dreaming())
    while (await bench.run("dream", force=False))["status"] != "nothing":
        pass
    page = (await pages(bench))["2026-03-01"]
    assert page.count("## 片段") == 2
    assert "火锅" in page


async def test_run_of_retention_tells_what_waits() -> None:
    bench = await months_without_nights()
    sql = "INSERT INTO idempotency VALUES (?, 'k', 'h', '{}', 0, 'c')"
    await bench.sql.write([Statement(sql, (NAMESPACE,))])
    answer: Any = await run_job(bench.app, "retention", NAMESPACE, trigger="cron")
    assert answer["details"] == {"messages_waiting": 1}
    assert answer["counts"]["idempotency"] == 1


@pytest.mark.parametrize("count", [0, 1])
async def test_nothing_that_waits_is_no_word(count: int) -> None:
    bench = Distiller(script=dreaming())
    await bench.say(*["今天跑了10公里。"] * count)
    assert (await shown(bench))["messages_waiting"] == 0
