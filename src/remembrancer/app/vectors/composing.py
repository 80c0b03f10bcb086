"""Giving an app what it searches by meaning with, on a machine that keeps its own indexes.

At the edge bindings take this place. `local.wire` calls it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from remembrancer.app.models.embedding import embedder_named, make_embedder
from remembrancer.app.state import App
from remembrancer.app.vectors.index import drain_outbox
from remembrancer.app.vectors.indexing import Indexing
from remembrancer.app.vectors.switching import Serving, ServingEmbedder, ServingIndex
from remembrancer.core.errors import InvalidInput, PlatformError
from remembrancer.core.vectorcheck import EMBED_TEXTS_MAX
from remembrancer.ports.models import Embedder, EmbeddingModel
from remembrancer.ports.vectors import VectorIndex
from remembrancer.store import vector_models as models

logger = logging.getLogger(__name__)


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

    @property
    def is_warm(self) -> bool:
        """Whether the encoder that comes along is loaded, so that embedding costs little."""
        ...

    def open(self, model: EmbeddingModel) -> VectorIndex:
        """Return the index of a model; it is made when there is none."""
        ...

    def keep_only(self, model: EmbeddingModel) -> None:
        """Delete the indexes of all other models."""
        ...


START_S: Final = 2.0
"""Seconds after which a server looks at its vectors: once it answers. Our choice."""

REST_S: Final = 0.1
"""Seconds that a drain waits for more writes: a burst is then one, and hardly disturbed by it; what
was said is found by meaning a moment later all the same. Our choice."""

AGAIN_S: Final = 60.0
"""Seconds after which a filling that could not go on is tried again. Our choice."""

TASK: Final = "keep indexed"
"""The name of the task that does so."""

_BOOKS_AT_ONCE: Final = 5_000
"""Books of a dropped model that are deleted in one batch, so that writers wait little."""


@asynccontextmanager
async def indexed(app: App, source: IndexSource) -> AsyncIterator[App]:
    """Give the app embedder and index, keep them in order, and stop that when the block ends.

    When another model is set than the one that answered so far, that one goes on answering until
    the index of the new one is whole. *Raises:* InvalidInput for an embedder that cannot be set
    up as it is named.
    """
    indexing = Indexing(is_eager=source.is_eager, is_here=True, rest=partial(asyncio.sleep, REST_S))
    kept = _Kept(replace(app, indexing=indexing), source)
    made = await kept.compose(make_embedder(app.settings, app.outbound, source.encoder))
    work = asyncio.create_task(kept.keep(), name=TASK) if source.is_eager else None
    try:
        yield made
        if not source.is_eager and source.is_warm:
            # A command that asked by meaning has paid for the encoder already.
            with suppress(PlatformError):
                await drain_outbox(made, limit=EMBED_TEXTS_MAX)
    finally:
        indexing.close()
        if work is not None:
            # It may be stopped anywhere, as if the process had been killed.
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


class _Kept:
    """The indexes of one process: which answers, and which is being made."""

    def __init__(self, app: App, source: IndexSource) -> None:
        self._app = app
        self._source = source
        self._serving: Serving | None = None

    async def compose(self, wanted: Embedder | None) -> App:
        """Return the app with what answers, and with what will."""
        if wanted is None:
            return self._app
        label = models.label_of(wanted.model)
        [read] = await self._app.sql.read([models.states_statement()])
        noted = models.serving(models.states(read))
        earlier = None if noted in (None, label) else self._embedder_of(str(noted))
        if earlier is None:
            if noted != label and self._source.is_eager:
                await self._app.sql.write(models.serve_statements(label))
            index = self._source.open(wanted.model)
            self._app = replace(self._app, embedder=wanted, vectors=index)
            return self._app
        self._serving = Serving(earlier, self._source.open(earlier.model))
        self._app = replace(
            self._app,
            embedder=ServingEmbedder(self._serving),
            vectors=ServingIndex(self._serving),
            embedder_next=wanted,
            vectors_next=self._source.open(wanted.model),
        )
        return self._app

    async def keep(self) -> None:
        """Once the server answers: close the gaps, fill the next index, drop the old one."""
        await asyncio.sleep(START_S)
        # Only a server needs them, and not before it answers.
        from remembrancer.app.vectors.filling import fill_next  # noqa: PLC0415
        from remembrancer.app.vectors.start import keep_indexed  # noqa: PLC0415

        await keep_indexed(self._app)
        while self._serving is not None:
            try:
                step = await fill_next(self._app)
            except PlatformError as error:
                logger.warning("the next index waits: %s", error.code)
                await asyncio.sleep(AGAIN_S)
                continue
            if step.is_whole:
                await self._change_over(self._serving)
            elif step.failure is not None:
                logger.warning("the next index waits: %s", step.failure)
                await asyncio.sleep(AGAIN_S)
        await self._tidy()

    async def _change_over(self, serving: Serving) -> None:
        embedder, index = self._app.embedder_next, self._app.vectors_next
        assert embedder is not None and index is not None
        await self._app.sql.write(models.serve_statements(models.label_of(embedder.model)))
        serving.embedder, serving.index = embedder, index
        self._serving = None
        logger.info("the index of %s answers from now on", models.label_of(embedder.model))

    async def _tidy(self) -> None:
        """Drop what belongs to models that answer no more."""
        if self._app.embedder is None:
            return
        model = self._app.embedder.model
        changes = 1
        while changes:
            statements = models.forget_statements([models.label_of(model)], _BOOKS_AT_ONCE)
            changes = (await self._app.sql.write(statements))[0].changes
        self._source.keep_only(model)

    def _embedder_of(self, label: str) -> Embedder | None:
        """Return the embedder of the model that answered so far, if it can still be had."""
        model, encoder = models.model_of(label), self._source.encoder
        if encoder is not None and encoder.model == model:
            return encoder
        if self._app.outbound is None:
            return None
        try:
            return embedder_named(
                self._app.settings, self._app.outbound, model.name, dims=model.dims
            )
        except InvalidInput:
            return None
