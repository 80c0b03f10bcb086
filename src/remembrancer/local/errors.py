"""SQLite's errors turned into ours, and patience with a database that another process holds.

The table of texts is `core.sqlerrors`, shared with D1; here only SQLite's code name is added, in
D1's own form. Not for other rings.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Final, TypeVar

from remembrancer.core.errors import RemembrancerError
from remembrancer.core.sqlerrors import classify

T = TypeVar("T")

BUSY_PAUSE_S_MAX: Final = 0.05
"""Longest pause in seconds between two tries at a busy database. Our choice."""


def translate(error: sqlite3.Error) -> RemembrancerError:
    """Return our error for one of SQLite's; the caller raises it `from` the original."""
    return classify(f"{error}: {code_name(error)}")


def code_name(error: sqlite3.Error) -> str:
    """Return the extended code's name, or `SQLITE_ERROR` for errors of the Python module."""
    # The attribute is missing on errors that the module raises without asking SQLite.
    name: str = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    return name


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether another connection holds the database; trying again can help."""
    return code_name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def patiently(work: Callable[[], T], wait_s: float) -> T:
    """Run the work again while the database is busy, for at most `wait_s` seconds.

    *Raises:* the last sqlite3.Error; the work must leave no transaction open when it fails.
    """
    deadline = time.monotonic() + wait_s
    pause_s = 0.001
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, BUSY_PAUSE_S_MAX)
