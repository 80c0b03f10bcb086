"""An app whose memories have vectors, and what fails on purpose: for the tests of recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.builders import NAMESPACE, OWNER_KEY, Bench

from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.app.recall.recall import Recalled, recall
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.vectors.embedding import vector_id
from remembrancer.local.connection import MEMORY
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import ChatModel, Embedder, Reranker
from remembrancer.ports.vectors import VectorIndex, VectorRow, VectorScope
from remembrancer.testing.models import HashingEmbedder


@dataclass(slots=True)
class Shelf:
    """A bench with an embedder and an index; `index` puts memories into it."""

    bench: Bench = field(default_factory=Bench)
    embedder: Embedder | None = None
    vectors: VectorIndex | None = None
    reranker: Reranker | None = None
    chat: ChatModel | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def app(self) -> App:
        return replace(
            self.bench.app,
            settings=load_settings({"CHATBOX_API_KEY": OWNER_KEY, **self.variables}),
            embedder=self.embedder,
            vectors=self.vectors,
            reranker=self.reranker,
            chat=self.chat,
        )

    # Any: the fields of a memory, and answers read by key.
    async def save(self, text: str, type_: str = "fact", **given: Any) -> str:
        caller = self.bench.caller()
        answer: Any = await save_memory(
            self.bench.app,
            caller,
            NewMemory(text, given, type_),  # type: ignore[arg-type]
        )
        id_ = str(answer["memory"]["id"])
        if self.embedder is not None and self.vectors is not None:
            await self.index(id_, text, "memory")
        return id_

    async def index(self, id_: str, text: str, kind: str) -> None:
        """Put a vector into the index, as the drain of the outbox does."""
        assert self.vectors is not None
        [values] = await HashingEmbedder().embed([text])
        row = VectorRow(vector_id(NAMESPACE, id_), VectorScope(NAMESPACE, kind), values)
        await self.vectors.upsert([row])

    async def recall(self, message: str, **options: Any) -> Recalled:
        return await recall(self.app, self.bench.caller(), message, **options)

    async def texts(self, message: str, **options: Any) -> list[str]:
        return [hit.text for hit in (await self.recall(message, **options)).hits]


def with_vectors(**given: Any) -> Shelf:
    """A shelf whose embedder hashes words."""
    embedder = HashingEmbedder()
    vectors = LocalVectors(MEMORY, embedder.model, threads=0)
    return Shelf(embedder=embedder, vectors=vectors, **given)
