"""The tables that the suite of the SQL port works on, and short ways to speak to them."""

from __future__ import annotations

from remembrancer.ports.sql import Row, SqlStore, SqlValue, Statement

TABLES = (
    """CREATE TABLE things(
        id TEXT PRIMARY KEY, i INTEGER, r REAL, b BLOB, t TEXT,
        CONSTRAINT t_is_short CHECK (length(t) <= 3000000)) STRICT""",
    """CREATE TABLE parts(
        id TEXT PRIMARY KEY, thing TEXT NOT NULL REFERENCES things(id), name TEXT,
        CONSTRAINT name_is_plain CHECK (name <> 'odd'), UNIQUE (thing, name)) STRICT""",
    "CREATE TABLE counters(id TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT",
    "CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = 'trigram')",
)
"""What the suite of the SQL port works on."""


async def with_tables(store: SqlStore) -> SqlStore:
    """Make the suite's tables."""
    await store.write([Statement(table) for table in TABLES])
    return store


async def rows(store: SqlStore, sql: str, *params: SqlValue) -> list[Row]:
    """The rows of one reading statement."""
    (outcome,) = await store.read([Statement(sql, params)])
    return outcome.rows


async def run(store: SqlStore, sql: str, *params: SqlValue) -> int:
    """Write one statement; how many rows it changed."""
    (outcome,) = await store.write([Statement(sql, params)])
    return outcome.changes
