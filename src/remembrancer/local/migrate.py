"""Migrations on one machine: the same files, order and record as wrangler on D1.

Each file is one transaction together with its row in `d1_migrations`. Forward only. It holds no
schema. `local.wire`, the command line's doctor and `testing` import it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from remembrancer.core.errors import RemembrancerError, StoreUnavailable
from remembrancer.local.errors import patiently, translate
from remembrancer.local.sqlite import SqliteStore

MIGRATION_WAIT_S: Final = 60.0
"""Seconds to wait for another process that migrates the same file. Our choice."""

_RECORD_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS d1_migrations("
    "id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, "
    "applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its name, which is its place in the order, and its text."""

    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, in hex: a merged file never changes."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    def statements(self) -> list[str]:
        """Split the text; a trigger's body keeps its semicolons."""
        return split_statements(self.sql)


def load_migrations(folder: Path | None = None) -> list[Migration]:
    """Read the migrations in order: those of the folder, the wheel, or the repository."""
    source: Traversable = folder if folder is not None else _shipped_folder()
    files = sorted(
        (entry for entry in source.iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    return [Migration(file.name, file.read_text(encoding="utf-8")) for file in files]


async def migrate(store: SqliteStore, folder: Path | None = None) -> list[str]:
    """Bring the database to the newest shape and return the names applied now.

    *Promise:* safe to call from two processes at once, and again; a failing file changes nothing.
    *Raises:* StoreUnavailable for a database of a newer version.
    """
    migrations = load_migrations(folder)
    return await store.with_writer(lambda raw: apply_migrations(raw, migrations))


def apply_migrations(raw: sqlite3.Connection, migrations: Sequence[Migration]) -> list[str]:
    """Apply what is missing, one transaction per file; with nothing missing, only read."""
    present = applied_migrations(raw)
    _refuse_newer(present, migrations)
    applied = []
    for migration in migrations:
        if migration.name in present:
            continue
        try:
            if _apply(raw, migration, migrations):
                applied.append(migration.name)
        except sqlite3.Error as error:
            raise _named(error, migration) from error
    return applied


def applied_migrations(raw: sqlite3.Connection) -> list[str]:
    """Return the names recorded in the database, in order; empty for a new one."""
    known = raw.execute("SELECT 1 FROM sqlite_schema WHERE name = 'd1_migrations'").fetchone()
    if known is None:
        return []
    return [name for (name,) in raw.execute("SELECT name FROM d1_migrations ORDER BY id")]


def split_statements(sql: str) -> list[str]:
    """Split a script at the semicolons that end a statement, as SQLite itself sees them."""
    statements = []
    start = 0
    for end, sign in enumerate(sql, 1):
        if sign == ";" and sqlite3.complete_statement(sql[start:end]):
            statements.append(sql[start:end].strip())
            start = end
    statements.append(sql[start:].strip())
    return [statement for statement in statements if _has_code(statement)]


def _apply(raw: sqlite3.Connection, migration: Migration, known: Sequence[Migration]) -> bool:
    """Apply one file unless it is recorded; the lock makes a second process see the record."""
    patiently(lambda: raw.execute("BEGIN IMMEDIATE"), MIGRATION_WAIT_S)
    try:
        raw.execute(_RECORD_TABLE)
        applied = applied_migrations(raw)
        _refuse_newer(applied, known)
        is_missing = migration.name not in applied
        if is_missing:
            for statement in migration.statements():
                raw.execute(statement)
            raw.execute("INSERT INTO d1_migrations(name) VALUES (?)", (migration.name,))
        raw.execute("COMMIT")
    finally:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
    return is_missing


def _refuse_newer(applied: Sequence[str], known: Sequence[Migration]) -> None:
    unknown = sorted(set(applied) - {migration.name for migration in known})
    if unknown:
        raise StoreUnavailable(
            f"the database was written by a newer version: it has migration {unknown[-1]!r}",
            hint="start the newer version, or restore a backup made before the update",
        )


def _named(error: sqlite3.Error, migration: Migration) -> RemembrancerError:
    """Say which file failed; the text of our own migration may be shown."""
    ours = translate(error)
    if ours.code in ("store_unavailable", "corrupt_data"):
        return ours
    return RemembrancerError(f"the migration {migration.name!r} failed: {error}")


def _has_code(statement: str) -> bool:
    """Tell whether anything but comments is left, which SQLite would not run."""
    lines = (line.strip() for line in statement.splitlines())
    return any(line and not line.startswith("--") for line in lines) and statement != ";"


def _shipped_folder() -> Traversable:
    """Find the files: inside the installed package, else beside the sources."""
    package = resources.files("remembrancer")
    shipped = package / "migrations"
    if shipped.is_dir():
        return shipped
    beside = Path(__file__).resolve().parents[3] / "migrations"
    if not beside.is_dir():
        raise RemembrancerError(
            "the migrations are neither in the package nor beside it",
            hint="install remembrancer again",
        )
    return beside
