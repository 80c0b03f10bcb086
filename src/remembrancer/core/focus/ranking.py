"""The order in which open tasks come next, in a project and anywhere, and the reason in words.

Pure: candidates come in as records; the store hands in few, in an order that agrees with this
one. That a task is blocked is known to the store. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.core.dates import day_bounds, format_iso
from remembrancer.core.dates.zones import to_local
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.values import HOUR_MS

RECENT_MS: Final = 48 * HOUR_MS
"""Milliseconds for which a touched task counts as being worked on. Source: the predecessor."""

_PRIORITY_NAMES: Final = {1: "low", 2: "medium", 3: "high"}


@dataclass(frozen=True, slots=True)
class Horizon:
    """The moments that ranking compares with. *Units:* milliseconds UTC; ends are exclusive."""

    now_ms: int
    today_end_ms: int
    upcoming_end_ms: int

    @property
    def recent_ms(self) -> int:
        """From when on a touched task counts as being worked on."""
        return self.now_ms - RECENT_MS


def horizon_at(now_ms: int, zone: ZoneInfo, *, upcoming_days: int) -> Horizon:
    """Return the horizon of a moment: the ends of the local day, and of the one `upcoming_days`
    later."""
    today = to_local(now_ms, zone).date()
    _, today_end = day_bounds(today, zone)
    _, upcoming_end = day_bounds(today + timedelta(days=upcoming_days), zone)
    return Horizon(now_ms, today_end, upcoming_end)


def urgency(due_at: int | None, horizon: Horizon) -> int:
    """Return 3 for overdue, 2 for due today, 1 for due soon, 0 for later or undated."""
    if due_at is None or due_at >= horizon.upcoming_end_ms:
        return 0
    if due_at < horizon.now_ms:
        return 3
    return 2 if due_at < horizon.today_end_ms else 1


def is_open(record: ItemRecord, now_ms: int) -> bool:
    """Tell whether a task can be the next step: active, tactical, neither put off nor expired."""
    fields = record.fields
    if fields.get("state") != "active" or fields.get("type") != "tactical_task":
        return False
    put_off = (_ms(record, "snoozed_until") or 0, _ms(record, "ignored_until") or 0)
    expires_at = _ms(record, "expires_at")
    return max(put_off) <= now_ms and (expires_at is None or expires_at > now_ms)


def first_in_project(
    records: Iterable[ItemRecord], horizon: Horizon, *, objective_id: str | None
) -> ItemRecord | None:
    """Return the project's next step, or None without a candidate.

    By: it serves the objective, pinned, overdue, priority, touched last, id.
    *Source:* the predecessor's rule.
    """

    def key(record: ItemRecord) -> tuple[bool, bool, bool, int, int, str]:
        return (
            not _serves(record, objective_id),
            not _is_pinned(record),
            urgency(_ms(record, "due_at"), horizon) < 3,
            -_priority(record),
            -record.updated_at,
            record.id,
        )

    return min(_open(records, horizon), key=key, default=None)


def first_anywhere(records: Iterable[ItemRecord], horizon: Horizon) -> ItemRecord | None:
    """Return the next step among all tasks, or None without a candidate.

    By: overdue, due today, due soon; touched within 48 hours, pinned, priority, dated, due
    first, untouched longest, id. *Source:* the predecessor's rule.
    """

    def key(record: ItemRecord) -> tuple[int, bool, bool, int, bool, int, int, str]:
        due_at = _ms(record, "due_at")
        return (
            -urgency(due_at, horizon),
            record.updated_at < horizon.recent_ms,
            not _is_pinned(record),
            -_priority(record),
            due_at is None,
            due_at or 0,
            record.updated_at,
            record.id,
        )

    return min(_open(records, horizon), key=key, default=None)


def reason_for(record: ItemRecord, horizon: Horizon, *, objective_id: str | None = None) -> str:
    """Return why this task comes next, in words that need no clock to check."""
    due_at = _ms(record, "due_at")
    when = "" if due_at is None else format_iso(due_at)
    parts = [
        "serves the active objective" if _serves(record, objective_id) else "",
        "pinned" if _is_pinned(record) else "",
        ("", f"due soon, {when}", f"due today, {when}", f"overdue since {when}")[
            urgency(due_at, horizon)
        ],
        f"{_PRIORITY_NAMES[_priority(record)]} priority",
    ]
    return "; ".join(part for part in parts if part)


def _open(records: Iterable[ItemRecord], horizon: Horizon) -> list[ItemRecord]:
    return [record for record in records if is_open(record, horizon.now_ms)]


def _serves(record: ItemRecord, objective_id: str | None) -> bool:
    return objective_id is not None and record.fields.get("objective_id") == objective_id


def _is_pinned(record: ItemRecord) -> bool:
    return bool(record.fields.get("pinned"))


def _priority(record: ItemRecord) -> int:
    value = record.fields.get("priority")
    assert isinstance(value, int)
    return value


def _ms(record: ItemRecord, name: str) -> int | None:
    value = record.fields.get(name)
    return value if isinstance(value, int) else None
