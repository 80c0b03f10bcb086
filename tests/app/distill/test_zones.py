"""A namespace that moves to another zone, and days on which clocks change: the diary has it all."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.app.distill.nightly import Distiller
from tests.app.distill.test_dream import dreaming, pages

from remembrancer.app.app_settings import update_app_settings
from remembrancer.core.values import DAY_MS, HOUR_MS


async def at(bench: Distiller, zone: str, moment: str) -> None:
    """Set the clock to a local time."""
    there = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
    bench.runtime.advance(int(there.timestamp() * 1_000) - bench.runtime.now_ms())


async def move(bench: Distiller, zone: str) -> None:
    await update_app_settings(bench.app, bench.caller(), {"time_zone": zone})


def shown(bench: Distiller) -> list[str]:
    """What the model was shown as said, in order."""
    assert bench.model is not None
    return [
        line.partition(" user: ")[2]
        for prompt in bench.model.asked
        for line in prompt.user.splitlines()
        if " user: " in line
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Asia/Shanghai", "America/New_York"),
        ("America/New_York", "Asia/Shanghai"),
        ("Asia/Kolkata", "Pacific/Auckland"),
        ("Pacific/Auckland", "Pacific/Honolulu"),
    ],
)
async def test_everything_said_around_a_move_is_in_the_diary_once(before: str, after: str) -> None:
    bench = Distiller(actor="agent:claude", script=dreaming())
    await move(bench, before)
    await at(bench, before, "2026-03-10T09:00")
    said: list[str] = []
    for hour in range(0, 72, 3):
        said.append(f"第{hour}个钟头写了一封信。")
        await bench.say(said[-1])
        bench.runtime.advance(3 * HOUR_MS - 1_000)
        await bench.run("dream", force=False)
        if hour == 36:
            await move(bench, after)
    bench.runtime.advance(3 * DAY_MS)
    await bench.run("dream", force=False)
    written = await pages(bench)
    whole = "\n".join(text for label, text in written.items() if len(label) == 10)
    missing = [text for text in said if text not in whole]
    assert missing == []
    assert sorted(shown(bench)) == sorted(said)
    assert (await bench.run("dream", force=False))["status"] == "nothing"


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("America/New_York", "2026-03-08"),
        ("America/New_York", "2026-11-01"),
        ("Pacific/Auckland", "2026-04-05"),
        ("Africa/Cairo", "2026-04-24"),
        ("America/Sao_Paulo", "2026-03-08"),
    ],
)
async def test_day_of_a_change_has_every_hour_of_its_own(zone: str, day: str) -> None:
    bench = Distiller(actor="agent:claude", script=dreaming())
    await move(bench, zone)
    await at(bench, zone, f"{day}T00:00")
    start = bench.runtime.now_ms()
    bench.runtime.advance(-HOUR_MS)
    said: dict[str, str] = {}
    for hour in range(27):
        local = datetime.fromtimestamp(bench.runtime.now_ms() / 1_000, ZoneInfo(zone))
        text = f"第{hour}个钟头写了一封信。"
        said[text] = local.date().isoformat()
        await bench.say(text)
        bench.runtime.advance(HOUR_MS - 1_000)
    assert start
    bench.runtime.advance(2 * DAY_MS)
    await bench.run("dream", force=False)
    written = await pages(bench)
    for text, date in said.items():
        assert [label for label in written if len(label) == 10 and text in written[label]] == [date]
