"""Verifying the ledger: every chain, every body's hash, and projections at their streams' heads.

Reads everything, writes nothing, names the first break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from remembrancer.app.state import App
from remembrancer.core.ids import Namespace, Stream
from remembrancer.core.ledger.events import GENESIS, Event, chain_after, hash_body
from remembrancer.core.values import JSON
from remembrancer.store.verify import StoredEvent, misplaced_rows, stored_after

PAGE_EVENTS: Final = 500
"""Events read at once."""

Progress = Callable[[int], None]
"""Told how many events were checked."""


async def verify(
    app: App, *, namespace: Namespace | None = None, progress: Progress | None = None
) -> dict[str, JSON]:
    """Walk the chains of one namespace, or of all.

    *Shape:* `{"ok", "events", "streams", "forgotten", "first_break"}`; a break is
    `{"namespace", "stream", "version", "position", "what"}`.
    """
    place = (namespace or "", "", 0)
    events = streams = forgotten = 0
    chain, version, current = GENESIS, 0, ("", "")
    first_break: dict[str, JSON] | None = None
    while first_break is None:
        page = await stored_after(app.sql, place, PAGE_EVENTS)
        for stored in _within(page, namespace):
            if (stored.namespace, stored.stream) != current:
                current, chain, version = (stored.namespace, stored.stream), GENESIS, 0
                streams += 1
            what = find_fault(stored, chain, version)
            if what is not None:
                first_break = _break(stored, what)
                break
            events += 1
            forgotten += stored.salt is None
            chain, version = stored.chain, stored.version
        if progress is not None:
            progress(events)
        if len(page) < PAGE_EVENTS or (namespace and page[-1].namespace != namespace):
            break
        place = (page[-1].namespace, page[-1].stream, page[-1].version)
    if first_break is None:
        first_break = await _first_misplaced(app, namespace)
    return {
        "ok": first_break is None,
        "events": events,
        "streams": streams,
        "forgotten": forgotten,
        "first_break": first_break,
    }


def _within(page: Iterable[StoredEvent], namespace: Namespace | None) -> Iterable[StoredEvent]:
    return (stored for stored in page if namespace is None or stored.namespace == namespace)


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
