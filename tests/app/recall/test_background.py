"""Recall decides alike whatever a model's cosines look like: its background is asked for once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from tests.app.recall.shelf import Shelf
from tests.builders import NAMESPACE

from remembrancer.app.recall.recall import Recalled, recall
from remembrancer.core.vectors.background import PAIRS
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import Embedder, EmbeddingModel, Vector
from remembrancer.ports.vectors import VectorRow, VectorScope
from remembrancer.testing.models import HashingEmbedder

MEMORIES = (
    "妈妈的二甲双胍是 0.5g，一天两次",
    "The router password is written under the desk",
    "周二周四晚上八点半去攀岩",
    "Prefers tea over coffee in the evening",
    "车险十二月九号到期",
)

MESSAGES = (
    "妈妈的二甲双胍一天几次",
    "Where is the router password written?",
    "攀岩是周几晚上",
    "车险几号到期",
    "今天天气怎么样",
    "How tall is the Eiffel tower?",
    "tea or coffee this evening",
)


class RaisedEmbedder:
    """Every cosine of hashed words is 0.6 + 0.4 times what it was. *Shape:* `asked` counts the
    texts of each call."""

    def __init__(self) -> None:
        self.inner = HashingEmbedder()
        self.model = EmbeddingModel("raised", self.inner.model.dims + 1)
        self.asked: list[int] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(len(texts))
        found = await self.inner.embed(texts)
        return [(math.sqrt(0.6), *(math.sqrt(0.4) * value for value in vector)) for vector in found]


async def shelf_of(embedder: Embedder) -> Shelf:
    vectors = LocalVectors(MEMORY, embedder.model, threads=0)
    shelf = Shelf(vectors=vectors)
    for text in MEMORIES:
        id_ = await shelf.save(text)
        [values] = await embedder.embed([text])
        row = VectorRow(vector_id(NAMESPACE, id_), VectorScope(NAMESPACE, "memory"), values)
        await vectors.upsert([row])
    shelf.embedder = embedder
    return shelf


async def recalled(embedder: Embedder, message: str) -> Recalled:
    shelf = await shelf_of(embedder)
    found = await shelf.recall(message)
    await shelf.bench.runtime.drain()
    return found


@pytest.mark.parametrize("message", MESSAGES)
async def test_decisions_are_those_of_the_model_beneath(message: str) -> None:
    plain = await recalled(HashingEmbedder(), message)
    raised = await recalled(RaisedEmbedder(), message)
    assert [hit.text for hit in raised.hits] == [hit.text for hit in plain.hits]
    for one, other in zip(raised.explained, plain.explained, strict=True):
        assert one.gate == other.gate
        assert one.score == pytest.approx(other.score, abs=0.02)


async def test_background_is_asked_for_with_the_first_query_alone() -> None:
    embedder = RaisedEmbedder()
    shelf = await shelf_of(embedder)
    embedder.asked.clear()
    app = shelf.app
    for message in MESSAGES[:3]:
        await recall(app, shelf.bench.caller(), message)
    await shelf.bench.runtime.drain()
    assert embedder.asked == [1 + 2 * len(PAIRS), 1, 1]
