"""The embedder and the index that answer, for as long as another model's index is being filled.

Both change at one moment, when the new index is whole; who holds them notices nothing. Filling is
`app.vectors.filling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remembrancer.ports.models import Embedder, EmbeddingModel, Vector
from remembrancer.ports.vectors import IndexState, VectorIndex, VectorMatch, VectorRow, VectorScope


@dataclass(slots=True)
class Serving:
    """Who answers now."""

    embedder: Embedder
    index: VectorIndex


class ServingEmbedder:
    """The embedder port over whoever answers."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    @property
    def model(self) -> EmbeddingModel:
        """Return the model of now."""
        return self._serving.embedder.model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Pass it on."""
        return await self._serving.embedder.embed(texts)


class ServingIndex:
    """The vector port over whoever answers."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        """Pass it on."""
        await self._serving.index.upsert(rows)

    async def delete(self, ids: Sequence[str]) -> None:
        """Pass it on."""
        await self._serving.index.delete(ids)

    async def query(self, scope: VectorScope, values: Vector, *, top: int) -> list[VectorMatch]:
        """Pass it on; a query that was embedded before the change finds nothing after it."""
        if len(values) != self._serving.embedder.model.dims:
            return []
        return await self._serving.index.query(scope, values, top=top)

    async def held(self, ids: Sequence[str]) -> set[str]:
        """Pass it on."""
        return await self._serving.index.held(ids)

    async def describe(self) -> IndexState:
        """Pass it on."""
        return await self._serving.index.describe()
