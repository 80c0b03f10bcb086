"""REST of recalls and of the prompt that a search gives."""

from __future__ import annotations

from tests.protocol.rest.talk import talk

CODE = "我的测试暗号是苹果星星-0428。"
SEARCH = "/v1/search/memories"


async def test_search_gives_a_prompt_and_its_reasons_when_asked() -> None:
    async with talk() as one:
        made = await one.ask("POST", "/v1/memories", {"content": CODE})
        await one.ask("POST", "/v1/memories", {"content": "另一个暗号写在墙上"})
        plain = await one.ask("POST", SEARCH, {"query": "我的测试暗号是什么？"})
        asked = {
            "query": "我的测试暗号是什么？",
            "include_prompt": True,
            "include_filter_debug": True,
        }
        found = await one.ask("POST", SEARCH, asked)
        small_talk = await one.ask("POST", SEARCH, {"query": "哈哈", "include_prompt": True})
    assert "prompt" not in plain
    assert "filter_debug" not in plain["meta"]
    assert found["data"][0]["id"] == made["data"]["id"]
    assert f'"{CODE}"' in found["prompt"]
    assert "墙上" not in found["prompt"]
    assert found["meta"]["filter_debug"][0]["id"] == made["data"]["id"]
    assert (small_talk["data"], small_talk["prompt"]) == ([], "")


async def test_recalls_are_listed_and_explained() -> None:
    async with talk() as one:
        made = await one.ask("POST", "/v1/memories", {"content": CODE})
        first = await one.ask("POST", SEARCH, {"query": "测试暗号"})
        second = await one.ask("POST", SEARCH, {"query": "哈哈"})
        await one.served.runtime.drain()
        page = await one.ask("GET", "/v1/recalls?limit=1")
        rest = await one.ask("GET", f"/v1/recalls?limit=1&cursor={page['next_cursor']}")
        shown = await one.ask("GET", f"/v1/recalls/{first['meta']['recall_id']}")
        await one.refuse("GET", "/v1/recalls/rcl_none", code="not_found", status=404)
        await one.refuse("GET", "/v1/recalls?cursor=x", code="invalid_input")
    assert [row["id"] for row in page["recalls"]] == [second["meta"]["recall_id"]]
    assert [row["id"] for row in rest["recalls"]] == [first["meta"]["recall_id"]]
    assert rest["next_cursor"] is None
    recall = shown["recall"]
    assert (recall["query"], recall["purpose"], recall["found"]) == ("测试暗号", "rest", 1)
    assert recall["degraded"] == ["no_vectors"]
    [candidate] = recall["candidates"]
    assert (candidate["id"], candidate["title"], candidate["gate"]) == (
        made["data"]["id"],
        CODE,
        None,
    )
