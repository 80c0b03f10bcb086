"""What a conversation's turns cost, and why its prompt cache was lost, over REST."""

from __future__ import annotations

from typing import Any

from tests.protocol.chat.upstreams import Chats, Json, chats, completion
from tests.protocol.rest.doors import error_of
from tests.protocol.rest.talk import check_described

from remembrancer.testing.outbound import json_answer


async def get(one: Chats, path: str) -> Any:
    response = await one.client.get(path, headers=one.headers)
    check_described("GET", path, response)
    return response.json()


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": text}


async def test_conversation_shows_its_turns_and_their_sums() -> None:
    async with chats(environ={"MODEL_PRICES": "*=1/2"}) as one:
        first = await one.post({"messages": [user("hi")], "metadata": {"chat_id": "chat 1"}})
        one.served.runtime.advance(60_000)
        again = {"messages": [user("hi"), assistant("好的 ok"), user("and?")]}
        await one.post({**again, "metadata": {"chat_id": "chat 1"}})
        listed = await get(one, "/v1/conversations")
        shown = await get(one, "/v1/conversations/chat%201?limit=1")
        rest = await get(one, f"/v1/conversations/chat%201?cursor={shown['next_cursor']}")
    assert first.headers["x-remembrancer-conversation"] == "chat 1"
    [row] = listed["data"]
    assert (row["id"], row["answers"], row["prompt_tokens"], row["cached_tokens"]) == (
        "chat 1",
        2,
        200,
        120,
    )
    assert row == {**shown["conversation"], "said": "and?"}
    [latest], [earlier] = shown["turns"], rest["turns"]
    assert latest["created_at"] > earlier["created_at"]
    assert latest["turn"] != earlier["turn"]
    assert latest["cache_note"] is None
    assert earlier["cost"] == (100 + 14) / 1_000_000


async def test_lost_cache_is_explained_by_the_part_that_changed() -> None:
    system = {"role": "system", "content": "Be brief."}
    history = [user("hi"), assistant("好的 ok")]
    tools = [{"type": "function", "function": {"name": "f"}}]
    named = {"x-remembrancer-conversation": "c"}
    notes = []
    async with chats() as one:
        for messages, more in (
            ([system, history[0]], {}),
            ([system, *history, user("2")], {}),
            ([{**system, "content": "Be long."}, *history, user("3")], {}),
            ([{**system, "content": "Be long."}, *history, user("3")], {"tools": tools}),
            ([{**system, "content": "Be long."}, user("ho"), user("3")], {"tools": tools}),
        ):
            await one.post({"messages": messages, **more}, **named)
            notes.append((await get(one, "/v1/conversations/c"))["turns"][0]["cache_note"])
    assert notes == [
        None,
        None,
        "the system changed",
        "the tools changed",
        "message 1 changed",
    ]


async def test_cache_that_the_upstream_let_go_is_told_apart() -> None:
    counts = iter([1_000, 0])

    def answer(_: object) -> Any:
        usage = {"prompt_tokens": 2_000, "prompt_tokens_details": {"cached_tokens": next(counts)}}
        return json_answer({**completion(), "usage": usage})

    async with chats(answer) as one:
        for _ in range(2):
            await one.post({"messages": [user("hi")]})
        [conversation] = (await get(one, "/v1/conversations"))["data"]
        turns = (await get(one, f"/v1/conversations/{conversation['id']}"))["turns"]
    assert turns[0]["cache_note"] == "the prefix is the same; the upstream no longer had it"


async def test_lists_are_paged_and_unknown_ones_refused() -> None:
    async with chats() as one:
        for number in range(3):
            await one.post({"messages": [user(f"{number}")]})
            one.served.runtime.advance(1_000)
        first = await get(one, "/v1/conversations?limit=2")
        second = await get(one, f"/v1/conversations?limit=2&cursor={first['next_cursor']}")
        missing = await one.client.get("/v1/conversations/nothing", headers=one.headers)
        key = {"x-api-key": "sk-dog"}
        refused = await one.client.get("/v1/conversations", headers=key)
    assert len(first["data"]) == 2
    assert len(second["data"]) == 1
    assert second["next_cursor"] is None
    error_of(missing, status=404, code="not_found")
    error_of(refused, status=403, code="forbidden")


async def test_messages_of_a_conversation_are_listed_newest_first_page_by_page() -> None:
    named = {"x-remembrancer-conversation": "c"}
    async with chats() as one:
        await one.post({"messages": [user("你好")]}, **named)
        one.served.runtime.advance(60_000)
        again = {"messages": [user("你好"), assistant("好的 ok"), user("x" * 3_000)]}
        await one.post(again, **named)
        page = await get(one, "/v1/conversations/c/messages?limit=3")
        rest = await get(one, f"/v1/conversations/c/messages?cursor={page['next_cursor']}")
        none = await get(one, "/v1/conversations/d/messages")
        refused = await one.client.get("/v1/conversations/c/messages?cursor=x", headers=one.headers)
    said = [(row["role"], row["content"][:8]) for row in [*page["data"], *rest["data"]]]
    assert sorted(said[:2]) == [("assistant", "好的 ok"), ("user", "x" * 8)]
    assert sorted(said[2:]) == [("assistant", "好的 ok"), ("user", "你好")]
    long = next(row for row in page["data"] if row["chars"] == 3_000)
    assert len(long["content"]) < 3_000
    assert {row["model"] for row in page["data"] if row["role"] == "assistant"} == {"m-1"}
    assert (rest["next_cursor"], none["data"]) == (None, [])
    error_of(refused, status=400, code="invalid_input")


async def test_recall_of_a_chat_shows_the_text_that_it_gave() -> None:
    async with chats() as one:
        made = await one.client.post(
            "/v1/memories", json={"content": "我的测试暗号是苹果星星"}, headers=one.headers
        )
        await one.served.runtime.drain()
        given = await one.say("我的测试暗号是什么？")
        await one.served.runtime.drain()
        path = f"/v1/recalls/{given.headers['x-remembrancer-recall']}"
        shown = (await get(one, path))["recall"]
        sent = one.last["messages"][-1]["content"]
        await one.client.post(f"/v1/items/{made.json()['data']['id']}/forget", headers=one.headers)
        forgotten = (await get(one, path))["recall"]
    assert "苹果星星" in shown["text"]
    assert shown["text"].strip() in sent
    assert forgotten["text"] is None
