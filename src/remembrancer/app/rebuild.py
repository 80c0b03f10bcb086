"""Rebuilding all projections from the ledger: replay into shadows, catch up, swap, tidy up.

Writers go on meanwhile; the swap fails and is tried again when one was faster. It goes in steps,
each one batch: interrupted, it goes on where it was. Only an operator runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.errors import Conflict
from remembrancer.core.ids import SHARED
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Event, fold_event
from remembrancer.core.values import JSON
from remembrancer.ports.sql import SqlStore, Statement
from remembrancer.store import ledger
from remembrancer.store import rebuild as store
from remembrancer.store.importing import read_before
from remembrancer.store.projections import project
from remembrancer.store.rebuild import SHADOW, Cursor, replayed
from remembrancer.store.record_table import Placed

CHUNK_EVENTS: Final = 300
"""Events of one batch: its JSON arrays stay well under D1's value limit for typical items."""

STEP_STATEMENTS: Final = 36
"""Statements that a step of the replay writes where requests have a bound: with what it reads, and
the key's, they stay under SQL_BATCH_STATEMENTS_MAX. Our choice."""

SWAP_ATTEMPTS_MAX: Final = 50
"""Times the swap is tried while writers go on."""

WRITES_PER_EVENT: Final = 8
"""Rows written for one event on D1, shadows included. Source: measured: 5.3 if no row is wrong."""

Progress = Callable[[int, int], None]
"""Told (events done, events in all)."""


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """What is told of a rebuild that is under way.

    *Shape:* `events` and `streams` that the ledger had when it was first asked; `done` events
    since then; `changed` rows that were not as they should be, once the tables are new.
    """

    events: int = 0
    streams: int = 0
    done: int = 0
    is_begun: bool = False
    is_resumed: bool = False
    changed: int = 0

    @property
    def report(self) -> dict[str, JSON]:
        """`{"events", "streams", "rows_written_estimate", "resumed", "events_done",
        "rows_changed"}`."""
        return {
            "events": self.events,
            "streams": self.streams,
            "rows_written_estimate": self.events * WRITES_PER_EVENT,
            "resumed": self.is_resumed,
            "events_done": self.done,
            "rows_changed": self.changed,
        }


async def rebuild(
    app: App, *, progress: Progress | None = None, dry_run: bool = False
) -> dict[str, JSON]:
    """Make all projections anew from the ledger.

    *Shape:* answers as `Rebuilding.report`; with `dry_run` nothing is done. *Raises:* CorruptData,
    Conflict when writers never paused. *Promise:* readers see the old tables until one atomic
    swap.
    """
    if dry_run:
        return (await _counted(app.sql)).report
    told, is_over, clashes = Rebuilding(), False, 0
    while not is_over:
        try:
            told, is_over = await rebuild_step(app, told)
        except Conflict:
            clashes += 1
            if clashes == SWAP_ATTEMPTS_MAX:
                raise
        if progress is not None:
            progress(told.done, told.events)
    return told.report


async def _counted(sql: SqlStore) -> Rebuilding:
    events, streams = await store.totals(sql)
    return Rebuilding(events, streams)


async def rebuild_step(app: App, told: Rebuilding) -> tuple[Rebuilding, bool]:
    """Do the next step of a rebuild, beginning one if there is none; tell whether it is over.

    *Raises:* CorruptData; Conflict when an event came before the swap, or somebody else does the
    same: the next call goes on. *Promise:* one batch, of few statements where requests have a
    bound; a step whose answer was lost is not done twice.
    """
    cursor = await store.read_cursor(app.sql)
    if cursor is None and told.is_begun:
        return told, True  # the last step's answer was lost
    if not told.is_begun:
        counted = await _counted(app.sql)
        told = replace(counted, is_begun=True, is_resumed=cursor is not None)
    if cursor is None:
        await store.make_shadows(app.sql, Cursor(await store.last_position(app.sql)))
        return told, False
    bound = None if app.request_pieces is None else STEP_STATEMENTS
    if cursor.is_swapped:
        await store.drop_shadows(app.sql)
        return told, True
    if not cursor.is_replayed:
        return replace(told, done=told.done + await _replay(app.sql, cursor, bound)), False
    if caught := await _catch_up(app.sql, cursor, bound):
        return replace(told, done=told.done + caught), False
    return replace(told, changed=await store.swap(app.sql, cursor)), False


async def _replay(sql: SqlStore, cursor: Cursor, bound: int | None) -> int:
    """Replay the next events, stream by stream; return how many."""
    events = await store.events_after(sql, cursor, CHUNK_EVENTS)
    if not events:
        await sql.write([store.cursor_statement(replayed(cursor.position), cursor)])
        return 0
    batch = [event for event in events if event.namespace == events[0].namespace]
    placed = await _placed(sql, batch)
    while True:
        last = placed[-1].event
        after = Cursor(cursor.position, last.namespace, last.stream, last.version)
        statements = [store.cursor_statement(after, cursor), *project(placed, SHADOW)]
        if _fits(statements, bound, placed):
            await sql.write(statements)
            return len(placed)
        placed = _fewer(placed, len(statements), bound)


async def _catch_up(sql: SqlStore, cursor: Cursor, bound: int | None) -> int:
    """Take the next events that came since, in the ledger's order; return how many."""
    events = await store.events_since(sql, cursor.position, CHUNK_EVENTS)
    if not events:
        return 0
    # Up to the first of another namespace, so that none is passed over.
    batch = [*takewhile(lambda event: event.namespace == events[0].namespace, events)]
    placed = await _placed(sql, batch)
    while True:
        after = replayed(placed[-1].event.position)
        statements = [store.cursor_statement(after, cursor), *project(placed, SHADOW)]
        if _fits(statements, bound, placed):
            await sql.write(statements)
            return len(placed)
        placed = _fewer(placed, len(statements), bound)


def _fits(statements: Sequence[Statement], bound: int | None, placed: Sequence[Placed]) -> bool:
    return bound is None or len(statements) <= bound or len(placed) == 1


def _fewer(placed: list[Placed], count: int, bound: int | None) -> list[Placed]:
    assert bound is not None
    return placed[: max(1, min(len(placed) - 1, len(placed) * bound // count))]


async def _placed(sql: SqlStore, events: Sequence[Event]) -> list[Placed]:
    """Return events of one namespace, in their streams' order, with the records around them."""
    first: dict[tuple[str, str], int] = {}
    for event in events:
        first.setdefault((event.namespace, event.stream), event.version)
    # A shared stream's tables need the changes alone, and its record may be as long as the ledger.
    begun = {
        place: version for place, version in first.items() if version > 1 and place[1] not in SHARED
    }
    earlier = await read_before(sql, begun) if begun else {}
    records: dict[tuple[str, str], Fields] = {
        place: ledger.fold(those) for place, those in earlier.items()
    }
    result: list[Placed] = []
    for event in events:
        if event.stream in SHARED:
            result.append(Placed(event, {}, {}))
            continue
        place = (event.namespace, event.stream)
        before = records.get(place, {})
        records[place] = fold_event(before, event)
        result.append(Placed(event, before, records[place]))
    return result
