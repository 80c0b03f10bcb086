"""Rebuilding all projections from the ledger: replay into shadows, catch up, swap.

Writers go on meanwhile; the swap fails and is tried again when one was faster. Interrupted, it
goes on where it was. Only an operator runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.errors import Conflict
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Event, fold_event
from remembrancer.core.values import JSON
from remembrancer.ports.sql import SqlStore
from remembrancer.store import ledger
from remembrancer.store import rebuild as store
from remembrancer.store.projections import project
from remembrancer.store.rebuild import SHADOW, Cursor
from remembrancer.store.record_table import Placed

CHUNK_EVENTS: Final = 300
"""Events of one batch: its JSON arrays stay well under D1's value limit for typical items."""

SWAP_ATTEMPTS_MAX: Final = 50
"""Times the swap is tried while writers go on."""

WRITES_PER_EVENT: Final = 20
"""Rows written for one event on D1, shadows and new indexes included. Source: measured."""

Progress = Callable[[int, int], None]
"""Told (events done, events in all)."""


async def rebuild(
    app: App, *, progress: Progress | None = None, dry_run: bool = False
) -> dict[str, JSON]:
    """Make all projections anew from the ledger.

    *Shape:* `{"events", "streams", "rows_written_estimate", "resumed"}`; with `dry_run` nothing
    is done. *Raises:* CorruptData, Conflict when writers never paused. *Promise:* readers see the
    old tables until one atomic swap.
    """
    total, streams = await store.totals(app.sql)
    report: dict[str, JSON] = {
        "events": total,
        "streams": streams,
        "rows_written_estimate": total * WRITES_PER_EVENT,
        "resumed": False,
    }
    if dry_run:
        return report
    cursor = await store.read_cursor(app.sql)
    if cursor is None:
        cursor = Cursor(await store.last_position(app.sql))
        await store.make_shadows(app.sql, cursor)
    else:
        report["resumed"] = True
    await _replay(app.sql, cursor, total, progress)
    position = cursor.position
    for attempt in range(1, SWAP_ATTEMPTS_MAX + 1):
        position = await _catch_up(app.sql, position)
        try:
            await store.swap(app.sql, position)
            break
        except Conflict:
            if attempt == SWAP_ATTEMPTS_MAX:
                raise
    return report


async def _replay(sql: SqlStore, cursor: Cursor, total: int, progress: Progress | None) -> None:
    fields: Fields = {}
    done = 0
    if cursor.stream:
        # Interrupted inside a stream, perhaps: its record so far is folded again.
        earlier = await store.stream_before(
            sql, Namespace(cursor.namespace), Stream(cursor.stream), cursor.version + 1
        )
        fields = ledger.fold(earlier)
    while events := await store.events_after(sql, cursor, CHUNK_EVENTS):
        place = (cursor.namespace, cursor.stream)
        for batch in _by_namespace(events):
            placed, fields = _placed(batch, place, fields)
            last = batch[-1]
            place = (last.namespace, last.stream)
            cursor = Cursor(cursor.position, last.namespace, last.stream, last.version)
            await sql.write([*project(placed, SHADOW), store.cursor_statement(cursor)])
        done += len(events)
        if progress is not None:
            progress(done, total)


def _by_namespace(events: Sequence[Event]) -> list[list[Event]]:
    batches: list[list[Event]] = []
    for event in events:
        if not batches or batches[-1][0].namespace != event.namespace:
            batches.append([])
        batches[-1].append(event)
    return batches


def _placed(
    events: Sequence[Event], place: tuple[str, str], fields: Fields
) -> tuple[list[Placed], Fields]:
    placed: list[Placed] = []
    for event in events:
        if (event.namespace, event.stream) != place:
            fields = {}
            place = (event.namespace, event.stream)
        after = fold_event(fields, event)
        placed.append(Placed(event, fields, after))
        fields = after
    return placed, fields


async def _catch_up(sql: SqlStore, position: int) -> int:
    while events := await store.events_since(sql, position, CHUNK_EVENTS):
        records: dict[tuple[str, str], Fields] = {}
        batches: list[list[Placed]] = []
        for event in events:
            key = (event.namespace, event.stream)
            if key not in records:
                earlier = await store.stream_before(
                    sql, event.namespace, event.stream, event.version
                )
                records[key] = ledger.fold(earlier)
            after = fold_event(records[key], event)
            if not batches or batches[-1][0].event.namespace != event.namespace:
                batches.append([])
            batches[-1].append(Placed(event, records[key], after))
            records[key] = after
        position = events[-1].position
        statements = [statement for batch in batches for statement in project(batch, SHADOW)]
        await sql.write([*statements, store.cursor_statement(_finished(position))])
    return position


def _finished(position: int) -> Cursor:
    # Behind every stream: a resumed rebuild replays nothing and catches up from here.
    return Cursor(position, "\U0010ffff", "", 0)
