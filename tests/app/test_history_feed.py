"""The feed of a namespace's events, and of one stream: newest first, page by page, each once."""

from __future__ import annotations

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.history import history
from remembrancer.app.items.write import quick_capture, update_item
from remembrancer.core.ids import Namespace
from remembrancer.core.values import HOUR_MS


async def written() -> tuple[Bench, str]:
    """Seven events of two items, three of them at the same moment."""
    bench = Bench()
    first = id_of(await quick_capture(bench.app, bench.caller(), "写周报 #工作", {}))
    await quick_capture(bench.app, bench.caller(), "call Anna +garden", {})
    for number in range(4):
        bench.runtime.advance(HOUR_MS)
        await update_item(bench.app, bench.caller(), first, {"title": f"写周报 {number}"})
    return bench, first


async def pages(bench: Bench, limit: int, **options: str) -> list[int]:
    """Positions of all pages, in the order in which they come."""
    positions: list[int] = []
    cursor: str | None = None
    while True:
        answer = await history(bench.app, bench.caller(), limit=limit, cursor=cursor, **options)
        events = answer["events"]
        assert isinstance(events, list) and len(events) <= limit
        positions += [int(str(event["position"])) for event in events if isinstance(event, dict)]
        if answer["next_cursor"] is None:
            return positions
        cursor = str(answer["next_cursor"])


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_feed_shows_every_event_once_newest_first(limit: int) -> None:
    bench, _ = await written()
    assert await pages(bench, limit) == [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("limit", [1, 2, 50])
async def test_feed_of_a_stream_shows_its_events_alone(limit: int) -> None:
    bench, item_id = await written()
    assert await pages(bench, limit, stream=f"item/{item_id}") == [7, 6, 5, 4, 1]


async def test_feed_goes_by_time_where_two_writers_overlapped() -> None:
    bench, item_id = await written()
    bench.runtime.advance(-2 * HOUR_MS)
    await update_item(bench.app, bench.caller(), item_id, {"title": "late to arrive 迟到"})
    assert await pages(bench, 2) == [7, 6, 8, 5, 4, 3, 2, 1]


async def test_feed_of_another_namespace_is_empty() -> None:
    bench, _ = await written()
    stranger = bench.caller(namespace=Namespace("other"))
    answer = await history(bench.app, stranger, cursor="5")
    assert answer["events"] == [] and answer["next_cursor"] is None


@pytest.mark.parametrize("limit", [1, 50])
async def test_feed_of_a_cause_shows_what_one_command_did(limit: int) -> None:
    bench, _ = await written()
    first = (await history(bench.app, bench.caller(), limit=1))["events"]
    assert isinstance(first, list) and isinstance(first[0], dict)
    cause = str(first[0]["cause"])
    assert await pages(bench, limit, cause=cause) == [7]
    grown = await history(bench.app, bench.caller(), cursor="3", limit=1)
    assert isinstance(grown["events"], list) and isinstance(grown["events"][0], dict)
    captured = str(grown["events"][0]["cause"])
    assert await pages(bench, limit, cause=captured) == [3, 2]
    assert await pages(bench, limit, cause="req_nothing") == []


async def test_feed_says_nothing_about_when_another_namespace_wrote() -> None:
    bench = Bench()
    await quick_capture(bench.app, bench.caller(), "mine", {})
    bench.runtime.advance(HOUR_MS)
    other = bench.caller(namespace=Namespace("other"))
    await quick_capture(bench.app, other, "theirs", {})
    [row] = await bench.rows("SELECT max(position) AS last FROM events")
    answer = await history(bench.app, bench.caller(), cursor=str(row["last"]))
    assert answer["events"] == []
