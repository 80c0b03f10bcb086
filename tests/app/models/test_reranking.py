"""Rerankers over the way out: what is asked, what is taken for an answer, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import OWNER_KEY

from remembrancer.app.models.reranking import ANSWER_BYTES_MAX, make_reranker
from remembrancer.app.settings import load_settings
from remembrancer.core.errors import LimitExceeded, UpstreamFailed
from remembrancer.ports.models import Reranker
from remembrancer.testing.outbound import ScriptedAnswer, ScriptedOutbound, json_answer

SERVER = {
    "MEMORY_RERANKER_MODEL": "jina/rerank-v2",
    "AI_GATEWAY_BASE_URL": "https://models.example/v1",
    "CF_AIG_TOKEN": "sk-token",
}


def made(answer: ScriptedAnswer, **variables: str) -> tuple[Reranker, ScriptedOutbound]:
    outbound = ScriptedOutbound(lambda _: answer)
    reranker = make_reranker(load_settings({"CHATBOX_API_KEY": OWNER_KEY, **variables}), outbound)
    assert reranker is not None
    return reranker, outbound


def workers_ai(scores: list[float]) -> ScriptedAnswer:
    rows = [{"id": place, "score": score} for place, score in enumerate(scores)]
    return json_answer({"response": rows[::-1]})


async def test_workers_ai_scores_each_text_in_order() -> None:
    reranker, outbound = made(workers_ai([0.1, 0.9]))
    assert await reranker.rerank("哪个？", ["一", "two \ud800", ""][:2]) == [0.1, 0.9]
    [request] = outbound.sent
    assert request.url == "workers-ai://run/@cf/baai/bge-reranker-base"
    assert json.loads(request.body) == {
        "query": "哪个？",
        "contexts": [{"text": "一"}, {"text": "two ?"}],
        "top_k": 2,
    }


async def test_server_with_rerank_scores_each_text_in_order() -> None:
    rows = [{"index": 1, "relevance_score": 3.0}, {"index": 0, "relevance_score": -2.0}]
    reranker, outbound = made(json_answer({"results": rows}), **SERVER)
    assert await reranker.rerank("q", ["a", ""]) == pytest.approx([0.1192, 0.9526], abs=1e-3)
    [request] = outbound.sent
    assert request.url == "https://models.example/v1/rerank"
    assert ("authorization", "Bearer sk-token") in request.headers
    assert json.loads(request.body)["documents"] == ["a", "-"]


@pytest.mark.parametrize(
    "answer",
    [
        json_answer({"response": []}),
        json_answer({"response": [{"id": 0, "score": 0.5}]}),
        json_answer({"response": [{"id": 0, "score": 0.5}, {"id": 2, "score": 0.5}]}),
        json_answer({"response": [{"id": 0, "score": "x"}, {"id": 1}]}),
        json_answer({"response": ["x", None]}),
        json_answer([1]),
        json_answer({"error": "x"}, status=500),
        ScriptedAnswer(pieces=[b"no json"]),
        ScriptedAnswer(pieces=[b"x" * (ANSWER_BYTES_MAX + 1)]),
        ScriptedAnswer(pieces=[b"{"], breaks=UpstreamFailed("broken half-way")),
    ],
    ids=range(10),
)
async def test_answer_without_a_score_for_each_text_is_refused(answer: ScriptedAnswer) -> None:
    reranker, _ = made(answer)
    with pytest.raises(UpstreamFailed):
        await reranker.rerank("q", ["a", "b"])
    assert answer.is_closed


@pytest.mark.parametrize(
    "answer",
    [
        json_answer({}, status=429),
        json_answer({"errors": [{"code": 3036}]}, status=400),
    ],
    ids=["rate", "neurons"],
)
async def test_spent_quota_is_told_apart(answer: Any) -> None:
    reranker, _ = made(answer)
    with pytest.raises(LimitExceeded):
        await reranker.rerank("q", ["a"])


@pytest.mark.parametrize(
    "variables",
    [{"ENABLE_MEMORY_RERANKER": "false"}, {"MEMORY_RERANKER_MODEL": "jina/rerank"}],
    ids=["off", "no-server"],
)
def test_there_is_no_reranker_where_none_is_set_up(variables: dict[str, str]) -> None:
    settings = load_settings({"CHATBOX_API_KEY": OWNER_KEY, **variables})
    assert make_reranker(settings, ScriptedOutbound(lambda _: workers_ai([]))) is None
    assert make_reranker(load_settings({"CHATBOX_API_KEY": OWNER_KEY}), None) is None
