"""What one batch of an extraction reads: the messages behind the cursor, a long one in slices.

A slice counts as one message, so a batch is as large whatever a message's length. Where a batch
ends within a message, the cursor stays before it and a second one says how far it was read; both
move with what came of it. What is asked about a batch is `extract.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.app.jobs.frame import JobContext
from remembrancer.app.jobs.narrowing import batch_max
from remembrancer.core.distill.lines import EXTRACT_LINE_CHARS, Line, beside, own_words
from remembrancer.core.distill.slices import Slice, slices_of
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.ports.sql import Statement
from remembrancer.store import distilling as store
from remembrancer.store import job_cursors as cursor_store
from remembrancer.store import skips as skip_store
from remembrancer.store.distilling import Said
from remembrancer.store.job_cursors import ReadMessages
from remembrancer.store.skips import Standing

CURSOR: Final = "extract"
"""Name of the cursor; retention reads it as well."""

WITHIN: Final = "extract_within"
"""Name of the cursor within a message: its id, how far it was read, how long its words were."""

INJECTED_CHARS: Final = 8_000
"""Characters that are read beyond a message's bound, for what was injected before it is taken out.
Our choice: twice what a patch may have."""

SETTLE_MS: Final = 2_000
"""Milliseconds for which a message waits before an unforced run reads it: one that was written
beside it may still come with an earlier time or id. Our choice."""

REMEMBERED: Final = "remember_now"
"""Source of memories that were saved at once; see `app.memories.remember`."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What counts as one message: a message, or a slice of a long one.

    *Shape:* `whole` all of its own words up to the bound, None when it has none; `left` characters
    of it beyond the bound.
    """

    said: Said
    whole: Line | None
    part: Slice
    left: int = 0

    @property
    def is_last(self) -> bool:
        """Whether the message ends with it."""
        return self.whole is None or self.part.end == len(self.whole.text)

    @property
    def mark(self) -> Cursor:
        """The place behind it within its message."""
        length = 0 if self.whole is None else len(self.whole.text)
        return Cursor(self.said.created_at, f"{self.said.id} {self.part.end} {length}")


@dataclass(frozen=True, slots=True)
class Batch:
    """Units in order behind a place. *Shape:* `begun` the message that the second cursor is in."""

    units: Sequence[Unit]
    after: Cursor
    begun: str | None = None

    @property
    def said(self) -> list[Said]:
        """The messages that end in it."""
        return [unit.said for unit in self.units if unit.is_last]

    @property
    def cursor(self) -> Cursor:
        """The place behind the last message that ends in it."""
        said = self.said
        return said[-1].cursor if said else self.after

    @property
    def lines(self) -> list[Line]:
        """What is shown of it: of each message one line."""
        spans: dict[str, tuple[Line, int, int]] = {}
        for unit in self.units:
            if unit.whole is not None:
                start = spans.get(unit.whole.id, (None, unit.part.start))[1]
                spans[unit.whole.id] = (unit.whole, start, unit.part.end)
        return [replace(line, text=line.text[start:end]) for line, start, end in spans.values()]

    @property
    def sources(self) -> list[Line]:
        """What its facts must stand on: the messages, whole."""
        found = {unit.said.id: unit.whole for unit in self.units if unit.whole is not None}
        return [*found.values()]

    def first(self, count: int) -> Batch:
        """Return its first units."""
        return replace(self, units=self.units[:count])

    def half(self) -> Batch:
        """Return its first half, at least one unit."""
        return self.first(max(1, len(self.units) // 2))

    def counts(self) -> dict[str, int]:
        """Return what reading it counts; of a short message only that it was read."""
        cut = [unit for unit in self.units if unit.is_last and unit.left]
        sliced = sum(not (unit.is_last and unit.part.start == 0) for unit in self.units)
        found = {"slices": sliced, "cut_short": len(cut), "chars_left": sum(u.left for u in cut)}
        return {"messages": len(self.said), **{name: n for name, n in found.items() if n}}

    def statements(self, ctx: JobContext) -> list[Statement]:
        """Return the statements that move the cursors behind it."""
        read = ReadMessages(self.after, len(self.said))
        moved = [ctx.cursor_statement(CURSOR, self.cursor, read)]
        last = self.units[-1]
        if not last.is_last:
            moved.append(ctx.cursor_statement(WITHIN, last.mark))
        elif any(said.id == self.begun for said in self.said):
            moved.append(cursor_store.drop_cursor_statement(ctx.namespace, WITHIN))
        return moved


def until_ms(ctx: JobContext, after: Cursor) -> int:
    """Return the time up to which messages are read: all, where a clock was ahead of today's."""
    if after.at_ms >= ctx.now_ms:
        return INTEGER_MAX
    return ctx.now_ms if ctx.force else ctx.now_ms - SETTLE_MS


def chars_read(ctx: JobContext) -> int:
    """Return how many characters of a message are read of the store."""
    return ctx.app.settings.extract_message_chars + INJECTED_CHARS


async def next_batch(ctx: JobContext) -> tuple[Standing | None, Batch | None]:
    """Return what is read next, None when nothing waits, and how a refused batch stands.

    *Promise:* at most three round trips.
    """
    cursors, refused = await ctx.app.sql.read(
        [
            cursor_store.cursors_statement(ctx.namespace, CURSOR),
            skip_store.standing_statement(ctx.namespace, ctx.job),
        ]
    )
    places = cursor_store.cursors_of(cursors.rows)
    after = places.get(CURSOR, Cursor(0))
    standing = skip_store.standing_of(refused.rows)
    most = batch_max(standing, after, ctx.app.settings.extract_max_messages)
    [outcome] = await ctx.app.sql.read(
        [
            store.next_messages_statement(
                ctx.namespace,
                after,
                until_ms=until_ms(ctx, after),
                limit=most,
                chars_max=chars_read(ctx),
            )
        ]
    )
    said = store.messages_of(outcome.rows)
    if not said:
        return standing, None
    begun = places.get(WITHIN)
    units = await units_of(ctx, said, begun=begun)
    id_ = None if begun is None else begun.id.partition(" ")[0]
    return standing, Batch(units[:most], after, id_)


async def units_of(
    ctx: JobContext, said: Sequence[Said], *, begun: Cursor | None = None
) -> list[Unit]:
    """Return messages as units: the words of user and assistant, without what was injected,
    quoted, or saved at once.

    *Shape:* `begun` the place within one of them; only what can be a source is read beyond its
    first slice. *Promise:* one round trip, none without a user's message.
    """
    units: list[Unit] = []
    lines = await _lines(ctx, said)
    bound = ctx.app.settings.extract_message_chars
    for one in said:
        line = lines.get(one.id)
        if line is None:
            units.append(Unit(one, None, Slice(0, 0)))
            continue
        if not line.is_source:
            whole = line.cut(EXTRACT_LINE_CHARS)
            units.append(Unit(one, whole, Slice(0, len(whole.text))))
            continue
        whole = replace(line, text=line.text[:bound])
        left = len(line.text) - len(whole.text) + max(0, one.chars - chars_read(ctx))
        parts = slices_of(whole.text, _begun(one, whole, begun))
        units += [Unit(one, whole, part, left) for part in parts]
    return units


def _begun(said: Said, line: Line, begun: Cursor | None) -> int:
    """Return how far a message was read. Where its words have changed since, it begins anew."""
    id_, _, rest = ("" if begun is None else begun.id).partition(" ")
    if id_ != said.id:
        return 0
    end, length = map(int, rest.split())
    return end if length == len(line.text) else 0


async def _lines(ctx: JobContext, said: Sequence[Said]) -> Mapping[str, Line]:
    spoken = [one for one in said if one.role in ("user", "assistant")]
    if not any(one.role == "user" for one in spoken):
        return {}
    [outcome] = await ctx.app.sql.read(
        [
            store.saved_statement(
                ctx.namespace,
                REMEMBERED,
                from_ms=said[0].created_at,
                to_ms=said[-1].created_at,
            )
        ]
    )
    saved = store.saved_of(outcome.rows)
    lines = [_line(one, saved.get(one.id, [])) for one in spoken]
    return {line.id: line for line in lines if line.text}


def _line(said: Said, saved: Sequence[str]) -> Line:
    text = own_words(said.content)
    line = Line(said.id, said.role, text, said.created_at)
    if not saved:
        return line
    rest = beside(text, saved)
    return replace(line, is_saved=True) if rest is None else replace(line, text=rest)
