"""The model ports: what turns texts into vectors, answers prompts and ranks texts.

It promises the weaker of Workers AI and an encoder in this process: an answer may be refused when
a quota is spent, and takes its time. No prompt's text and no ranking of ours lives here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a chat model, without a conversation.

    *Shape:* `model` as a setting names it; `schema` a JSON schema that the answer shall follow, for
    models that can be held to one. *Units:* `max_tokens` of the answer.
    """

    model: str
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a chat model answered. *Shape:* `is_cut`: the answer ended at `max_tokens`; tokens are
    None where the server does not count."""

    text: str
    is_cut: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ChatModel(Protocol):
    """Questions that jobs ask; what chat clients ask goes another way, as it is."""

    async def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to a prompt.

        *Raises:* ModelRefused (this very prompt is too long, or filtered), Rejected (the server
        says no in other words, which may be about the prompt), UpstreamFailed (anything else that
        it says no to), TimedOut, LimitExceeded (a quota is spent), InvalidInput (no upstream is set
        up for this model).
        """
        ...


class Reranker(Protocol):
    """Texts by how well they answer."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text, in order. *Units:* 0…1.

        *Raises:* UpstreamFailed, TimedOut, LimitExceeded.
        """
        ...
