"""One database file, several connections and processes: nobody's lock is lost on the way."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from remembrancer.local.sqlite import SqliteStore
from remembrancer.ports.sql import Statement

_VISIT = """
import sqlite3, sys
raw = sqlite3.connect(sys.argv[1])
raw.execute("INSERT INTO notes(text) VALUES ('访客')")
raw.commit()
raw.close()
"""


def _visit(path: Path) -> None:
    """Write to the database from another process, which closes it."""
    subprocess.run([sys.executable, "-c", _VISIT, path], check=True, timeout=60)


async def test_file_opened_again_keeps_the_locks_that_another_process_respects(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path)
    try:
        await store.write([Statement("CREATE TABLE notes(text TEXT NOT NULL) STRICT")])
        # The reader is a second connection to the file; closing any other descriptor of it would
        # drop the locks of the first, and the next process would take itself for the last one.
        await store.read([Statement("SELECT count(*) AS n FROM notes")])
        await asyncio.to_thread(_visit, path)
        assert Path(f"{path}-wal").exists()
        await store.write([Statement("INSERT INTO notes(text) VALUES ('own')")])
        [outcome] = await store.read([Statement("SELECT text FROM notes ORDER BY rowid")])
        assert [row["text"] for row in outcome.rows] == ["访客", "own"]
    finally:
        store.close()
