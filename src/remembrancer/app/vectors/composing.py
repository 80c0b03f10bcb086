"""Giving an app what it searches by meaning with, on a machine that keeps its own indexes.

At the edge bindings take this place. `local.wire` calls it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol

from remembrancer.app.models.embedding import make_embedder
from remembrancer.app.state import App
from remembrancer.app.vectors.indexing import Indexing
from remembrancer.ports.models import Embedder, EmbeddingModel
from remembrancer.ports.vectors import VectorIndex


class IndexSource(Protocol):
    """Where indexes are kept, one a model, and what embeds unless a model is named."""

    @property
    def encoder(self) -> Embedder | None:
        """Return the embedder that comes along; None when it is not installed."""
        ...

    @property
    def is_eager(self) -> bool:
        """Whether this process indexes behind every write; else a later one does."""
        ...

    def open(self, model: EmbeddingModel) -> VectorIndex:
        """Return the index of a model; it is made when there is none."""
        ...

    def drop(self, model: EmbeddingModel) -> None:
        """Delete the index of a model."""
        ...


@asynccontextmanager
async def indexed(app: App, source: IndexSource) -> AsyncIterator[App]:
    """Give the app embedder and index; at the end of the block, ask what runs to stop soon.

    *Raises:* InvalidInput for an embedder that cannot be set up as it is named.
    """
    indexing = Indexing(is_eager=source.is_eager)
    embedder = make_embedder(app.settings, app.outbound, source.encoder)
    vectors = None if embedder is None else source.open(embedder.model)
    try:
        yield replace(app, indexing=indexing, embedder=embedder, vectors=vectors)
    finally:
        indexing.close()
