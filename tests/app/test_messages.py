"""Storing chat messages: each once, all or none, an unknown role named."""

from __future__ import annotations

import asyncio
import json
from typing import cast

import pytest
from tests.builders import Bench

from remembrancer.app.messages import ingest_messages
from remembrancer.app.search import search_items
from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput, LimitExceeded, StoreUnavailable
from remembrancer.core.messages import ONCE_MS, ROLES, Message
from remembrancer.core.values import JSON
from remembrancer.testing.faults import CrashPoint, Faults, FaultyStore
from remembrancer.testing.stores import CountingStore, memory_store

TURN = [Message("user", "请记住：我的测试暗号是苹果星星-0428。"), Message("assistant", "好的。")]


def ids_in(answer: dict[str, JSON]) -> list[JSON]:
    ids = answer["message_ids"]
    assert isinstance(ids, list)
    return ids


def saved_of(answer: dict[str, JSON]) -> list[dict[str, JSON]]:
    saved = answer["saved"]
    assert isinstance(saved, list)
    return [one for one in saved if isinstance(one, dict)]


async def count(bench: Bench) -> int:
    return len(await bench.rows("SELECT * FROM messages"))


async def test_messages_are_stored_in_order_with_their_ids() -> None:
    bench = Bench()
    answer = await ingest_messages(bench.app, bench.caller(), TURN, source="chatbox")
    assert answer["conversation_id"] == "default:default"
    assert (answer["stored"], answer["repeated"]) == (2, 0)
    rows = await bench.rows("SELECT * FROM messages ORDER BY created_at, id")
    assert [row["id"] for row in rows] == ids_in(answer)
    assert all(str(row["id"]).startswith("msg_") for row in rows)
    assert [(row["role"], row["content"]) for row in rows] == [
        (one.role, one.content) for one in TURN
    ]
    assert {row["source"] for row in rows} == {"chatbox"}
    events = await bench.rows("SELECT * FROM events")
    assert [event["stream"] for event in events] == [
        f"item/{one['id']}" for one in saved_of(answer)
    ]


async def test_wish_that_a_client_put_beside_the_words_is_nobodys() -> None:
    bench = Bench()
    reminder = "<system-reminder>\n请记住：永远用 tabs\n</system-reminder>\n请记住：我住苏黎世"
    answer = await ingest_messages(bench.app, bench.caller(), [Message("user", reminder)])
    assert [one["content"] for one in saved_of(answer)] == ["我住苏黎世"]


@pytest.mark.parametrize("role", ROLES)
async def test_every_role_is_stored(role: str) -> None:
    bench = Bench()
    await ingest_messages(bench.app, bench.caller(), [Message(role, "话")])
    assert await count(bench) == 1


@pytest.mark.parametrize("role", ["developer", "function", "User", "", "用户"])
async def test_unknown_role_is_named_and_nothing_is_stored(role: str) -> None:
    bench = Bench()
    with pytest.raises(InvalidInput) as caught:
        await ingest_messages(bench.app, bench.caller(), [*TURN, Message(role, "x")])
    assert repr(role) in caught.value.message
    assert caught.value.field == "messages[2].role"
    assert await count(bench) == 0


async def test_turn_that_is_sent_again_is_the_same_turn() -> None:
    bench = Bench()
    first = await ingest_messages(bench.app, bench.caller(), TURN)
    bench.runtime.advance(ONCE_MS - 1)
    spaced = [Message("user", f"  {TURN[0].content}\n"), TURN[1]]
    again = await ingest_messages(bench.app, bench.caller(), spaced)
    assert ids_in(again) == ids_in(first)
    assert (again["stored"], again["repeated"]) == (0, 2)
    assert await count(bench) == 2


async def test_conversation_that_is_sent_whole_each_time_grows_by_what_is_new() -> None:
    bench = Bench()
    talk = [Message("user", "继续"), Message("assistant", "好"), Message("user", "继续")]
    first = await ingest_messages(bench.app, bench.caller(), talk[:1])
    whole = await ingest_messages(bench.app, bench.caller(), talk)
    assert ids_in(whole)[0] == ids_in(first)[0]
    assert len(set(map(str, ids_in(whole)))) == 3
    assert (whole["stored"], whole["repeated"]) == (2, 1)


async def test_same_words_much_later_or_elsewhere_are_another_message() -> None:
    bench = Bench()
    await ingest_messages(bench.app, bench.caller(), TURN)
    await ingest_messages(bench.app, bench.caller(), TURN, conversation_id="另一个")
    await ingest_messages(bench.app, bench.caller(namespace="other"), TURN)
    bench.runtime.advance(2 * ONCE_MS)
    await ingest_messages(bench.app, bench.caller(), TURN)
    assert await count(bench) == 8


async def test_two_clients_that_store_one_turn_at_once_store_it_once() -> None:
    bench = Bench()
    answers = await asyncio.gather(
        *(ingest_messages(bench.app, bench.caller(), TURN) for _ in range(2))
    )
    assert ids_in(answers[0]) == ids_in(answers[1])
    assert await count(bench) == 2


REFUSED = {
    "none": ([], InvalidInput),
    "empty": ([Message("user", " \n")], InvalidInput),
    "long": ([Message("user", "字" * (limits.MESSAGE_CHARS_MAX + 1))], LimitExceeded),
    "many": ([Message("user", str(n)) for n in range(limits.MESSAGES_MAX + 1)], LimitExceeded),
    "large": ([Message("user", f"{n}" + "字" * 99_990) for n in range(4)], LimitExceeded),
}


@pytest.mark.parametrize(("messages", "error"), REFUSED.values(), ids=list(REFUSED))
async def test_what_cannot_be_stored_is_refused_as_a_whole(
    messages: list[Message], error: type[InvalidInput]
) -> None:
    bench = Bench()
    with pytest.raises(error) as caught:
        await ingest_messages(bench.app, bench.caller(), messages)
    assert caught.value.hint
    assert await count(bench) == 0


@pytest.mark.parametrize("char", ["字", "🍎", '"'])
async def test_largest_call_is_stored(char: str) -> None:
    bench = Bench()
    each = limits.INGEST_CHARS_MAX // limits.MESSAGES_MAX - 3
    messages = [Message("user", f"{n:03}" + char * each) for n in range(limits.MESSAGES_MAX)]
    answer = await ingest_messages(bench.app, bench.caller(), messages)
    assert answer["stored"] == limits.MESSAGES_MAX


@pytest.mark.parametrize("field", ["conversation_id", "source"])
async def test_place_is_text_of_a_bounded_length(field: str) -> None:
    bench = Bench()
    for value, error in (("", InvalidInput), ("字" * 201, LimitExceeded)):
        with pytest.raises(error) as caught:
            await ingest_messages(
                bench.app,
                bench.caller(),
                TURN,
                conversation_id=value if field == "conversation_id" else None,
                source=value if field == "source" else None,
            )
        assert caught.value.field == field
    await ingest_messages(bench.app, bench.caller(), TURN, conversation_id="字" * 200)


async def test_storing_costs_one_read_and_one_write() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await ingest_messages(bench.app, bench.caller(), [Message("user", "今天天气真好")])
    assert (store.counts.reads, store.counts.writes) == (1, 1)


async def test_a_wish_costs_at_most_two_reads_more() -> None:
    store = CountingStore(memory_store())
    bench = Bench(sql=store)
    await ingest_messages(bench.app, bench.caller(), TURN)
    assert store.counts.reads <= 3
    assert store.counts.writes == 1


SECRET = "sk-" + "proj-Abc123Def456Ghi789Jkl012Mno345"


async def test_secret_in_a_message_is_stored_nowhere() -> None:
    bench = Bench()
    answer = await ingest_messages(
        bench.app, bench.caller(), [Message("user", f"我的密钥是{SECRET}，请记住")]
    )
    [row] = await bench.rows("SELECT content FROM messages")
    assert SECRET not in repr((row, answer))
    assert "[redacted:" in str(row["content"])


async def saved_in(bench: Bench, *messages: Message) -> list[dict[str, JSON]]:
    return saved_of(await ingest_messages(bench.app, bench.caller(), messages))


async def test_what_a_user_asks_to_be_remembered_is_saved_with_its_message() -> None:
    bench = Bench()
    answer = await ingest_messages(bench.app, bench.caller(), TURN)
    [saved] = saved_of(answer)
    assert (saved["content"], saved["outcome"]) == ("我的测试暗号是苹果星星-0428", "created")
    [row] = await bench.rows("SELECT * FROM items")
    assert (row["id"], row["authored_by"], row["type"]) == (saved["id"], "human", "fact")
    assert row["source_message_ids"] == json.dumps(ids_in(answer)[:1])
    found = await search_items(bench.app, bench.caller(), "我的测试暗号是什么？")
    assert (
        cast("list[dict[str, dict[str, JSON]]]", found["matches"])[0]["item"]["id"] == saved["id"]
    )


async def test_wish_of_an_agent_is_still_the_persons() -> None:
    bench = Bench()
    await ingest_messages(bench.app, bench.caller(actor="agent:claude"), TURN)
    [row] = await bench.rows("SELECT * FROM items")
    assert row["authored_by"] == "human"


async def test_wish_that_is_known_is_seen_and_a_repeated_message_asks_nothing() -> None:
    bench = Bench()
    await saved_in(bench, *TURN)
    assert await saved_in(bench, *TURN) == []
    [again] = await saved_in(bench, Message("user", "記一下：我的测试暗号是苹果星星-0428"))
    assert again["outcome"] == "seen"
    assert len(await bench.rows("SELECT * FROM items")) == 1


@pytest.mark.parametrize("role", ["system", "assistant", "tool"])
async def test_only_a_users_message_asks(role: str) -> None:
    bench = Bench()
    assert await saved_in(bench, Message(role, "请记住：我吃素。")) == []
    assert await bench.rows("SELECT * FROM items") == []


async def test_message_and_its_wish_are_written_together_or_not_at_all() -> None:
    store = FaultyStore(memory_store(), Faults())
    bench = Bench(sql=store)
    for statement in range(40):
        store.faults = Faults(crash=CrashPoint(statement))
        try:
            await ingest_messages(bench.app, bench.caller(), TURN)
        except StoreUnavailable:
            assert await count(bench) == 0
            assert await bench.rows("SELECT * FROM items") == []
        else:
            break
    else:
        pytest.fail("the batch has more statements than this test crashes at")
    assert await count(bench) == 2
    assert len(await bench.rows("SELECT * FROM items")) == 1
    assert statement > 3


async def test_secret_in_a_wish_is_not_kept() -> None:
    bench = Bench()
    await saved_in(
        bench,
        Message("user", "请记住：我的 OpenAI key 是 sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"),
    )
    rows = await bench.rows("SELECT title FROM items UNION ALL SELECT content FROM messages")
    assert rows and all("abcdefghijkl" not in str(row) for row in rows)
