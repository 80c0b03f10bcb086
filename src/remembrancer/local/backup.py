"""A copy of the database while it is in use, and putting such a copy in its place.

The copy is one file of SQLite's own, checked before it counts. Cache and vectors are no part of it:
they are deleted on restoring, since they would be taken for those of the restored store. Only
`local.transfer` imports it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from remembrancer.core.errors import Conflict, CorruptData, InvalidInput, NotFound, StoreUnavailable
from remembrancer.core.values import JSON
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

Progress = Callable[[int, int], None]
"""Told how many pages were copied, and of how many."""


def back_up(folder: DataFolder, target: Path, progress: Progress | None = None) -> dict[str, JSON]:
    """Copy the database to a new file, as it is at one moment; writers go on.

    *Shape:* `{"file", "bytes", "events"}`. *Raises:* NotFound without a database, Conflict when
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
        events = _copy(folder.database, fresh, progress)
        fresh.replace(target)
    return {"file": str(target), "bytes": target.stat().st_size, "events": events}


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
    folder.make()
    fresh = _beside(folder.database)
    with _translated(), _removed(fresh):
        events = _copy(source, fresh, progress)
        kept = _set_aside(folder.database, replace=replace)
        for path in (folder.database, folder.cache, *folder.vector_files()):
            _unlink(path)
        fresh.replace(folder.database)
    return {"file": str(source), "events": events, "kept": None if kept is None else str(kept)}


def _copy(source: Path, target: Path, progress: Progress | None) -> int:
    """Copy a database, check the copy and return how many events it holds."""

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
        return _events(new, source)


def _begin(raw: sqlite3.Connection) -> None:
    if not raw.in_transaction:
        raw.execute("BEGIN")
    raw.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def _events(raw: sqlite3.Connection, path: Path) -> int:
    names = {row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not {"events", "d1_migrations"} <= names:
        raise InvalidInput(
            f"{str(path)!r} is not a copy of a store",
            hint="choose a file that 'remembrancer backup' wrote",
            field="file",
        )
    return int(raw.execute("SELECT count(*) FROM events").fetchone()[0])


def _set_aside(database: Path, *, replace: bool) -> Path | None:
    """Move the database that is there out of the way; return where it is kept."""
    if not database.is_file():
        return None
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
            f"the store in {str(database.parent)!r} holds {held} events",
            hint="name an empty folder with --data, or --replace it; the old file is kept beside",
        )
    kept = database.with_name(database.name + KEPT_SUFFIX)
    number = 1
    while kept.exists():
        number += 1
        kept = database.with_name(f"{database.name}{KEPT_SUFFIX}-{number}")
    database.replace(kept)
    return kept


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
