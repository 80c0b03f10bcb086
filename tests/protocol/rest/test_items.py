"""REST of items: made, captured, listed, edited, ended, brought back, forgotten."""

from __future__ import annotations

import pytest
from tests.protocol.rest.talk import settle, talk


async def test_item_is_made_with_every_field_and_shown_with_an_etag() -> None:
    body = {
        "title": " 写 report ",
        "kind": "task",
        "content": "第一稿",
        "summary": "稿",
        "raw_input": "写 report",
        "priority": "high",
        "startup_priority": 0,
        "pinned": True,
        "tags": ["工作", "Deep Work"],
        "fact_key": "task:report",
        "importance": 1,
        "confidence": 0.5,
        "source": "desk",
        "source_message_ids": ["msg_1"],
        "due": "明天下午三点",
        "recurrence_kind": "weekly",
        "recurrence_interval": 2,
        "recurrence_until": "2026-12-31",
        "project_name": "报告",
        "topic_name": "Writing",
        "steps": ["outline", {"text": "草稿", "done": True, "steps": ["引言"]}],
    }
    async with talk() as one:
        response = await one.send("POST", "/v1/items", json=body)
        made = response.json()["item"]
        shown = await one.send("GET", f"/v1/items/{made['id']}")
    assert response.status_code == 201
    assert response.json()["outcome"] == "created"
    assert response.headers["etag"] == shown.headers["etag"] == '"1"'
    assert shown.json() == {"item": made, "relations": []}
    assert made["title"] == "写 report"
    assert made["due_at"] == "2026-03-02T07:00:00Z"
    assert made["type"] == "recurring_system"
    assert made["project"] == {"slug": "报告", "name": "报告"}
    assert (made["priority"], made["startup_priority"], made["pinned"]) == (3, 0, True)
    assert made["steps"][1]["done_at"] == "2026-03-01T12:00:00Z"


async def test_item_answers_to_the_predecessors_names() -> None:
    body = {
        "title": "t",
        "item_kind": "memory",
        "entity_type": "decision",
        "lifecycle_state": "dormant",
        "description": "text",
        "group_name": "主题",
        "due_at": "2026-04-01T00:00:00Z",
    }
    async with talk() as one:
        item = (await one.ask("POST", "/v1/items", body))["item"]
        again = await one.ask("PATCH", f"/v1/items/{item['id']}", {"group_slug": None})
        both = {"title": "t", "kind": "memory", "item_kind": "memory"}
        await one.ask("POST", "/v1/items", both)
        error = await one.refuse(
            "POST", "/v1/items", {**both, "kind": "task"}, code="invalid_input"
        )
    assert (item["kind"], item["type"], item["state"]) == ("memory", "decision", "dormant")
    assert item["content"] == "text"
    assert item["topic"]["name"] == "主题"
    assert item["due_at"] == "2026-04-01T00:00:00Z"
    assert again["item"]["topic"] is None
    assert "'item_kind' and 'kind'" in error["message"]


async def test_item_is_changed_by_what_is_sent_alone_and_emptied_by_null() -> None:
    async with talk() as one:
        item_id = await one.make("x", content="c", due="2026-03-05", tags=["a"], fact_key="k:1")
        url = f"/v1/items/{item_id}"
        renamed = await one.ask("PATCH", url, {"title": "新"})
        emptied = await one.ask("PATCH", url, {"due": None, "tags": None, "fact_key": None})
        same = await one.send("PATCH", url, json={"title": "新"})
    assert renamed["item"]["due_at"] is not None
    assert renamed["item"]["content"] == "c"
    assert emptied["item"]["due_at"] is None
    assert emptied["item"]["tags"] == []
    assert "fact_key" not in emptied["item"]
    assert same.json()["changed"] is False
    assert same.headers["etag"] == '"3"'


async def test_whole_number_is_taken_however_it_is_written() -> None:
    async with talk() as one:
        headers = {"content-type": "application/json"}
        text = b'{"title": "x", "startup_priority": 10.0, "priority": 3.0, "importance": 1}'
        made = await one.send("POST", "/v1/items", content=text, headers=headers)
        broken = {"title": "x", "startup_priority": 9.5}
        await one.refuse("POST", "/v1/items", broken, code="invalid_input")
    assert made.json()["item"]["startup_priority"] == 10
    assert made.json()["item"]["priority"] == 3
    assert made.json()["item"]["importance"] == 1


async def test_item_notes_and_steps_are_added_and_ticked() -> None:
    async with talk() as one:
        made = await one.ask("POST", "/v1/items", {"title": "x", "steps": ["一"]})
        url, step = f"/v1/items/{made['item']['id']}", made["item"]["steps"][0]["id"]
        body = {
            "step_done": {step: True},
            "add_note": "半",
            "add_decision": "d",
            "add_problem": "p",
        }
        item = (await one.ask("PATCH", url, body))["item"]
    assert item["steps"][0]["done"] is True
    assert item["notes"] == [{"at": "2026-03-01T12:00:00Z", "text": "半"}]
    assert item["decisions"][0]["text"] == "d"


async def test_change_with_an_old_version_is_refused_and_with_the_right_one_taken() -> None:
    async with talk() as one:
        url = f"/v1/items/{await one.make('x')}"
        etag = (await one.send("GET", url)).headers["etag"]
        taken = await one.send("PATCH", url, json={"title": "y"}, headers={"if-match": etag})
        error = await one.refuse(
            "PATCH",
            url,
            {"title": "z"},
            headers={"if-match": etag},
            status=409,
            code="version_conflict",
        )
        shown = await one.ask("GET", url)
    assert taken.headers["etag"] == '"2"'
    assert error["details"]["version"] == 2
    assert shown["item"]["title"] == "y"


async def test_line_is_captured_with_its_markers_in_both_scripts() -> None:
    async with talk() as one:
        chinese = await one.ask("POST", "/v1/capture", {"text": "记住：周五交房租 #家务 +家 @钱"})
        english = await one.send(
            "POST", "/v1/capture", json={"input": "Pay rent #home due: 2026-03-06", "priority": 1}
        )
    assert chinese["item"]["kind"] == "memory"
    assert chinese["item"]["project"]["slug"] == "家"
    assert chinese["item"]["topic"]["slug"] == "钱"
    assert english.status_code == 201
    assert english.headers["etag"] == '"1"'
    assert english.json()["item"]["due_at"].startswith("2026-03-06")
    assert english.json()["item"]["priority"] == 1


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", {"买牛奶", "Bake bread", "整洁的家"}),
        ("tag=家务", {"买牛奶", "Bake bread"}),
        ("tag=家务&tag=fun&tags_match=all", {"Bake bread"}),
        ("project=%E5%AE%B6&sort=title", {"买牛奶", "整洁的家"}),
        ("topic=厨房", {"买牛奶"}),
        ("kind=memory&include_deleted", {"Old note"}),
        ("state=deleted", {"Old note"}),
        ("q=牛奶", {"买牛奶"}),
        ("priority=high", {"整洁的家"}),
        ("priority=2&type=tactical_task", {"买牛奶", "Bake bread"}),
        ("pinned=true", {"整洁的家"}),
        ("due_before=2026-03-03&due_after=2026-03-01", {"买牛奶"}),
        ("startup_priority_min=8&startup_priority_max=10", {"整洁的家"}),
        ("completed=false&archived=false&current_only", {"买牛奶", "Bake bread", "整洁的家"}),
        ("stale_only", set()),
        ("created_after=2026-03-02", set()),
        ("as_of=2&sort=-updated_at", set()),
        ("as_of=2026-02-01", set()),
    ],
)
async def test_list_is_filtered(query: str, titles: set[str]) -> None:
    async with talk() as one:
        await settle(one)
        page = await one.ask("GET", f"/v1/items?{query}")
    assert {item["title"] for item in page["items"]} == titles
    assert page["total"] == page["count"] == len(titles)


async def test_list_by_ids_keeps_to_them() -> None:
    async with talk() as one:
        world = await settle(one)
        page = await one.ask("GET", f"/v1/items?id={world.milk}&id={world.goal}&id=itm_none")
    assert {item["id"] for item in page["items"]} == {world.milk, world.goal}


async def test_list_is_paged_to_its_end_without_doubles_while_others_write() -> None:
    async with talk() as one:
        ids = {await one.make(f"事 {number}") for number in range(23)}
        seen: list[str] = []
        params: dict[str, str] = {"limit": "4", "sort": "created_at"}
        for number in range(100):
            page = await one.ask("GET", "/v1/items", params=params)
            seen += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            params["cursor"] = page["next_cursor"]
            if number < 3:
                ids.add(await one.make(f"new {number}", kind="memory"))
            await one.ask("PATCH", f"/v1/items/{seen[1]}", {"title": f"改 {number}"})
            if number == 1:
                await one.ask("DELETE", f"/v1/items/{seen[0]}")
    assert len(seen) == len(set(seen))
    assert set(seen) == ids


async def test_list_of_the_past_is_paged_within_its_moment() -> None:
    async with talk() as one:
        for number in range(6):
            await one.make(f"n{number}")
        params = {"as_of": "6", "limit": "4", "sort": "title"}
        first = await one.ask("GET", "/v1/items", params=params)
        await one.make("n0 later")
        params["cursor"] = first["next_cursor"]
        second = await one.ask("GET", "/v1/items", params=params)
    titles = [item["title"] for item in [*first["items"], *second["items"]]]
    assert titles == ["n0", "n1", "n2", "n3", "n4", "n5"]
    assert first["as_of"]["position"] == second["as_of"]["position"] == 6


async def test_item_is_shown_as_it_was() -> None:
    async with talk() as one:
        item_id = await one.make("旧")
        url = f"/v1/items/{item_id}"
        await one.ask("PATCH", url, {"title": "新"})
        past = await one.ask("GET", f"{url}?as_of=1")
        await one.refuse("GET", f"{url}?as_of=0", status=404, code="not_found")
    assert past["item"]["title"] == "旧"
    assert past["as_of"] == {"position": 1, "at": "2026-03-01T12:00:00Z"}


async def test_items_are_deleted_restored_and_forgotten() -> None:
    async with talk() as one:
        first, second = await one.make("a"), await one.make("密码 secret")
        deleted = await one.ask("POST", "/v1/items/delete", {"ids": [first, second, first]})
        again = await one.ask("DELETE", f"/v1/items/{first}")
        back = await one.ask("POST", f"/v1/items/{first}/restore")
        preview = await one.ask("GET", f"/v1/items/{second}/forget")
        gone = await one.ask("POST", f"/v1/items/{second}/forget")
        await one.refuse("GET", f"/v1/items/{second}/forget", status=404, code="not_found")
        await one.refuse("GET", f"/v1/items/{second}", status=404, code="not_found")
        await one.refuse("POST", f"/v1/items/{second}/restore", status=404, code="not_found")
        history = await one.send("GET", "/v1/history?limit=100")
    assert deleted == {"deleted": [first, second], "already_deleted": [], "restorable_days": 30}
    assert again["already_deleted"] == [first]
    assert (back["item"]["state"], back["changed"]) == ("active", True)
    assert (preview["would_forget"], preview["title"]) == (second, "密码 secret")
    assert gone == {"forgotten": second, **preview["counts"]}
    assert "secret" not in history.text


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ({"action": "complete"}, "completed"),
        ({"action": "snooze", "until": "in 3 days"}, "active"),
        ({"action": "snooze"}, "active"),
        ({"action": "ignore"}, "active"),
        ({"action": "archive"}, "archived"),
        ({"state": "dormant"}, "dormant"),
        ({"lifecycle_state": "stale"}, "stale"),
    ],
)
async def test_state_is_set_by_verb_and_by_name(body: dict[str, str], state: str) -> None:
    async with talk() as one:
        url = f"/v1/items/{await one.make('做事', due='2026-03-02')}/state"
        response = await one.send("POST", url, json=body)
        back = await one.ask("POST", url, {"action": "reactivate"})
    assert response.json()["changed"] is True
    assert response.json()["item"]["state"] == state
    assert response.headers["etag"] == '"2"'
    assert back["item"]["state"] == "active"


async def test_recurring_task_moves_past_now_and_counts_one_occurrence_once() -> None:
    async with talk() as one:
        fields = {"due": "2026-02-02T01:00:00Z", "recurrence_kind": "weekly"}
        url = f"/v1/items/{await one.make('浇花', **fields)}/state"
        body = {"action": "complete", "occurrence_due_at": "2026-02-02T01:00:00Z"}
        first = await one.ask("POST", url, body)
        second = await one.ask("POST", url, body)
    assert first["item"]["due_at"] == "2026-03-02T01:00:00Z"
    assert first["item"]["state"] == "active"
    assert (first["changed"], second["changed"]) == (True, False)


async def test_item_is_superseded_by_one_and_takes_the_place_of_many() -> None:
    async with talk() as one:
        old, new = await one.make("port 2222"), await one.make("port 2223")
        body = {"action": "supersede", "superseded_by": new, "reason": "搬了"}
        by_one = await one.ask("POST", f"/v1/items/{old}/state", body)
        third = await one.make("port 2224")
        many = await one.ask(
            "POST", f"/v1/items/{third}/supersede", {"target_item_ids": [new, old]}
        )
        await one.refuse(
            "POST", f"/v1/items/{old}/supersede", {"target_ids": [new]}, status=409, code="cycle"
        )
    assert by_one["item"]["state"] == "superseded"
    assert by_one["item"]["superseded_by"] == new
    assert many["superseded"] == [new, old]


async def test_long_content_is_an_artifact() -> None:
    text = "长" * 20_000
    async with talk() as one:
        item = (await one.ask("POST", "/v1/items", {"title": "long", "content": text}))["item"]
        shown = await one.ask("GET", f"/v1/artifacts/{item['artifact_id']}")
        await one.refuse("GET", "/v1/artifacts/art_none", status=404, code="not_found")
    assert shown["artifact"]["text"] == text
    assert shown["artifact"]["item_id"] == item["id"]
    assert len(item["content"]) < 10_000


async def test_tags_are_listed_and_paged() -> None:
    async with talk() as one:
        await settle(one)
        first = await one.ask("GET", "/v1/tags?limit=1")
        second = await one.ask("GET", "/v1/tags", params={"cursor": first["next_cursor"]})
        some = await one.ask("GET", "/v1/tags?prefix=家")
    assert [tag["name"] for tag in first["tags"] + second["tags"]] == ["Fun", "家务"]
    assert some["tags"] == [{"tag": "家务", "name": "家务", "count": 2}]
