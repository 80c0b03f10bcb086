"""Streams through a real server: clients that leave, many at once, silence, and quiet logs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import httpx
import pytest
from tests.chat.conftest import Gateway
from tests.e2e.serving import WAIT_S

from measuring import resident_mib

MANY = 200
"""Streams at once."""
CHUNKS = 200
"""Chunks of each."""
MEMORY_MIB_MAX = 200
"""What the server may hold at most, streams included. Source: DESIGN section 14."""


def question(text: str, **more: object) -> dict[str, object]:
    messages = [{"role": "user", "content": text}]
    return {"model": "companion", "messages": messages, "stream": True, **more}


def client(gateway: Gateway) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {gateway.server.token}"}
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(
        base_url=gateway.server.url, headers=headers, timeout=WAIT_S, limits=limits
    )


async def until(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so, not for ever."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if is_so():
            return True
        await asyncio.sleep(0.02)
    return False


def is_cancelled(gateway: Gateway, text: str) -> bool:
    """Whether the upstream's stream of this message was cancelled."""
    return any(text in one.raw.decode() and one.is_cancelled for one in gateway.upstream.sent)


async def test_client_that_leaves_a_stream_cancels_the_upstream(gateway: Gateway) -> None:
    text = "leaving in the middle 半路离开"
    body = question(text, model="slow", x_chunks=10_000)
    async with client(gateway) as one:
        async with one.stream("POST", "/v1/chat/completions", json=body) as response:
            async for piece in response.aiter_raw():
                if b"you said" in piece:
                    break
        assert await until(lambda: is_cancelled(gateway, text))
        messages = await kept(one, text)
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["content"].startswith("you said: ")


async def kept(one: httpx.AsyncClient, text: str) -> list[dict[str, str]]:
    """The stored messages of the conversation that began with a text, once both are there."""
    end = time.monotonic() + WAIT_S
    while True:
        boot = (await one.get("/v1/memory_boot")).json()
        stored = (boot.get("data") or boot)["today_messages"]
        found = [message["conversation_id"] for message in stored if message["content"] == text]
        mine = [message for message in stored if message["conversation_id"] in found]
        if len(mine) == 2 or time.monotonic() > end:
            return mine
        await asyncio.sleep(0.05)


async def test_client_that_leaves_before_the_answer_cancels_the_upstream(gateway: Gateway) -> None:
    text = "never mind 算了"
    body = {**question(text, model="thinks-long"), "stream": False}
    async with client(gateway) as one:
        count = len(gateway.upstream.sent)
        asking = asyncio.ensure_future(one.post("/v1/chat/completions", json=body))
        assert await until(lambda: len(gateway.upstream.sent) > count)
        asking.cancel()
        await asyncio.wait({asking})
        assert await until(lambda: is_cancelled(gateway, text))
        again = await one.get("/health")
    assert again.status_code == 200


@pytest.mark.slow
async def test_many_streams_at_once_are_whole_and_their_own(gateway: Gateway) -> None:
    async with client(gateway) as one:

        async def ask(number: int) -> None:
            text = f"parallel {number:03d} 并行"
            body = question(text, x_chunks=CHUNKS)
            response = await one.post("/v1/chat/completions", json=body)
            events = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
            assert events.pop() == "[DONE]"
            deltas = [json.loads(event)["choices"][0]["delta"] for event in events]
            told = [delta["content"] for delta in deltas if delta.get("content")]
            # The upstream says back what it was sent, which may be more than the text.
            assert all(one.startswith(f"you said: {text}") for one in told)
            assert [one.rpartition("#")[2] for one in told] == [f"{at};" for at in range(CHUNKS)]

        await asyncio.gather(*(ask(number) for number in range(MANY)))
    assert gateway.server.process is not None
    held = resident_mib(gateway.server.process.pid)
    assert held is None or held[1] <= MEMORY_MIB_MAX


async def test_logs_hold_no_key_and_nothing_that_was_said(gateway: Gateway) -> None:
    secret = "a very private sentence 私房话"
    async with client(gateway) as one:
        for model in ("companion", "status-500", "breaks", "anthropic/claude-sonnet-5"):
            await one.post("/v1/chat/completions", json=question(secret, model=model))
        await one.post("/anthropic/v1/messages", json={"messages": secret})
        await one.post("/v1/chat/completions", content=secret.encode())
    log = gateway.log.read_text(encoding="utf-8")
    assert '"route": "chat_completions"' in log
    for text in (secret, "you said", gateway.server.token, "upstream-secret-token"):
        assert text not in log
    assert '"event": "defect"' not in log
    assert "failed" not in log
