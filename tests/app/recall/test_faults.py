"""Recall when its helpers fail: it answers by words, says why, and recovers by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.app.recall.shelf import Shelf, with_vectors

from remembrancer.app.recall.answers import recall_memories
from remembrancer.core.errors import (
    InvalidInput,
    LimitExceeded,
    StoreUnavailable,
    TimedOut,
    UpstreamFailed,
)
from remembrancer.ports.models import Completion, EmbeddingModel, Prompt, Vector
from remembrancer.testing.faults import Faults, FaultyStore
from remembrancer.testing.models import (
    FaultyEmbedder,
    HashingEmbedder,
    ScriptedModel,
    ScriptedReranker,
)
from remembrancer.testing.vectors import FaultyVectors

STORED = ("妈妈的生日是三月八号", "小雨对芒果过敏", "port 5434 is staging", "在阳台上种番茄")
ASKED = ("妈妈的生日", "小雨对芒果过敏吗", "staging port 5434", "阳台上种番茄")
SHORT = {"RECALL_TIMEOUT_MS": "50"}
"""So that waiting for what never comes takes 25 ms."""


class Silent:
    """A model of any kind that never answers."""

    @property
    def model(self) -> EmbeddingModel:
        return HashingEmbedder().model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        del texts
        return await asyncio.Future()

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        del query, texts
        return await asyncio.Future()

    async def complete(self, prompt: Prompt) -> Completion:
        del prompt
        return await asyncio.Future()


async def planted(**given: Any) -> Shelf:
    shelf = with_vectors(**given)
    for text in STORED:
        await shelf.save(text)
    return shelf


async def answers(shelf: Shelf) -> list[str]:
    return [(await shelf.texts(message))[0] for message in ASKED]


def refuse(error: Exception) -> Any:
    def answer(*_: object) -> Any:
        raise error

    return answer


@pytest.mark.parametrize("case", ["spent", "fails", "silent"])
async def test_words_answer_while_the_embedder_does_not(case: str) -> None:
    shelf = await planted(variables=SHORT)
    healthy = shelf.embedder
    assert healthy is not None
    broken: dict[str, tuple[Any, str]] = {
        "spent": (FaultyEmbedder(healthy, is_spent=True), "embedding_quota"),
        "fails": (FaultyEmbedder(healthy, fail_every=1), "embedding_failed"),
        "silent": (Silent(), "embedding_timed_out"),
    }
    shelf.embedder, reason = broken[case]
    found = await shelf.recall(ASKED[0])
    assert list(found.degraded) == [reason]
    assert await answers(shelf) == list(STORED)
    await shelf.bench.runtime.drain()
    [row] = await shelf.bench.rows("SELECT degraded FROM recalls WHERE id = ?", found.id)
    assert row["degraded"] == f'["{reason}"]'
    shelf.embedder = healthy
    assert list((await shelf.recall(ASKED[0])).degraded) == []


async def test_words_answer_while_the_index_fails_and_it_recovers() -> None:
    shelf = await planted()
    assert shelf.vectors is not None
    faulty = FaultyVectors(shelf.vectors, shelf.bench.runtime, fail_every=1)
    shelf.vectors = faulty
    found = await shelf.recall(ASKED[1])
    assert (found.hits[0].text, list(found.degraded)) == (STORED[1], ["vectors_failed"])
    assert await answers(shelf) == list(STORED)
    faulty.fail_every = 0
    assert list((await shelf.recall(ASKED[1])).degraded) == []


async def test_vectors_of_another_model_degrade_a_recall() -> None:
    shelf = await planted()
    shelf.embedder = HashingEmbedder(32)
    found = await shelf.recall(ASKED[1])
    assert (found.hits[0].text, list(found.degraded)) == (STORED[1], ["vectors_failed"])


async def test_vectors_without_their_item_are_left_out() -> None:
    shelf = await planted()
    await shelf.index("itm_gone", ASKED[3], "memory")
    found = await shelf.recall(ASKED[3])
    assert [hit.text for hit in found.hits] == [STORED[3]]
    assert "itm_gone" not in {one.id for one in found.explained}


async def test_a_memory_is_found_before_its_vector_is_visible() -> None:
    shelf = await planted()
    assert shelf.vectors is not None
    shelf.vectors = FaultyVectors(shelf.vectors, shelf.bench.runtime, lag_ms=60_000)
    await shelf.save("我的测试暗号是苹果星星-0428。")
    found = await shelf.recall("我的测试暗号是什么？")
    assert [hit.text for hit in found.hits] == ["我的测试暗号是苹果星星-0428。"]
    assert list(found.degraded) == []


async def test_reranker_orders_and_its_failure_keeps_the_order() -> None:
    shelf = Shelf()
    for text in ("番茄一号", "番茄二号", "番茄三号"):
        await shelf.save(text)
    plain = await shelf.texts("番茄")
    shelf.reranker = ScriptedReranker(lambda _, text: 1.0 if "一" in text else 0.2)
    found = await shelf.recall("番茄")
    assert found.hits[0].text == "番茄一号"
    assert found.explained[0].rerank == 1.0
    assert await shelf.texts("番茄", is_filtered=False) == plain
    broken: list[tuple[Any, str]] = [
        (ScriptedReranker(refuse(UpstreamFailed("no"))), "reranker_failed"),
        (ScriptedReranker(refuse(TimedOut("no"))), "reranker_failed"),
        (ScriptedReranker(refuse(LimitExceeded("no"))), "reranker_quota"),
        (Silent(), "reranker_failed"),
    ]
    shelf.variables = SHORT
    for shelf.reranker, reason in broken:
        found = await shelf.recall("番茄")
        assert [hit.text for hit in found.hits] == plain
        assert list(found.degraded) == ["no_vectors", reason]
    shelf.variables = {"ENABLE_MEMORY_RERANKER": "false"}
    assert list((await shelf.recall("番茄")).degraded) == ["no_vectors"]


LONG = "去年秋天在大理住了一个月，每天早上去洱海边跑步。" * 15 + "房东养了一只叫豆豆的狗。"
CONDENSED = '{"texts": ["房东的狗叫豆豆。"]}'


async def test_condensing_model_shortens_and_its_failure_leaves_the_rule() -> None:
    shelf = Shelf(variables={"MEMORY_FILTER_MODEL": "deepseek/deepseek-chat", **SHORT})
    await shelf.save(LONG)
    message = "大理房东的狗叫豆豆吗"
    without = await shelf.recall(message)
    assert list(without.degraded) == ["no_vectors", "no_condenser"]
    [rule] = [hit.text for hit in without.hits]
    assert "豆豆" in rule
    assert len(rule) <= 300
    model = ScriptedModel(lambda _: CONDENSED)
    shelf.chat = model
    assert await shelf.texts(message) == ["房东的狗叫豆豆。"]
    assert model.asked[0].model == "deepseek/deepseek-chat"
    assert "豆豆" not in model.asked[0].system
    broken: list[Any] = [
        ScriptedModel(lambda _: "not json"),
        ScriptedModel(lambda _: '{"texts": []}'),
        ScriptedModel(refuse(UpstreamFailed("no"))),
        ScriptedModel(refuse(LimitExceeded("no"))),
        ScriptedModel(refuse(InvalidInput("no upstream"))),
        Silent(),
    ]
    for shelf.chat in broken:
        found = await shelf.recall(message)
        assert [hit.text for hit in found.hits] == [rule]
        assert list(found.degraded) == ["no_vectors", "condenser_failed"]
    shelf.chat = ScriptedModel(lambda _: '{"texts": [null]}')
    assert await shelf.texts(message) == [rule]


async def test_failing_store_is_an_error_and_leaves_no_task_behind() -> None:
    shelf = await planted()
    shelf.bench.sql = FaultyStore(shelf.bench.sql, Faults(fail_every=1))
    with pytest.raises(StoreUnavailable):
        await recall_memories(shelf.app, shelf.bench.caller(), ASKED[0])
