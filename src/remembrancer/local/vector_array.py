"""Vectors in the memory of this process, small: the one module that counts with numpy.

A vector is kept as half a byte for each dimension, and as two bits for each, which is a fifth of
what its floats take. The bits say which thousands of many vectors are near, the halves of bytes
which hundreds of those; how near each is, and the order, comes from the floats, which whoever asks
has in a file. It knows no file and no thread; `local.vectors` gives it both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer.local.blas import limit_threads

Scope = tuple[str, str, str]
"""Namespace, kind and project; in a query, '' for kind or project stands for any."""

Matrix = NDArray[np.float32]
"""Vectors, one a row."""

NEAR_ROWS: Final = 1_500
NEAR_SHARE: Final = 0.025
"""Rows that the bits leave to the halves of bytes, and the share of all beside them: 4,000 of
100,000. Source: all of the nearest hundred are among these, of 100,000 vectors (of sentences, and
of mixtures of two; 60 questions of the labelled sets; of 2,000 rows 99.7 %), of 4,195 sentences
(643 rows would do, 200 questions) and of 2,000 (979)."""

SPARE_ROWS: Final = 120
"""Rows beyond those asked for that the halves of bytes leave to the floats. Source: the nearest
hundred among 100,000 mixtures of two sentences are among the best 146 of each of 100 questions of
the labelled sets, among the best 112 on average; without structure, of 60 questions one needs more
than 220. Whole bytes need 103, and 25 MB more."""

_ROWS_AT_ONCE: Final = 512
"""Rows that are unpacked and multiplied at a time: half a megabyte. Measured: no slower than all of
them."""

_BITS_AT_ONCE: Final = 16_384
"""Rows whose bits are compared at a time: two megabytes. Measured: two thirds of the time that
whole columns take, which are read from memory again and again."""

_ROWS_FIRST: Final = 256
"""Rows that are made room for at least."""

_GROWTH: Final = 1.25
"""By how much the room grows when it is full: a fifth of it may lie idle, no more. Our choice."""

_LEVEL: Final = 0.4
"""Where the two bits divide the values, in their standard deviation. Source: as `NEAR_ROWS`; one
bit for the sign keeps 99.5 % of the nearest hundred, as many rows."""

_STEPS: Final = 15
_MIDDLE: Final = _STEPS / 2
"""Half of a byte counts the steps from the least value; the middle stands for 0."""

_SPREAD: Final = 2.5
"""Standard deviations up to which values are told apart. Source: as `SPARE_ROWS`; 2.8 need 172."""

_WORD_BITS: Final = 64


class VectorArray:
    """Rows in the order of their writing, holes filled by the last row.

    *Shape:* `room` rows are expected.
    """

    def __init__(self, dims: int, *, room: int = 0) -> None:
        limit_threads()
        room = max(room, _ROWS_FIRST)
        self._level = _LEVEL / dims**0.5
        self._words = 2 * -(-dims // _WORD_BITS)
        self._half = -(-dims // 2)
        # The first half of the dimensions is in the low halves of the bytes.
        self._bytes: NDArray[np.uint8] = np.zeros((room, self._half), np.uint8)
        self._scales: NDArray[np.float32] = np.zeros(room, np.float32)
        # One array for each word, so that a query reads them from end to end.
        self._bits: NDArray[np.uint64] = np.zeros((self._words, room), np.uint64)
        # One array for each name of a scope, for the same reason.
        self._codes: NDArray[np.int32] = np.zeros((3, room), np.int32)
        self._rows: NDArray[np.int64] = np.zeros(room, np.int64)
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

    def put(self, rows: Sequence[tuple[str, Scope, bytes, int]]) -> list[int]:
        """Write rows, each over the one of the same id, and return their places. *Shape:* id,
        scope, floats `as_bytes`, and the number under which the file has them; no id twice."""
        if not rows:
            return []
        places = [self._place_of(id_) for id_, *_ in rows]
        floats = self._matrix(b"".join([floats for _, _, floats, _ in rows]), len(rows))
        self._rows[places] = [row for *_, row in rows]
        self._bytes[places], self._scales[places] = self._halves_of(floats)
        self._bits[:, places] = self._bits_of(floats)
        for column in range(3):
            self._codes[column, places] = [
                self._names.setdefault(scope[column], len(self._names)) for _, scope, _, _ in rows
            ]
        return places

    def _place_of(self, id_: str) -> int:
        place = self._places.get(id_)
        if place is None:
            place = len(self._ids)
            if place == len(self._bytes):
                self._grow()
            self._ids.append(id_)
            self._places[id_] = place
        return place

    def _grow(self) -> None:
        added = int(len(self._bytes) * (_GROWTH - 1)) + 1
        self._bytes = np.pad(self._bytes, ((0, added), (0, 0)))
        self._scales = np.pad(self._scales, (0, added))
        self._bits = np.pad(self._bits, ((0, 0), (0, added)))
        self._codes = np.pad(self._codes, ((0, 0), (0, added)))
        self._rows = np.pad(self._rows, (0, added))

    def _halves_of(self, floats: Matrix) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return each vector as halves of bytes, and how much a step is.

        The steps reach as far as most values do, or as far as all: whichever is less wrong.
        """
        best: list[tuple[Matrix, NDArray[np.float32], NDArray[np.float32]]] = []
        for reach in (_SPREAD * floats.std(axis=1), np.abs(floats).max(axis=1)):
            scales = (np.where(reach > 0, reach, 1) / _MIDDLE).astype(np.float32)
            steps = np.clip(np.rint(floats / scales[:, None] + _MIDDLE), 0, _STEPS)
            wrong = np.square((steps - _MIDDLE) * scales[:, None] - floats).sum(axis=1)
            best.append((steps, scales, wrong))
        (most, most_scales, most_wrong), (every, every_scales, every_wrong) = best
        is_most = most_wrong <= every_wrong
        steps = np.where(is_most[:, None], most, every).astype(np.uint8)
        low, high = steps[:, : self._half], steps[:, self._half :]
        packed = low.copy()
        packed[:, : high.shape[1]] |= high << 4
        return packed, np.where(is_most, most_scales, every_scales)

    def _matrix(self, floats: bytes, count: int) -> Matrix:
        return np.frombuffer(floats, "<f4").astype(np.float32, copy=False).reshape(count, -1)

    def _bits_of(self, floats: Matrix) -> NDArray[np.uint64]:
        """Return two bits for each value: is it over the level, is it over minus the level."""
        room = self._words // 2 * _WORD_BITS - floats.shape[1]
        halves = [
            np.packbits(np.pad(floats > level, ((0, 0), (0, room))), axis=1).view(np.uint64)
            for level in (self._level, -self._level)
        ]
        return np.concatenate(halves, axis=1).T

    def remove(self, id_: str) -> tuple[int, int] | None:
        """Take a row out; the last row takes its place. *Shape:* the place, and where the last row
        was; None when there is no such row."""
        place = self._places.pop(id_, None)
        if place is None:
            return None
        last = self._ids.pop()
        if last != id_:
            end = len(self._ids)
            self._bytes[place], self._scales[place] = self._bytes[end], self._scales[end]
            self._bits[:, place] = self._bits[:, end]
            self._codes[:, place] = self._codes[:, end]
            self._rows[place] = self._rows[end]
            self._ids[place], self._places[last] = last, place
        return place, len(self._ids)

    def near(self, scope: Scope, values: Sequence[float], top: int) -> list[int]:
        """Return the places of the rows of a scope among which the nearest `top` are, and a few, in
        their order."""
        inside = self._inside(scope)
        if inside is None:
            return []
        asked = np.asarray(values, np.float32)
        left = NEAR_ROWS + int(len(inside) * NEAR_SHARE)
        if len(inside) > left:
            inside = self._nearest_by_bits(inside, asked, left)
        wanted = top + SPARE_ROWS
        if len(inside) > wanted:
            inside = self._best(inside, self._scores(inside, asked), wanted)
        # A file is read from its beginning to its end.
        places: list[int] = np.sort(inside).tolist()
        return places

    def numbers(self, places: Sequence[int]) -> list[int]:
        """Return the numbers under which the file has the rows at these places."""
        found: list[int] = self._rows[places].tolist()
        return found

    def ids(self, places: Sequence[int]) -> list[str]:
        """Return the ids of the rows at these places."""
        return [self._ids[place] for place in places]

    def _best(self, inside: NDArray[np.intp], scores: Matrix, wanted: int) -> NDArray[np.intp]:
        """Return the places of the highest scores; the ids decide among equals."""
        least = np.partition(scores, -wanted)[-wanted]
        best = inside[scores > least]
        equal = sorted(inside[scores == least].tolist(), key=self._ids.__getitem__)
        return np.concatenate([best, np.array(equal[: wanted - len(best)], np.intp)])

    def _scores(self, inside: NDArray[np.intp], asked: Matrix) -> Matrix:
        """Return about how near the rows are."""
        half = self._half
        low: Matrix = asked[:half]
        high: Matrix = np.zeros(half, np.float32)
        high[: len(asked) - half] = asked[half:]
        # A byte is its low half and sixteen times its high half, so it is taken as it is for the
        # high one, and what that counts too much of the low one is taken off.
        high /= np.float32(16)
        low = low - high
        scores = np.empty(len(inside), np.float32)
        some = np.empty((min(len(inside), _ROWS_AT_ONCE), half), np.float32)
        for start in range(0, len(inside), _ROWS_AT_ONCE):
            packed = self._bytes[inside[start : start + _ROWS_AT_ONCE]]
            floats = some[: len(packed)]
            floats[:] = packed
            found = floats @ high
            packed &= 15
            floats[:] = packed
            found += floats @ low
            scores[start : start + len(packed)] = found
        scores -= np.float32(_MIDDLE * float(asked.sum()))
        scores *= self._scales[inside]
        return scores

    def _inside(self, scope: Scope) -> NDArray[np.intp] | None:
        count = len(self._ids)
        codes = [self._names.get(name) for name in scope]
        if not count or None in codes:
            return None
        is_inside = self._codes[0, :count] == codes[0]
        for column in (1, 2):
            if scope[column]:
                is_inside &= self._codes[column, :count] == codes[column]
        return np.flatnonzero(is_inside)

    def _nearest_by_bits(
        self, inside: NDArray[np.intp], asked: Matrix, left: int
    ) -> NDArray[np.intp]:
        wanted = self._bits_of(asked[None, :])
        count = len(self._ids)
        apart = np.empty(count, np.uint16)
        room = (len(wanted), min(count, _BITS_AT_ONCE))
        differing, counted = np.empty(room, np.uint64), np.empty(room, np.uint8)
        for start in range(0, count, _BITS_AT_ONCE):
            bits = self._bits[:, start : min(start + _BITS_AT_ONCE, count)]
            width = bits.shape[1]
            np.bitwise_xor(bits, wanted, out=differing[:, :width])
            np.bitwise_count(differing[:, :width], out=counted[:, :width])
            # Of 64 bits a word, so a sum takes two bytes.
            np.add.reduce(
                counted[:, :width], axis=0, dtype=np.uint16, out=apart[start : start + width]
            )
        some = apart[inside]
        counts = np.cumsum(np.bincount(some))
        farthest = int(np.searchsorted(counts, left))
        return inside[some <= farthest]

    def ranked(
        self, ids: Sequence[str], floats: bytes, values: Sequence[float], top: int
    ) -> list[tuple[str, float]]:
        """Return (id, cosine) of rows, the nearest first, equal ones by id.

        *Shape:* `floats` of all rows, one behind the other.
        """
        if not ids:
            return []
        scores = self._matrix(floats, len(ids)) @ np.asarray(values, np.float32)
        pairs = sorted(zip((-scores).tolist(), ids, strict=True))
        return [(id_, -far) for far, id_ in pairs[:top]]
