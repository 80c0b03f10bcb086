"""What retention will take next: counts of rows, and the memories by name. Writes nothing."""

from __future__ import annotations

from typing import Final

from remembrancer.app.commit import Answer
from remembrancer.app.jobs.retention import periods_of
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.jobs.retention import cutoffs
from remembrancer.core.values import DAY_MS, JSON, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import retention as store

DAYS_MAX: Final = 366
"""Days that a preview looks ahead, at most. Our choice."""

ITEMS_MAX: Final = 100
"""Items that a preview names of each sort. As a page."""


async def preview_retention(app: App, caller: Caller, *, days: int = 7, limit: int = 50) -> Answer:
    """Return what goes within so many days if nothing is used, edited or restored meanwhile.

    *Shape:* `{"days", "counts", "expire": [{"item_id", "title", "last_used_at", "goes_at"}],
    "purge": [{"item_id", "title", "state", "ended_at", "goes_at"}], "messages_passed_to",
    "messages_dreamt_to", "messages_waiting"}`; counts up to a thousand; `messages_passed_to` and
    `messages_dreamt_to` are how far extraction and the nights are, null when messages do not wait
    for them or they have never got through; `messages_waiting` are past their period today and
    stay until they are read. *Raises:* InvalidInput.
    """
    for name, value, highest in (("days", days, DAYS_MAX), ("limit", limit, ITEMS_MAX)):
        if not (name == "limit") <= value <= highest:
            raise InvalidInput(f"{name} is {value!r}", hint=f"up to {highest}", field=name)
    periods, now_ms = periods_of(app.settings), app.runtime.now_ms()
    today, then = cutoffs(periods, now_ms), cutoffs(periods, now_ms + days * DAY_MS)
    has_vectors = False  # what still has a vector is on its way as well
    namespace = caller.namespace
    [places] = await app.sql.read([store.passed_statement(namespace)])
    passed = store.passed_of(places.rows)
    is_extracting = app.settings.enable_auto_memory
    present, coming = (
        store.counts_statement(
            namespace, each, passed, is_extracting=is_extracting, has_vectors=has_vectors
        )
        for each in (today, then)
    )
    counted, held, unused, ended = await app.sql.read(
        [
            coming,
            present,
            store.unused_statement(namespace, then.memories, limit),
            store.ended_statement(namespace, then.deleted, limit, has_vectors=has_vectors),
        ]
    )
    counts: dict[str, JSON] = {**store.counts_of(counted.rows)[0]}
    _, waiting = store.counts_of(held.rows)
    return {
        "days": days,
        "counts": counts,
        "expire": [_view(row, "last_used_at", periods.memories) for row in unused.rows],
        "purge": [
            {**_view(row, "ended_at", periods.deleted), "state": str(row["state"])}
            for row in ended.rows
        ],
        "messages_passed_to": _at(passed.extracted) if is_extracting else None,
        "messages_dreamt_to": _at(passed.dreamt) if passed.is_dreaming else None,
        "messages_waiting": waiting,
    }


def _view(row: Row, name: str, days: int) -> dict[str, JSON]:
    at_ms = int(str(row["at_ms"]))
    return {
        "item_id": str(row["id"]),
        "title": str(row["title"]),
        name: format_iso(at_ms),
        "goes_at": format_iso(at_ms + days * DAY_MS),
    }


def _at(cursor: Cursor | None) -> str | None:
    return None if cursor is None else format_iso(cursor.at_ms)
