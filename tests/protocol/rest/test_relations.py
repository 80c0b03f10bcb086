"""REST of relations, history, settings, dates and the operator's work."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.protocol.rest.talk import settle, talk


async def test_relation_is_added_listed_on_both_sides_and_removed() -> None:
    async with talk() as one:
        a, b = await one.make("甲"), await one.make("乙")
        body = {
            "source_item_id": a,
            "relationship_type": "supports",
            "target_item_id": b,
            "confidence": 0.5,
            "reason": "因为",
        }
        made = await one.send("POST", "/v1/relations", json=body)
        again = await one.send("POST", "/v1/relations", json=body)
        out = await one.ask("GET", f"/v1/items/{a}/relations")
        back = (await one.ask("GET", f"/v1/items/{b}"))["relations"]
        edge = {"source_id": a, "type": "supports", "target_id": b}
        removed = await one.ask("DELETE", "/v1/relations", params=edge)
        await one.refuse("DELETE", "/v1/relations", params=edge, status=404, code="not_found")
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json()["relation"] == again.json()["relation"]
    assert out["relations"][0]["direction"] == "out"
    assert (back[0]["direction"], back[0]["title"], back[0]["reason"]) == ("in", "甲", "因为")
    assert removed["removed"] is True


@pytest.mark.parametrize("type_", ["blocks", "depends_on", "supersedes"])
async def test_relation_that_closes_a_circle_is_refused(type_: str) -> None:
    async with talk() as one:
        ids = [await one.make(title) for title in "甲乙丙"]
        for source, target in pairwise(ids):
            body = {"source_id": source, "type": type_, "target_id": target}
            await one.ask("POST", "/v1/relations", body)
        before = await one.tables()
        closing = {"source_id": ids[2], "type": type_, "target_id": ids[0]}
        await one.refuse("POST", "/v1/relations", closing, status=409, code="cycle")
        assert await one.tables() == before


async def test_history_shows_diffs_and_pages_without_doubles_while_others_write() -> None:
    async with talk() as one:
        world = await settle(one)
        seen: list[int] = []
        params: dict[str, str] = {"limit": "3"}
        while True:
            page = await one.ask("GET", "/v1/history", params=params)
            seen += [event["position"] for event in page["events"]]
            if page["next_cursor"] is None:
                break
            params["cursor"] = page["next_cursor"]
            await one.make("more")
        own = await one.ask("GET", f"/v1/items/{world.gone}/history?limit=1")
        older = await one.ask(
            "GET", f"/v1/items/{world.gone}/history", params={"cursor": own["next_cursor"]}
        )
        stream = await one.ask("GET", f"/v1/history?stream=item/{world.gone}")
    assert seen == sorted(set(seen), reverse=True)
    assert seen[-1] == 1
    changes = {change["field"]: change for change in own["events"][0]["changes"]}
    assert changes["state"]["after"] == "deleted"
    assert [event["kind"] for event in older["events"]] == ["ItemCreated"]
    assert len(stream["events"]) == 2


async def test_change_is_undone_and_redone_by_item_cause_and_position() -> None:
    async with talk() as one:
        item_id = await one.make("旧")
        url = f"/v1/items/{item_id}"
        await one.ask("PATCH", url, {"title": "新"})
        undone = await one.send("POST", f"{url}/undo")
        redone = await one.ask("POST", f"{url}/redo")
        event = (await one.ask("GET", f"{url}/history"))["events"][-2]
        await one.refuse("POST", "/v1/redo", {"cause": event["cause"]}, status=409, code="conflict")
        by_cause = await one.ask("POST", "/v1/undo", {"cause": event["cause"]})
        by_position = await one.ask("POST", "/v1/undo", {"position": 1})
    assert undone.json()["item"]["title"] == "旧"
    assert undone.headers["etag"] == '"3"'
    assert redone["item"]["title"] == "新"
    assert by_cause["item"]["title"] == "旧"
    assert by_position["item"]["state"] == "deleted"


async def test_undo_that_others_stand_in_the_way_of_names_them() -> None:
    async with talk() as one:
        url = f"/v1/items/{await one.make('一')}"
        await one.ask("PATCH", url, {"title": "二"})
        await one.ask("PATCH", url, {"title": "三"})
        before = await one.tables()
        error = await one.refuse("POST", "/v1/undo", {"position": 2}, status=409, code="conflict")
        assert await one.tables() == before
    assert "title" in error["message"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/undo", {}, 400, "invalid_input"),
        ("/v1/undo", {"cause": "req_1", "position": 1}, 400, "invalid_input"),
        ("/v1/undo", {"position": 0}, 400, "invalid_input"),
        ("/v1/undo", {"position": 999}, 404, "not_found"),
        ("/v1/undo", {"cause": "req_none"}, 404, "not_found"),
        ("/v1/redo", {}, 400, "invalid_input"),
        ("/v1/redo", {"cause": "没有"}, 404, "not_found"),
        ("/v1/items/itm_none/undo", {}, 404, "not_found"),
        ("/v1/items/itm_none/redo", {}, 404, "not_found"),
    ],
)
async def test_undo_of_nothing_is_refused(
    path: str, body: dict[str, Any], status: int, code: str
) -> None:
    async with talk() as one:
        await one.refuse("POST", path, body, status=status, code=code)


async def test_settings_are_changed_and_set_back() -> None:
    async with talk() as one:
        body = {"default_snooze_hours": 5, "time_zone": "America/New_York"}
        changed = await one.ask("PATCH", "/v1/settings", body)
        shown = await one.ask("GET", "/v1/settings")
        date = await one.ask("POST", "/v1/dates/parse", {"input": "明天下午三点"})
        back = await one.ask("PATCH", "/v1/settings", dict.fromkeys(body))
        same = await one.ask("PATCH", "/v1/settings", {})
    assert changed["changed"] is True
    assert shown["settings"] == changed["settings"]
    assert shown["settings"]["default_snooze_hours"] == 5
    assert shown["sources"]["time_zone"] == "namespace"
    assert date["due_at"] == "2026-03-02T20:00:00Z"
    assert back["settings"]["default_snooze_hours"] == 24
    assert same["changed"] is False


@pytest.mark.parametrize(
    "body",
    [
        {"time_zone": "Mars/Olympus"},
        {"time_zone": 8},
        {"default_upcoming_days": 0},
        {"default_upcoming_days": 366},
        {"default_snooze_hours": True},
        {"default_capture_kind": "idea"},
        {"default_quick_add_priority": "urgent"},
        {"colour": "red"},
    ],
    ids=repr,
)
async def test_setting_with_a_wrong_value_is_refused_whole(body: dict[str, Any]) -> None:
    async with talk() as one:
        before = await one.tables()
        both = {"default_snooze_hours": 5, **body}
        await one.refuse("PATCH", "/v1/settings", both, code="invalid_input")
        assert await one.tables() == before


async def test_ledger_is_verified_and_rebuilt_by_the_operator_alone() -> None:
    async with talk() as one:
        await settle(one)
        verified = await one.ask("POST", "/v1/admin/verify")
        everywhere = await one.ask("POST", "/v1/admin/verify", {"all_namespaces": True})
        before = await one.tables()
        dry = await one.ask("POST", "/v1/admin/rebuild", {"dry_run": True})
        done = await one.ask("POST", "/v1/admin/rebuild", {})
        assert await one.tables() == before
        for path in ("verify", "rebuild"):
            await one.refuse(
                "POST",
                f"/v1/admin/{path}",
                {},
                headers={"authorization": "Bearer sk-im"},
                status=403,
                code="forbidden",
            )
    assert verified["ok"] is True
    assert verified["events"] == everywhere["events"] == dry["events"] == done["events"]
