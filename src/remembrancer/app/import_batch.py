"""Writing a piece of an import: one atomic batch, cut where it would be too many statements.

What is new, and whether it may be written, is decided in `app.importing`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict

from remembrancer.app.inspection import Place
from remembrancer.app.state import App
from remembrancer.core.errors import Conflict
from remembrancer.core.ids import SHARED
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import fold_event
from remembrancer.core.ledger.transfer import Line
from remembrancer.ports.sql import Statement
from remembrancer.store import importing as store
from remembrancer.store.importing import Command
from remembrancer.store.ledger import event_of, fold
from remembrancer.store.record_table import Placed
from remembrancer.store.verify import StoredEvent


class Records:
    """The newest records that a walk has folded: those that are dropped are folded again."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._held: OrderedDict[Place, Fields] = OrderedDict()

    def __contains__(self, place: Place) -> bool:
        return place in self._held

    def take(self, place: Place) -> Fields:
        """Return a record; an empty one for a stream that begins."""
        return self._held.get(place, {})

    def put(self, place: Place, fields: Fields) -> None:
        """Keep a record as the newest."""
        self._held[place] = fields
        self._held.move_to_end(place)

    def trim(self) -> None:
        """Drop the oldest ones."""
        while len(self._held) > self._kept:
            self._held.popitem(last=False)


class Batch:
    """What one piece writes behind `last`, the ledger's last position."""

    def __init__(self, app: App, records: Records, *, last: int, keeps_positions: bool) -> None:
        self._app = app
        self._records = records
        self.last = last
        self.keeps_positions = keeps_positions

    async def write(
        self, lines: Sequence[Line], fresh: Sequence[tuple[int, StoredEvent]], bound: int | None
    ) -> int:
        """Write fresh events, artifacts and counters of use; return how many lines are done.

        *Shape:* `fresh` with the places of their lines; `bound` statements at most, None without
        one: then all is written. *Raises:* Conflict when something was written meanwhile.
        """
        stored = [one for _, one in fresh]
        placed = await self._placed(stored)
        sides = next((n for n, line in enumerate(lines) if _is_side(line)), len(lines))
        count, end = len(stored), len(lines)
        while True:
            statements = self._statements(stored[:count], placed[:count], lines[:end])
            if bound is None or len(statements) <= bound:
                break
            if end > sides and count:
                end = sides  # what comes behind the events is another piece's
                continue
            fitting = _whole_commands(stored, min(count - 1, count * bound // len(statements)))
            if fitting == count:
                break  # one command: it was one batch before
            count = fitting
            end = fresh[count][0]
        if statements:
            await self._send(statements)
        if count and self.keeps_positions:
            self.last = stored[count - 1].position
        else:
            self.last += count
        return end

    async def _send(self, statements: Sequence[Statement]) -> None:
        try:
            await self._app.sql.write(statements)
        except Conflict as clash:
            raise meanwhile(clash) from clash

    async def _placed(self, stored: Sequence[StoredEvent]) -> list[Placed]:
        missing: dict[Place, int] = {}
        seen: set[Place] = set()
        for one in stored:
            place = (one.namespace, one.stream)
            if place in seen or one.stream in SHARED:
                continue
            seen.add(place)
            if one.version > 1 and place not in self._records:
                missing[place] = one.version
        if missing:
            earlier = await store.read_before(self._app.sql, missing)
            for place, events in earlier.items():
                self._records.put(place, fold(events))
        result: list[Placed] = []
        for one in stored:
            event = event_of(asdict(one))
            if one.stream in SHARED:
                # Its tables need the changes alone, and the record may be as long as the ledger.
                result.append(Placed(event, {}, {}))
                continue
            place = (one.namespace, one.stream)
            before = self._records.take(place)
            after = fold_event(before, event)
            self._records.put(place, after)
            result.append(Placed(event, before, after))
        self._records.trim()
        return result

    def _statements(
        self, stored: Sequence[StoredEvent], placed: Sequence[Placed], lines: Sequence[Line]
    ) -> list[Statement]:
        result: list[Statement] = []
        now_ms = self._app.runtime.now_ms()
        if stored:
            result += store.ledger_statements(
                stored, last_position=self.last, keeps_positions=self.keeps_positions
            )
        for namespace in sorted({one.namespace for one in stored}):
            own = [one for one in placed if one.event.namespace == namespace]
            result += store.projection_statements(own, now_ms)
            result.append(store.imported_statement(namespace, now_ms))
        return result + store.side_statements([line for line in lines if _is_side(line)])


def command_of(line: Line) -> Command | None:
    """Return which command's event a line holds; None for other lines."""
    if line.kind != "event":
        return None
    return line.text("namespace"), line.text("cause"), line.number("at_ms")


def _whole_commands(stored: Sequence[StoredEvent], count: int) -> int:
    """Return how many events whole commands have that fit into a count; one command at least."""
    commands = [(one.namespace, one.cause, one.at_ms) for one in stored]
    first = next((n for n, one in enumerate(commands) if one != commands[0]), len(stored))
    while count > first and commands[count] == commands[count - 1]:
        count -= 1
    return max(count, first)


def _is_side(line: Line) -> bool:
    return line.kind not in ("header", "event", "end")


def meanwhile(clash: Conflict | None = None) -> Conflict:
    """Return the error that somebody else has written while an import is under way."""
    return Conflict(
        "something else was written meanwhile",
        hint="stop what writes to this store and import again: it goes on where it was",
        details={} if clash is None else clash.details,
    )
