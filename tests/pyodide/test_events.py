"""What follows a write on the platform: messages, vectors, quotas, and the schedule."""

from __future__ import annotations

import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.pyodide.serving import TOKEN
from tests.pyodide.whole import EXTRACT, MODEL, RETENTION, SWEEP, Whole

DAY = 24 * 60
"""Minutes."""
WAIT_S = 120
"""Seconds until a model that is not asked, or not let go, is given up."""


def remember(whole: Whole, content: str) -> str:
    """Keep a memory; return its id."""
    made = whole.made("/v1/memories", {"content": content, "type": "note"})
    return str(made["data"]["id"])


def first(whole: Whole, query: str) -> tuple[str, list[str]]:
    """The surest thing that a search finds, and what had no part in it."""
    contents, degraded = whole.search(query)
    return contents[0] if contents else "", degraded


def stream_of(text: str) -> str:
    """What the pieces of a stream say together."""
    events = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    choices = [choice for one in events[:-1] for choice in json.loads(one)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def test_what_is_kept_is_found_by_meaning_though_its_message_comes_twice(whole: Whole) -> None:
    whole.edge.order("ai", meanings=[["荔枝", "tropical fruit"]])
    before = whole.vectors()
    remember(whole, "妹妹每天早上吃荔枝")
    assert "妹妹每天早上吃荔枝" not in whole.search("which tropical fruit")[0]
    assert whole.fates(times=2) == ["ack", "ack"]
    assert whole.vectors() == before + 1
    embedded = [one["inputs"].get("text") for one in whole.edge.order("ai/calls")["calls"]]
    assert sum("荔枝" in str(text) for text in embedded) == 1
    assert first(whole, "which tropical fruit") == ("妹妹每天早上吃荔枝", [])


def test_messages_late_and_out_of_order_do_all_the_work_once(whole: Whole) -> None:
    before = whole.vectors()
    for number in range(3):
        remember(whole, f"书架第 {number} 层放着旧地图")
        whole.later(1)
    whole.later(180)
    assert set(whole.fates(isReversed=True, size=1)) == {"ack"}
    assert whole.vectors() == before + 3
    assert whole.fates() == []


def test_message_that_fails_comes_again_and_nothing_is_lost(whole: Whole) -> None:
    before = whole.vectors()
    remember(whole, "备用钥匙在花盆下面")
    whole.edge.order("fail", d1={"text": "D1_ERROR: Network connection lost."})
    assert whole.fates() == ["retry 30"]
    whole.edge.order("fail")
    [again] = whole.edge.order("deliver")["delivered"]
    assert (again["fate"], again["attempts"]) == ("ack", 2)
    assert whole.vectors() == before + 1


def test_failing_index_is_tried_again_by_the_sweep(whole: Whole) -> None:
    before = whole.vectors()
    remember(whole, "窗帘在周四送到")
    whole.edge.order("fail", vectors={"text": "VECTOR_UPSERT_ERROR (code = 40005): try later"})
    assert whole.fates() == ["ack"]
    assert first(whole, "窗帘什么时候送到") == ("窗帘在周四送到", ["vectors_failed"])
    whole.edge.order("fail")
    whole.later(15)
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.vectors() == before + 1


def test_write_whose_message_is_lost_is_found_by_the_sweep(whole: Whole) -> None:
    before = whole.vectors()
    whole.edge.order("fail", queue={"text": "Queue sendBatch failed: Too Many Requests"})
    remember(whole, "雨伞放在门后")
    assert whole.edge.order("waiting") == {"messages": []}
    whole.edge.order("fail")
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.vectors() == before + 1


def test_spent_quota_leaves_words_says_so_and_ends_without_a_restart(whole: Whole) -> None:
    before = whole.vectors()
    whole.edge.order("ai", code=3036, meanings=[["口琴", "musical instrument"]])
    remember(whole, "爷爷的口琴在抽屉里")
    assert whole.fates() == ["ack"]
    assert first(whole, "爷爷的口琴在哪里") == ("爷爷的口琴在抽屉里", ["embedding_quota"])
    health = whole.client.get("/health").json()
    assert (health["status"], "quota" in str(health)) == ("degraded", True)
    whole.edge.order("ai", code=None)
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.vectors() == before  # the pause is not over
    whole.later(16)
    assert set(whole.line(SWEEP)) == {"ack"}
    assert whole.vectors() == before + 1
    assert first(whole, "a musical instrument") == ("爷爷的口琴在抽屉里", [])
    assert whole.client.get("/health").json()["status"] == "ok"


def test_vector_that_cannot_be_seen_yet_is_found_by_words_and_later_by_meaning(
    whole: Whole,
) -> None:
    whole.edge.order("ai", meanings=[["风筝", "toy that flies"]])
    whole.edge.order("vectors", lagMs=None)
    remember(whole, "红色风筝借给了小明")
    assert whole.fates() == ["ack"]
    assert "红色风筝借给了小明" not in whole.search("a toy that flies")[0]
    assert first(whole, "红色风筝借给了谁") == ("红色风筝借给了小明", [])
    whole.edge.order("vectors", isSettled=True)
    assert first(whole, "a toy that flies") == ("红色风筝借给了小明", [])


def test_what_is_forgotten_is_gone_from_the_index(whole: Whole) -> None:
    before = whole.vectors()
    item = remember(whole, "秘密花园在河对岸")
    assert whole.fates() == ["ack"]
    whole.call("forget", id=item).raise_for_status()
    assert set(whole.fates()) <= {"ack"}
    whole.line(SWEEP)
    assert whole.vectors() == before


def test_password_that_is_to_be_remembered_is_found_first(whole: Whole) -> None:
    message = {"role": "user", "content": "请记住：我的测试暗号是苹果星星-0428。"}
    whole.made("/v1/ingest/messages", {"messages": [message]})
    question = "我的测试暗号是什么？"
    assert "苹果星星-0428" in first(whole, question)[0]
    recalled = whole.call("memory_recall", query=question).json()["result"]["structuredContent"]
    assert "苹果星星-0428" in recalled["hits"][0]["content"]
    assert "苹果星星-0428" in recalled["text"]
    whole.fates(times=2)
    assert "苹果星星-0428" in first(whole, question)[0]


@pytest.mark.parametrize("form", ["workers", "openai"])
def test_line_of_extraction_reads_what_was_said_with_the_bound_model(
    whole: Whole, form: str
) -> None:
    place = {"workers": "青岛", "openai": "厦门"}[form]
    message = {"role": "user", "content": f"我上个月搬到{place}了，房子靠海，很喜欢这里。"}
    ids = whole.made("/v1/ingest/messages", {"messages": [message]})["message_ids"]
    fact: dict[str, Any] = {
        "type": "fact",
        "content": f"用户上个月搬到{place}",
        "fact_key": f"profile:home_{form}",
        "confidence": 0.9,
        "importance": 0.8,
        "tags": [],
        "source_message_ids": ids,
    }
    whole.edge.order("ai", form=form, replies=[json.dumps({"memories": [fact]})])
    whole.later(1)
    assert set(whole.line(EXTRACT)) == {"ack"}
    assert fact["content"] in whole.search(f"用户搬到{place}了吗")[0]
    asked = [one for one in whole.edge.order("ai/calls")["calls"] if "messages" in one["inputs"]]
    assert [one["model"] for one in asked] == [MODEL.removeprefix("workers-ai/")]


def test_extraction_without_quota_fails_without_a_loss_and_is_tried_again(whole: Whole) -> None:
    message = {"role": "user", "content": "我的自行车是绿色的，上周刚买的，骑着很顺。"}
    [id_] = whole.made("/v1/ingest/messages", {"messages": [message]})["message_ids"]
    whole.edge.order("ai", code=3036)
    whole.later(1)
    assert set(whole.line(EXTRACT)) == {"ack"}
    fact = {
        "type": "fact",
        "content": "用户的自行车是绿色的",
        "confidence": 0.9,
        "importance": 0.8,
        "source_message_ids": [id_],
    }
    whole.edge.order("ai", code=None, replies=[json.dumps({"memories": [fact]})])
    whole.later(DAY)
    assert set(whole.line(SWEEP)) == {"ack"}
    assert first(whole, "用户的自行车是什么颜色")[0] == "用户的自行车是绿色的"


@pytest.mark.parametrize("form", ["workers", "openai", "json"])
def test_chat_streams_whatever_form_the_bound_model_answers_in(whole: Whole, form: str) -> None:
    whole.edge.order("ai", form=form, replies=["你好，很高兴认识你。"])
    body = {"model": "companion", "messages": [{"role": "user", "content": "你好"}], "stream": True}
    answer = whole.post("/v1/chat/completions", body).raise_for_status()
    assert stream_of(answer.text) == "你好，很高兴认识你。"


def test_chat_without_quota_is_refused_in_the_words_of_the_platform(whole: Whole) -> None:
    whole.edge.order("ai", code=3036)
    body = {"model": "companion", "messages": [{"role": "user", "content": "再说一次"}]}
    answer = whole.post("/v1/chat/completions", body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (429, "rate_limit_error")


def test_client_that_leaves_ends_what_the_model_was_asked(whole: Whole) -> None:
    whole.edge.order("ai", latencyMs=WAIT_S * 2_000)
    body = {"model": "companion", "messages": [{"role": "user", "content": "讲一个很长的故事"}]}
    asked = json.dumps(body).encode()
    address = urlsplit(whole.edge.url)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: {address.netloc}\r\n"
        f"authorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(asked)}\r\n\r\n"
    )
    calls: list[Any] = []
    with socket.create_connection((address.hostname, address.port), timeout=WAIT_S) as connection:
        connection.sendall(head.encode() + asked)
        end = time.monotonic() + WAIT_S
        while not any("messages" in one["inputs"] for one in calls):
            assert time.monotonic() < end, "no model was asked"
            calls += whole.edge.order("ai/calls")["calls"]
    while True:
        told = whole.edge.order("ai/calls")
        calls += told["calls"]
        if told["aborted"] == len(calls):
            return
        assert time.monotonic() < end, (told["aborted"], calls)


def test_line_that_stands_for_nothing_does_nothing(whole: Whole) -> None:
    assert whole.line("1 2 3 4 *") == []


def test_line_of_retention_purges_what_was_deleted_long_ago(whole: Whole) -> None:
    item = remember(whole, "过期的优惠券")
    whole.client.delete(f"/v1/memories/{item}").raise_for_status()
    whole.later(400 * DAY)
    assert set(whole.line(RETENTION)) == {"ack"}
    runs = whole.client.get("/v1/jobs/runs", params={"job": "retention"}).json()["runs"]
    assert sum(run["counts"].get("purged", 0) for run in runs) >= 1, runs
