"""Which day a dream is about, and how far it is: a namespace's own days, in its own zone.

A day is done once it is over and its page is written. A forced run also takes the present day up
to now; the night that follows reads the rest and writes the page again over all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.app.items.resolve import zone_of
from remembrancer.app.jobs.frame import JobContext
from remembrancer.core.dates import day_bounds, local_date
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON
from remembrancer.store import days as day_store
from remembrancer.store import distilling as store
from remembrancer.store import items as item_store
from remembrancer.store import job_cursors as cursor_store
from remembrancer.store.distilling import Said
from remembrancer.store.skips import Standing, standing_of

CURSOR: Final = "dream"
"""Cursor of the days that are done: the end of the last one."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day with work.

    *Shape:* `said` the next messages behind `after`, empty when all are in parts and the page is to
    be written; `is_over`: no message can come any more; `parts` what was made of those before;
    `standing` of a batch that was refused.
    *Units:* `start_ms` and `end_ms` UTC, the end not included.
    """

    date: str
    zone: ZoneInfo
    start_ms: int
    end_ms: int
    is_over: bool
    after: Cursor
    said: Sequence[Said]
    parts: Sequence[dict[str, JSON]]
    done: Cursor | None
    standing: Standing | None = None

    @property
    def is_rest(self) -> bool:
        """Whether the day begins in its midst: what was said before has a page already, or belongs
        to another day, as the namespace has moved to another zone."""
        return not self.parts and self.after > Cursor(self.start_ms)

    @property
    def is_again(self) -> bool:
        """Whether it was done before; its week and month may be over since."""
        return self.done is not None and self.done.at_ms >= self.end_ms

    @property
    def cursor_name(self) -> str:
        """Cursor of the messages of this day that are in parts."""
        return cursor_of(self.date)


def cursor_of(date: str) -> str:
    """Name the cursor of a day's messages."""
    return f"{CURSOR}/{date}"


async def next_day(ctx: JobContext) -> Day | None:
    """Return the first day with work; None when there is none.

    *Promise:* two round trips, and two for each day more that is looked at; a statement each.
    """
    [found] = await ctx.app.sql.read([day_store.outlook_statement(ctx.namespace, CURSOR)])
    settings, marks, [first], refused = (
        [row for row in found.rows if row["sort"] == sort]
        for sort in ("setting", "cursor", "message", "refused")
    )
    standing = standing_of(refused)
    zone = zone_of(ctx.app, {**SETTINGS, **item_store.settings_of(settings)})
    cursors = cursor_store.cursors_of(marks)
    if ctx.asked.dates:
        for date in ctx.asked.dates:
            start_ms, end_ms = day_bounds(date, zone)
            named = await _work(ctx, zone, (start_ms, end_ms), cursors)
            if named is not None:
                return replace(named, standing=standing)
        return None
    today_ms = day_bounds(ctx.now_ms, zone)[0]
    until_ms = ctx.now_ms + 1 if ctx.force else today_ms
    at_ms = first["at_ms"]
    while isinstance(at_ms, int) and at_ms < until_ms:
        window = day_bounds(at_ms, zone)
        work = await _work(ctx, zone, window, cursors)
        if work is not None:
            return replace(work, standing=standing)
        [outcome] = await ctx.app.sql.read(
            [store.first_message_statement(ctx.namespace, from_ms=window[1], until_ms=until_ms)]
        )
        at_ms = outcome.rows[0]["at_ms"]
    return None


async def _work(
    ctx: JobContext, zone: ZoneInfo, window: tuple[int, int], cursors: dict[str, Cursor]
) -> Day | None:
    start_ms, end_ms = window
    date = local_date(start_ms, zone)
    name, done = cursor_of(date), cursors.get(CURSOR)
    begin = Cursor(start_ms)
    if done is not None and date not in ctx.asked.dates:
        # What was dreamt in another zone, of whose day it was then, is not dreamt again.
        begin = max(begin, Cursor(done.at_ms))
    after = max(cursors.get(name) or begin, begin)
    if is_redone(ctx, date):
        after = Cursor(start_ms)
    [found] = await ctx.app.sql.read(
        [
            day_store.batch_statement(
                ctx.namespace,
                date,
                after,
                until_ms=min(end_ms - 1, ctx.now_ms),
                limit=ctx.app.settings.dream_max_messages,
            )
        ]
    )
    said = store.messages_of([row for row in found.rows if row["sort"] == "message"])
    parts = [row for row in found.rows if row["sort"] == "part"]
    made = [] if is_redone(ctx, date) else day_store.parts_of(parts)
    is_over = end_ms <= ctx.now_ms
    is_left = any(not part.get("is_applied") for part in made)
    is_closed = done is not None and done.at_ms >= end_ms
    if not said and not is_left and (is_closed or not is_over or not made):
        return None
    return Day(date, zone, start_ms, end_ms, is_over, after, said, made, done)


def is_redone(ctx: JobContext, date: str) -> bool:
    """Tell whether a day that was named shall be done again from its beginning, in this piece."""
    return ctx.force and date in ctx.asked.dates and not ctx.counts[f"redone_{date}"]
