"""Chats through the Worker: its `fetch`, its streams handed over, its work after the answer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.chat.upstream import Upstream, running_upstream
from tests.d1.bridge import D1Bridge
from tests.pyodide.conftest import TOKEN, VARIABLES, serve
from tests.pyodide.serving import ANSWER_S

from remembrancer.core.limits import EDGE_CHAT_BODY_BYTES_MAX

WAIT_S = 120.0
"""Seconds that work after an answer may take."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    """A model's server of the tests."""
    with running_upstream() as one:
        yield one


@pytest.fixture(scope="module")
def client(d1_bridge: D1Bridge, upstream: Upstream) -> Iterator[httpx.Client]:
    """A client of a Worker that has this server as its upstream."""
    settings = {
        "AI_GATEWAY_BASE_URL": upstream.url,
        "CF_AIG_TOKEN": "upstream-secret-token",
        "CHAT_MODEL": "mock-chat",
        "EMBEDDING_MODEL": "off",
    }
    edge = serve(d1_bridge, variables={**VARIABLES, **settings})
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(
        base_url=edge.url, headers=headers, timeout=ANSWER_S, trust_env=False
    ) as made:
        yield made
    assert edge.stop() == 0


def ask(client: httpx.Client, text: str, **more: Any) -> httpx.Response:
    body = {"model": "companion", "messages": [{"role": "user", "content": text}], **more}
    return client.post("/v1/chat/completions", json=body)


def turns_of(client: httpx.Client, conversation: str) -> list[dict[str, Any]]:
    """The kept turns of a conversation, once there are any."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        answer = client.get(f"/v1/conversations/{conversation}")
        if answer.status_code == 200:
            turns: list[dict[str, Any]] = answer.json()["turns"]
            return turns
        time.sleep(0.1)
    raise AssertionError("the turn was not kept")


def test_whole_answer_comes_back_and_its_turn_is_kept(
    client: httpx.Client, upstream: Upstream
) -> None:
    response = ask(client, "你好 there")
    assert response.json()["choices"][0]["message"]["content"] == "you said: 你好 there"
    assert upstream.last.headers["authorization"] == "Bearer upstream-secret-token"
    assert TOKEN not in str(upstream.last.headers)
    [turn] = turns_of(client, response.headers["x-remembrancer-conversation"])
    assert (turn["cached_tokens"], turn["is_complete"], turn["is_stream"]) == (64, True, False)


def test_stream_is_handed_over_and_kept(client: httpx.Client) -> None:
    response = ask(client, "stream 流", stream=True, stream_options={"include_usage": True})
    events = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    deltas = [choice["delta"] for one in events[:-1] for choice in json.loads(one)["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "you said: stream 流"
    [turn] = turns_of(client, response.headers["x-remembrancer-conversation"])
    assert (turn["is_stream"], turn["is_complete"], turn["cached_tokens"]) == (True, True, 64)


def test_memory_is_saved_at_once_and_recalled(client: httpx.Client, upstream: Upstream) -> None:
    saved = ask(client, "请记住：我的测试暗号是苹果星星-0428。")
    assert saved.headers["x-remembrancer-saved"]
    found = ask(client, "我的测试暗号是什么？")
    assert found.headers["x-remembrancer-recall"].startswith("rcl_")
    assert "苹果星星-0428" in upstream.last.body["messages"][-1]["content"]


def test_claude_is_translated(client: httpx.Client) -> None:
    response = ask(client, "再见", model="anthropic/claude-sonnet-5", stream=True)
    assert response.text.rstrip().endswith("data: [DONE]")


def test_refusal_comes_with_its_status_and_body(client: httpx.Client) -> None:
    response = ask(client, "hi", model="status-429")
    assert response.status_code == 429
    assert response.headers["retry-after"] == "3"
    assert response.json()["error"]["message"] == "refused with 429"


@pytest.mark.parametrize("fault", ["silent-end", "breaks"])
def test_stream_that_dies_half_way_ends_with_an_error_event(
    client: httpx.Client, fault: str
) -> None:
    response = ask(client, f"half 半 {fault}", model=f"mock-{fault}", stream=True)
    events = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    assert json.loads(events[0])["object"] == "chat.completion.chunk"
    assert json.loads(events[-1])["error"]["code"] == "upstream_failed"
    [turn] = turns_of(client, response.headers["x-remembrancer-conversation"])
    assert (turn["is_stream"], turn["is_complete"]) == (True, False)


def test_chat_with_a_large_picture_passes_and_its_turn_is_kept(
    client: httpx.Client, upstream: Upstream
) -> None:
    picture = "data:image/png;base64," + "A" * (EDGE_CHAT_BODY_BYTES_MAX - 1_000)
    shown = {"type": "image_url", "image_url": {"url": picture}}
    content = [{"type": "text", "text": "看图"}, shown]
    body = {"model": "companion", "messages": [{"role": "user", "content": content}]}
    response = client.post("/v1/chat/completions", json=body)
    assert response.status_code == 200
    assert upstream.last.body["messages"][0]["content"] == content
    assert turns_of(client, response.headers["x-remembrancer-conversation"])
