"""The boot pack: everything a new conversation loads, in the namespace's own day."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.app_settings import update_app_settings
from remembrancer.app.items.states import delete_items, set_item_state
from remembrancer.app.items.write import create_item, update_item
from remembrancer.app.library.boot import MESSAGES_MAX, PRECIOUS_MAX, memory_boot
from remembrancer.app.library.digest import set_digest
from remembrancer.app.library.glossary import set_glossary
from remembrancer.app.library.precious import add_precious
from remembrancer.app.messages import ingest_messages
from remembrancer.app.rebuild import rebuild
from remembrancer.core.errors import InvalidInput
from remembrancer.core.messages import Message
from remembrancer.core.values import HOUR_MS
from remembrancer.testing.stores import CountingStore, memory_store


async def boot(bench: Bench, **window: str) -> Any:
    return await memory_boot(bench.app, bench.caller(), **window)  # type: ignore[arg-type]


async def say(bench: Bench, text: str) -> None:
    await ingest_messages(bench.app, bench.caller(), [Message("user", text)])


async def test_pack_of_an_empty_namespace_has_every_part() -> None:
    bench = Bench()
    assert await boot(bench) == {
        "digest": None,
        "daily_log": None,
        "precious": [],
        "glossary": [],
        "longtail": [],
        "today_messages": [],
        "stats": {
            "today_raw_count": 0,
            "pending_candidates": 0,
            "memory_type_counts": {},
            "precious_total": 0,
        },
        "window": {
            "start": "2026-02-28T16:00:00Z",
            "end": "2026-03-01T12:00:00Z",
            "daily_date": "2026-02-28",
            "time_zone": "Asia/Singapore",
        },
    }


async def test_pack_shows_digest_precious_glossary_and_messages_oldest_first() -> None:
    bench = Bench()
    await set_digest(bench.app, bench.caller(), "喜欢喝茶")
    for text in ("第一句", "second"):
        await add_precious(bench.app, bench.caller(), text)
        await say(bench, text)
    await set_glossary(bench.app, bench.caller(), term="星星", definition="暗号")
    pack = await boot(bench)
    assert pack["digest"]["content"] == "喜欢喝茶"
    assert [one["content"] for one in pack["precious"]] == ["第一句", "second"]
    assert [one["term"] for one in pack["glossary"]] == ["星星"]
    assert [one["content"] for one in pack["today_messages"]] == ["第一句", "second"]
    assert pack["stats"]["today_raw_count"] == 2


@pytest.mark.parametrize(
    ("zone", "start", "daily_date"),
    [
        ("Asia/Shanghai", "2026-02-28T16:00:00Z", "2026-02-28"),
        ("UTC", "2026-03-01T00:00:00Z", "2026-02-28"),
        ("Pacific/Kiritimati", "2026-03-01T10:00:00Z", "2026-03-01"),
        ("America/Los_Angeles", "2026-03-01T08:00:00Z", "2026-02-28"),
    ],
)
async def test_day_is_the_one_of_the_namespace(zone: str, start: str, daily_date: str) -> None:
    bench = Bench()
    bench.runtime.advance(-2 * HOUR_MS + 1)  # just after midnight in Kiritimati
    await say(bench, "凌晨")
    bench.runtime.advance(2 * HOUR_MS)
    await update_app_settings(bench.app, bench.caller(), {"time_zone": zone})
    pack = await boot(bench)
    assert pack["window"]["start"] == start
    assert pack["window"]["daily_date"] == daily_date
    assert pack["stats"]["today_raw_count"] == 1


async def test_messages_of_yesterday_are_in_a_window_that_is_asked_for() -> None:
    bench = Bench()
    await say(bench, "昨天说的")
    bench.runtime.advance(24 * HOUR_MS)
    await say(bench, "今天说的")
    today = await boot(bench)
    assert [one["content"] for one in today["today_messages"]] == ["今天说的"]
    yesterday = await boot(bench, start="昨天", end="今天", daily_date="前天")
    assert [one["content"] for one in yesterday["today_messages"]] == ["昨天说的"]
    assert yesterday["window"]["daily_date"] == "2026-02-28"
    iso = await boot(bench, start="2026-03-01T00:00:00Z")
    assert iso["stats"]["today_raw_count"] == 2


@pytest.mark.parametrize(
    ("window", "field"),
    [
        ({"start": "whenever"}, "start"),
        ({"end": "改天"}, "end"),
        ({"daily_date": "2026-02-30"}, "daily_date"),
        ({"start": "今天", "end": "昨天"}, "end"),
    ],
)
async def test_wrong_window_is_refused_by_name(window: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await boot(Bench(), **window)
    assert caught.value.field == field


async def test_parts_are_bounded_and_the_counts_true() -> None:
    bench = Bench()
    for number in range(PRECIOUS_MAX + 1):
        await add_precious(bench.app, bench.caller(), f"话{number}")
    for first in (0, 81):
        messages = [Message("user", f"第{first + n}条") for n in range(81)]
        await ingest_messages(bench.app, bench.caller(), messages)
    pack = await boot(bench)
    assert len(pack["precious"]) == PRECIOUS_MAX
    assert pack["precious"][-1]["content"] == f"话{PRECIOUS_MAX}"
    assert len(pack["today_messages"]) == MESSAGES_MAX
    assert pack["today_messages"][-1]["content"] == "第161条"
    assert pack["stats"]["today_raw_count"] == 162
    assert pack["stats"]["precious_total"] == PRECIOUS_MAX + 1


async def test_long_message_is_cut_and_says_so() -> None:
    bench = Bench()
    await say(bench, "字" * 2_000)
    await say(bench, "字" * 2_001)
    first, second = (await boot(bench))["today_messages"]
    assert (first["is_cut"], first["chars"]) == (False, 2_000)
    assert (second["is_cut"], second["chars"], len(second["content"])) == (True, 2_001, 2_000)


async def test_type_counts_follow_every_change_and_a_rebuild() -> None:
    bench = Bench()
    app = bench.app

    async def make(title: str, **fields: Any) -> str:
        given = {"kind": "memory", "title": title, **fields}
        return id_of(await create_item(app, bench.caller(), given))  # type: ignore[arg-type]

    async def counts() -> Any:
        return (await boot(bench))["stats"]["memory_type_counts"]

    tea = await make("喜欢茶", type="preference")
    cat = await make("有一只猫", type="fact")
    await make("住在新加坡", type="fact")
    await create_item(app, bench.caller(), {"title": "买牛奶"})
    assert await counts() == {"fact": 2, "preference": 1}
    await update_item(app, bench.caller(), tea, {"type": "habit"})
    await set_item_state(app, bench.caller(), cat, "archived")
    assert await counts() == {"fact": 1, "habit": 1}
    await delete_items(app, bench.caller(), [tea])
    assert await counts() == {"fact": 1}
    await rebuild(app)
    assert await counts() == {"fact": 1}


async def test_pack_costs_two_round_trips_and_writes_nothing() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await boot(bench)
    assert (store.counts.reads, store.counts.writes) == (2, 0)
