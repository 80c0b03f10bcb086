"""Importing an export: first the whole file is inspected, then it is written in bounded batches.

A namespace that holds anything must hold exactly the file's beginning: an interrupted import goes
on there. Positions are kept where they are free. Only an operator runs it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Final

from remembrancer.app.inspection import Inspection, stored_of
from remembrancer.app.state import App
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import ENDINGS, fold_event
from remembrancer.core.ledger.transfer import Line
from remembrancer.core.values import JSON
from remembrancer.ports.sql import SqlStore, Statement
from remembrancer.store import importing as store
from remembrancer.store.ledger import event_of
from remembrancer.store.rebuild import last_position
from remembrancer.store.record_table import Placed
from remembrancer.store.verify import StoredEvent

BATCH_EVENTS: Final = 300
"""Events of one batch. Our choice, as in a rebuild."""

BATCH_CHARS: Final = 300_000
"""Characters of bodies in one batch of several events: with UTF-8 and escapes its rows stay
under the 2 MB of one value."""

RECORDS_KEPT: Final = 2_000
"""Records that are kept between batches; others are folded again when needed. Our choice."""

Progress = Callable[[int, int | None], None]
"""Told how many lines were read in both walks, and of how many once that is known."""


@dataclass(slots=True)
class _Survey:
    """What the first walk found: where the file's news begin, and what it holds."""

    present: dict[str, int] = field(default_factory=dict)
    keeps_positions: bool = True
    fresh: int = 0
    lines: int = 0
    counts: dict[str, int] = field(default_factory=dict)


async def import_ledger(
    app: App,
    source: Callable[[], Iterable[bytes]],
    *,
    namespace: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, JSON]:
    """Write what a file holds and the store does not.

    *Shape:* `source` opens the file's lines anew at each call; `namespace` is the one that the
    file must be of. Answers `{"namespaces", "events", "events_present", "artifacts", "uses",
    "positions_kept", "dry_run"}`.
    *Raises:* InvalidInput, CorruptData (naming the line) and Conflict before anything is written;
    Conflict when something else is written meanwhile. *Promise:* each batch is atomic; repeated
    after an interruption, it goes on.
    """
    survey = await _survey(app.sql, source, namespace, progress)
    if not dry_run:
        writer = _Writer(app, survey, await last_position(app.sql))
        read = survey.lines
        for line in Inspection().lines(source()):
            await writer.take(line)
            read += 1
            if progress is not None:
                progress(read, 2 * survey.lines)
        await writer.flush()
    return {
        "namespaces": list(survey.present),
        "events": survey.fresh,
        "events_present": sum(survey.present.values()),
        "artifacts": survey.counts["artifact"],
        "uses": survey.counts["use"],
        "positions_kept": survey.keeps_positions,
        "dry_run": dry_run,
    }


async def _survey(
    sql: SqlStore,
    source: Callable[[], Iterable[bytes]],
    namespace: str | None,
    progress: Progress | None,
) -> _Survey:
    survey, inspection = _Survey(), Inspection()
    last = await last_position(sql)
    held: dict[str, AsyncIterator[_Held]] = {}
    for line in inspection.lines(source()):
        survey.lines += 1
        if progress is not None:
            progress(survey.lines, None)
        if namespace is not None and line.text("namespace") != namespace:
            raise InvalidInput(
                f"the file is of the namespace {line.text('namespace')!r}, not {namespace!r}",
                hint="an event's chain binds its namespace; leave --namespace out",
                field="namespace",
            )
        if line.kind == "event":
            stored = stored_of(line)
            if stored.namespace not in held:
                held[stored.namespace] = _held_events(sql, stored.namespace)
                survey.present[stored.namespace] = 0
            present = await anext(held[stored.namespace], None)
            _compare(survey, stored, present, last)
    for name, rest in held.items():
        if await anext(rest, None) is not None:
            raise _occupied(name, "and the file ends before what is there")
    survey.counts = {kind: inspection.tally.counts[kind] for kind in ("artifact", "use")}
    return survey


_Held = tuple[int, str, str | None, str | None]


async def _held_events(sql: SqlStore, namespace: str) -> AsyncIterator[_Held]:
    position = 0
    while page := await store.present_after(sql, namespace, position):
        for one in page:
            yield one
        position = page[-1][0]


def _compare(survey: _Survey, stored: StoredEvent, present: _Held | None, last: int) -> None:
    if present is None:
        if survey.fresh == 0 and stored.position <= last:
            survey.keeps_positions = False
        survey.fresh += 1
        return
    if present[1:] != (stored.chain, stored.body, stored.salt):
        raise _occupied(stored.namespace, f"which differs from the file at {present[0]}")
    if present[0] != stored.position:
        survey.keeps_positions = False
    survey.present[stored.namespace] += 1


def _occupied(namespace: str, how: str) -> Conflict:
    return Conflict(
        f"the namespace {namespace!r} is not empty, {how}",
        hint="import into an empty data folder: --data DIR",
        details={"namespace": namespace},
    )


class _Writer:
    """The second walk: skips what is there, gathers the rest and writes it in batches."""

    def __init__(self, app: App, survey: _Survey, position: int) -> None:
        self._sql = app.sql
        self._now_ms = app.runtime.now_ms
        self._keeps_positions = survey.keeps_positions
        self._skip = dict(survey.present)
        self._position = position
        self._events: list[StoredEvent] = []
        self._sides: list[Statement] = []
        self._chars = 0
        self._records: OrderedDict[tuple[str, str], Fields] = OrderedDict()

    async def take(self, line: Line) -> None:
        """Take one line; it may be written now or later."""
        if line.kind != "event":
            if self._events:
                await self.flush()
            self._sides.append(store.side_statement(line))
            self._chars += len(line.text("text")) if line.kind == "chunk" else 0
        elif self._skip.get(line.text("namespace"), 0):
            self._skip[line.text("namespace")] -= 1
            return
        else:
            stored = stored_of(line)
            if self._events and self._chars + len(stored.body or "") > BATCH_CHARS:
                await self.flush()
            self._events.append(stored)
            self._chars += len(stored.body or "")
        if len(self._events) + len(self._sides) >= BATCH_EVENTS or self._chars >= BATCH_CHARS:
            await self.flush()

    async def flush(self) -> None:
        """Write what was gathered, in one batch."""
        if self._events:
            await self._write_events()
        elif self._sides:
            await self._sql.write(self._sides)
        self._sides, self._chars = [], 0

    async def _write_events(self) -> None:
        events, self._events = self._events, []
        statements = store.ledger_statements(
            events, last_position=self._position, keeps_positions=self._keeps_positions
        )
        for stored in events:
            statements += await self._project(stored)
        for namespace in sorted({stored.namespace for stored in events}):
            statements.append(store.imported_statement(namespace, self._now_ms()))
        try:
            await self._sql.write(statements)
        except Conflict as clash:
            raise Conflict(
                "something else was written meanwhile",
                hint="stop what writes to this store and import again: it goes on where it was",
                details=clash.details,
            ) from clash
        self._position = (
            events[-1].position if self._keeps_positions else self._position + len(events)
        )
        while len(self._records) > RECORDS_KEPT:
            self._records.popitem(last=False)

    async def _project(self, stored: StoredEvent) -> list[Statement]:
        place = (stored.namespace, stored.stream)
        before = self._records.get(place)
        if before is None:
            is_new = stored.version == 1
            before = {} if is_new else await store.record_before(self._sql, stored)
        event = event_of(asdict(stored))
        after = fold_event(before, event)
        self._records[place] = after
        self._records.move_to_end(place)
        statements = store.projection_statements(Placed(event, before, after), self._now_ms())
        if stored.kind in ENDINGS:
            statements.append(store.forgotten_statement(*place))
        return statements
