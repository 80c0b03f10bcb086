"""Embedders for tests: one that hashes words, and one that fails as often as it is told.

Texts with the same words are near, nothing is understood. Every ring's tests import it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Final

from remembrancer.core.errors import LimitExceeded, UpstreamFailed
from remembrancer.core.text.segment import index_terms
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, check_texts
from remembrancer.ports.models import Embedder, EmbeddingModel, Vector

HASHED_DIMS: Final = 64
"""Dimensions unless asked otherwise: few, so that tests are quick."""


class HashingEmbedder:
    """The embedder port without a model: each word of the index adds or takes 1 somewhere.

    *Promise:* the same vector for the same text on every machine.
    """

    def __init__(self, dims: int = HASHED_DIMS) -> None:
        self._model = EmbeddingModel("hashing", dims)

    @property
    def model(self) -> EmbeddingModel:
        """Return its name and size."""
        return self._model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors at once."""
        check_texts(texts)
        return [self._vector(text[:EMBED_CHARS_MAX]) for text in texts]

    def _vector(self, text: str) -> Vector:
        sums = [0.0] * self._model.dims
        for token in index_terms(text).split():
            digest = hashlib.sha256(token.encode()).digest()
            place = int.from_bytes(digest[:4], "big") % len(sums)
            sums[place] += 1.0 if digest[4] % 2 else -1.0
        length = math.sqrt(sum(value * value for value in sums))
        if not length:  # no word, or words that cancel out: a vector all the same
            return (1.0, *[0.0] * (len(sums) - 1))
        return tuple(value / length for value in sums)


class FaultyEmbedder:
    """The embedder port around another one.

    *Shape:* `fail_every` n makes each n-th call raise UpstreamFailed, `is_spent` every call
    LimitExceeded, as an exhausted quota does; 0 and False turn them off. `calls` counts.
    """

    def __init__(self, inner: Embedder, *, fail_every: int = 0, is_spent: bool = False) -> None:
        self.inner = inner
        self.fail_every = fail_every
        self.is_spent = is_spent
        self.calls = 0

    @property
    def model(self) -> EmbeddingModel:
        """Return the inner one's."""
        return self.inner.model

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed, unless this call's turn to fail has come."""
        self.calls += 1
        if self.is_spent:
            raise LimitExceeded("the day's quota is spent on purpose")
        if self.fail_every and self.calls % self.fail_every == 0:
            raise UpstreamFailed("the embedder fails on purpose")
        return await self.inner.embed(texts)
