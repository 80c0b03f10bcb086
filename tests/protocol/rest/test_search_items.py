"""REST of searching: words in both scripts, filters, conflicts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.protocol.rest.talk import settle, talk


@pytest.mark.parametrize(
    ("params", "titles"),
    [
        ({"q": "牛奶"}, ["买牛奶"]),
        ({"q": "bread"}, ["Bake bread"]),
        ({"q": "牛奶", "project": "家"}, ["买牛奶"]),
        ({"q": "牛奶", "topic": "厨房", "tag": "家务", "kind": "task"}, ["买牛奶"]),
        ({"q": "牛奶", "kind": "memory"}, []),
        ({"q": "bread", "project": "家"}, []),
        ({"q": '"AND OR NOT ( * ; DROP TABLE items --'}, []),
    ],
    ids=["chinese", "english", "project", "all", "kind", "other-project", "metacharacters"],
)
async def test_items_are_found_by_query_and_by_body_alike(
    params: dict[str, Any], titles: list[str]
) -> None:
    names = {"q": "query", "tag": "tags", "kind": "kinds"}
    async with talk() as one:
        await settle(one)
        by_query = await one.ask("GET", "/v1/search/items", params=params)
        body = {
            names.get(name, name): [text] if name in ("tag", "kind") else text
            for name, text in params.items()
        }
        by_body = await one.ask("POST", "/v1/search/items", body)
    assert [match["item"]["title"] for match in by_query["matches"]] == titles
    assert by_query == by_body
    assert by_query["degraded"] == ["no_vectors"]


async def test_search_for_nothing_or_in_nothing_is_refused() -> None:
    async with talk() as one:
        await one.refuse("GET", "/v1/search/items?q=%20", code="invalid_input")
        await one.refuse("GET", "/v1/search/items", code="invalid_input")
        await one.refuse("GET", "/v1/search/items?q=x&limit=51", code="invalid_input")
        unknown = {"query": "x", "project": "无"}
        await one.refuse("POST", "/v1/search/items", unknown, status=404, code="not_found")


async def test_conflicts_of_a_statement_and_of_an_item_are_found() -> None:
    async with talk() as one:
        first = await one.make("The server listens on port 2222", kind="memory")
        second = await one.make("The server listens on port 2223", kind="memory")
        stated = await one.ask(
            "POST", "/v1/search/conflicts", {"query": "the server listens on port 2224"}
        )
        of_item = await one.ask("POST", "/v1/search/conflicts", {"item_id": first})
        await one.refuse("POST", "/v1/search/conflicts", {}, code="invalid_input")
        await one.refuse(
            "POST", "/v1/search/conflicts", {"item_id": "itm_no"}, status=404, code="not_found"
        )
    assert {match["item"]["id"] for match in stated["matches"]} == {first, second}
    assert [match["item"]["id"] for match in of_item["matches"]] == [second]
    assert of_item["matches"][0]["differences"]


async def test_memories_that_say_the_same_are_found_and_brought_together() -> None:
    async with talk() as one:
        ids = [await one.make("喜欢乌龙茶", kind="memory", tags=["茶"]) for _ in range(3)]
        found = await one.ask("GET", "/v1/consolidation?tag=茶")
        group = found["groups"][0]
        body = {
            "source_item_id": group["source_item_id"],
            "target_item_ids": group["target_item_ids"],
            "relationship_type": group["suggested_relationship"],
            "reason": "同一件事",
        }
        done = await one.ask("POST", "/v1/consolidation", body)
        again = await one.ask("POST", "/v1/consolidation", body)
        left = await one.ask("GET", "/v1/consolidation")
    assert {item["id"] for item in group["items"]} == set(ids)
    assert set(done["superseded"]) == set(group["target_item_ids"])
    assert (done["created"], again["created"]) == (2, 0)
    assert left["groups"] == []


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"relationship_type": "blocks"}, 400, "invalid_input"),
        ({"target_item_ids": []}, 400, "invalid_input"),
        ({"target_item_ids": ["itm_none"]}, 404, "not_found"),
        ({"source_item_id": "itm_none"}, 404, "not_found"),
        ({"target_item_ids": [f"itm_{number}" for number in range(101)]}, 400, "limit_exceeded"),
    ],
    ids=["type", "none", "unknown-target", "unknown-source", "many"],
)
async def test_consolidation_of_wrong_things_is_refused(
    change: dict[str, Any], status: int, code: str
) -> None:
    async with talk() as one:
        keep, other = await one.make("a"), await one.make("b")
        body = {
            "source_item_id": keep,
            "target_item_ids": [other],
            "relationship_type": "duplicate_of",
        }
        before = await one.tables()
        await one.refuse("POST", "/v1/consolidation", {**body, **change}, status=status, code=code)
        assert await one.tables() == before
