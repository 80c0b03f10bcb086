"""What a person asks to be remembered is known in the next conversation, at every door, at once."""

from __future__ import annotations

import time
import uuid

import pytest
from tests.e2e.serving import WAIT_S, Json, Server

SEARCH = "/v1/search/memories"


def ask(server: Server, method: str, path: str, body: Json = None) -> Json:
    with server.client() as client:
        response = client.request(method, path, json=body)
        response.raise_for_status()
        return response.json()


def explained(server: Server, recall_id: str) -> Json:
    """The explanation of a recall, which is written after its answer."""
    end = time.monotonic() + WAIT_S
    while True:
        shown = server.call("recall_explain", id=recall_id)
        if "error" not in shown:
            return shown
        assert time.monotonic() < end, shown


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        pytest.param(
            "请记住：我的测试暗号是苹果星星-{mark}。",
            "我的测试暗号是什么？",
            "我的测试暗号是苹果星星-{mark}",
            id="chinese",
        ),
        pytest.param(
            "Remember that my locker combination is {mark}.",
            "what is my locker combination",
            "my locker combination is {mark}",
            id="english",
        ),
    ],
)
def test_what_was_said_is_found_first_by_the_next_question(
    server: Server, said: str, question: str, answer: str
) -> None:
    mark = f"{uuid.uuid4().int % 9000 + 1000}"
    message = {"role": "user", "content": said.format(mark=mark)}
    ask(server, "POST", "/v1/ingest/messages", {"messages": [message]})
    found = ask(server, "POST", SEARCH, {"query": question, "include_prompt": True})
    first = found["data"][0]
    assert answer.format(mark=mark) in first["content"]
    assert answer.format(mark=mark) in found["prompt"]
    recalled = server.call("memory_recall", query=question)
    assert recalled["hits"][0]["id"] == first["id"]
    assert answer.format(mark=mark) in recalled["text"]
    shown = explained(server, recalled["recall_id"])
    assert shown["recall"]["candidates"][0]["id"] == first["id"]
    server.call("forget", id=first["id"])
    gone = ask(server, "POST", SEARCH, {"query": question})
    assert first["id"] not in {one["id"] for one in gone["data"]}
    told = server.call("recall_explain", id=recalled["recall_id"])["recall"]
    assert mark not in str(told)


@pytest.mark.parametrize("text", ["ok", "哈哈", "继续", "thanks!", "好的，谢谢"])
def test_small_talk_recalls_nothing(server: Server, text: str) -> None:
    saved = server.call("capture_context", input=f"哈哈 ok 继续 {uuid.uuid4().hex}")["item"]
    assert ask(server, "POST", SEARCH, {"query": text})["data"] == []
    recalled = server.call("memory_recall", query=text)
    assert (recalled["hits"], recalled["text"]) == ([], "")
    server.call("forget", id=saved["id"])
