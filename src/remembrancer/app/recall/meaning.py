"""The side of recall that goes by meaning: embed the query, ask the index, within a time.

Whatever fails here degrades a recall and says so; it never raises and never silences the words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from remembrancer.app.state import App
from remembrancer.core.errors import LimitExceeded, RemembrancerError, TimedOut
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, QUERY_TOP_MAX
from remembrancer.core.vectors.background import (
    REFERENCE,
    REFERENCE_MODEL,
    Background,
    background_of,
    on_scale,
    texts,
)
from remembrancer.core.vectors.embedding import item_of_vector
from remembrancer.ports.models import Embedder, Vector
from remembrancer.ports.vectors import VectorIndex, VectorScope

T = TypeVar("T")

PATIENT_MS: Final = 8_000
"""Milliseconds that a step may take where nobody waits to go on talking: a first call may have to
load the encoder. Our choice."""


VECTOR_FAULTS: Final = (
    "no_vectors",
    "embedding_quota",
    "embedding_timed_out",
    "embedding_failed",
    "vectors_failed",
)
"""Reasons for which a query was answered by words alone."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the index found. *Shape:* `near` item id → cosine, the nearest first; `degraded` why
    there is nothing, None when the index answered."""

    near: Mapping[str, float] = field(default_factory=dict)
    degraded: str | None = None


class _Embedded(NamedTuple):
    """A query's vector, and what cosines with it mean."""

    values: Vector
    background: Background


async def within(work: Awaitable[T], wait_ms: int) -> T:
    """Return what the work gives. *Raises:* TimedOut after `wait_ms`, and what the work raises."""
    try:
        # Not `wait_for`, which makes a task of it and so takes two more rounds of the loop.
        async with asyncio.timeout(max(0, wait_ms) / 1_000):
            return await work
    except TimeoutError as error:
        raise TimedOut(f"nothing came within {wait_ms} ms") from error


class MeaningSearch:
    """One question to the index, whose embedding is made while the words are looked for."""

    def __init__(self, app: App, text: str, *, wait_ms: int) -> None:
        self._index = app.vectors
        self._wait_ms = wait_ms
        self._asked: list[asyncio.Task[Meaning]] = []
        self._embedding: asyncio.Task[_Embedded | str] | None = None
        if app.embedder is not None and app.vectors is not None:
            self._embedding = asyncio.ensure_future(_embed(app, app.embedder, text, wait_ms))

    def give_up(self) -> None:
        """Let go of the embedding and the index, because the words failed."""
        if self._embedding is not None:
            self._embedding.cancel()
        for task in self._asked:
            task.cancel()

    def near(self, scope: VectorScope) -> Awaitable[Meaning]:
        """Begin to look for what is near the query within a scope, and return the waiting for it.

        *Promise:* never raises our errors.
        """
        task = asyncio.ensure_future(self._near(scope))
        self._asked.append(task)
        return task

    async def _near(self, scope: VectorScope) -> Meaning:
        if self._embedding is None or self._index is None:
            return Meaning(degraded="no_vectors")
        embedded = await self._embedding
        if isinstance(embedded, str):
            return Meaning(degraded=embedded)
        return await _query(self._index, scope, embedded, self._wait_ms)


async def _embed(app: App, embedder: Embedder, text: str, wait_ms: int) -> _Embedded | str:
    """Return the query's vector, or why there is none.

    *Promise:* one call; the first one of a model in this process asks for its background as well.
    """
    model = embedder.model
    background = REFERENCE if model.name == REFERENCE_MODEL else app.backgrounds.get(model)
    asked = [text[:EMBED_CHARS_MAX], *(() if background is not None else texts())]
    try:
        [values, *others] = await within(embedder.embed(asked), wait_ms)
    except LimitExceeded:
        return "embedding_quota"
    except TimedOut:
        return "embedding_timed_out"
    except RemembrancerError:
        return "embedding_failed"
    if background is None:
        background = app.backgrounds[model] = background_of(others)
    return _Embedded(values, background)


async def _query(
    index: VectorIndex, scope: VectorScope, embedded: _Embedded, wait_ms: int
) -> Meaning:
    try:
        matches = await within(index.query(scope, embedded.values, top=QUERY_TOP_MAX), wait_ms)
    except RemembrancerError:
        return Meaning(degraded="vectors_failed")
    scaled = on_scale([score for _, score in matches], embedded.background)
    ids = [item_of_vector(id_) for id_, _ in matches]
    return Meaning(dict(zip(ids, scaled, strict=True)))
