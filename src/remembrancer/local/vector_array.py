"""One contiguous array of vectors with what they belong to: the one module that counts with numpy.

It knows no file and no thread; `local.vectors` gives it both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer.local.blas import limit_threads

Scope = tuple[str, str, str]
"""Namespace, kind and project; in a query, '' for kind or project stands for any."""

_ROWS_FIRST: Final = 256
"""Rows that are made room for at least."""

_GROWTH: Final = 1.25
"""By how much the room grows when it is full: a fifth of it may lie idle, no more. Our choice."""


class VectorArray:
    """Rows of floats in the order of their writing, holes filled by the last row.

    *Shape:* `room` rows are expected.
    """

    def __init__(self, dims: int, *, room: int = 0) -> None:
        limit_threads()
        room = max(room, _ROWS_FIRST)
        self._rows: NDArray[np.float32] = np.zeros((room, dims), np.float32)
        self._codes: NDArray[np.int32] = np.zeros((room, 3), np.int32)
        self._names: dict[str, int] = {"": 0}
        self._ids: list[str] = []
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._places

    def as_bytes(self, values: Sequence[float]) -> bytes:
        """Return a vector as it is kept in a file: little-endian 32-bit floats."""
        return np.asarray(values, "<f4").tobytes()

    def from_bytes(self, floats: bytes) -> NDArray[np.float32]:
        """Return the vector that was kept."""
        return np.frombuffer(floats, "<f4").astype(np.float32, copy=False)

    def put(self, id_: str, scope: Scope, values: Sequence[float] | NDArray[np.float32]) -> None:
        """Write a row, over the one of the same id."""
        place = self._places.get(id_)
        if place is None:
            place = len(self._ids)
            if place == len(self._rows):
                self._grow()
            self._ids.append(id_)
            self._places[id_] = place
        self._rows[place] = values
        self._codes[place] = [self._names.setdefault(name, len(self._names)) for name in scope]

    def _grow(self) -> None:
        added = int(len(self._rows) * (_GROWTH - 1)) + 1
        self._rows = np.concatenate(
            [self._rows, np.zeros((added, self._rows.shape[1]), np.float32)]
        )
        self._codes = np.concatenate([self._codes, np.zeros((added, 3), np.int32)])

    def remove(self, id_: str) -> None:
        """Take a row out; the last row takes its place."""
        place = self._places.pop(id_, None)
        if place is None:
            return
        last = self._ids.pop()
        if last != id_:
            end = len(self._ids)
            self._rows[place], self._codes[place] = self._rows[end], self._codes[end]
            self._ids[place], self._places[last] = last, place

    def nearest(self, scope: Scope, values: Sequence[float], top: int) -> list[tuple[str, float]]:
        """Return (id, cosine) of the nearest rows of a scope, equal ones by id."""
        count = len(self._ids)
        codes = [self._names.get(name) for name in scope]
        if not count or None in codes:
            return []
        is_inside = self._codes[:count, 0] == codes[0]
        for column in (1, 2):
            if scope[column]:
                is_inside &= self._codes[:count, column] == codes[column]
        scores = self._rows[:count] @ np.asarray(values, np.float32)
        inside = np.flatnonzero(is_inside)
        if len(inside) > top:
            # All that are as near as the last of the best, so that the ids decide among equals.
            least = np.partition(scores[inside], -top)[-top]
            inside = inside[scores[inside] >= least]
        found = [(self._ids[place], float(scores[place])) for place in inside.tolist()]
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        return found[:top]
