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
    assert row == shown["conversation"]
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
