"""The vector port on one machine: a search over an array in memory, and its floats in a file.

The array is filled from the file at the first call and follows every write; a file that another
process has written is read again. Like the cache, it is derived and is made anew when it is
broken. Cosines are exact: what the array finds near is measured by its floats, which a process that
lives long also keeps apart, each at its place (`local.vector_floats`). Nothing is ranked by
anything else. `local.wire` imports it.
"""

from __future__ import annotations

import json
import sqlite3
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from remembrancer.core.errors import StoreUnavailable
from remembrancer.core.vectorcheck import (
    check_id,
    check_ids,
    check_scope,
    check_top,
    check_upsert,
    check_values,
)
from remembrancer.local.connection import MEMORY, make_private
from remembrancer.local.errors import is_busy
from remembrancer.local.lanes import Lane
from remembrancer.local.memory import give_back
from remembrancer.local.vector_floats import FloatFile, open_floats
from remembrancer.ports.models import EmbeddingModel, Vector
from remembrancer.ports.vectors import IndexState, VectorMatch, VectorRow, VectorScope

if TYPE_CHECKING:
    from remembrancer.local.vector_array import VectorArray

T = TypeVar("T")

READ_ROWS: Final = 1_000
"""Rows that are read from the file at a time: two megabytes. Our choice."""

VECTORS_WAIT_S: Final = 5.0
"""Seconds to wait for another process that writes. Our choice."""

_SET_UP: Final = (
    "PRAGMA page_size = 16384",  # seven vectors of 512 floats; with 4096 half of a page is empty
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA secure_delete = ON",
    "CREATE TABLE IF NOT EXISTS vector_model_1(name TEXT NOT NULL, dims INTEGER NOT NULL) STRICT",
    """CREATE TABLE IF NOT EXISTS vectors_1(
    id TEXT PRIMARY KEY, namespace TEXT NOT NULL, kind TEXT NOT NULL, project TEXT NOT NULL,
    floats BLOB NOT NULL) STRICT""",
)

_NUMBERS: Final = (
    "SELECT v.id, v.rowid FROM json_each(?) AS j CROSS JOIN vectors_1 AS v ON v.id = j.value"
)
_FLOATS: Final = (
    "SELECT v.id, v.floats FROM json_each(?) AS j CROSS JOIN vectors_1 AS v ON v.rowid = j.value"
)
"""A row is found by its number in one look, by its id in two."""

Rows = list[tuple[str, tuple[str, str, str], bytes, int]]
"""Vectors as the array takes them."""


class LocalVectors:
    """Vectors of one model, in one file or in memory alone.

    *Shape:* a file of another model is emptied: a change of model takes a file of its own.
    `threads` 0 works where it is called, for a command that ends soon.
    """

    def __init__(self, path: str | Path, model: EmbeddingModel, *, threads: int = 1) -> None:
        self._path = str(path)
        self._model = model
        self._lane = Lane(min(threads, 1), "vectors")
        self._open: list[sqlite3.Connection] = []
        self._array: VectorArray | None = None
        self._has_floats = threads > 0 and self._path != MEMORY
        self._floats: FloatFile | None = None
        self._seen = -1
        self._close_all = weakref.finalize(self, _close_all, self._open)

    async def upsert(self, rows: Sequence[VectorRow]) -> None:
        """Write the vectors to the file, then into the array."""
        check_upsert(len(rows))
        for row in rows:
            check_id(row.id)
            check_scope(row.scope.namespace, row.scope.kind, row.scope.project)
            check_values(row.values, self._model.dims)

        def keep(raw: sqlite3.Connection) -> None:
            array = self._current(raw)
            kept = [(row.id, _scope_values(row.scope), array.as_bytes(row.values)) for row in rows]
            raw.execute("BEGIN IMMEDIATE")
            raw.executemany(
                "INSERT OR REPLACE INTO vectors_1(id, namespace, kind, project, floats)"
                " VALUES (?, ?, ?, ?, ?)",
                [(id_, *scope, floats) for id_, scope, floats in kept],
            )
            ids = json.dumps([row.id for row in rows])
            numbers = dict(raw.execute(_NUMBERS, (ids,)).fetchall())
            raw.execute("COMMIT")
            self._put(
                array, [(*one, numbers[one[0]]) for one in {row[0]: row for row in kept}.values()]
            )

        await self._run(keep)

    async def delete(self, ids: Sequence[str]) -> None:
        """Remove the vectors from the file, then from the array."""
        check_ids(ids)

        def remove(raw: sqlite3.Connection) -> None:
            array = self._current(raw)
            raw.execute("BEGIN IMMEDIATE")
            raw.executemany("DELETE FROM vectors_1 WHERE id = ?", [(id_,) for id_ in ids])
            raw.execute("COMMIT")
            moves = [move for id_ in ids if (move := array.remove(id_)) is not None]
            self._with_floats(lambda floats: floats.take_out(moves))
            # What was forgotten shall not stay in the log either.
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        await self._run(remove)

    async def query(self, scope: VectorScope, values: Vector, *, top: int) -> list[VectorMatch]:
        """Return the nearest vectors: those that the array finds near, measured by their floats."""
        check_top(top)
        check_values(values, self._model.dims)

        def nearest(raw: sqlite3.Connection) -> list[tuple[str, float]]:
            array = self._current(raw)
            near = array.near(_scope_values(scope), values, top)
            if not near:
                return []
            floats = self._with_floats(lambda floats: floats.rows(near))
            if floats is not None:
                return array.ranked(array.ids(near), floats, values, top)
            found = raw.execute(_FLOATS, (json.dumps(array.numbers(near)),)).fetchall()
            rows = b"".join([row for _, row in found])
            return array.ranked([id_ for id_, _ in found], rows, values, top)

        return [VectorMatch(id_, score) for id_, score in await self._run(nearest)]

    async def held(self, ids: Sequence[str]) -> set[str]:
        """Return which of the ids have a vector."""
        check_ids(ids)
        return await self._run(lambda raw: {id_ for id_ in ids if id_ in self._current(raw)})

    async def describe(self) -> IndexState:
        """Return the model and the number of vectors."""
        count = await self._run(lambda raw: len(self._current(raw)))
        return IndexState(self._model, count)

    def close(self) -> None:
        """Wait for running calls and close the file."""
        self._lane.close()
        self._close_floats()
        self._close_all()

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._lane.run(lambda: self._tried(work))

    def _tried(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work; over a broken file, once more over a new one."""
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            if is_busy(error):
                self._forget()
                raise StoreUnavailable("the vectors are busy", hint="try again") from error
        self._remove()
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            self._forget()
            raise StoreUnavailable(
                f"the vector file {self._path!r} cannot be used", hint="check its folder"
            ) from error

    def _connection(self) -> sqlite3.Connection:
        if self._open:
            return self._open[0]
        if self._path != MEMORY:
            make_private(Path(self._path))
        raw = sqlite3.connect(
            self._path, timeout=VECTORS_WAIT_S, isolation_level=None, check_same_thread=False
        )
        self._open.append(raw)
        for statement in _SET_UP:
            raw.execute(statement)
        wanted = (self._model.name, self._model.dims)
        if raw.execute("SELECT name, dims FROM vector_model_1").fetchone() != wanted:
            raw.execute("BEGIN IMMEDIATE")
            raw.execute("DELETE FROM vectors_1")
            raw.execute("DELETE FROM vector_model_1")
            raw.execute("INSERT INTO vector_model_1(name, dims) VALUES (?, ?)", wanted)
            raw.execute("COMMIT")
        return raw

    def _current(self, raw: sqlite3.Connection) -> VectorArray:
        """Return the array, filled anew when another process has written."""
        version = int(raw.execute("PRAGMA data_version").fetchone()[0])
        if self._array is None or version != self._seen:
            # Most commands never search by meaning, and numpy takes a tenth of a second.
            from remembrancer.local.vector_array import VectorArray  # noqa: PLC0415

            [room] = raw.execute("SELECT count(*) FROM vectors_1").fetchone()
            array = VectorArray(self._model.dims, room=int(room))
            self._close_floats()
            if self._has_floats:
                self._floats = open_floats(Path(self._path).parent, self._model.dims)
            stored = raw.execute(
                "SELECT id, namespace, kind, project, floats, rowid FROM vectors_1"
            )
            while rows := stored.fetchmany(READ_ROWS):
                self._put(
                    array,
                    [
                        (id_, (space, kind, project), floats, number)
                        for id_, space, kind, project, floats, number in rows
                    ],
                )
            self._array, self._seen = array, version
            give_back()
        return self._array

    def _put(self, array: VectorArray, rows: Rows) -> None:
        places = array.put(rows)
        self._with_floats(lambda floats: floats.put(places, [each for _, _, each, _ in rows]))

    def _with_floats(self, work: Callable[[FloatFile], T]) -> T | None:
        """Do something with the floats that are kept apart.

        Where that fails they are given up until the array is filled again, and it returns None.
        """
        if self._floats is None:
            return None
        try:
            return work(self._floats)
        except OSError:
            self._close_floats()
            return None

    def _close_floats(self) -> None:
        if self._floats is not None:
            self._floats.close()
            self._floats = None

    def _forget(self) -> None:
        """Close the file, an open transaction with it, and let the next call begin anew."""
        if self._path != MEMORY:
            _close_all(self._open)
            self._array = None

    def _remove(self) -> None:
        _close_all(self._open)
        self._array = None
        if self._path == MEMORY:
            return
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(self._path + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"the vector file {self._path!r} cannot be replaced: {error.strerror}",
                hint="check its folder",
            ) from error


def _scope_values(scope: VectorScope) -> tuple[str, str, str]:
    return (scope.namespace, scope.kind, scope.project)


def _close_all(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
