"""A copy of the database while it is in use, and putting such a copy in its place.

The copy is one file of SQLite's own, checked before it counts; texts that were moved out of the
database are put back into it. Cache and vectors are no part of it: they are deleted on restoring,
since they would be taken for those of the restored store. Only `local.transfer` imports it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from remembrancer.core.artifacts import IN_CHUNKS, MOVED, blob_key, chunks
from remembrancer.core.errors import Conflict, CorruptData, InvalidInput, NotFound, StoreUnavailable
from remembrancer.core.values import JSON
from remembrancer.local.blobs import blob_path, read_blob
from remembrancer.local.connection import make_private
from remembrancer.local.errors import patiently, translate
from remembrancer.local.folder import DataFolder

PAGES_AT_ONCE: Final = 1_024
"""Pages that are copied between two words on how far it is. Our choice; 4 MiB."""

LOCK_WAIT_S: Final = 5.0
"""Seconds to wait for somebody else's lock. Our choice."""

KEPT_SUFFIX: Final = ".before-restore"
"""What the replaced database's name gets behind it."""

_SIDE_FILES: Final = ("-wal", "-shm", "-journal")
_HEADER: Final = b"SQLite format 3\0"

Progress = Callable[[int, int], None]
"""Told how many pages were copied, and of how many."""


def back_up(folder: DataFolder, target: Path, progress: Progress | None = None) -> dict[str, JSON]:
    """Copy the database to a new file, as it is at one moment; writers go on.

    *Shape:* `{"file", "bytes", "events", "texts_missing"}`; the last is how many long texts
    were not in the artifacts' folder any more. *Raises:* NotFound without a database, Conflict when
    the file exists, StoreUnavailable, CorruptData.
    """
    if not folder.database.is_file():
        raise NotFound(
            f"there is no store in {str(folder.path)!r}", hint="name its data folder with --data"
        )
    if target.exists():
        raise Conflict(f"the file {str(target)!r} exists", hint="choose a new name")
    fresh = _beside(target)
    with _translated(), _removed(fresh):
        events, missing = _copy(folder.database, fresh, folder.artifacts, progress)
        fresh.replace(target)
    size = target.stat().st_size
    return {"file": str(target), "bytes": size, "events": events, "texts_missing": missing}


def restore(
    folder: DataFolder, source: Path, *, replace: bool, progress: Progress | None = None
) -> dict[str, JSON]:
    """Put a copy in the place of the database; the one it replaces is kept beside it.

    *Shape:* `{"file", "events", "kept"}`; `kept` is None when there was nothing to keep.
    *Raises:* InvalidInput when the file is no such copy, Conflict when the store holds anything
    and `replace` is not set, or is in use; StoreUnavailable, CorruptData.
    """
    if not source.is_file():
        raise InvalidInput(f"there is no file {str(source)!r}", field="file")
    with source.open("rb") as file:
        if file.read(len(_HEADER)) not in (_HEADER, b""):
            raise _no_copy(source)
    folder.make()
    fresh = _beside(folder.database)
    with _translated(), _removed(fresh):
        events, _ = _copy(source, fresh, folder.artifacts, progress)
        kept = _set_aside(folder, replace=replace)
        # Whatever is still wanted of it is in one of the two databases by now.
        shutil.rmtree(folder.artifacts, ignore_errors=True)
        for path in (folder.database, folder.cache, *folder.vector_files()):
            _unlink(path)
        fresh.replace(folder.database)
    return {"file": str(source), "events": events, "kept": None if kept is None else str(kept)}


def _copy(source: Path, target: Path, texts: Path, progress: Progress | None) -> tuple[int, int]:
    """Copy a database and the texts that it names, and check the copy.

    *Shape:* how many events it holds, and how many texts were not there.
    """

    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    make_private(target)
    with closing(_open(source)) as old, closing(_open(target)) as new:
        # One snapshot for the whole copy, so that a busy writer cannot make it begin anew.
        patiently(lambda: _begin(old), LOCK_WAIT_S)
        old.backup(new, pages=PAGES_AT_ONCE, progress=tell)
        # The copy is one file: it has no log beside it.
        new.execute("PRAGMA journal_mode = DELETE")
        check = new.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise CorruptData(
                f"the database {str(source)!r} is damaged: {check}", hint="use an older backup"
            )
        events = _events(new, source)
        return events, _gather(new, texts)


def _gather(raw: sqlite3.Connection, texts: Path) -> int:
    """Put moved texts back into a database; return how many of them are missing or damaged."""
    if not raw.execute(
        "SELECT 1 FROM pragma_table_info('artifacts') WHERE name = 'stage'"
    ).fetchone():
        return 0  # from before there was a folder
    missing = 0
    moved = raw.execute(
        "SELECT namespace, id, sha256 FROM artifacts WHERE stage = ?", (MOVED,)
    ).fetchall()
    for namespace, id_, sha256 in moved:
        data = read_blob(blob_path(texts, blob_key(namespace, id_)))
        if data is None or hashlib.sha256(data).hexdigest() != sha256:
            missing += 1
            continue
        rows = [(namespace, id_, *piece) for piece in enumerate(chunks(data.decode()))]
        raw.execute("BEGIN")
        raw.executemany("INSERT OR REPLACE INTO artifact_chunks VALUES (?, ?, ?, ?)", rows)
        raw.execute(
            "UPDATE artifacts SET stage = ? WHERE namespace = ? AND id = ?",
            (IN_CHUNKS, namespace, id_),
        )
        raw.execute("COMMIT")
    # What is still to be removed lies in a folder, not in a copy.
    raw.execute("DELETE FROM blob_removals")
    return missing


def _begin(raw: sqlite3.Connection) -> None:
    if not raw.in_transaction:
        raw.execute("BEGIN")
    raw.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def _events(raw: sqlite3.Connection, path: Path) -> int:
    names = {row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not {"events", "d1_migrations"} <= names:
        raise _no_copy(path)
    return int(raw.execute("SELECT count(*) FROM events").fetchone()[0])


def _no_copy(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{str(path)!r} is not a copy of a store",
        hint="choose a file that 'remembrancer backup' wrote; what export wrote, import reads",
        field="file",
    )


def _set_aside(folder: DataFolder, *, replace: bool) -> Path | None:
    """Move the database that is there out of the way, its texts in it; return where it is kept.

    A damaged one takes its log and the folder of its texts along: they may help to save something.
    """
    database = folder.database
    if not database.is_file():
        return None
    try:
        _make_whole(folder, replace=replace)
        is_whole = True
    except sqlite3.DatabaseError as error:
        if not isinstance(translate(error), CorruptData):
            raise
        if not replace:
            raise Conflict(
                f"the store in {str(folder.path)!r} is damaged",
                hint="--replace it; the damaged file stays beside",
            ) from error
        is_whole = False
    kept = _free_name(database)
    database.replace(kept)
    if not is_whole:
        for suffix in _SIDE_FILES:
            beside = database.with_name(database.name + suffix)
            if beside.exists():
                beside.replace(kept.with_name(kept.name + suffix))
        if folder.artifacts.exists():
            folder.artifacts.replace(_free_name(folder.artifacts))
    return kept


def _free_name(path: Path) -> Path:
    """Return a name beside that nothing has yet."""
    kept = path.with_name(path.name + KEPT_SUFFIX)
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}{KEPT_SUFFIX}-{number}")
    return kept


def _make_whole(folder: DataFolder, *, replace: bool) -> None:
    """Make one file of a database, its log and its texts.

    *Raises:* Conflict when it is in use, or holds something that is not to be replaced.
    """
    database = folder.database
    with closing(_open(database)) as raw:
        # Leaving the write-ahead log needs the database for oneself, and makes it one file.
        try:
            mode = patiently(
                lambda: raw.execute("PRAGMA journal_mode = DELETE").fetchone()[0], LOCK_WAIT_S
            )
        except sqlite3.OperationalError as error:
            raise _in_use(database) from error
        if mode != "delete":
            raise _in_use(database)
        names = {row[0] for row in raw.execute("SELECT name FROM sqlite_schema")}
        held = _events(raw, database) if names else 0
        if held and not replace:
            raise Conflict(
                f"the store in {str(folder.path)!r} holds {held} events",
                hint="name an empty folder with --data, or --replace it; the old file stays beside",
            )
        _gather(raw, folder.artifacts)


def _in_use(database: Path) -> Conflict:
    return Conflict(
        f"the store in {str(database.parent)!r} is in use", hint="stop its server first"
    )


def _open(path: Path) -> sqlite3.Connection:
    raw = sqlite3.connect(path, isolation_level=None, timeout=LOCK_WAIT_S)
    raw.execute("PRAGMA trusted_schema = OFF")
    return raw


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _unlink(path: Path) -> None:
    for name in (path.name, *(path.name + suffix for suffix in _SIDE_FILES)):
        path.with_name(name).unlink(missing_ok=True)


@contextmanager
def _removed(path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        _unlink(path)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{str(error.filename)!r} cannot be written: {error.strerror}",
            hint="check the path and its permissions",
        ) from error
