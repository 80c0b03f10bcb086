"""One item as it was: replayed from its stream, with its relations of that moment.

Lists of the past read the versioned twins instead (`app.items.read`). Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from remembrancer.app.commit import Answer
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import NotFound
from remembrancer.core.ids import Namespace, item_stream
from remembrancer.core.items.record import ItemRecord, References, item_view
from remembrancer.core.ledger.events import Event
from remembrancer.core.moments import PastMoment, parse_past, parse_position
from remembrancer.core.relations.decide import split_key
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import item_lists, item_past, ledger
from remembrancer.store import items as item_store


async def read_zone(app: App, namespace: Namespace) -> ZoneInfo:
    """Return the namespace's time zone. *Promise:* one round trip."""
    [outcome] = await app.sql.read([item_store.setting_statement(namespace)])
    return zone_of(app, item_store.settings_of(outcome.rows))


async def read_moment(app: App, namespace: Namespace, text: str) -> PastMoment:
    """Return the moment that `as_of` names. *Raises:* InvalidInput.

    *Promise:* no round trip for a position, one for a time.
    """
    position = parse_position(text)
    if position is not None:
        return position
    zone = await read_zone(app, namespace)
    return parse_past(text, now_ms=app.runtime.now_ms(), zone=zone)


def moment_of(as_of: PastMoment, row: Row) -> PastMoment:
    """Return the position and time that a moment turned out to be."""
    at_ms = row["at_ms"] if as_of.at_ms is None else as_of.at_ms
    return PastMoment(int(str(row["position"])), at_ms if isinstance(at_ms, int) else None)


def moment_view(moment: PastMoment | None) -> JSON:
    """Return the answer form of a moment; None for the present."""
    if moment is None:
        return None
    at = None if moment.at_ms is None else format_iso(moment.at_ms)
    return {"position": moment.position, "at": at}


async def past_item(app: App, caller: Caller, item_id: str, as_of: str) -> Answer:
    """Return an item as it was at a moment.

    *Shape:* as `get_item`, and `as_of` with position and time. *Raises:* NotFound when it did
    not exist then, or was forgotten; InvalidInput. *Promise:* at most three round trips.
    """
    namespace = caller.namespace
    asked = await read_moment(app, namespace, as_of)
    stream = item_stream(item_id)
    moment_rows, event_rows, edge_rows = await app.sql.read(
        [
            item_lists.moment_statement(namespace, asked),
            ledger.stream_statement(namespace, stream),
            item_past.edges_statement(namespace, item_id, asked),
        ]
    )
    moment = moment_of(asked, moment_rows.rows[0])
    assert moment.position is not None
    events = [ledger.event_of(row) for row in event_rows.rows]
    record = _replayed(item_id, [event for event in events if event.position <= moment.position])
    if record is None:
        raise NotFound(
            f"there was no item {item_id[:60]!r} at {as_of[:40]!r}",
            hint="item_history shows when it was made",
        )
    edges = _edges(item_id, [ledger.event_of(row) for row in edge_rows.rows])
    others, projects, topics = await app.sql.read(
        [
            item_past.titles_statement(namespace, [other for _, _, other in edges], moment),
            *(
                item_past.owner_statement(namespace, area, record.fields.get(f"{area}_id"), moment)
                for area in ("project", "topic")
            ),
        ]
    )
    references = References(item_store.owners(projects.rows), item_store.owners(topics.rows))
    return {
        "item": item_view(record, references),
        "relations": _relations(edges, {str(row["id"]): row for row in others.rows}),
        "as_of": moment_view(moment),
    }


def _replayed(item_id: str, events: Sequence[Event]) -> ItemRecord | None:
    fields = ledger.fold(events)
    if "kind" not in fields:
        return None
    return ItemRecord(
        id=item_id,
        version=events[-1].version,
        created_at=events[0].at_ms,
        updated_at=events[-1].at_ms,
        fields=fields,
        position=events[-1].position,
        seq=events[0].position,
    )


_Edge = tuple[str, str, str]
"""Direction, type and the other item."""


def _edges(item_id: str, events: Sequence[Event]) -> dict[_Edge, Mapping[str, JSON]]:
    """Return the relations that stand after these events, the newest first."""
    present: dict[_Edge, Mapping[str, JSON]] = {}
    for name, known in ledger.fold(events).items():
        source, type_, target = split_key(name)
        if item_id in (source, target) and isinstance(known, dict):
            is_out = source == item_id
            present[("out" if is_out else "in", type_, target if is_out else source)] = known
    return dict(
        sorted(present.items(), key=lambda edge: (-_number(edge[1].get("created_at")), edge[0]))
    )


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0


def _relations(edges: Mapping[_Edge, Mapping[str, JSON]], others: Mapping[str, Row]) -> list[JSON]:
    return [
        {
            "type": type_,
            "direction": direction,
            "item_id": other,
            "title": str(others[other]["title"]),
            "state": str(others[other]["state"]),
            "confidence": known.get("confidence"),
            "reason": known.get("reason"),
        }
        for (direction, type_, other), known in edges.items()
        if other in others
    ]
