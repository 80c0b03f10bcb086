"""Migrations on one machine: order, atomicity, two starts at once, files that never change."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest

from remembrancer.core.errors import RemembrancerError, StoreUnavailable
from remembrancer.local import migrate as migrations
from remembrancer.local.migrate import (
    applied_migrations,
    load_migrations,
    migrate,
    split_statements,
)
from remembrancer.local.sqlite import SqliteStore

Writer = Callable[[dict[str, str]], Path]

FIRST = "CREATE TABLE a(id TEXT PRIMARY KEY) STRICT;\nINSERT INTO a VALUES ('first');\n"
SECOND = "-- adds b\nCREATE TABLE b(id TEXT PRIMARY KEY) STRICT;"
BROKEN = "CREATE TABLE c(id TEXT PRIMARY KEY) STRICT; INSERT INTO a VALUES ('first');"

TRIGGER = """CREATE TRIGGER t AFTER INSERT ON a BEGIN
  UPDATE a SET id = CASE WHEN id = ';' THEN 'x;y' ELSE id END;
  DELETE FROM a WHERE id = 'END;';
END;"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty database in a file."""
    made = SqliteStore(tmp_path / "store.db")
    yield made
    made.close()


def tables(raw: sqlite3.Connection) -> set[str]:
    """The names of the tables, but for SQLite's own."""
    found = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return {name for (name,) in found if not name.startswith("sqlite_")}


async def test_migrations_are_applied_once_in_order_and_recorded(
    store: SqliteStore, write_tree: Writer
) -> None:
    folder = write_tree({"m/0002_b.sql": SECOND, "m/0001_a.sql": FIRST, "m/README": "x"}) / "m"
    assert await migrate(store, folder) == ["0001_a.sql", "0002_b.sql"]
    assert await migrate(store, folder) == []
    assert await store.with_writer(applied_migrations) == ["0001_a.sql", "0002_b.sql"]
    assert await store.with_writer(tables) == {"a", "b", "d1_migrations"}


async def test_record_table_is_the_one_that_wrangler_makes(
    store: SqliteStore, write_tree: Writer
) -> None:
    await migrate(store, write_tree({"m/0001_a.sql": FIRST}) / "m")
    columns = await store.with_writer(
        lambda raw: raw.execute("PRAGMA table_info(d1_migrations)").fetchall()
    )
    assert [column[1:6] for column in columns] == [
        ("id", "INTEGER", 0, None, 1),
        ("name", "TEXT", 0, None, 0),
        ("applied_at", "TIMESTAMP", 1, "CURRENT_TIMESTAMP", 0),
    ]


async def test_new_file_is_applied_to_an_older_database(
    store: SqliteStore, write_tree: Writer
) -> None:
    folder = write_tree({"m/0001_a.sql": FIRST}) / "m"
    await migrate(store, folder)
    write_tree({"m/0002_b.sql": SECOND})
    assert await migrate(store, folder) == ["0002_b.sql"]


async def test_failing_file_changes_nothing_and_is_named(
    store: SqliteStore, write_tree: Writer
) -> None:
    folder = write_tree({"m/0001_a.sql": FIRST, "m/0002_c.sql": BROKEN}) / "m"
    with pytest.raises(RemembrancerError, match=r"'0002_c\.sql' failed: UNIQUE") as raised:
        await migrate(store, folder)
    assert raised.value.code == "internal_error"
    assert await store.with_writer(applied_migrations) == ["0001_a.sql"]
    assert await store.with_writer(tables) == {"a", "d1_migrations"}


async def test_database_of_a_newer_version_is_refused_unchanged(
    store: SqliteStore, write_tree: Writer
) -> None:
    folder = write_tree({"m/0001_a.sql": FIRST, "m/0002_b.sql": SECOND}) / "m"
    await migrate(store, folder)
    older = write_tree({"older/0001_a.sql": FIRST, "older/0003_c.sql": BROKEN}) / "older"
    with pytest.raises(StoreUnavailable, match=r"newer version.*'0002_b\.sql'") as raised:
        await migrate(store, older)
    assert raised.value.hint is not None
    assert await store.with_writer(applied_migrations) == ["0001_a.sql", "0002_b.sql"]


async def test_two_processes_starting_at_once_apply_each_file_once(
    tmp_path: Path, write_tree: Writer
) -> None:
    names = [f"{number:04}_t.sql" for number in range(1, 9)]
    tree = {f"m/{name}": f"CREATE TABLE t{name[:4]}(id TEXT) STRICT;" for name in names}
    folder = write_tree(tree) / "m"
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(4)]
    applied = await asyncio.gather(*(migrate(each, folder) for each in stores))
    assert sorted(name for each in applied for name in each) == names
    assert await stores[0].with_writer(applied_migrations) == names
    for each in stores:
        each.close()


async def test_locked_database_is_store_unavailable_not_a_defect(
    store: SqliteStore, write_tree: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATION_WAIT_S", 0.0)
    await store.with_writer(tables)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="busy"):
        await migrate(store, write_tree({"m/0001_a.sql": FIRST}) / "m")
    other.close()


@pytest.mark.parametrize(
    ("sql", "statements"),
    [
        ("", []),
        (" \n-- only a comment\n", []),
        (";;", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1;", "SELECT 2;"]),
        ("SELECT ';' ; SELECT \";\";", ["SELECT ';' ;", 'SELECT ";";']),
        ("-- a; b\nSELECT 1; /* c; d */ SELECT 2", ["-- a; b\nSELECT 1;", "/* c; d */ SELECT 2"]),
        (f"{FIRST}{TRIGGER}\n{SECOND}", [*FIRST.splitlines(), TRIGGER, SECOND]),
    ],
    ids=["empty", "comment", "signs", "one", "two", "quoted", "comments", "trigger"],
)
def test_script_is_split_at_the_ends_of_statements(sql: str, statements: list[str]) -> None:
    assert split_statements(sql) == statements


def test_migrations_are_found_inside_an_installed_package(
    monkeypatch: pytest.MonkeyPatch, write_tree: Writer
) -> None:
    package = write_tree({"remembrancer/migrations/0001_a.sql": FIRST}) / "remembrancer"
    monkeypatch.setattr(resources, "files", {"remembrancer": package}.__getitem__)
    assert [migration.name for migration in load_migrations()] == ["0001_a.sql"]


def test_missing_migrations_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "files", {"remembrancer": tmp_path}.__getitem__)
    monkeypatch.setattr(migrations, "__file__", str(tmp_path / "a" / "b" / "c" / "migrate.py"))
    with pytest.raises(RemembrancerError, match="neither in the package nor beside it"):
        load_migrations()


def test_released_migrations_never_change(root: Path) -> None:
    lines = (root / "tests" / "local" / "migrations.sha256").read_text().splitlines()
    recorded = [(name, checksum) for checksum, name in (line.split("  ") for line in lines)]
    present = [(migration.name, migration.checksum) for migration in load_migrations()]
    assert present[: len(recorded)] == recorded, "a released file never changes: add a new one"
