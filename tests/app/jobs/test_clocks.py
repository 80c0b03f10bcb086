"""Clocks that go back or were ahead, and messages that come late: none is lost, none read twice."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.distill.nightly import Distiller, counted, echoing
from tests.app.distill.test_dream import dreaming, pages
from tests.builders import NAMESPACE

from remembrancer.app.messages import ingest_messages
from remembrancer.core.messages import Message
from remembrancer.core.values import DAY_MS, HOUR_MS, MINUTE_MS
from remembrancer.ports.models import Prompt
from remembrancer.ports.sql import Statement
from remembrancer.store import conversations, messages
from remembrancer.store.conversations import ChatMessage
from remembrancer.store.messages import NewMessage


async def told(bench: Distiller, text: str) -> None:
    """Ingest a message, as clients do."""
    await ingest_messages(bench.app, bench.caller(), [Message("user", text)])


def late(bench: Distiller, text: str, *, by_ms: int, id_: str) -> Statement:
    """The statement of a message that was slow: its time is that of before."""
    return Statement(
        "INSERT INTO messages (namespace, id, conversation_id, role, content, client_hash,"
        " created_at) VALUES (?, ?, 'c', 'user', ?, ?, ?)",
        (NAMESPACE, id_, text, id_, bench.runtime.now_ms() - by_ms),
    )


@pytest.mark.parametrize("back_ms", [1, MINUTE_MS, HOUR_MS, 3 * DAY_MS], ids=str)
async def test_message_of_a_clock_that_went_back_is_read(back_ms: int) -> None:
    bench = Distiller(script=echoing, actor="agent:claude")
    await told(bench, "我养了一只猫叫年糕")
    bench.runtime.advance(5_000)
    await bench.run(force=False)
    bench.runtime.advance(-back_ms)
    await told(bench, "我搬到了杭州西湖区")
    bench.runtime.advance(5_000)
    await bench.run(force=False)
    assert await bench.texts() == ["我养了一只猫叫年糕", "我搬到了杭州西湖区"]
    assert (await bench.run())["status"] == "nothing"


async def test_clock_that_was_ahead_for_a_while_stops_nothing() -> None:
    bench = Distiller(script=echoing, actor="agent:claude")
    bench.runtime.advance(1_000 * DAY_MS)
    await told(bench, "I moved to Lisbon")
    await bench.run()
    bench.runtime.advance(-1_000 * DAY_MS)
    for number in range(3):
        await told(bench, f"I own boat number {number}")
        bench.runtime.advance(HOUR_MS)
        await bench.run(force=False)
    assert await bench.texts() == [
        "I moved to Lisbon",
        *(f"I own boat number {n}" for n in range(3)),
    ]


@pytest.mark.parametrize("where", ["messages", "conversations"])
async def test_message_is_stored_behind_what_is_read(where: str) -> None:
    bench = Distiller(script=echoing, actor="agent:claude")
    await bench.say("I moved to Lisbon")
    await bench.run()
    [read] = await bench.rows("SELECT at_ms FROM job_cursors WHERE name = 'extract'")
    if where == "messages":
        new = [NewMessage("msg_0", "user", "I like tea", "h")]
        statement = messages.store_statement(
            NAMESPACE, new, conversation_id="c", source=None, at_ms=1
        )
    else:
        chat = [ChatMessage("msg_0", "user", "I like tea", "h")]
        statement = conversations.messages_statement(
            NAMESPACE, chat, conversation_id="c", source="s", at_ms=1
        )
    await bench.sql.write([statement])
    [row] = await bench.rows("SELECT created_at FROM messages WHERE id = 'msg_0'")
    assert row["created_at"] == int(str(read["at_ms"])) + 1


@pytest.mark.parametrize("force", [True, False])
async def test_message_that_comes_late_while_a_model_thinks_is_read(force: bool) -> None:
    bench = Distiller(actor="agent:claude")
    await bench.say("I moved to Lisbon", "I like green tea")
    bench.runtime.advance(5_000)
    waiting = [late(bench, "I own a red boat", by_ms=6_500, id_="msg_0")]

    async def meanwhile(prompt: Prompt) -> None:
        await bench.sql.write([waiting.pop()] if waiting else [])

    bench.teach(echoing)
    assert bench.model is not None
    bench.model = Meanwhile(bench.model, meanwhile)  # type: ignore[assignment]  # the same port
    done = await bench.run(force=force)
    assert counted(done, "late") == 1
    assert sorted(await bench.texts()) == [
        "I like green tea",
        "I moved to Lisbon",
        "I own a red boat",
    ]
    assert (await bench.run())["status"] == "nothing"


class Meanwhile:
    """A model during whose answer something happens."""

    def __init__(self, inner: Any, happens: Any) -> None:
        self.inner = inner
        self.happens = happens

    async def complete(self, prompt: Prompt) -> Any:
        await self.happens(prompt)
        return await self.inner.complete(prompt)


async def test_message_that_comes_late_in_a_night_is_on_its_page() -> None:
    bench = Distiller(actor="agent:claude")
    await bench.say("今天去了西湖。", "晚上吃了火锅。")
    waiting = [late(bench, "中午见了小美。", by_ms=1_500, id_="msg_0")]
    bench.runtime.advance(DAY_MS)

    async def meanwhile(prompt: Prompt) -> None:
        await bench.sql.write([waiting.pop()] if waiting else [])

    bench.teach(dreaming())
    bench.model = Meanwhile(bench.model, meanwhile)  # type: ignore[assignment]  # the same port
    done = await bench.run("dream", force=False)
    assert counted(done, "late") == 1
    page = (await pages(bench))["2026-03-01"]
    assert all(text in page for text in ("西湖", "小美", "火锅"))


async def test_message_after_a_night_belongs_to_a_day_that_is_not_over() -> None:
    bench = Distiller(
        script=dreaming(), actor="agent:claude", given={"ENABLE_AUTO_MEMORY": "false"}
    )
    await told(bench, "今天去了西湖。")
    bench.runtime.advance(DAY_MS)
    await bench.run("dream", force=False)
    bench.runtime.advance(-DAY_MS)
    await told(bench, "晚上吃了火锅。")
    bench.runtime.advance(2 * DAY_MS)
    await bench.run("dream", force=False)
    written = await pages(bench)
    assert "西湖" in written["2026-03-01"]
    assert "火锅" in written["2026-03-02"]
