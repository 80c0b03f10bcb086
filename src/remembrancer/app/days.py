"""Showing the diary: a list of pages, one page. The job `dream` writes them."""

from __future__ import annotations

from typing import Final, cast

from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.cursors import decode_cursor, encode_cursor
from remembrancer.core.distill.diary import PageKind, parse_label
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.values import JSON, Caller
from remembrancer.store import days as store

PAGES_MAX: Final = 100
"""Pages of one list. As items."""

KINDS: Final = ("day", "week", "month")
"""Kinds of pages."""


async def list_days(
    app: App, caller: Caller, *, kind: str = "day", limit: int = 30, cursor: str | None = None
) -> Answer:
    """Return pages of a kind, the newest first, without their contents.

    *Shape:* `{"days", "count", "next_cursor"}`. *Raises:* InvalidInput. *Promise:* one round trip.
    """
    if kind not in KINDS:
        raise InvalidInput(
            f"{kind!r} is no kind of page", hint=f"one of {', '.join(KINDS)}", field="kind"
        )
    if isinstance(limit, bool) or not 1 <= limit <= PAGES_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {PAGES_MAX}", field="limit"
        )
    before = "9999-12-31"
    if cursor is not None:
        before = str(decode_cursor(cursor, kind="days", types=(str,))[0])
    [outcome] = await app.sql.read(
        [
            store.latest_statement(
                caller.namespace, cast(PageKind, kind), before=before, limit=limit + 1
            )
        ]
    )
    shown = outcome.rows[:limit]
    days: list[JSON] = [store.brief_of(row) for row in shown]
    is_more = len(outcome.rows) > limit
    return {
        "days": days,
        "count": len(days),
        "next_cursor": encode_cursor("days", [str(shown[-1]["starts_on"])]) if is_more else None,
    }


async def get_day(app: App, caller: Caller, date: str) -> Answer:
    """Show one page: of a day `2026-03-01`, a week `2026-W09` or a month `2026-03`.

    *Shape:* `{"day"}`. *Raises:* InvalidInput, NotFound. *Promise:* one round trip.
    """
    parse_label(date)
    [outcome] = await app.sql.read([store.pages_statement(caller.namespace, [date])])
    if not outcome.rows:
        raise NotFound(f"there is no page of {date!r}", hint="the diary is written at night")
    return {"day": store.view_of(outcome.rows[0])}
