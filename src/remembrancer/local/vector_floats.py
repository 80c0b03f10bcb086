"""The floats of vectors in a file without a name, each at its place: what a query measures with.

The vectors' own file has them too, but finding two hundred rows in it takes SQLite five times as
long as reading them from their places. The file goes with the process. `local.vectors` imports it,
and does without where there can be none.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FLOAT_BYTES: Final = 4
"""Bytes of a 32-bit float."""


class FloatFile:
    """Rows of the same length, by place. *Raises:* OSError, from every method."""

    def __init__(self, folder: Path, dims: int) -> None:
        with tempfile.TemporaryFile(dir=folder) as file:
            self._descriptor = os.dup(file.fileno())
        self.close = weakref.finalize(self, os.close, self._descriptor)
        self._width = dims * FLOAT_BYTES

    def put(self, places: Sequence[int], rows: Sequence[bytes]) -> None:
        """Write rows at their places; places that follow each other are written at once."""
        start = 0
        for end in range(1, len(places) + 1):
            if end == len(places) or places[end] != places[end - 1] + 1:
                self._write(places[start], b"".join(rows[start:end]))
                start = end

    def take_out(self, moves: Sequence[tuple[int, int]]) -> None:
        """Let the last row take a place, for each place and last row; nothing is left of the rows
        that were there."""
        for place, last in moves:
            if place != last:
                self._write(place, self._read(last))
            self._write(last, bytes(self._width))

    def rows(self, places: Sequence[int]) -> bytes:
        """Return the rows, one behind the other."""
        return b"".join([self._read(place) for place in places])

    def _read(self, place: int) -> bytes:
        row = os.pread(self._descriptor, self._width, place * self._width)
        if len(row) != self._width:
            raise OSError(f"the file has no row {place}")
        return row

    def _write(self, place: int, rows: bytes) -> None:
        if os.pwrite(self._descriptor, rows, place * self._width) != len(rows):
            raise OSError("there is no room on the disk")


def open_floats(folder: Path, dims: int) -> FloatFile | None:
    """Return a new file, None where files cannot be without a name."""
    if os.name != "posix":
        return None
    try:
        return FloatFile(folder, dims)
    except OSError:
        return None
