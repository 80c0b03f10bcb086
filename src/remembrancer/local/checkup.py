"""What a person should know of a data folder when something is odd: sizes, versions, modes.

It repairs nothing and shows no memory. `local.wire` imports it.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from remembrancer.core.values import JSON
from remembrancer.local.cron import Pause
from remembrancer.local.errors import code_name
from remembrancer.local.folder import DataFolder, find_folder
from remembrancer.local.migrate import applied_migrations
from remembrancer.local.sqlite import SqliteStore

FIRST_CHECK_S: Final = 60.0
"""Seconds before a server looks through its database. Our choice."""

TABLE_PAUSE_S: Final = 5.0
"""Seconds between two tables, so that the disk serves others. Our choice."""

CHECK_PAUSE_S: Final = 6 * 3600.0
"""Seconds between two looks through all tables. Our choice: a look reads every page, at some
hundreds of MB a second."""

PLACES_SHOWN_MAX: Final = 3
"""Damaged places that a checkup names. Our choice: one is enough to know."""


async def watch(store: SqliteStore, pause: Pause = asyncio.sleep) -> None:
    """Look through the file for damage a table at a time, until some is found or it is cancelled.

    *Promise:* on a connection of its own, beside all other work; what it finds the store says.
    """
    await pause(FIRST_CHECK_S)
    while True:
        for table in await asyncio.to_thread(_tables, store):
            await asyncio.to_thread(_look_through, store, table)
            if store.damage() is not None:
                return
            await pause(TABLE_PAUSE_S)
        await pause(CHECK_PAUSE_S)


def _tables(store: SqliteStore) -> list[str]:
    named = "SELECT name FROM sqlite_schema WHERE type = 'table'"
    return [str(row[0]) for row in _asked(store, f"{named} AND sql NOT LIKE 'CREATE VIRTUAL%'")]


def _look_through(store: SqliteStore, table: str) -> None:
    quoted = table.replace("'", "''")
    found = [str(row[0]) for row in _asked(store, f"PRAGMA quick_check('{quoted}')")]
    if found not in ([], ["ok"]):
        store.note_damage("; ".join(found[:PLACES_SHOWN_MAX]))


def _asked(store: SqliteStore, sql: str) -> list[tuple[object, ...]]:
    """Return the rows of a question on a connection that only reads; none when it is busy."""
    try:
        with closing(sqlite3.connect(f"{Path(store.path).as_uri()}?mode=ro", uri=True)) as raw:
            rows: list[tuple[object, ...]] = raw.execute(sql).fetchall()
            return rows
    except sqlite3.Error as error:
        if code_name(error).startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            store.note_damage(str(error))
        return []


def examine_damaged(data: str | None, environ: Mapping[str, str]) -> dict[str, JSON]:
    """Return what can be said of a folder whose database does not answer; nothing is written.

    *Shape:* `data` is the command line's folder; `database_check` in SQLite's own words. *Units:*
    bytes.
    """
    folder = find_folder(data, environ)
    try:
        with closing(sqlite3.connect(f"{folder.database.as_uri()}?mode=ro", uri=True)) as raw:
            found = raw.execute(f"PRAGMA quick_check({PLACES_SHOWN_MAX})").fetchall()
            check = "; ".join(str(row[0]) for row in found)
    except sqlite3.Error as error:
        check = str(error)
    return {
        "database": str(folder.database),
        "database_bytes": _size(folder.database, "", "-wal"),
        "free_bytes": shutil.disk_usage(folder.path).free,
        "database_check": check,
        "sqlite_version": sqlite3.sqlite_version,
        "python_version": sys.version.split()[0],
    }


async def examine(store: SqliteStore, folder: DataFolder) -> dict[str, JSON]:
    """Return the facts of a store and its folder. *Units:* bytes.

    *Raises:* StoreUnavailable, CorruptData when the database does not answer.
    """

    def look(raw: sqlite3.Connection) -> tuple[list[str], str, str]:
        mode = raw.execute("PRAGMA journal_mode").fetchone()[0]
        check = raw.execute("PRAGMA quick_check(1)").fetchone()[0]
        return applied_migrations(raw), str(mode), str(check)

    applied, journal_mode, check = await store.with_writer(look)
    wide: list[JSON] = list(folder.open_to_others())
    return {
        "folder": str(folder.path),
        "database_bytes": _size(folder.database, "", "-wal"),
        "cache_bytes": _size(folder.cache, "", "-wal"),
        "free_bytes": shutil.disk_usage(folder.path).free,
        "store_version": applied[-1].removesuffix(".sql") if applied else None,
        "journal_mode": journal_mode,
        "database_check": check,
        "sqlite_version": sqlite3.sqlite_version,
        "python_version": sys.version.split()[0],
        "open_to_others": wide,
    }


def _size(path: Path, *suffixes: str) -> int:
    files = [path.with_name(path.name + suffix) for suffix in suffixes]
    return sum(file.stat().st_size for file in files if file.exists())
