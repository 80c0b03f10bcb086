"""The memory that a chat is given: where it stands, that it stays, and that it never comes back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.builders import Bench
from tests.protocol.chat.upstreams import Chats, Json, chats, completion
from tests.protocol.rest.doors import DOG

from remembrancer.core.chat.inject import strip_injected
from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.ports.sql import Outcome, SqlStore, Statement
from remembrancer.testing.outbound import json_answer

CODE = "我的测试暗号是苹果星星-0428"
ASK = "我的测试暗号是什么？"


async def know(one: Chats, content: str, **fields: Json) -> str:
    """Store a memory and return its id."""
    answer = await one.client.post(
        "/v1/memories", json={"content": content, **fields}, headers=one.headers
    )
    assert answer.is_success, answer.text
    await one.served.runtime.drain()
    return str(answer.json()["data"]["id"])


def user(text: Json) -> Json:
    return {"role": "user", "content": text}


def assistant(text: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": text, **more}


async def test_memory_stands_at_the_end_of_the_users_message_as_marked_data() -> None:
    async with chats() as one:
        await know(one, CODE)
        response = await one.say(ASK)
    [message] = one.last["messages"]
    assert message["content"].startswith(f"{ASK}\n\n<remembrancer-memory id=")
    assert "苹果星星-0428" in message["content"]
    assert strip_injected(message["content"]) == ASK
    assert response.headers["x-remembrancer-recall"] in message["content"]


async def test_request_without_memories_reaches_the_upstream_as_it_is() -> None:
    body = {"model": "companion", "messages": [user("hello"), assistant("hi"), user("1+1?")]}
    async with chats() as one:
        await one.post(body)
    assert one.last == {**body, "model": "m-1"}


async def test_memory_stays_the_same_through_a_tool_loop() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    async with chats(lambda _: json_answer(completion("", tool_calls=[call]))) as one:
        await know(one, CODE)
        await one.post({"messages": [user(ASK)]})
        first = one.last["messages"][0]
        await know(one, "测试暗号每周一换")
        one.served.runtime.advance(3_600_000)
        loop = [
            user(ASK),
            assistant(None, tool_calls=[call]),
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ]
        await one.post({"messages": loop})
    assert one.last["messages"] == [first, *loop[1:]]


async def test_reply_that_is_to_be_continued_has_the_memory_it_began_with() -> None:
    async with chats() as one:
        await know(one, CODE)
        await one.post({"messages": [user(ASK)]})
        first = one.last["messages"]
        await one.post({"messages": [user(ASK), assistant("好的，你的暗号")]})
        assert one.last["messages"] == [*first, assistant("好的，你的暗号")]
        await one.post({"messages": [user(ASK), assistant("好的，你的暗号是它"), user("多谢")]})
    assert one.last["messages"][0] == first[0]


async def test_memory_of_earlier_turns_is_put_in_again_so_that_the_prefix_stays() -> None:
    async with chats() as one:
        await know(one, CODE)
        await one.post({"messages": [user(ASK)]})
        first = one.last["messages"]
        await one.post({"messages": [user(ASK), assistant("好的 ok"), user("多谢")]})
    assert one.last["messages"] == [*first, assistant("好的 ok"), user("多谢")]


async def test_memory_that_an_earlier_turn_shows_is_not_shown_again() -> None:
    async with chats() as one:
        await know(one, CODE)
        await one.post({"messages": [user(ASK)]})
        again = [user(ASK), assistant("好的 ok"), user("再说一遍，我的测试暗号是什么？")]
        await one.post({"messages": again})
    assert one.last["messages"][-1] == again[-1]


async def test_boot_pack_stands_after_the_clients_instructions_the_same_all_day() -> None:
    async with chats() as one:
        for path, body in (
            ("/v1/precious", {"content": "「别怕，慢慢来。」"}),
            ("/v1/glossary", {"term": "小黑", "definition": "the old laptop"}),
        ):
            assert (await one.client.post(path, json=body, headers=one.headers)).is_success
        digest = {"content": "住在苏黎世"}
        await one.client.patch("/v1/memory_boot", json=digest, headers=one.headers)
        messages = [{"role": "system", "content": "Be brief."}, user("hello")]
        await one.post({"messages": messages})
        system = one.last["messages"][0]["content"]
        one.served.runtime.advance(5 * 3_600_000)
        await one.post({"messages": messages})
    assert system.startswith("Be brief.\n\n<remembrancer-boot ")
    for text in ("别怕，慢慢来。", "小黑: the old laptop", "住在苏黎世"):
        assert text in system
    assert one.last["messages"][0]["content"] == system
    assert one.last["messages"][1] == user("hello")


async def test_clock_in_the_clients_instructions_moves_behind_the_prefix() -> None:
    async with chats() as one:
        for minute in ("10:31", "10:32"):
            text = f"You are kind.\nCurrent time: 2026-03-01 {minute}\nAnswer briefly."
            await one.post({"messages": [{"role": "system", "content": text}, user(minute)]})
            [system, last] = one.last["messages"]
            assert system["content"] == "You are kind.\nAnswer briefly."
            assert f"2026-03-01 {minute}" in last["content"]


async def test_what_was_put_in_and_comes_back_is_neither_stored_nor_sent_twice() -> None:
    async with chats() as one:
        await know(one, CODE)
        await one.say(ASK)
        echoed = one.last["messages"][0]["content"]
        one.outbound.handler = lambda _: json_answer(completion(f"You wrote: {echoed}"))
        await one.post({"messages": [user(echoed)]})
        stored = await Bench(sql=one.served.app.sql).rows("SELECT content FROM messages")
    [sent] = one.last["messages"]
    assert sent["content"].count("<remembrancer-memory ") == 1
    assert strip_injected(sent["content"]) == ASK
    assert all("remembrancer-memory" not in str(row["content"]) for row in stored)
    assert all("0428" not in str(row["content"]) for row in stored)


async def test_key_without_memory_is_given_none() -> None:
    async with chats() as one:
        await know(one, CODE)
        one.headers = dict(DOG)
        response = await one.say(ASK)
    assert one.last["messages"] == [user(ASK)]
    told = {name for name in response.headers if name.startswith("x-remembrancer-")}
    assert told == {"x-remembrancer-cause"}  # of the request; none is of a memory


async def test_forgotten_memory_is_not_put_in_again() -> None:
    async with chats() as one:
        memory = await know(one, CODE)
        await one.post({"messages": [user(ASK)]})
        path = f"/v1/items/{memory}/forget"
        assert (await one.client.post(path, headers=one.headers)).is_success
        await one.post({"messages": [user(ASK), assistant("好的 ok"), user("多谢")]})
    assert one.last["messages"][0] == user(ASK)


class SlowStore:
    """A store whose reads can be made to wait for ever, or to fail."""

    def __init__(self, inner: SqlStore) -> None:
        self.inner = inner
        self.is_stuck = False

    async def read(self, statements: list[Statement]) -> list[Outcome]:
        if self.is_stuck:
            await asyncio.Event().wait()
        return await self.inner.read(statements)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def session(self, _bookmark: str | None) -> SlowStore:
        return self


async def test_recall_that_takes_too_long_is_left_out_and_named() -> None:
    async with chats(environ={"RECALL_TIMEOUT_MS": "50"}) as one:
        await know(one, CODE)
        slow = SlowStore(one.served.app.sql)
        app = replace(one.served.app, sql=slow)  # type: ignore[arg-type]  # passes the rest on
        one.served.asgi = create_asgi(app, routes=AREAS)
        async with one.served.client() as client:
            slow.is_stuck = True
            response = await client.post(
                "/v1/chat/completions", json={"messages": [user(ASK)]}, headers=one.headers
            )
            slow.is_stuck = False
            one.served.runtime.discard()
    assert response.status_code == 200
    degraded = response.headers["x-remembrancer-degraded"].split(",")
    assert {"recall_timeout", "memory_timeout"} <= set(degraded)
    assert one.last["messages"] == [user(ASK)]


@pytest.mark.parametrize("model", ["companion", "gpt-9"])
async def test_pictures_go_to_the_model_that_sees(model: str) -> None:
    parts = [{"type": "image_url", "image_url": {"url": "https://p.example/a.png"}}]
    async with chats(environ={"VISION_MODEL": "eyes"}) as one:
        await one.post({"model": model, "messages": [user(parts)]})
    assert one.last["model"] == {"companion": "eyes", "gpt-9": "gpt-9"}[model]
    assert json.dumps(one.last["messages"]) == json.dumps([user(parts)])


async def test_yesterdays_page_stands_in_the_prefix_in_the_namespaces_own_day() -> None:
    async with chats(environ={"DREAM_TIME_ZONE": "Asia/Singapore"}) as one:
        page = Statement(
            "INSERT INTO pages (namespace, label, version, created_at, updated_at, kind, path,"
            " starts_on, title, summary, content) VALUES ('default', ?1, 1, 0, 0, 'day', ?1, ?1,"
            " 'x', ?2, 'x')",
            ("2026-02-28", "去了动物园"),
        )
        await one.served.app.sql.write([page])
        await one.say("hello")
        system = one.last["messages"][0]
        one.served.runtime.advance(12 * 3_600_000)
        await one.say("hello again")
    assert system["role"] == "system"
    assert "去了动物园" in system["content"]
    assert one.last["messages"] == [user("hello again")]


async def test_key_that_may_only_read_is_given_memory_and_leaves_nothing() -> None:
    async with chats() as one:
        await know(one, CODE)
        made = await one.client.post(
            "/v1/keys",
            json={"name": "读", "scopes": ["chat:proxy", "memory:read"]},
            headers=one.headers,
        )
        one.headers = {"authorization": f"Bearer {made.json()['token']}"}
        await one.say(ASK)
        stored = await Bench(sql=one.served.app.sql).rows("SELECT 1 FROM messages")
    assert "苹果星星-0428" in one.last["messages"][0]["content"]
    assert stored == []


async def test_memory_can_be_turned_off_for_one_request() -> None:
    async with chats() as one:
        await know(one, CODE)
        await one.post({"messages": [user(ASK)]}, x_remembrancer_memory="off")
        stored = await Bench(sql=one.served.app.sql).rows("SELECT 1 FROM messages")
    assert one.last["messages"] == [user(ASK)]
    assert stored == []


async def test_title_that_a_client_asks_for_is_given_no_memory_and_leaves_none() -> None:
    text = f"### Task:\nGenerate a title.\n<chat_history>\nUSER: 请记住：{CODE}\n</chat_history>"
    async with chats() as one:
        await know(one, CODE)
        response = await one.say(text)
        stored = await Bench(sql=one.served.app.sql).rows("SELECT 1 FROM messages")
    assert one.last["messages"] == [user(text)]
    assert "x-remembrancer-saved" not in response.headers
    assert stored == []


async def test_question_that_is_asked_again_is_recalled_anew() -> None:
    async with chats() as one:
        await one.say(ASK)
        assert one.last["messages"] == [user(ASK)]
        await know(one, CODE)
        await one.say(ASK)
    assert "苹果星星-0428" in one.last["messages"][0]["content"]
