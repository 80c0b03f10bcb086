"""Recalling at the command line, and deciding what jobs were not sure of."""

from __future__ import annotations

import asyncio

import pytest
from tests.cli.running import Program

from remembrancer.app.commit import Plan, write
from remembrancer.core.candidates.decide import Proposed, file_candidate
from remembrancer.core.ledger.events import Head
from remembrancer.local.wire import open_app
from remembrancer.store.candidates import candidate_stream
from remembrancer.store.ledger import StreamEdit


def test_recall_prints_the_text_that_a_message_needs(program: Program) -> None:
    program("remember", "我的测试暗号是苹果星星-0428")
    program("remember", "The staging server listens on port 2222")
    told = program("recall", "我的测试暗号是什么？").out
    assert "苹果星星-0428" in told
    assert "2222" not in told
    answer = program("recall", "我的测试暗号是什么？", "--json").json
    assert [hit["content"] for hit in answer["hits"]] == ["我的测试暗号是苹果星星-0428"]


def test_recall_says_why(program: Program) -> None:
    program("remember", "我对花生过敏")
    told = program("recall", "我对什么过敏？", "--why").out
    assert "recalled" in told and "score" in told
    explained = program("recall", "我对什么过敏？", "--why", "--json").json["explained"]
    assert explained["candidates"][0]["gate"] is None


@pytest.mark.parametrize("message", ["哈哈", "ok", "继续"])
def test_small_talk_recalls_nothing(program: Program, message: str) -> None:
    program("remember", "我对花生过敏")
    assert program("recall", message).out.startswith("Nothing to recall.\n")


def file(program: Program, content: str) -> str:
    """File a candidate, as a job does."""

    async def filing() -> str:
        async with open_app(str(program.data), {}) as local:
            id_ = local.app.runtime.new_id("cnd")
            draft = file_candidate(Proposed("fact", content, confidence=0.5))
            edit = StreamEdit(candidate_stream(id_), Head(), {}, (draft,))

            async def decide() -> Plan:
                return Plan({}, local.app.runtime.now_ms(), edits=[edit])

            await write(local.app, local.owner(), decide)
            return id_

    return asyncio.run(filing())


def test_candidates_are_listed_and_decided_once(program: Program) -> None:
    assert program("candidates").out == "Nothing waits.\n"
    wrong, right = file(program, "用户住在里斯本"), file(program, "喜欢乌龙茶")
    listed = program("candidates", "list").out
    assert wrong in listed and "用户住在里斯本" in listed and "0.5" in listed
    assert program("candidates", "discard", wrong, "--note", "说错了").code == 0
    assert program("candidates", "approve", right, "--content", "喜欢喝乌龙茶").code == 0
    again = program("candidates", "approve", right, "--json")
    assert (again.code, again.error["code"]) == (5, "conflict")
    assert program("candidates").out == "Nothing waits.\n"
    assert "喜欢喝乌龙茶" in program("search", "乌龙茶").out
    [kept] = program("candidates", "list", "--status", "discarded", "--json").json["candidates"]
    assert (kept["id"], kept["decision_note"]) == (wrong, "说错了")


def test_candidate_supersedes_and_merges_into_a_memory(program: Program) -> None:
    city = program.item("remember", "住在苏黎世")["id"]
    program("candidates", "supersede", file(program, "住在巴塞尔"), city)
    found = program("search", "住在", "--json").json["matches"]
    assert [match["item"]["title"] for match in found] == ["住在巴塞尔"]
    item_id = found[0]["item"]["id"]
    program("candidates", "merge", file(program, "二〇二六年起住在巴塞尔"), item_id)
    [merged] = program("search", "巴塞尔", "--json").json["matches"]
    assert (merged["item"]["id"], merged["item"]["title"]) == (item_id, "二〇二六年起住在巴塞尔")
