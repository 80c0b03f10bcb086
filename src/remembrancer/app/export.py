"""Exporting a ledger: its lines, in order, page by page, in bounded memory, in pieces if need be.

Chat messages, idempotency answers and everything derived are not in it. Nothing is written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from remembrancer.app.access import require
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.resuming import decode_place, encode_place
from remembrancer.core.ledger.transfer import KINDS, Tally, encode_line, header_line, more_line
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row, SqlStore
from remembrancer.store import export as store
from remembrancer.store.artifacts import read_pieces
from remembrancer.store.export import Scope
from remembrancer.store.rebuild import last_position

PIECE_STATEMENTS: Final = 36
"""Statements of one piece where requests have a bound: with the one that fixes the end, an
artifact's and the key's they stay under SQL_BATCH_STATEMENTS_MAX. Our choice."""

ARTIFACT_STATEMENTS: Final = 4
"""Statements that reading one artifact takes at most: its row and its chunks, twice when it is
moved out meanwhile."""

Progress = Callable[[int], None]
"""Told how many events were exported."""


def export_scope(caller: Caller, *, all_namespaces: bool = False, with_keys: bool = True) -> Scope:
    """Return what a caller gets: the own namespace, or all; keys only for `admin`.

    *Raises:* Forbidden without `export:read`, or without `admin` for all namespaces.
    """
    require(caller, "export:read")
    if all_namespaces:
        require(caller, "admin")
    return Scope(
        None if all_namespaces else caller.namespace, with_keys and "admin" in caller.scopes
    )


@dataclass(frozen=True, slots=True)
class Place:
    """How far an export is.

    *Shape:* events up to the position `until` belong to it; `part` of the file is passing, all up
    to `after` (a position, or a namespace and an id) are out; counts and chain as in a `Tally`.
    """

    until: int
    part: str
    after: tuple[str, str]
    counts: dict[str, int]
    chain: str


_KIND: Final = "export"
_EXAMPLE: Final[dict[str, JSON]] = {
    "until": 0, "part": "", "after": [""], "counts": {"": 0}, "chain": "",
}  # fmt: skip


def decode_export_place(text: str) -> Place:
    """Return how far an export is. *Raises:* InvalidInput for what no export has handed out."""
    # Any: the members are checked against the example.
    held = cast("dict[str, Any]", decode_place(text, _KIND, _EXAMPLE))
    is_chain = len(held["chain"]) == 64 and set(held["chain"]) <= set("0123456789abcdef")
    is_part = held["part"] in _PARTS and len(held["after"]) == 2
    if not (is_chain and is_part and set(held["counts"]) <= set(KINDS)):
        raise InvalidInput("the cursor is none of an export", hint="begin anew", field="cursor")
    first, second = held["after"]
    if held["part"] == "event" and not first.isdecimal():
        raise InvalidInput("the cursor is none of an export", hint="begin anew", field="cursor")
    return Place(held["until"], held["part"], (first, second), held["counts"], held["chain"])


async def export_lines(
    app: App, scope: Scope, *, place: Place | None = None, progress: Progress | None = None
) -> AsyncIterator[bytes]:
    """Give the lines of an export, each in UTF-8 with its line feed.

    *Shape:* where requests have a bound it may end with a line of the kind `more`, which is no
    part of the file; what follows goes on at its cursor. *Promise:* the same ledger gives the same
    bytes, in however many pieces; holds one page at a time. The events are those that were there
    at its beginning. Whoever reads it must see the last line.
    """
    bound = None if app.request_pieces is None else PIECE_STATEMENTS
    if place is None:
        place = Place(await last_position(app.sql), _PARTS[0], ("0", ""), {}, "")
        tally = Tally()
        header = header_line(scope.namespace, with_keys=scope.with_keys)
        tally.add("header", header)
        yield header
    else:
        tally = Tally(place.counts, place.chain)
    walk = _Walk(app, scope, place, bound)
    async for kind, line in walk.lines():
        tally.add(kind, line)
        if progress is not None and kind == "event":
            progress(tally.counts["event"])
        yield line
    if walk.is_over:
        yield tally.end_line()
        return
    members: dict[str, JSON] = {
        "until": place.until,
        "part": walk.part,
        "after": [*walk.after],
        "counts": dict(tally.counts),
        "chain": tally.chain,
    }
    yield more_line(encode_place(_KIND, members))


_PARTS: Final = ("event", "artifact", "use", "key_use")
"""The parts of a file between its first and its last line, in their order."""


class _Walk:
    """One walk over what is exported, until it is over or the statements are spent."""

    def __init__(self, app: App, scope: Scope, place: Place, bound: int | None) -> None:
        self._app = app
        self._scope = scope
        self._until = place.until
        self._left = bound
        self.part = place.part
        self.after = place.after
        self.is_over = False

    async def lines(self) -> AsyncIterator[tuple[str, bytes]]:
        """Give each line with its kind."""
        parts = [part for part in _PARTS if part != "key_use" or self._scope.with_keys]
        begin = parts.index(self.part) if self.part in parts else len(parts)
        for part in parts[begin:]:
            if part != self.part:
                self.part, self.after = part, ("", "")
            lines = self._events() if part == "event" else self._rows(part)
            async for one in lines:
                yield one
            if self._is_spent(1):
                return
        self.is_over = True

    def _is_spent(self, needed: int) -> bool:
        return self._left is not None and self._left < needed

    def _spend(self, count: int) -> None:
        if self._left is not None:
            self._left -= count

    async def _events(self) -> AsyncIterator[tuple[str, bytes]]:
        while not self._is_spent(1):
            self._spend(1)
            position = int(self.after[0])
            events = await store.events_page(
                self._app.sql, self._scope, after=position, until=self._until
            )
            if not events:
                return
            for row in events:
                yield "event", encode_line("event", row)
            self.after = (str(events[-1]["position"]), "")

    async def _rows(self, part: str) -> AsyncIterator[tuple[str, bytes]]:
        page, id_ = _PAGES[part]
        while not self._is_spent(1):
            self._spend(1)
            rows = await page(self._app.sql, self._scope.namespace, self.after)
            if not rows:
                return
            for row in rows:
                if part == "artifact":
                    if self._is_spent(ARTIFACT_STATEMENTS):
                        self._left = 0
                        return
                    self._spend(ARTIFACT_STATEMENTS)
                    async for one in self._artifact(row):
                        yield one
                else:
                    yield part, encode_line(part, row)
                self.after = (str(row["namespace"]), str(row[id_]))

    async def _artifact(self, row: Row) -> AsyncIterator[tuple[str, bytes]]:
        name, id_ = str(row["namespace"]), str(row["id"])
        pieces = await read_pieces(self._app.sql, self._app.blobs, name, id_)
        if not pieces:  # forgotten since its row was read
            return
        yield "artifact", encode_line("artifact", row)
        for number, text in enumerate(pieces):
            chunk = {"namespace": name, "artifact_id": id_, "number": number, "text": text}
            yield "chunk", encode_line("chunk", chunk)


_Page = Callable[[SqlStore, Namespace | None, tuple[str, str]], Awaitable[list[Row]]]

_PAGES: Final[dict[str, tuple[_Page, str]]] = {
    "artifact": (store.artifacts_page, "id"),
    "use": (store.uses_page, "item_id"),
    "key_use": (store.key_uses_page, "key_id"),
}
"""Part → what reads a page of it, and the column behind the namespace that orders it."""
