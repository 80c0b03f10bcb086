"""Importing an export, piece by piece: each is checked, compared with what is there, and written.

A namespace that holds anything must hold exactly the file's beginning: an interrupted import goes
on there. Positions are kept where they are free. A piece is one atomic batch; what goes from one
to the next is its `Standing`. Only an operator runs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from remembrancer.app.import_batch import Batch, Records, command_of, meanwhile
from remembrancer.app.inspection import Checked, Inspection, Place, stored_of
from remembrancer.app.state import App
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded
from remembrancer.core.ledger.transfer import Line, parse_line
from remembrancer.core.values import JSON
from remembrancer.store import importing as store
from remembrancer.store.importing import Command, EventKey, Known
from remembrancer.store.verify import StoredEvent

PIECE_LINES: Final = 300
"""Lines of one piece at most. Our choice, as in a rebuild."""

PIECE_BYTES: Final = 1_000_000
"""Bytes of the lines in a piece of several: its rows stay under the 2 MB of one value."""

PIECE_STATEMENTS: Final = 36
"""Statements that a piece writes where requests have a bound: with what it reads, and its key,
they stay under SQL_BATCH_STATEMENTS_MAX. Our choice."""

RECORDS_KEPT: Final = 2_000
"""Records that are kept between the pieces of one walk; others are folded again. Our choice."""

NAMESPACES_MAX: Final = 100
"""Namespaces of one file. Our choice: each is named in what goes from piece to piece."""

Progress = Callable[[int, int | None], None]
"""Told how many lines were read in both walks, and of how many once that is known."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an import is.

    *Shape:* `checked` the lines that are done; `last` the ledger's last position then;
    `keeps_positions` so far; `present` and `fresh` count each namespace's events that were there,
    and that were written.
    """

    checked: Checked
    last: int
    keeps_positions: bool
    present: Counter[str] = field(default_factory=Counter)
    fresh: Counter[str] = field(default_factory=Counter)


NOWHERE: Final = Standing(Checked(0, -1, 0, None, {}, "0" * 64, None), 0, True)
"""Before the first line."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How to import. *Shape:* `namespace` the one that the file must be of."""

    namespace: str | None = None
    is_dry: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """What became of the lines that were given.

    *Shape:* `taken` of them are done; `is_ended` when the file's last line was among them.
    """

    standing: Standing
    taken: int
    is_ended: bool


def report_of(standing: Standing, asked: Asked) -> dict[str, JSON]:
    """Return what an import has done so far.

    *Shape:* `{"namespaces", "events", "events_present", "artifacts", "uses", "positions_kept",
    "dry_run"}`; `events_present` were there already.
    """
    counts = standing.checked.counts
    return {
        "namespaces": [*dict.fromkeys([*standing.present, *standing.fresh])],
        "events": standing.fresh.total(),
        "events_present": standing.present.total(),
        "artifacts": counts.get("artifact", 0),
        "uses": counts.get("use", 0),
        "positions_kept": standing.keeps_positions,
        "dry_run": asked.is_dry,
    }


async def import_ledger(
    app: App,
    source: Callable[[], Iterable[bytes]],
    *,
    namespace: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, JSON]:
    """Write what a file holds and the store does not; the whole file is checked before.

    *Shape:* `source` opens the file's lines anew at each call; answers as `report_of`.
    *Raises:* InvalidInput, CorruptData (naming the line) and Conflict before anything is written;
    Conflict when something else is written meanwhile. *Promise:* each batch is atomic; repeated
    after an interruption, it goes on.
    """
    standing, total, done = NOWHERE, None, 0
    for is_dry in (True,) if dry_run else (True, False):
        standing, inspection, records = NOWHERE, Inspection(), Records(RECORDS_KEPT)
        for group in _gathered(source(), 0):
            step = _Step(app, Asked(namespace, is_dry), standing, inspection, records)
            piece = await step.take(group)
            standing = piece.standing
            done += piece.taken
            if progress is not None:
                progress(done, total)
        inspection.tally.check_ended(standing.checked.number)
        total = 2 * done
    return report_of(standing, Asked(namespace, dry_run))


async def import_piece(app: App, raws: Iterable[bytes], standing: Standing, asked: Asked) -> Piece:
    """Take the file's next lines, as many as one piece may hold.

    *Shape:* the first of `raws` is the line behind `standing`; none is taken of lines that end
    within the events of one command. *Raises:* as `import_ledger`, for these lines; nothing of
    them is written then. *Promise:* one batch, of few statements where requests have a bound.
    Repeated with the same standing it changes nothing and answers alike.
    """
    groups = _gathered(raws, standing.checked.number)
    group, following = next(groups, []), next(groups, None)
    if following is None and group:
        # More events of the last command may come.
        last = command_of(group[-1][1])
        group = [one for one in group if last is None or command_of(one[1]) != last]
    if not group:
        return Piece(standing, 0, is_ended=False)
    bound = None if app.request_pieces is None else PIECE_STATEMENTS
    return await _Step(app, asked, standing, None, Records(RECORDS_KEPT), bound).take(group)


async def import_lines(app: App, raws: Sequence[bytes], standing: Standing, asked: Asked) -> Piece:
    """Take lines as `import_piece` does: all of them, or one piece where requests have a bound."""
    done = 0
    while True:
        piece = await import_piece(app, raws[done:], standing, asked)
        done, standing = done + piece.taken, piece.standing
        is_over = piece.is_ended or not piece.taken or done == len(raws)
        if is_over or app.request_pieces is not None:
            return Piece(standing, done, piece.is_ended)


Group = Sequence[tuple[bytes, Line]]
"""Lines of a file, as they stand there and parsed."""


def _gathered(raws: Iterable[bytes], number: int) -> Iterator[Group]:
    """Give lines in groups that one batch may hold; the events of one command are in one group."""
    group: list[tuple[bytes, Line]] = []
    size = 0
    command: Command | None = None
    for raw in raws:
        number += 1
        line = parse_line(raw, number)
        before, command = command, command_of(line)
        is_full = len(group) >= PIECE_LINES or size + len(raw) > PIECE_BYTES
        if group and is_full and (command is None or command != before):
            yield group
            group, size = [], 0
        group.append((raw, line))
        size += len(raw)
    if group:
        yield group


class _Step:
    """One piece: its lines are read, inspected, compared with what is there, and written.

    *Shape:* without an inspection of the lines before, what it must know of them is read.
    """

    def __init__(
        self,
        app: App,
        asked: Asked,
        standing: Standing,
        inspection: Inspection | None,
        records: Records,
        bound: int | None = None,
    ) -> None:
        self._app = app
        self._asked = asked
        self._before = standing
        self._inspection = inspection
        self._records = records
        self._bound = bound

    async def take(self, group: Group) -> Piece:
        """Do what can be done of these lines. *Raises:* as `import_ledger`."""
        lines = [line for _, line in group]
        keys = [_key(line) for line in lines if line.kind == "event"]
        last, known = await store.read_known(self._app.sql, keys + self._before_first(keys))
        after_each = await self._inspected(group, known)
        fresh = self._compared(lines, known)
        await self._refuse_others(lines, fresh, last, known)
        keeps = self._keeps(lines, fresh, known, last)
        batch = Batch(self._app, self._records, last=last, keeps_positions=keeps)
        taken = len(lines)
        if not self._asked.is_dry:
            taken = await batch.write(lines, fresh, self._bound)
        standing = self._standing(lines[:taken], fresh, after_each[taken - 1], batch)
        return Piece(standing, taken, lines[taken - 1].kind == "end")

    def _before_first(self, keys: Sequence[EventKey]) -> list[EventKey]:
        """Name the event before each stream's first one here, unless the inspection knows it."""
        if self._inspection is not None:
            return []
        first: dict[Place, int] = {}
        for name, stream, version in keys:
            first.setdefault((name, stream), version)
        return [(*place, version - 1) for place, version in first.items() if version > 1]

    async def _inspected(self, group: Group, known: dict[EventKey, Known]) -> list[Checked]:
        inspection = self._inspection
        if inspection is None:
            checked = self._before.checked
            keys = [_key(line) for _, line in group if line.kind == "event"]
            held = {key: known[key] for key in self._before_first(keys) if key in known}
            inspection = Inspection(
                checked if checked.number else None,
                heads={key[:2]: (key[2], one.chain) for key, one in held.items()},
                texts=await self._texts_before(checked),
                is_lenient=self._asked.is_dry,
            )
        result: list[Checked] = []
        for raw, line in group:
            inspection.take(raw, line)
            result.append(inspection.checked())
            named = line.members.get("namespace")
            if line.kind not in ("header", "end") and self._asked.namespace not in (None, named):
                raise InvalidInput(
                    f"the file is of the namespace {named!r}, not {self._asked.namespace!r}",
                    hint="an event's chain binds its namespace; leave --namespace out",
                    field="namespace",
                )
        return result

    async def _texts_before(self, checked: Checked) -> list[str] | None:
        """Return the chunks that are stored of the artifact that the last piece began."""
        held = checked.artifact
        if held is None or self._asked.is_dry:
            return None
        return await store.read_chunks(self._app.sql, held.namespace, held.id, held.chunks)

    def _compared(
        self, lines: Sequence[Line], known: dict[EventKey, Known]
    ) -> list[tuple[int, StoredEvent]]:
        """Return the events that are not there, with their lines' places among these.

        *Raises:* Conflict when what is there is no beginning of the file.
        """
        fresh: list[tuple[int, StoredEvent]] = []
        begun: set[str] = set()
        reached = 0
        for index, line in enumerate(lines):
            if line.kind != "event":
                continue
            stored, there = stored_of(line), known.get(_key(line))
            if there is None:
                begun.add(stored.namespace)
                fresh.append((index, stored))
            elif (there.chain, there.body, there.salt) != (stored.chain, stored.body, stored.salt):
                raise _occupied(
                    stored.namespace, f"which differs from the file at {there.position}"
                )
            elif stored.namespace in begun or there.position < reached:
                raise _occupied(stored.namespace, "which has the file's events in another order")
            else:
                reached = there.position
        return fresh

    async def _refuse_others(
        self,
        lines: Sequence[Line],
        fresh: Sequence[tuple[int, StoredEvent]],
        last: int,
        known: dict[EventKey, Known],
    ) -> None:
        """Refuse events that neither the file nor this import has brought. *Raises:* Conflict."""
        before = self._before
        reached = max((one.position for one in known.values()), default=0)
        if fresh and before.fresh.total() and last not in (before.last, reached):
            raise meanwhile()
        present = before.present + _namespaces(lines, fresh, is_fresh=False)
        begins = {one.namespace for _, one in fresh if not before.fresh[one.namespace]}
        ends = lines[-1].kind == "end"
        asked = begins | ({*present} - {*before.fresh} if ends else set())
        held = await store.count_events(self._app.sql, sorted(asked)) if asked else {}
        for name in sorted(asked):
            if held.get(name, 0) > present[name]:
                how = "which the file's events do not begin with"
                raise _occupied(name, how if name in begins else "and the file ends before that")

    def _keeps(
        self,
        lines: Sequence[Line],
        fresh: Sequence[tuple[int, StoredEvent]],
        known: dict[EventKey, Known],
        last: int,
    ) -> bool:
        events = [line for line in lines if line.kind == "event"]
        there = [(known[_key(line)].position, line) for line in events if _key(line) in known]
        return (
            self._before.keeps_positions
            and all(position == line.number("position") for position, line in there)
            and (not fresh or fresh[0][1].position > last)
        )

    def _standing(
        self,
        lines: Sequence[Line],
        fresh: Sequence[tuple[int, StoredEvent]],
        checked: Checked,
        batch: Batch,
    ) -> Standing:
        before = self._before
        done = [one for one in fresh if one[0] < len(lines)]
        result = Standing(
            checked,
            batch.last,
            batch.keeps_positions,
            before.present + _namespaces(lines, done, is_fresh=False),
            before.fresh + _namespaces(lines, done, is_fresh=True),
        )
        if len(result.present | result.fresh) > NAMESPACES_MAX:
            raise LimitExceeded(
                f"the file has more than {NAMESPACES_MAX} namespaces",
                hint="export and import them one by one",
                field="file",
            )
        return result


def _key(line: Line) -> EventKey:
    return line.text("namespace"), line.text("stream"), line.number("version")


def _namespaces(
    lines: Sequence[Line], fresh: Sequence[tuple[int, StoredEvent]], *, is_fresh: bool
) -> Counter[str]:
    """Count the fresh events of these lines, or those that are there, by namespace."""
    places = {index for index, _ in fresh}
    return Counter(
        line.text("namespace")
        for index, line in enumerate(lines)
        if line.kind == "event" and (index in places) is is_fresh
    )


def _occupied(namespace: str, how: str) -> Conflict:
    return Conflict(
        f"the namespace {namespace!r} is not empty, {how}",
        hint="import into an empty store; on this machine: --data DIR",
        details={"namespace": namespace},
    )
