"""Use case of the boot pack: what a new conversation loads first, in one answer.

One time zone everywhere: the namespace's. Unlike the startup bundle it knows no tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict, Unpack
from zoneinfo import ZoneInfo

from remembrancer.app.commit import Answer
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.library.digest import digest_view
from remembrancer.app.state import App
from remembrancer.core.dates import day_bounds, format_iso, format_local
from remembrancer.core.errors import InvalidInput
from remembrancer.core.moments import parse_bound
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import candidates as candidate_store
from remembrancer.store import days as day_store
from remembrancer.store import items as item_store
from remembrancer.store import library as store
from remembrancer.store import messages as message_store

PRECIOUS_MAX: Final = 100
"""Precious quotes of a boot pack, the newest; `stats.precious_total` counts all. Source: seed."""

MESSAGES_MAX: Final = 160
"""Messages of a boot pack, the newest. Source: the seed."""


class BootWindow(TypedDict, total=False):
    """Which messages and which diary page; dates as text, in words or ISO 8601.

    *Shape:* `start` is today 00:00, `end` now, `daily_date` yesterday, all in the namespace's
    zone.
    """

    start: str | None
    end: str | None
    daily_date: str | None


async def memory_boot(
    app: App, caller: Caller, *, has_messages: bool = True, **window: Unpack[BootWindow]
) -> Answer:
    """Return the boot pack.

    *Shape:* `{"digest", "daily_log", "precious", "glossary", "longtail", "today_messages",
    "stats", "window"}`; precious quotes and messages oldest first; `today_messages` is left out
    when it is not asked for. *Raises:* InvalidInput (`invalid_date`). *Promise:* two round
    trips; nothing is written.
    """
    namespace = caller.namespace
    setting_rows, digest, precious, precious_count, entries, types = await app.sql.read(
        [
            item_store.setting_statement(namespace),
            store.digest_statement(namespace),
            store.quotes_statement(namespace, before_id=None, limit=PRECIOUS_MAX),
            store.quote_count_statement(namespace),
            store.entries_statement(namespace),
            store.memory_types_statement(namespace),
        ]
    )
    zone = zone_of(app, {**SETTINGS, **item_store.settings_of(setting_rows.rows)})
    start_ms, end_ms, daily_date = _window(app, zone, window)
    counted, messages, waiting, days = await app.sql.read(
        [
            message_store.window_count_statement(namespace, start_ms=start_ms, end_ms=end_ms),
            message_store.window_statement(
                namespace,
                start_ms=start_ms,
                end_ms=end_ms,
                limit=MESSAGES_MAX if has_messages else 0,
            ),
            candidate_store.count_statement(namespace, "pending"),
            day_store.pages_statement(namespace, [daily_date]),
        ]
    )
    answer: Answer = {
        "digest": digest_view(digest.rows),
        "daily_log": day_store.brief_of(days.rows[0]) if days.rows else None,
        "precious": [quote.view for quote in reversed(store.quotes_of(precious.rows))],
        "glossary": [entry.view for entry in store.entries_of(entries.rows)],
        "longtail": [],
        "stats": {
            "today_raw_count": store.total_of(counted.rows),
            "pending_candidates": store.total_of(waiting.rows),
            "memory_type_counts": _type_counts(types.rows),
            "precious_total": store.total_of(precious_count.rows),
        },
        "window": {
            "start": format_iso(start_ms),
            "end": format_iso(end_ms),
            "daily_date": daily_date,
            "time_zone": zone.key,
        },
    }
    if has_messages:
        answer["today_messages"] = [_message(row) for row in reversed(messages.rows)]
    return answer


def _window(app: App, zone: ZoneInfo, given: BootWindow) -> tuple[int, int, str]:
    now_ms = app.runtime.now_ms()
    today_ms = day_bounds(now_ms, zone)[0]

    def moment(field: str, text: str | None, default_ms: int) -> int:
        if text is None:
            return default_ms
        return parse_bound(text, field=field, now_ms=now_ms, zone=zone)

    start_ms = moment("start", given.get("start"), today_ms)
    end_ms = moment("end", given.get("end"), now_ms)
    if end_ms < start_ms:
        raise InvalidInput(
            f"end {format_iso(end_ms)} is before start {format_iso(start_ms)}",
            hint="give an end after the start, or leave one out",
            field="end",
        )
    daily_ms = moment("daily_date", given.get("daily_date"), day_bounds(today_ms - 1, zone)[0])
    return start_ms, end_ms, format_local(daily_ms, zone)[:10]


def _type_counts(rows: Sequence[Row]) -> dict[str, JSON]:
    return {str(row["type"]): int(str(row["total"])) for row in rows}


def _message(row: Row) -> dict[str, JSON]:
    chars, content = int(str(row["chars"])), str(row["content"])
    return {
        "id": str(row["id"]),
        "conversation_id": str(row["conversation_id"]),
        "role": str(row["role"]),
        "content": content,
        "is_cut": chars > len(content),
        "chars": chars,
        "source": None if row["source"] is None else str(row["source"]),
        "created_at": format_iso(int(str(row["created_at"]))),
    }
