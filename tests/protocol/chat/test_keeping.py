"""What is kept of a chat after its reply: messages once, files apart, cost, word to the jobs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.builders import Bench
from tests.protocol.chat.upstreams import Chats, Json, chats, completion, stream_of
from tests.protocol.rest.doors import DOG

from remembrancer.app.gateway import chat
from remembrancer.core.errors import UpstreamFailed
from remembrancer.http.asgi import create_asgi
from remembrancer.http.routes import AREAS
from remembrancer.ports.outbound import OutboundRequest
from remembrancer.ports.sql import Outcome as SqlOutcome
from remembrancer.ports.sql import SqlStore, Statement
from remembrancer.testing.outbound import Handler, ScriptedAnswer, json_answer, stream_answer
from remembrancer.testing.queue import RecordingQueue
from remembrancer.testing.stores import CountingStore

PICTURE = "data:image/png;base64," + "QUJD" * 100


async def rows(one: Chats, sql: str) -> list[dict[str, Any]]:
    return [dict(row) for row in await Bench(sql=one.served.app.sql).rows(sql)]


async def messages(one: Chats) -> list[tuple[str, str]]:
    found = await rows(one, "SELECT role, content FROM messages ORDER BY id")
    return [(row["role"], row["content"]) for row in found]


def user(text: Json) -> Json:
    return {"role": "user", "content": text}


def assistant(text: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": text, **more}


def streaming(events: list[bytes]) -> Handler:
    return lambda _: stream_answer(events)


async def test_turn_is_kept_once_with_its_cost() -> None:
    prices = {"MODEL_PRICES": "x=9/9,m-*=1/2/0.5"}
    async with chats(environ=prices) as one:
        await one.say("我住在苏黎世")
        assert await messages(one) == [("user", "我住在苏黎世"), ("assistant", "好的 ok")]
        [used] = await rows(one, "SELECT * FROM usage")
    assert (used["prompt_tokens"], used["completion_tokens"], used["cached_tokens"]) == (100, 7, 60)
    assert used["cost"] == (40 * 1 + 60 * 0.5 + 7 * 2) / 1_000_000
    assert used["model"] == "m-1"
    assert used["finish_reason"] == "stop"
    assert used["is_complete"] == 1


async def test_streamed_reply_is_kept_as_text() -> None:
    async with chats(lambda _: stream_answer(stream_of("流 stream 🙂"))) as one:
        await one.say("hello", stream=True)
        assert await messages(one) == [("user", "hello"), ("assistant", "流 stream 🙂")]


async def test_request_that_is_sent_again_is_the_same_turn() -> None:
    replies = iter(["first", "second"])
    async with chats(lambda _: json_answer(completion(next(replies)))) as one:
        await one.say("hello")
        before = await rows(one, "SELECT id FROM messages WHERE role = 'assistant'")
        await one.say(" hello\n")
        assert await messages(one) == [("user", "hello"), ("assistant", "second")]
        assert await rows(one, "SELECT id FROM messages WHERE role = 'assistant'") == before


async def test_conversation_goes_on_and_same_words_later_are_another_turn() -> None:
    async with chats() as one:
        history = [user("yes"), assistant("好的 ok")]
        await one.post({"messages": history[:1]})
        await one.post({"messages": [*history, user("yes")]})
        conversations = await rows(one, "SELECT id, turn_count FROM conversations")
        assert [role for role, _ in await messages(one)] == ["user", "assistant"] * 2
    [conversation] = conversations
    assert conversation["turn_count"] == 2


async def test_edited_history_is_another_turn_of_the_same_conversation() -> None:
    async with chats() as one:
        named = {"x-remembrancer-conversation": "chat-1"}
        await one.post({"messages": [user("I like tea")]}, **named)
        await one.post({"messages": [user("I like coffee")]}, **named)
        found = await rows(one, "SELECT DISTINCT conversation_id FROM messages")
        assert [text for _, text in await messages(one)].count("好的 ok") == 2
    assert found == [{"conversation_id": "chat-1"}]


async def test_tool_loop_keeps_the_message_and_the_last_reply() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    async with chats(lambda _: json_answer(completion("今天下雨"))) as one:
        one.outbound.handler = lambda _: json_answer(completion("", tool_calls=[call]))
        await one.post({"messages": [user("weather?")]})
        assert await messages(one) == [("user", "weather?")]
        one.outbound.handler = lambda _: json_answer(completion("今天下雨"))
        loop = [
            user("weather?"),
            assistant(None, tool_calls=[call]),
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        ]
        await one.post({"messages": loop})
        assert await messages(one) == [("user", "weather?"), ("assistant", "今天下雨")]
        turns = await rows(one, "SELECT DISTINCT turn FROM usage")
    assert len(turns) == 1


async def test_stream_that_breaks_is_kept_as_partial() -> None:
    def answer(request: OutboundRequest) -> ScriptedAnswer:
        broken = stream_answer(stream_of("half a", is_done=False))
        broken.breaks = UpstreamFailed("broke")
        return broken

    async with chats(answer) as one:
        await one.say("hello", stream=True)
        found = await rows(one, "SELECT content, is_partial FROM messages WHERE role <> 'user'")
    assert found == [{"content": "half a", "is_partial": 1}]


async def test_whole_reply_takes_the_place_of_a_partial_one_and_not_the_reverse() -> None:
    whole, half = stream_of("whole"), stream_of("half", is_done=False)
    async with chats(lambda _: stream_answer(half)) as one:
        for events in (half, whole, half):
            one.outbound.handler = streaming(events)
            await one.say("hello", stream=True)
        found = await rows(one, "SELECT content, is_partial FROM messages WHERE role <> 'user'")
    assert found == [{"content": "whole", "is_partial": 0}]


async def test_file_becomes_an_artifact_and_its_row_holds_no_base64() -> None:
    parts = [
        {"type": "text", "text": "这是什么?"},
        {"type": "image_url", "image_url": {"url": PICTURE}},
        {"type": "image_url", "image_url": {"url": "https://pictures.example/a.png"}},
    ]
    async with chats() as one:
        await one.post({"messages": [user(parts)]})
        await one.post({"messages": [user(parts)]})
        [stored] = await rows(one, "SELECT content, artifact_ids FROM messages WHERE role='user'")
        chunks = await rows(one, "SELECT text FROM artifact_chunks")
    [artifact_id] = json.loads(stored["artifact_ids"])
    assert stored["content"].startswith(f"这是什么?\n[{artifact_id}: image/png, ")
    assert "QUJD" not in stored["content"]
    assert [row["text"] for row in chunks] == [PICTURE]


@pytest.mark.parametrize("url", ["\ud83d", "data:image/png;base64,\udc00QUJD", "\ud83d\ude42"])
async def test_file_with_half_a_character_does_not_lose_its_turn(url: str) -> None:
    parts = [{"type": "text", "text": "看 this"}, {"type": "image_url", "image_url": {"url": url}}]
    body = json.dumps({"messages": [user(parts)]})
    async with chats() as one:
        headers = {**one.headers, "content-type": "application/json"}
        response = await one.client.post("/v1/chat/completions", content=body, headers=headers)
        await one.served.runtime.drain()
        stored = await rows(one, "SELECT content FROM messages ORDER BY id")
    assert response.status_code == 200
    assert stored[0]["content"].startswith("看 this\n[art_")
    assert stored[1]["content"] == "好的 ok"


async def test_secret_in_a_message_is_not_stored() -> None:
    async with chats() as one:
        await one.say("my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF")
        [(_, text), _] = await messages(one)
    assert "abcdefghijklmnop" not in text


async def test_refusal_of_the_upstream_keeps_the_message_alone() -> None:
    refused = {"error": {"message": "no"}}
    async with chats(lambda _: json_answer(refused, status=500)) as one:
        await one.say("hello")
        assert await messages(one) == [("user", "hello")]
        [used] = await rows(one, "SELECT status, is_complete FROM usage")
    assert used == {"status": 500, "is_complete": 0}


async def test_key_without_memory_keeps_nothing() -> None:
    async with chats() as one:
        one.headers = dict(DOG)
        assert (await one.say("请记住：我的猫叫花花")).status_code == 200
        one.headers = {"authorization": "Bearer sk-owner"}
        await one.post({"messages": [user("hi")]}, path="/v1/guide-dog/chat/completions")
        assert await messages(one) == []
        for table in ("conversations", "usage", "items", "turn_blocks"):
            assert await rows(one, f"SELECT * FROM {table}") == []


async def test_failure_to_keep_does_not_reach_the_client() -> None:
    async with chats() as one:
        response = await one.client.post(
            "/v1/chat/completions", json={"messages": [user("hi")]}, headers=one.headers
        )
        one.served.runtime.discard()
    assert response.status_code == 200


async def test_jobs_are_told_of_new_messages_when_asked_to() -> None:
    queue = RecordingQueue()
    async with chats(environ={"EXTRACT_QUIET_MINUTES": "5"}) as one:
        one.served.app = replace(one.served.app, queue=queue)
        one.served.asgi = create_asgi(one.served.app, routes=AREAS)
        async with one.served.client() as client:
            one.client = client
            await one.say("hello")
    assert [message.kind for message in queue.messages] == ["extract"]


async def test_what_is_asked_to_be_remembered_is_saved_at_once() -> None:
    async with chats() as one:
        response = await one.say("请记住：我的测试暗号是苹果星星-0428。")
        [saved] = await rows(one, "SELECT id, content FROM items")
        [message] = await rows(one, "SELECT id FROM messages WHERE role = 'user'")
        memory = await one.client.get(f"/v1/memories/{saved['id']}", headers=one.headers)
    assert response.headers["x-remembrancer-saved"] == saved["id"]
    assert "苹果星星-0428" in memory.text
    assert message["id"] in memory.text


async def test_message_is_kept_though_no_upstream_could_be_reached() -> None:
    def answer(request: OutboundRequest) -> ScriptedAnswer:
        raise UpstreamFailed("cannot be reached", details={"sent": False})

    async with chats(answer) as one:
        response = await one.say("请记住：我对花生过敏。")
        assert await messages(one) == [("user", "请记住：我对花生过敏。")]
        [item] = await rows(one, "SELECT content, title FROM items")
        [used] = await rows(one, "SELECT status, is_complete FROM usage")
    assert response.status_code == 502
    assert "花生过敏" in f"{item['content']} {item['title']}"
    assert used == {"status": 0, "is_complete": 0}


class HeldStore(CountingStore):
    """A store whose writes wait until they are let go."""

    def __init__(self, inner: SqlStore) -> None:
        super().__init__(inner)
        self.go = asyncio.Event()

    async def write(self, statements: Sequence[Statement]) -> list[SqlOutcome]:
        await self.go.wait()
        return await super().write(statements)

    def session(self, _bookmark: str | None) -> HeldStore:
        return self


async def test_saving_that_takes_long_is_told_as_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "SAVING_S_MAX", 0.01)
    async with chats() as one:
        held = HeldStore(one.served.app.sql)
        one.served.asgi = create_asgi(replace(one.served.app, sql=held), routes=AREAS)
        async with one.served.client() as client:
            response = await client.post(
                "/v1/chat/completions",
                json={"messages": [user("请记住：我的猫叫花花。")]},
                headers=one.headers,
            )
            held.go.set()
            await one.served.runtime.drain()
        saved = await rows(one, "SELECT 1 FROM items")
    assert response.headers["x-remembrancer-saved"] == "pending"
    assert len(saved) == 1


async def test_repeated_request_with_an_idempotency_key_is_a_chat_like_any_other() -> None:
    async with chats() as one:
        for text in ("请记住：我的猫叫花花。", "请记住：我的狗叫旺财。"):
            response = await one.post({"messages": [user(text)]}, idempotency_key="k-1")
            assert response.status_code == 200
        assert len(await rows(one, "SELECT 1 FROM items")) == 2


async def test_same_opening_on_another_day_is_said_again_and_a_later_turn_is_not() -> None:
    async with chats() as one:
        for _ in range(2):
            await one.say("早上好")
            one.served.runtime.advance(86_400_000)
        assert [role for role, _ in await messages(one)] == ["user", "assistant"] * 2
        later = [user("早上好"), assistant("好的 ok"), user("天气?")]
        for _ in range(2):
            await one.post({"messages": later})
            one.served.runtime.advance(86_400_000)
        assert [text for _, text in await messages(one)].count("天气?") == 1


async def test_opening_of_a_named_conversation_is_the_same_for_ever() -> None:
    async with chats() as one:
        for _ in range(2):
            await one.post({"messages": [user("早上好")]}, x_conversation_id="c")
            one.served.runtime.advance(86_400_000)
        assert [role for role, _ in await messages(one)] == ["user", "assistant"]
