"""Exporting a ledger: its lines, in order, page by page, in bounded memory.

Chat messages, idempotency answers and everything derived are not in it. Nothing is written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from remembrancer.app.access import require
from remembrancer.app.state import App
from remembrancer.core.ids import Namespace
from remembrancer.core.ledger.transfer import Tally, encode_line, header_line
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Row, SqlStore
from remembrancer.store import export as store
from remembrancer.store.artifacts import read_pieces
from remembrancer.store.export import Scope

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


async def export_lines(
    app: App, scope: Scope, *, progress: Progress | None = None
) -> AsyncIterator[bytes]:
    """Give the lines of an export, each in UTF-8 with its line feed.

    *Promise:* the same ledger gives the same bytes; holds one page at a time. What is written
    meanwhile is in it, or not, whole events at a time. Whoever reads it must see the last line.
    """
    tally = Tally()
    async for kind, line in _lines(app, scope):
        tally.add(kind, line)
        if progress is not None and kind == "event":
            progress(tally.counts["event"])
        yield line
    yield tally.end_line()


async def _lines(app: App, scope: Scope) -> AsyncIterator[tuple[str, bytes]]:
    sql = app.sql
    yield "header", header_line(scope.namespace, with_keys=scope.with_keys)
    position = 0
    while events := await store.events_page(sql, scope, position):
        for row in events:
            yield "event", encode_line("event", row)
        position = int(str(events[-1]["position"]))
    async for row in _all(sql, scope.namespace, store.artifacts_page, "id"):
        name, id_ = str(row["namespace"]), str(row["id"])
        pieces = await read_pieces(sql, app.blobs, name, id_)
        if not pieces:  # forgotten since its row was read
            continue
        yield "artifact", encode_line("artifact", row)
        for number, text in enumerate(pieces):
            chunk = {"namespace": name, "artifact_id": id_, "number": number, "text": text}
            yield "chunk", encode_line("chunk", chunk)
    async for row in _all(sql, scope.namespace, store.uses_page, "item_id"):
        yield "use", encode_line("use", row)
    if scope.with_keys:
        async for row in _all(sql, scope.namespace, store.key_uses_page, "key_id"):
            yield "key_use", encode_line("key_use", row)


async def _all(
    sql: SqlStore,
    namespace: Namespace | None,
    page: Callable[[SqlStore, Namespace | None, tuple[str, str]], Awaitable[list[Row]]],
    id_: str,
) -> AsyncIterator[Row]:
    place = ("", "")
    while rows := await page(sql, namespace, place):
        for row in rows:
            yield row
        place = (str(rows[-1]["namespace"]), str(rows[-1][id_]))
