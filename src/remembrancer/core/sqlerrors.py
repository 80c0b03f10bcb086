"""The one classifier of database errors: from the text that SQLite and D1 give to our errors.

D1 says nothing but a text, such as `D1_ERROR: UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT
(extended: SQLITE_CONSTRAINT_PRIMARYKEY)`; the local driver appends SQLite's code name in the same
way, so that one table serves both. The text itself never goes into a message: a search query's
syntax error quotes what the user wrote. Pure; both drivers import it.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.core.errors import (
    Conflict,
    CorruptData,
    InvalidInput,
    RemembrancerError,
    StoreUnavailable,
    TimedOut,
)

_CONSTRAINT: Final = re.compile(
    r"\b(?P<kind>UNIQUE|CHECK|NOT NULL|FOREIGN KEY) constraint failed"
    r"(?:: (?!SQLITE_)(?P<what>.*?))?(?:: SQLITE_\w+.*)?$",
    re.DOTALL,
)

_RAISED: Final = re.compile(r"(?:D1_ERROR: )?(?P<what>.*?): SQLITE_CONSTRAINT\w*", re.DOTALL)

_AGAIN: Final = "try again in a moment"

_TOO_MUCH: Final = (
    "like or glob pattern too complex",
    "string or blob too big",
    "too many sql variables",
    "statement too long",
    "sqlite_toobig",
)

_TIMED_OUT: Final = ("sqlite_interrupt", "interrupted", "timed out", "timeout", "exceeded its cpu")

_CORRUPT: Final = (
    "sqlite_corrupt",
    "sqlite_notadb",
    "database disk image is malformed",
    "file is not a database",
    "could not decode to utf-8",
)

_UNAVAILABLE: Final = (
    "sqlite_busy",
    "sqlite_locked",
    "sqlite_full",
    "sqlite_ioerr",
    "sqlite_cantopen",
    "sqlite_readonly",
    "sqlite_nomem",
    "sqlite_protocol",
    "sqlite_perm",
    "database is locked",
    "database or disk is full",
    "disk i/o error",
    "unable to open database file",
    "network connection lost",
    "storage caused object to be reset",
    "object to be reset",
    "is overloaded",
    "too many requests queued",
    "internal error",
    "cannot resolve d1 db",
    "connection closed",
    "reset because its code was updated",
    "exceeded its memory limit",
    "replica disconnected",
    "client disconnected",
    "maximum db size",
    "maximum account storage",
    "free tier daily row",
    "too many subrequests",
    "too many api requests",
)
"""Source of D1's: developers.cloudflare.com/d1, list of errors, and its changelog of 2026-09-01."""


def classify(text: str) -> RemembrancerError:
    """Turn a database's error text into the error to raise; chain the original as its cause.

    *Shape:* Conflict has `details["constraint"]` (the columns, a CHECK's name or text, a
    trigger's message, or `FOREIGN KEY`) and `details["kind"]`; what is in no table is a defect
    of ours: a plain RemembrancerError.
    """
    lower = text.lower()
    clash = _conflict(text)
    if clash is not None:
        return clash
    if _has(lower, _CORRUPT):
        return CorruptData(
            "the database file is damaged",
            hint="stop the server and restore a backup; `remembrancer doctor` names the place",
        )
    if _has(lower, _TOO_MUCH):
        return InvalidInput(
            "a value, a pattern or a row is over the database's limit",
            hint="send something shorter",
        )
    if _has(lower, _TIMED_OUT):
        return TimedOut("the database took too long", hint="ask for less in one call")
    if _has(lower, _UNAVAILABLE):
        return _unavailable(lower)
    return RemembrancerError("the database refused a statement")


def _conflict(text: str) -> Conflict | None:
    """Recognise a clash; a value of the wrong type for its column is our defect, not a clash."""
    found = _CONSTRAINT.search(text)
    if found is not None:
        kind = found["kind"]
        what = found["what"] or kind
    elif "SQLITE_CONSTRAINT" in text and "cannot store" not in text:
        raised = _RAISED.match(text)
        kind = "TRIGGER"
        what = raised["what"] if raised else "unknown"
    else:
        return None
    return Conflict(
        f"something stands in the way: {kind} of {what!r}",
        hint="read again, then decide anew",
        details={"constraint": what, "kind": kind},
    )


def _unavailable(lower: str) -> StoreUnavailable:
    """Say in our words what the operator should look at."""
    permissions = "check the path and its permissions"
    tomorrow = "it begins anew at midnight UTC; a paid plan of Cloudflare's has no such limit"
    for marks, message, hint in (
        (("daily row read",), "the database's rows for today are read", tomorrow),
        (("daily row write",), "the database's rows for today are written", tomorrow),
        (
            ("maximum db size", "maximum account storage"),
            "the database has no room left",
            "let retention delete more, or take a larger plan of Cloudflare's",
        ),
        (("full",), "the database's disk is full", "free some space, then try again"),
        (("busy", "locked"), "the database is busy", _AGAIN),
        (("readonly", "perm"), "the database file cannot be written", permissions),
        (("cantopen", "unable to open"), "the database file cannot be opened", permissions),
        (
            ("ioerr", "i/o error"),
            "the database's disk could not be read or written",
            "check its free space and its health, then try again",
        ),
    ):
        if _has(lower, marks):
            return StoreUnavailable(message, hint=hint)
    return StoreUnavailable("the database did not answer", hint=_AGAIN)


def _has(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark in text for mark in marks)
