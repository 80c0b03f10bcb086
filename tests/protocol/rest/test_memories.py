"""REST of memories: the predecessor's paths, names and shapes."""

from __future__ import annotations

import pytest
from tests.protocol.rest.talk import talk

PATHS = ["/v1/memories", "/v1/memory"]


@pytest.mark.parametrize("path", PATHS)
async def test_memory_is_made_updated_and_seen_again(path: str) -> None:
    body = {"content": "SSH 端口是 2222", "fact_key": "ssh:port", "valid_as_of": "2026-03-01"}
    async with talk() as one:
        made = await one.send("POST", path, json=body)
        seen = await one.send("POST", path, json=body)
        new = await one.send("POST", path, json={**body, "content": "SSH 端口是 2223"})
        old = (await one.ask("GET", f"{path}/{made.json()['data']['id']}"))["data"]
    assert [made.status_code, seen.status_code, new.status_code] == [201, 200, 200]
    memory = made.json()["data"]
    assert memory["id"].startswith("itm_")
    assert (memory["type"], memory["importance"], memory["confidence"]) == ("note", 0.6, 0.8)
    assert (memory["status"], memory["content"]) == ("active", "SSH 端口是 2222")
    assert made.headers["etag"] == '"1"'
    assert seen.json()["outcome"] == "seen"
    assert new.json()["superseded"] == [memory["id"]]
    assert (old["status"], old["seen_count"]) == ("superseded", 1)
    assert old["superseded_by"] == new.json()["data"]["id"]


async def test_key_is_optional_and_a_repetition_is_seen() -> None:
    async with talk() as one:
        first = await one.send("POST", "/v1/memories", json={"content": "我对花生过敏"})
        again = await one.send("POST", "/v1/memories", json={"content": "我对花生过敏。"})
        other = await one.send("POST", "/v1/memories", json={"content": "我对花生不过敏"})
    assert [one.status_code for one in (first, again, other)] == [201, 200, 201]
    assert first.json()["data"]["id"] == again.json()["data"]["id"]


@pytest.mark.parametrize("path", PATHS)
async def test_list_pages_in_the_seeds_shape(path: str) -> None:
    async with talk() as one:
        for number in range(3):
            await one.ask("POST", path, {"content": f"第{number}条", "type": "fact"})
        await one.make("a task")
        page = await one.ask("GET", f"{path}?limit=2&type=fact")
        rest = await one.ask("GET", f"{path}?limit=2&type=fact&cursor={page['paging']['cursor']}")
        offset = await one.ask("GET", f"{path}?limit=2&cursor=2")
        await one.refuse("GET", f"{path}?limit=1001", code="invalid_input")
    assert [one["content"] for one in page["data"]] == ["第2条", "第1条"]
    assert set(page["paging"]) == {"limit", "cursor", "has_more", "count"}
    assert (page["paging"]["has_more"], page["paging"]["count"]) == (True, 2)
    assert [one["content"] for one in rest["data"]] == ["第0条"]
    assert rest["paging"] == {"limit": 2, "cursor": None, "has_more": False, "count": 1}
    assert offset["data"] == rest["data"]


@pytest.mark.parametrize("path", PATHS)
async def test_memory_is_patched_and_deleted_softly(path: str) -> None:
    async with talk() as one:
        made = await one.ask("POST", path, {"content": "a", "tags": ["x"]})
        url = f"{path}/{made['data']['id']}"
        changed = await one.ask(
            "PATCH", url, {"content": "b", "pinned": True, "status": "dormant", "importance": 1}
        )
        await one.refuse(
            "PATCH",
            url,
            {"pinned": False},
            code="version_conflict",
            status=409,
            headers={"if-match": '"1"'},
        )
        gone = await one.ask("DELETE", url)
        after = await one.ask("GET", url)
        await one.refuse("GET", f"{path}/itm_none", code="not_found", status=404)
    memory = changed["data"]
    assert (memory["content"], memory["status"], memory["pinned"]) == ("b", "dormant", True)
    assert memory["tags"] == ["x"]
    assert gone == {
        "data": {"id": memory["id"], "status": "deleted"},
        "restorable_days": 30,
    }
    assert after["data"]["status"] == "deleted"


@pytest.mark.parametrize("path", ["/v1/search/memories", "/v1/memories/search"])
async def test_search_answers_ids_contents_and_scores(path: str) -> None:
    async with talk() as one:
        made = await one.ask("POST", "/v1/memories", {"content": "我的测试暗号是苹果星星-0428。"})
        await one.make("测试暗号 as a task")
        found = await one.ask("POST", path, {"query": "我的测试暗号是什么？"})
        none = await one.ask("POST", path, {"query": "暗号", "min_score": 1})
        every = await one.ask("POST", path, {"query": "暗号", "min_score": 1, "filter": False})
        await one.refuse("POST", path, {"query": "x", "top_k": 51}, code="invalid_input")
    [match] = found["data"]
    assert match["id"] == made["data"]["id"]
    assert match["content"] == "我的测试暗号是苹果星星-0428。"
    assert 0.15 <= match["score"] <= 1
    assert found["meta"]["namespace"] == "default"
    assert (found["meta"]["backend"], found["meta"]["count"]) == ("lexical", 1)
    assert found["meta"]["degraded"] == ["no_vectors"]
    assert none["data"] == []
    assert (none["meta"]["raw_count"], none["meta"]["filtered"]) == (1, True)
    assert len(every["data"]) == 1


@pytest.mark.parametrize("path", ["/v1/memories/export", "/api/memories/export"])
async def test_export_holds_every_memory_but_deleted_ones(path: str) -> None:
    async with talk() as one:
        for number in (1, 2):
            await one.ask("POST", "/v1/memories", {"content": f"v {number}", "fact_key": "k"})
        gone = await one.ask("POST", "/v1/memories", {"content": "gone"})
        await one.ask("DELETE", f"/v1/memories/{gone['data']['id']}")
        whole = await one.ask("GET", f"{path}?format=json")
        facts = await one.ask("GET", f"{path}?type=fact")
    assert [one["content"] for one in whole["data"]] == ["v 1", "v 2"]
    assert whole["meta"] == {"namespace": "default", "count": 2}
    assert facts["data"] == []


async def test_secret_is_neither_answered_nor_kept() -> None:
    async with talk() as one:
        made = await one.ask("POST", "/v1/memories", {"content": "密码：hunter2"})
        shown = await one.ask("GET", f"/v1/memories/{made['data']['id']}")
    assert made["data"]["content"] == "密码：[redacted:password]"
    assert "hunter2" not in str(shown)
