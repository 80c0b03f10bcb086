"""The model ports: what turns texts into vectors.

It promises the weaker of Workers AI and an encoder in this process: an answer may be refused when
a quota is spent, and takes its time. No prompt and no ranking lives here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Vector = Sequence[float]
"""One embedding: as many numbers as its model has dimensions, of unit length."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which vectors can be compared with each other: those of one name and one size."""

    name: str
    dims: int


class Embedder(Protocol):
    """Texts to vectors."""

    @property
    def model(self) -> EmbeddingModel:
        """Return what is stored beside every vector; knowing it loads nothing."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text, in order.

        *Shape:* at most `EMBED_TEXTS_MAX` texts, of each its first `EMBED_CHARS_MAX` characters;
        any text, an empty one too, has a vector. *Raises:* LimitExceeded (too many texts, or the
        quota is spent), UpstreamFailed, TimedOut. *Promise:* the same text gives the same vector
        up to rounding; the event loop does not wait.
        """
        ...
