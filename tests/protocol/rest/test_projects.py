"""REST of projects and topics: Chinese slugs, upserts, versions, objectives, canonical items."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from tests.protocol.rest.talk import settle, talk

AREAS = pytest.mark.parametrize(
    ("area", "key"), [("projects", "project"), ("topics", "topic")], ids=["projects", "topics"]
)


@AREAS
async def test_owner_with_a_chinese_name_is_made_shown_renamed_and_deleted(
    area: str, key: str
) -> None:
    async with talk() as one:
        made = await one.send(
            "POST", f"/v1/{area}", json={"name": "读书 Notes", "description": "书"}
        )
        slug = made.json()[key]["slug"]
        url = f"/v1/{area}/{quote(slug)}"
        shown = await one.send("GET", url)
        by_name = await one.ask("GET", f"/v1/{area}/{quote('读书 notes')}")
        renamed = await one.ask("PATCH", url, {"name": "阅读", "description": None})
        deleted = await one.ask("DELETE", url)
        await one.refuse("GET", url, status=404, code="not_found")
        await one.refuse("DELETE", url, status=404, code="not_found")
    assert (made.status_code, made.json()["outcome"]) == (201, "created")
    assert slug == "读书-notes"
    assert shown.headers["etag"] == made.headers["etag"] == '"1"'
    assert by_name[key]["slug"] == slug
    assert (renamed[key]["slug"], renamed[key]["name"]) == (slug, "阅读")
    assert renamed[key]["description"] is None
    assert deleted["deleted"] is True


@AREAS
async def test_owner_is_made_and_edited_by_put(area: str, key: str) -> None:
    async with talk() as one:
        url = f"/v1/{area}/%E5%AE%B6"
        await one.refuse("PUT", url, {"description": "d"}, status=404, code="not_found")
        made = await one.send("PUT", url, json={"name": "家", "description": "d"})
        edited = await one.send("PUT", url, json={"name": "Home"})
        same = await one.send("PUT", url, json={"name": "Home"})
    statuses = [response.status_code for response in (made, edited, same)]
    assert statuses == [201, 200, 200]
    outcomes = [response.json()["outcome"] for response in (made, edited, same)]
    assert outcomes == ["created", "updated", "unchanged"]
    assert same.json()[key]["description"] == "d"
    assert same.headers["etag"] == '"2"'


@AREAS
async def test_owner_that_is_there_is_not_made_again(area: str, key: str) -> None:
    async with talk() as one:
        await one.ask("POST", f"/v1/{area}", {"name": "家", "slug": "home"})
        for body in ({"name": "家"}, {"name": "other", "slug": "HOME"}):
            await one.refuse("POST", f"/v1/{area}", body, status=409, code="conflict")
        other = await one.ask("POST", f"/v1/{area}", {"name": "Home!"})
        await one.refuse("PATCH", f"/v1/{area}/home-2", {"name": "家"}, status=409, code="conflict")
        listed = await one.ask("GET", f"/v1/{area}")
    assert other[key]["slug"] == "home-2"
    assert {one["slug"] for one in listed[area]} - {"profile"} == {"home", "home-2"}


@AREAS
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_owner_at_another_version_is_not_edited(area: str, key: str, method: str) -> None:
    async with talk() as one:
        url = f"/v1/{area}/home"
        await one.ask("PUT", url, {"name": "Home"})
        stale: dict[str, Any] = {
            "headers": {"if-match": '"4"'},
            "status": 409,
            "code": "version_conflict",
        }
        await one.refuse(method, url, {"name": "家"}, **stale)
        taken = await one.ask(method, url, {"name": "家"}, headers={"if-match": '"1"'})
        if method == "PUT":
            await one.refuse(method, f"/v1/{area}/new", {"name": "New"}, **stale)
    assert taken[key]["version"] == 2


@AREAS
async def test_owners_are_paged_now_and_in_the_past(area: str, key: str) -> None:
    async with talk() as one:
        for number in range(5):
            await one.ask("POST", f"/v1/{area}", {"name": f"项目 {number}"})
        await one.ask("DELETE", f"/v1/{area}/{quote('项目-0')}")
        seen: list[str] = []
        params = {"limit": "2"}
        while len(seen) < 10:
            page = await one.ask("GET", f"/v1/{area}", params=params)
            seen += [entry["slug"] for entry in page[area]]
            if page["next_cursor"] is None:
                break
            params["cursor"] = page["next_cursor"]
        past = await one.ask("GET", f"/v1/{area}?as_of=5")
    expected = [f"项目-{number}" for number in range(1, 5)]
    assert [slug for slug in seen if slug != "profile"] == expected
    assert len({entry["slug"] for entry in past[area]} - {"profile"}) == 5
    assert past["as_of"]["position"] == 5


async def test_objective_is_set_superseded_and_shown() -> None:
    async with talk() as one:
        world = await settle(one)
        url = f"/v1/projects/{quote('家')}"
        new = await one.ask(
            "PUT", f"{url}/objective", {"item_id": world.milk, "description": "每天"}
        )
        goals = await one.ask("GET", "/v1/objectives")
        before = await one.ask("GET", f"/v1/items/{world.goal}")
        timeline = await one.ask("GET", f"{url}/timeline?limit=3")
        rest = await one.ask("GET", f"{url}/timeline", params={"cursor": timeline["next_cursor"]})
        shown = await one.send("GET", url)
        none: dict[str, Any] = {"status": 404, "code": "not_found"}
        await one.refuse("PUT", "/v1/projects/none/objective", {"title": "t"}, **none)
        await one.refuse("PUT", f"{url}/objective", {"item_id": "itm_no", "title": "t"}, **none)
        await one.refuse("PUT", f"{url}/objective", {}, code="invalid_input")
        await one.refuse("GET", "/v1/projects/none/timeline", **none)
    assert new["previous_item_id"] == world.goal
    assert new["item"]["type"] == "strategic_goal"
    assert [goal["item"]["id"] for goal in goals["objectives"]] == [world.milk]
    assert before["item"]["state"] == "superseded"
    assert shown.json()["project"]["active_objective"]["id"] == world.milk
    positions = [event["position"] for event in timeline["events"] + rest["events"]]
    assert positions == sorted(set(positions), reverse=True)


async def test_items_survive_their_project() -> None:
    async with talk() as one:
        world = await settle(one)
        await one.ask("DELETE", "/v1/projects/家")
        item = (await one.ask("GET", f"/v1/items/{world.milk}"))["item"]
    assert item["project"] is None


async def test_topic_takes_its_fields_and_a_canonical_item() -> None:
    async with talk() as one:
        world = await settle(one)
        body = {"group_kind": "system", "retrieval_priority": 100, "summary_mode": "manual"}
        edited = await one.ask("PATCH", "/v1/topics/厨房", body)
        url = "/v1/topics/厨房/canonical"
        named = await one.send("PUT", url, json={"item_id": world.milk})
        taken = await one.ask("PUT", url, {"item_id": None})
        await one.refuse("PUT", url, {"item_id": "itm_no"}, status=404, code="not_found")
        await one.refuse("PUT", url, {"item_id": world.gone}, status=409, code="conflict")
        await one.refuse("PUT", url, {}, code="invalid_input")
    topic = edited["topic"]
    assert (topic["kind"], topic["retrieval_priority"]) == ("system", 100)
    assert named.json()["topic"]["canonical_item"]["id"] == world.milk
    assert named.headers["etag"] == '"3"'
    assert taken["topic"]["canonical_item"] is None


async def test_profile_is_there_before_it_is_written() -> None:
    async with talk() as one:
        shown = await one.send("GET", "/v1/topics/profile")
        error: dict[str, Any] = {
            "status": 409,
            "code": "version_conflict",
            "headers": {"if-match": '"1"'},
        }
        await one.refuse("PATCH", "/v1/topics/profile", {"description": "我"}, **error)
        written = await one.send(
            "PATCH", "/v1/topics/profile", json={"description": "我"}, headers={"if-match": '"0"'}
        )
        await one.refuse("DELETE", "/v1/topics/profile", status=409, code="conflict")
    assert shown.headers["etag"] == '"0"'
    assert shown.json()["topic"]["id"] is None
    assert written.json()["topic"]["version"] == 1
