"""Giving an app what it searches by meaning with, on a machine that keeps its own indexes.

At the edge bindings take this place. `local.wire` calls it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, Protocol

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


START_S: Final = 2.0
"""Seconds after which a server looks at its vectors: once it answers. Our choice."""

TASK: Final = "keep indexed"
"""The name of the task that does so."""


@asynccontextmanager
async def indexed(app: App, source: IndexSource) -> AsyncIterator[App]:
    """Give the app embedder and index, keep them in order, and stop that when the block ends.

    *Raises:* InvalidInput for an embedder that cannot be set up as it is named.
    """
    indexing = Indexing(is_eager=source.is_eager, is_here=True)
    embedder = make_embedder(app.settings, app.outbound, source.encoder)
    vectors = None if embedder is None else source.open(embedder.model)
    made = replace(app, indexing=indexing, embedder=embedder, vectors=vectors)
    work = asyncio.create_task(_keep(made), name=TASK) if source.is_eager else None
    try:
        yield made
    finally:
        indexing.close()
        if work is not None:
            # It may be stopped anywhere, as if the process had been killed.
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


async def _keep(app: App) -> None:
    await asyncio.sleep(START_S)
    # Only a server needs it, and not before it answers.
    from remembrancer.app.vectors.start import keep_indexed  # noqa: PLC0415

    await keep_indexed(app)
