"""Models for tests: an embedder that hashes words, a chat model and a reranker that are scripted.

Each can be made to fail. Texts with the same words are near, nothing is understood. Tests of every
ring import it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Final

from remembrancer.core.errors import LimitExceeded, UpstreamFailed
from remembrancer.core.text.segment import index_terms
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, check_texts
from remembrancer.ports.models import Completion, Embedder, EmbeddingModel, Prompt, Vector

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


class ScriptedModel:
    """The chat model port whose answers a function gives; it may raise.

    *Shape:* `asked` every prompt, in order; `fail_every` n makes each n-th call raise.
    """

    def __init__(
        self, answer: Callable[[Prompt], str | Completion], *, fail_every: int = 0
    ) -> None:
        self.answer = answer
        self.asked: list[Prompt] = []
        self.fail_every = fail_every

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer, unless this call's turn to fail has come."""
        self.asked.append(prompt)
        if self.fail_every and len(self.asked) % self.fail_every == 0:
            raise UpstreamFailed("the model fails on purpose")
        answer = self.answer(prompt)
        return answer if isinstance(answer, Completion) else Completion(answer)


class ScriptedReranker:
    """The reranker port whose scores a function gives. *Shape:* `calls` counts."""

    def __init__(self, score: Callable[[str, str], float], *, fail_every: int = 0) -> None:
        self.score = score
        self.calls = 0
        self.fail_every = fail_every

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text, unless this call's turn to fail has come."""
        self.calls += 1
        if self.fail_every and self.calls % self.fail_every == 0:
            raise UpstreamFailed("the reranker fails on purpose")
        return [self.score(query, text) for text in texts]
