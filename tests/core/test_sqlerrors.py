"""The classifier of database errors, shown the texts that D1 and SQLite really give."""

from __future__ import annotations

import pytest

from remembrancer.core.errors import (
    Conflict,
    CorruptData,
    InvalidInput,
    RemembrancerError,
    StoreUnavailable,
    TimedOut,
)
from remembrancer.core.sqlerrors import classify

D1 = "D1_ERROR: {}: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_{})"
"""The form of Miniflare 4.2026; older ones end after SQLITE_CONSTRAINT."""


@pytest.mark.parametrize(
    ("text", "kind", "constraint"),
    [
        (D1.format("UNIQUE constraint failed: t.id", "PRIMARYKEY"), "UNIQUE", "t.id"),
        ("D1_ERROR: UNIQUE constraint failed: t.a: SQLITE_CONSTRAINT", "UNIQUE", "t.a"),
        ("UNIQUE constraint failed: t.a, t.b: SQLITE_CONSTRAINT_UNIQUE", "UNIQUE", "t.a, t.b"),
        ("UNIQUE constraint failed: t.a, t.b", "UNIQUE", "t.a, t.b"),
        ("UNIQUE constraint failed: index 'x': SQLITE_CONSTRAINT", "UNIQUE", "index 'x'"),
        (D1.format("CHECK constraint failed: length(x)<10", "CHECK"), "CHECK", "length(x)<10"),
        (
            "CHECK constraint failed: a IN ('x: y'): SQLITE_CONSTRAINT_CHECK",
            "CHECK",
            "a IN ('x: y')",
        ),
        (D1.format("NOT NULL constraint failed: c.u", "NOTNULL"), "NOT NULL", "c.u"),
        (D1.format("FOREIGN KEY constraint failed", "FOREIGNKEY"), "FOREIGN KEY", "FOREIGN KEY"),
        ("FOREIGN KEY constraint failed", "FOREIGN KEY", "FOREIGN KEY"),
        (D1.format("no way", "TRIGGER"), "TRIGGER", "no way"),
        ("no way: SQLITE_CONSTRAINT_TRIGGER", "TRIGGER", "no way"),
        ("SQLITE_CONSTRAINT", "TRIGGER", "unknown"),
    ],
)
def test_clash_is_a_conflict_that_names_the_constraint(
    text: str, kind: str, constraint: str
) -> None:
    error = classify(text)
    assert isinstance(error, Conflict)
    assert error.code == "conflict"
    assert error.details == {"constraint": constraint, "kind": kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("D1_ERROR: LIKE or GLOB pattern too complex: SQLITE_ERROR", InvalidInput),
        ("D1_ERROR: string or blob too big: SQLITE_TOOBIG", InvalidInput),
        ("D1_ERROR: too many SQL variables at offset 207: SQLITE_ERROR", InvalidInput),
        ("D1_ERROR: statement too long: SQLITE_TOOBIG", InvalidInput),
        ("database is locked: SQLITE_BUSY", StoreUnavailable),
        ("database table is locked: SQLITE_LOCKED_SHAREDCACHE", StoreUnavailable),
        ("database or disk is full: SQLITE_FULL", StoreUnavailable),
        ("disk I/O error: SQLITE_IOERR_WRITE", StoreUnavailable),
        ("unable to open database file: SQLITE_CANTOPEN", StoreUnavailable),
        ("attempt to write a readonly database: SQLITE_READONLY_DBMOVED", StoreUnavailable),
        ("D1_ERROR: Network connection lost.", StoreUnavailable),
        ("D1_ERROR: internal error; reference = abc", StoreUnavailable),
        ("D1 DB is overloaded. Requests queued for too long.", StoreUnavailable),
        ("D1_ERROR: D1 DB is overloaded. Too many requests queued.", StoreUnavailable),
        ("D1_ERROR: D1 DB reset because its code was updated.", StoreUnavailable),
        (
            "Internal error while starting up D1 DB storage caused object to be reset.",
            StoreUnavailable,
        ),
        ("D1_ERROR: Internal error in D1 DB storage caused object to be reset.", StoreUnavailable),
        (
            "D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.",
            StoreUnavailable,
        ),
        ("D1_ERROR: Replica disconnected from primary.", StoreUnavailable),
        ("Can't read from request stream because client disconnected.", StoreUnavailable),
        ("D1 DB's isolate exceeded its memory limit and was reset.", StoreUnavailable),
        ("D1 DB exceeded its CPU time limit and was reset.", TimedOut),
        ("D1_ERROR: Exceeded maximum DB size.", StoreUnavailable),
        ("Your account has exceeded D1's maximum account storage limit", StoreUnavailable),
        ("Too many API requests by single Worker invocation.", StoreUnavailable),
        ("D1 DB storage operation exceeded timeout which caused object to be reset.", TimedOut),
        ("interrupted: SQLITE_INTERRUPT", TimedOut),
        ("database disk image is malformed: SQLITE_CORRUPT", CorruptData),
        ("file is not a database: SQLITE_NOTADB", CorruptData),
        ("Could not decode to UTF-8 column 'a' with text 'x': SQLITE_ERROR", CorruptData),
        (D1.format("cannot store TEXT value in INTEGER column t.n", "DATATYPE"), RemembrancerError),
        ("D1_ERROR: no such table: nope: SQLITE_ERROR", RemembrancerError),
        ("D1_ERROR: not authorized: SQLITE_AUTH", RemembrancerError),
        ("D1_ERROR: Wrong number of parameter bindings for SQL query.", RemembrancerError),
        ("", RemembrancerError),
    ],
)
def test_text_of_a_failure_becomes_the_error_of_its_kind(
    text: str, kind: type[RemembrancerError]
) -> None:
    assert type(classify(text)) is kind


def test_message_never_holds_what_a_search_quoted() -> None:
    error = classify('D1_ERROR: fts5: syntax error near "my secret diary": SQLITE_ERROR')
    assert "secret" not in error.message
    assert error.code == "internal_error"


def test_message_says_what_the_operator_should_look_at() -> None:
    names = ("FULL", "BUSY", "READONLY", "CANTOPEN", "IOERR_SHMSIZE")
    errors = {name: classify(f"x: SQLITE_{name}") for name in names}
    assert len({error.message for error in errors.values()}) == 5
    # Waiting helps against nobody's full disk and nobody's missing permission.
    passing = [name for name, error in errors.items() if error.hint == "try again in a moment"]
    assert passing == ["BUSY"]
    assert "free space" in str(errors["IOERR_SHMSIZE"].hint)


@pytest.mark.parametrize("what", ["read", "write"])
def test_spent_quota_of_a_day_says_when_it_begins_anew(what: str) -> None:
    error = classify(
        f"D1_ERROR: Your account has exceeded D1's free tier daily row {what} limit. Upgrade to a"
        " paid plan or wait until tomorrow (midnight UTC) to continue."
    )
    assert isinstance(error, StoreUnavailable)
    assert "today" in error.message and what[:3] in error.message
    assert "midnight UTC" in str(error.hint)
