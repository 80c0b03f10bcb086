"""Long work on a remote server, piece by piece: import, export, verify and rebuild with --url.

A server may do a part of it a request, and says where to go on; every request may be repeated. The
commands are `ledger` and `transfer`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlencode

from remembrancer.cli.answers import Answer, words
from remembrancer.cli.output import Progress
from remembrancer.core.errors import RemembrancerError, UpstreamFailed
from remembrancer.core.ledger.transfer import parse_line

if TYPE_CHECKING:
    from remembrancer.cli.remote import RemoteServer

T = TypeVar("T")

PIECE_BYTES: Final = 256 * 1024
"""Bytes of the lines that are sent at first; then about as many as the server took. Our choice."""

PIECE_BYTES_MAX: Final = 2 * 1024 * 1024
"""Bytes that are sent at once, but where one command's lines are more. Half of BODY_BYTES_MAX."""

ATTEMPTS_MAX: Final = 5
"""Times that one request is sent while the server is away or busy. Our choice."""

PAUSE_S: Final = 1.0
"""Seconds before the second attempt; twice as long before each further one. Our choice."""

CLASHES_MAX: Final = 50
"""Times that a rebuild's swap may be overtaken by writers. As on one machine."""


async def import_in_pieces(
    server: RemoteServer,
    open_lines: Callable[[], Iterable[bytes]],
    *,
    namespace: str | None,
    dry_run: bool,
    shown: Progress,
) -> Answer:
    """Send a file's lines until the server has them all; return its last answer.

    *Shape:* `open_lines` opens the file anew. *Raises:* InvalidInput, CorruptData (naming the
    line) before anything is sent, for the whole file; what the server raises. *Promise:* repeated
    after an interruption, it goes on.
    """
    from remembrancer.app.inspection import Inspection

    # The server checks each piece; the whole, before any of it is written, is checked here.
    total = 2 + sum(1 for _ in Inspection().lines(open_lines()))
    query = {"pieces": "true", "dry_run": _said(dry_run), "all_namespaces": _said(not namespace)}
    lines = iter(open_lines())
    held: list[bytes] = []
    done, room = 0, PIECE_BYTES
    while True:
        _fill(held, lines, room)
        body = b"".join(_first(held, room))
        if not body:
            raise UpstreamFailed("the server asks for more lines than the file has")
        path = f"/v1/admin/import?{urlencode(query)}"
        answer = await _insist(partial(server.hand_in, path, body))
        taken = int(words(answer, "lines")) - done
        size = sum(map(len, held[:taken]))
        del held[:taken]
        done += taken
        shown(done, total)
        if not answer["more"]:
            return _without(answer, "lines", "more", "cursor")
        query["cursor"] = words(answer, "cursor")
        room = min(PIECE_BYTES_MAX, max(PIECE_BYTES // 4, 2 * size)) if taken else 2 * room


def _fill(held: list[bytes], lines: Iterator[bytes], room: int) -> None:
    size = sum(map(len, held))
    while size < room and (line := next(lines, None)) is not None:
        held.append(line)
        size += len(line)


def _first(held: list[bytes], room: int) -> Iterator[bytes]:
    """Give the first lines that have room, one at least."""
    for line in held:
        yield line
        room -= len(line)
        if room <= 0:
            return


async def export_in_pieces(
    server: RemoteServer, *, everyone: bool, with_keys: bool
) -> AsyncIterator[bytes]:
    """Give the lines of the whole file. *Raises:* what the server raises."""
    query = {"all_namespaces": _said(everyone), "keys": _said(with_keys)}
    is_over = False
    while not is_over:
        is_over = True
        async for raw in server.lines(f"/v1/export?{urlencode(query)}"):
            if raw.startswith(_MORE_BEGINS) and raw.endswith(b"\n"):
                query["cursor"] = parse_line(raw, 2).text("cursor")
                is_over = False
            else:
                yield raw


_MORE_BEGINS: Final = b'{"cursor":'
"""How a line of the kind `more` begins: no other kind has this member, and they are sorted."""


async def verify_in_pieces(server: RemoteServer, *, everyone: bool, shown: Progress) -> Answer:
    """Walk all chains; return the report. *Raises:* what the server raises."""
    body: Answer = {"all_namespaces": everyone}
    while True:
        answer = await _insist(lambda: server.ask("POST", "/v1/admin/verify", body))
        shown(int(words(answer, "events")))
        if not answer["more"]:
            return _without(answer, "more", "cursor")
        body["cursor"] = answer["cursor"]


async def rebuild_in_pieces(server: RemoteServer, *, dry_run: bool, shown: Progress) -> Answer:
    """Rebuild all tables; return the report. *Raises:* what the server raises."""
    body: Answer = {"dry_run": dry_run}
    clashes = 0
    while True:
        try:
            answer = await _insist(lambda: server.ask("POST", "/v1/admin/rebuild", body))
        except RemembrancerError as error:
            clashes += 1
            if error.code != "conflict" or clashes == CLASHES_MAX:
                raise
            continue
        shown(int(words(answer, "events_done")), int(words(answer, "events")))
        if not answer["more"]:
            return _without(answer, "more", "cursor")
        body["cursor"] = answer["cursor"]


async def _insist(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask again while the server is away or busy: every request here may be repeated."""
    pause_s = PAUSE_S
    for _ in range(ATTEMPTS_MAX - 1):
        try:
            return await ask()
        except RemembrancerError as error:
            if error.code not in _PASSING:
                raise
        await asyncio.sleep(pause_s)
        pause_s *= 2
    return await ask()


_PASSING: Final = frozenset({"store_unavailable", "timed_out", "rate_limited"})
"""Codes of errors that pass."""


def _said(value: bool) -> str:
    return str(value).lower()


def _without(answer: Answer, *names: str) -> Answer:
    return {name: value for name, value in answer.items() if name not in names}
