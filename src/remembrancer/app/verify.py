"""Verifying the ledger: every chain, every body's hash, and projections at their streams' heads.

Reads everything, writes nothing, names the first break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import GENESIS, Event, chain_after, hash_body
from remembrancer.core.values import JSON
from remembrancer.store.verify import StoredEvent, misplaced_rows, stored_after

PAGE_EVENTS: Final = 500
"""Events read at once."""

PIECE_PAGES: Final = 16
"""Pages of one piece where requests have a bound: hashing 8,000 events takes a Worker about a
second. Our choice."""

Progress = Callable[[int], None]
"""Told how many events were checked."""


@dataclass(frozen=True, slots=True)
class Walked:
    """How far a walk is: up to this version of a stream, at which the chain has this value.

    *Shape:* `first_break` ends it.
    """

    namespace: str
    stream: str = ""
    version: int = 0
    chain: str = GENESIS
    events: int = 0
    streams: int = 0
    forgotten: int = 0
    first_break: dict[str, JSON] | None = None

    @property
    def report(self) -> dict[str, JSON]:
        """What was found so far: `{"ok", "events", "streams", "forgotten", "first_break"}`."""
        return {
            "ok": self.first_break is None,
            "events": self.events,
            "streams": self.streams,
            "forgotten": self.forgotten,
            "first_break": self.first_break,
        }


async def verify(
    app: App, *, namespace: Namespace | None = None, progress: Progress | None = None
) -> dict[str, JSON]:
    """Walk the chains of one namespace, or of all.

    *Shape:* `{"ok", "events", "streams", "forgotten", "first_break"}`; a break is
    `{"namespace", "stream", "version", "position", "what"}`.
    """
    walked, is_over = Walked(namespace or ""), False
    while not is_over:
        walked, is_over = await verify_piece(app, walked, namespace=namespace, progress=progress)
    return walked.report


async def verify_piece(
    app: App,
    walked: Walked,
    *,
    namespace: Namespace | None = None,
    progress: Progress | None = None,
) -> tuple[Walked, bool]:
    """Walk on by `PIECE_PAGES` pages at most; tell whether it is over.

    *Promise:* so many statements, and one at the end.
    """
    for _ in range(PIECE_PAGES):
        place = (walked.namespace, walked.stream, walked.version)
        page = await stored_after(app.sql, place, PAGE_EVENTS)
        for stored in _within(page, namespace):
            walked = _follow(walked, stored)
            if walked.first_break is not None:
                return walked, True
        if progress is not None:
            progress(walked.events)
        if len(page) < PAGE_EVENTS or (namespace and page[-1].namespace != namespace):
            misplaced = await _first_misplaced(app, namespace)
            return replace(walked, first_break=misplaced), True
    return walked, False


def _within(page: Iterable[StoredEvent], namespace: Namespace | None) -> Iterable[StoredEvent]:
    return (stored for stored in page if namespace is None or stored.namespace == namespace)


def _follow(walked: Walked, stored: StoredEvent) -> Walked:
    is_new = (stored.namespace, stored.stream) != (walked.namespace, walked.stream)
    chain, version = (GENESIS, 0) if is_new else (walked.chain, walked.version)
    streams = walked.streams + is_new
    what = find_fault(stored, chain, version)
    if what is not None:
        return replace(walked, streams=streams, first_break=_break(stored, what))
    return Walked(
        stored.namespace,
        stored.stream,
        stored.version,
        stored.chain,
        walked.events + 1,
        streams,
        walked.forgotten + (stored.salt is None),
    )


def find_fault(stored: StoredEvent, chain: str, version: int) -> str | None:
    """Return what is wrong with an event that should follow this chain value and version."""
    if stored.version != version + 1:
        return f"version {version + 1} is missing"
    event = Event(
        namespace=Namespace(stored.namespace),
        stream=Stream(stored.stream),
        version=stored.version,
        kind=stored.kind,
        actor=stored.actor,
        at_ms=stored.at_ms,
        cause=stored.cause,
        changes={},
        note={},
    )
    if chain_after(chain, event, stored.body_hash) != stored.chain:
        return "the chain value does not follow from the event before"
    return find_body_fault(stored)


def find_body_fault(stored: StoredEvent) -> str | None:
    """Return what is wrong with an event's body, whatever comes before it."""
    if stored.salt is None:
        return None
    if stored.body is None or hash_body(stored.salt, stored.body) != stored.body_hash:
        return "the body is not what was written"
    return None


def _break(stored: StoredEvent, what: str) -> dict[str, JSON]:
    return {
        "namespace": stored.namespace,
        "stream": stored.stream,
        "version": stored.version,
        "position": stored.position,
        "what": what,
    }


async def _first_misplaced(app: App, namespace: Namespace | None) -> dict[str, JSON] | None:
    rows = await misplaced_rows(app.sql, namespace)
    if not rows:
        return None
    row = rows[0]
    shown, head = int(str(row["version"])), row["head"]
    return {
        "namespace": str(row["namespace"]),
        "stream": str(row["stream"]),
        "version": shown,
        "position": None,
        "what": f"the tables show version {shown}, the ledger ends at {head!r}",
    }
