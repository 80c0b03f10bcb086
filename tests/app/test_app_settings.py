"""The namespace's settings, and due dates read aloud."""

from __future__ import annotations

import pytest
from tests.builders import Bench, item_of

from remembrancer.app.app_settings import get_app_settings, parse_due_date, update_app_settings
from remembrancer.app.items.states import update_task_state
from remembrancer.app.items.write import create_item, quick_capture
from remembrancer.app.undo import undo
from remembrancer.core.errors import InvalidInput
from remembrancer.core.settings.decide import DEFAULTS
from remembrancer.core.values import JSON
from remembrancer.testing.stores import CountingStore, memory_store

START: dict[str, JSON] = {
    "default_quick_add_priority": "medium",
    "default_capture_kind": "task",
    "default_upcoming_days": 7,
    "default_snooze_hours": 24,
    "time_zone": "Asia/Singapore",
}


async def test_settings_start_with_their_defaults_and_say_so() -> None:
    bench = Bench()
    answer = await get_app_settings(bench.app, bench.caller())
    assert answer == {
        "settings": START,
        "sources": dict.fromkeys(START, "default"),
        "defaults": START,
    }
    assert set(START) == set(DEFAULTS)
    assert await bench.rows("SELECT * FROM events") == []


VALUES: dict[str, list[JSON]] = {
    "default_quick_add_priority": ["low", "high"],
    "default_capture_kind": ["memory"],
    "default_upcoming_days": [1, 365],
    "default_snooze_hours": [1, 720],
    "time_zone": ["Europe/Zurich", "UTC", "Asia/Shanghai"],
}


@pytest.mark.parametrize("name", list(VALUES))
async def test_a_setting_is_changed_shown_and_set_back(name: str) -> None:
    bench = Bench()
    app = bench.app
    for value in VALUES[name]:
        answer = await update_app_settings(app, bench.caller(), {name: value})
        expected = {**START, name: value}
        assert (answer["settings"], answer["changed"]) == (expected, True)
        shown = await get_app_settings(app, bench.caller())
        assert shown["settings"] == expected
        assert shown["sources"] == {**dict.fromkeys(START, "default"), name: "namespace"}
    again = await update_app_settings(app, bench.caller(), {name: VALUES[name][-1]})
    assert again["changed"] is False
    back = await update_app_settings(app, bench.caller(), {name: None})
    assert back["settings"] == START and back["sources"] == dict.fromkeys(START, "default")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("default_quick_add_priority", "urgent"),
        ("default_quick_add_priority", 2),
        ("default_capture_kind", "idea"),
        ("default_upcoming_days", 0),
        ("default_upcoming_days", 366),
        ("default_upcoming_days", "7"),
        ("default_upcoming_days", True),
        ("default_upcoming_days", 7.5),
        ("default_snooze_hours", 0),
        ("default_snooze_hours", 721),
        ("time_zone", "Mars/Olympus"),
        ("time_zone", ""),
        ("time_zone", "../etc/passwd"),
        ("colour", "red"),
    ],
)
async def test_a_wrong_value_changes_nothing_and_names_the_setting(name: str, value: JSON) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await update_app_settings(
            bench.app, bench.caller(), {"default_snooze_hours": 3, name: value}
        )
    assert caught.value.field == name
    assert caught.value.hint
    assert (await get_app_settings(bench.app, bench.caller()))["settings"] == START


async def test_a_change_of_settings_is_an_event_and_can_be_undone() -> None:
    bench = Bench()
    change = bench.caller()
    await update_app_settings(bench.app, change, {"default_snooze_hours": 3, "time_zone": "UTC"})
    [row] = await bench.rows("SELECT stream, kind FROM events")
    assert tuple(row.values()) == ("settings", "SettingsChanged")
    await undo(bench.app, bench.caller(), cause=change.cause)
    assert (await get_app_settings(bench.app, bench.caller()))["settings"] == START


async def test_settings_of_another_namespace_are_its_own() -> None:
    bench = Bench()
    await update_app_settings(bench.app, bench.caller(), {"default_snooze_hours": 3})
    stranger = bench.caller(namespace="other")
    assert (await get_app_settings(bench.app, stranger))["settings"] == START


async def test_settings_rule_what_is_captured_and_snoozed() -> None:
    bench = Bench()
    app = bench.app
    await update_app_settings(
        app,
        bench.caller(),
        {
            "default_quick_add_priority": "high",
            "default_snooze_hours": 2,
            "time_zone": "Europe/Zurich",
        },
    )
    item = item_of(await create_item(app, bench.caller(), {"title": "t", "due": "明天下午三点"}))
    assert (item["priority"], item["due_at"]) == (3, "2026-03-02T14:00:00Z")
    snoozed = item_of(await update_task_state(app, bench.caller(), str(item["id"]), "snooze"))
    assert snoozed["snoozed_until"] == "2026-03-01T14:00:00Z"
    await update_app_settings(app, bench.caller(), {"default_capture_kind": "memory"})
    captured = item_of(await quick_capture(app, bench.caller(), "I like tea", {}))
    assert captured["kind"] == "memory"


DUE = {
    "iso day": ("2026-12-05", "2026-12-05T01:00:00Z", False),
    "iso time": ("2026-12-05T15:00", "2026-12-05T07:00:00Z", True),
    "iso instant": ("2026-12-05T15:00:00Z", "2026-12-05T15:00:00Z", True),
    "in days": ("in 3 days", "2026-03-04T01:00:00Z", False),
    "weekday": ("next friday", "2026-03-06T01:00:00Z", False),
    "tomorrow at": ("tomorrow 3pm", "2026-03-02T07:00:00Z", True),
    "Chinese weekday": ("下周五", "2026-03-06T01:00:00Z", False),
    "Chinese time": ("明天下午三点", "2026-03-02T07:00:00Z", True),
    "end of month": ("月底", "2026-03-31T09:00:00Z", False),
}


@pytest.mark.parametrize(("text", "due_at", "has_time"), list(DUE.values()), ids=list(DUE))
async def test_a_due_date_is_read_in_the_zone_of_the_namespace(
    text: str, due_at: str, has_time: bool
) -> None:
    bench = Bench()
    answer = await parse_due_date(bench.app, bench.caller(), text)
    assert (answer["matched"], answer["due_at"]) == (True, due_at)
    assert answer["has_time"] is has_time
    assert answer["time_zone"] == "Asia/Singapore"
    assert answer["normalized"]
    item = item_of(await create_item(bench.app, bench.caller(), {"title": "t", "due": text}))
    assert item["due_at"] == due_at


@pytest.mark.parametrize(
    "text", ["", "5", "room 12", "2026-02-30", "whenever", "改天再说", "x" * 500]
)
async def test_what_is_no_date_is_an_error_with_a_hint(text: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await parse_due_date(bench.app, bench.caller(), text)
    assert caught.value.code == "invalid_date"
    assert caught.value.hint


async def test_a_read_date_shows_the_local_clock_and_costs_one_round_trip() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    answer = await parse_due_date(bench.app, bench.caller(), "tomorrow 3pm")
    assert (answer["local"], answer["normalized"]) == ("2026-03-02 15:00", "tomorrow 3pm")
    assert (store.counts.reads, store.counts.writes) == (1, 0)
