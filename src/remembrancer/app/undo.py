"""Undo and redo: take a whole command back, or bring it back, by appending its inverse.

The unit is the command: all events that share a cause. A project or topic that a capture made on
the way stays when other items refer to it by now. What stands in the way is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.objectives import clear_objective_of
from remembrancer.app.relations import refuse_circles
from remembrancer.app.rolled_pages import roll_again
from remembrancer.app.state import App
from remembrancer.core.distill.diary import REVISED
from remembrancer.core.errors import Conflict, InvalidInput, NotFound
from remembrancer.core.ids import RELATIONS, SHARED, Stream, item_stream
from remembrancer.core.items.record import ItemRecord, after_draft, item_view
from remembrancer.core.ledger.changes import Fields, apply_changes, edited_since, invert
from remembrancer.core.ledger.events import Draft, Event, Head
from remembrancer.core.ledger.undo import REDONE, UNDONE, invert_event, undone_versions
from remembrancer.core.relations.decide import relation_key
from remembrancer.core.values import JSON, Caller
from remembrancer.store import history as store
from remembrancer.store import items as item_store
from remembrancer.store import ledger, relations
from remembrancer.store.items import LoadedItem
from remembrancer.store.ledger import StreamEdit

CONFLICTS_SHOWN_MAX: Final = 20
"""Obstacles that one answer names. Our choice."""

_INVERSES: Final = frozenset({UNDONE, REDONE})
_FOLLOWING: Final = frozenset({REDONE, REVISED})
"""What is no change of its own: it follows from another that is taken back or brought back."""


@dataclass(frozen=True, slots=True)
class _Present:
    """A stream as it is now: its events (none for the shared streams), fields and head."""

    events: Sequence[Event]
    fields: Fields
    head: Head

    @property
    def undone(self) -> frozenset[int]:
        return undone_versions(self.events)


async def undo(
    app: App,
    caller: Caller,
    *,
    item_id: str | None = None,
    position: int | None = None,
    cause: str | None = None,
) -> Answer:
    """Take back the last command on an item, or the one at a position, or of a cause.

    *Shape:* exactly one of the three; answers `{"undone": [{"stream", "version", "kind"}],
    "kept": [streams], "item"}`. *Raises:* NotFound, Conflict naming the later edits or the key
    that stand in the way. *Promise:* all of the command or nothing.
    """
    return await _take_back(app, caller, UNDONE, item_id=item_id, position=position, cause=cause)


async def redo(
    app: App, caller: Caller, *, item_id: str | None = None, cause: str | None = None
) -> Answer:
    """Bring back what the last undo on an item, or the undo of a cause, took back.

    *Shape:* as `undo`, with `redone`. *Raises:* as `undo`.
    """
    return await _take_back(app, caller, REDONE, item_id=item_id, position=None, cause=cause)


async def _take_back(
    app: App,
    caller: Caller,
    verb: str,
    *,
    item_id: str | None,
    position: int | None,
    cause: str | None,
) -> Answer:
    given = [value for value in (item_id, position, cause) if value is not None]
    if len(given) != 1:
        raise InvalidInput(
            "say what to take back by exactly one of item_id, position and cause",
            hint="item_history shows positions and causes",
            field="item_id",
        )

    async def decide() -> Plan:
        if cause is not None:
            chosen = cause
        elif item_id is not None:
            chosen = await _last_cause(app, caller, verb, item_id)
        else:
            assert position is not None
            chosen = await _cause_at(app, caller, position)
        return await _plan(app, caller, verb, chosen)

    return await write_in_turn(app, caller, decide)


async def _last_cause(app: App, caller: Caller, verb: str, item_id: str) -> str:
    events = await ledger.read_stream(app.sql, caller.namespace, item_stream(item_id))
    if not events:
        raise NotFound(f"there is no item {item_id[:60]!r}", hint="list_items finds ids")
    undone = undone_versions(events)
    for event in reversed(events):
        if verb == UNDONE and event.kind not in _INVERSES and event.version not in undone:
            return event.cause
        target = event.note.get("undoes_version")
        if verb == REDONE and event.kind == UNDONE and target in undone:
            return event.cause
    what = "undo" if verb == UNDONE else "redo"
    raise Conflict(f"there is nothing to {what} on {item_id}", hint="item_history shows its events")


async def _cause_at(app: App, caller: Caller, position: int) -> str:
    [outcome] = await app.sql.read([ledger.event_statement(caller.namespace, position)])
    if not outcome.rows:
        raise NotFound(f"there is no event at position {position}", hint="see item_history")
    return ledger.event_of(outcome.rows[0]).cause


async def _plan(app: App, caller: Caller, verb: str, cause: str) -> Plan:
    [outcome] = await app.sql.read([ledger.cause_statement(caller.namespace, cause)])
    events = [ledger.event_of(row) for row in outcome.rows]
    if not events:
        raise NotFound(f"there is no command {cause[:60]!r}", hint="item_history shows causes")
    present = await _read_present(app, caller, events)
    in_use = await _in_use(app, caller, events) if verb == UNDONE else {}
    now_ms = app.runtime.now_ms()
    wanted = [event for event in events if (event.kind == UNDONE) == (verb == REDONE)]
    drafts: dict[Stream, list[Draft]] = {}
    fields = {stream: one.fields for stream, one in present.items()}
    kept: list[JSON] = []
    standing: list[Conflict] = []
    for event in reversed(wanted):
        stream, one = event.stream, present[event.stream]
        if verb == UNDONE and (event.kind in _FOLLOWING or event.version in one.undone):
            continue
        if verb == REDONE and event.note.get("undoes_version") not in one.undone and one.events:
            continue
        if not one.events and not edited_since(fields[stream], invert(event.changes)):
            continue  # what a namespace shares is as it was before
        is_made_here = event.version == 1 and stream in in_use
        if is_made_here or (verb == UNDONE and _is_overtaken(event, fields[stream])):
            kept.append(stream)
            continue
        try:
            draft = invert_event(event, fields[stream], created_fields=_after_making(event, now_ms))
        except Conflict as clash:
            standing.append(clash)
            continue
        drafts.setdefault(stream, []).append(draft)
        fields[stream] = apply_changes(fields[stream], draft.changes)
    if verb == UNDONE:
        standing += await _standing_successors(app, caller, events, drafts)
    if standing:
        raise _together(standing)
    if not drafts:
        what = "undone" if verb == UNDONE else "redone"
        raise Conflict(f"the command {cause} is {what} already", hint="see item_history")
    edits = [
        StreamEdit(stream, present[stream].head, present[stream].fields, tuple(made))
        for stream, made in sorted(drafts.items())
    ]
    answer: Answer = {
        "undone" if verb == UNDONE else "redone": [
            {
                "stream": edit.stream,
                "version": draft.note["undoes_version"],
                "kind": draft.note["undoes_kind"],
            }
            for edit in edits
            for draft in edit.drafts
        ],
        "kept": kept,
    }
    await refuse_circles(app, caller, edits)
    item = await _item_answer(app, caller, edits, now_ms)
    edits += await roll_again(app, caller, edits)
    plan = Plan(answer={**answer, **item}, at_ms=now_ms, edits=edits)
    return await clear_objective_of(app, caller, plan, _item_changes(edits))


def _together(standing: Sequence[Conflict]) -> Conflict:
    """Return all that stands in the way as one error: a run has many events."""
    first = standing[0]
    if len(standing) == 1:
        return first
    return Conflict(
        f"{len(standing)} events cannot be taken back; the first: {first.message}",
        hint=first.hint,
        details={
            **first.details,
            "conflicts": [
                {"message": one.message, **one.details} for one in standing[:CONFLICTS_SHOWN_MAX]
            ],
        },
    )


def _item_changes(edits: Sequence[StreamEdit]) -> list[tuple[LoadedItem, Draft]]:
    """Return the items of the edits with all that changes in each, for the objectives' rule."""
    result: list[tuple[LoadedItem, Draft]] = []
    for edit in edits:
        area, _, id_ = edit.stream.partition("/")
        if area == "item":
            changes = {name: pair for draft in edit.drafts for name, pair in draft.changes.items()}
            record = ItemRecord(id_, edit.head.version, 0, 0, edit.fields)
            result.append((LoadedItem(record, edit.head), Draft(UNDONE, changes)))
    return result


async def _read_present(
    app: App, caller: Caller, events: Sequence[Event]
) -> dict[Stream, _Present]:
    streams = list(dict.fromkeys(event.stream for event in events))
    shared = [stream for stream in streams if stream in SHARED]
    own = [stream for stream in streams if stream not in shared]
    keys = sorted({key for event in events if event.stream in shared for key in event.changes})
    found = await store.read_streams(app.sql, caller.namespace, own)
    fields, heads = await store.read_shared(app.sql, caller.namespace, shared, keys)
    present = {
        stream: _Present(found[stream][0], ledger.fold(found[stream][0]), found[stream][1])
        for stream in own
    }
    return present | {stream: _Present((), fields[stream], heads[stream]) for stream in shared}


_OVERTAKEN: Final = frozenset({"candidate", "page", "digest"})
"""Streams whose events by a job may stay when they are overtaken."""


def _is_overtaken(event: Event, present: Fields) -> bool:
    """Tell whether what a job wrote was renewed or decided since: a summary, or a candidate.

    It stays then, so that a night can still be taken back from the memories it changed.
    """
    area = event.stream.partition("/")[0]
    if not event.actor.startswith("job:") or area not in _OVERTAKEN:
        return False
    return event.is_forgotten or bool(edited_since(present, event.changes))


def _after_making(event: Event, now_ms: int) -> Fields:
    if event.version != 1:
        return {}
    area = event.stream.partition("/")[0]
    if area == "item":
        return {"state": "deleted", "state_since": now_ms}
    return {"state": "deleted"} if area in ("project", "topic") else {}


async def _in_use(app: App, caller: Caller, events: Sequence[Event]) -> dict[Stream, str]:
    """Return the projects and topics to be unmade that serve other items by now, and one of these.

    *Raises:* Conflict when the command was about the project or topic itself. *Promise:* no round
    trip unless one was made; then one.
    """
    made: dict[str, list[str]] = {}
    mine: list[str] = []
    for event in events:
        area, _, id_ = event.stream.partition("/")
        if area == "item":
            mine.append(id_)
        elif area in ("project", "topic") and event.version == 1:
            made.setdefault(area, []).append(id_)
    if not made:
        return {}
    outcomes = await app.sql.read(
        [
            store.users_statement(caller.namespace, area, ids, without=mine)
            for area, ids in made.items()
        ]
    )
    found = {
        Stream(f"{area}/{row['owner_id']!s}"): str(row["item_id"])
        for area, outcome in zip(made, outcomes, strict=True)
        for row in outcome.rows
    }
    if found and not mine:
        stream, item_id = next(iter(found.items()))
        area = stream.partition("/")[0]
        raise Conflict(
            f"the {area} is used by items by now",
            hint=f"delete the {area} instead; its items stay",
            details={"item_id": item_id},
        )
    return found


async def _standing_successors(
    app: App,
    caller: Caller,
    events: Sequence[Event],
    drafts: Mapping[Stream, Sequence[Draft]],
) -> list[Conflict]:
    """Return what stands in the way of unmaking items: others that they supersede by now.

    *Shape:* without the relations that go with them. *Promise:* no round trip unless an item is to
    be unmade; then one.
    """
    unmade = [
        event.stream.partition("/")[2]
        for event in events
        if event.version == 1 and event.stream in drafts and event.stream.startswith("item/")
    ]
    if not unmade:
        return []
    [outcome] = await app.sql.read([relations.successors_statement(caller.namespace, unmade)])
    changed = [draft.changes for draft in drafts.get(RELATIONS, ())]
    gone = {key for changes in changed for key, (_, after) in changes.items() if after is None}
    standing: list[Conflict] = []
    for row in outcome.rows:
        source, type_, target = (str(row[name]) for name in ("source_id", "type", "target_id"))
        if relation_key(source, type_, target) not in gone:
            standing.append(
                Conflict(
                    f"{source} supersedes {target} by now",
                    hint="undo that first, or delete the item instead",
                    details={"item_id": target},
                )
            )
    return standing


async def _item_answer(
    app: App, caller: Caller, edits: Sequence[StreamEdit], now_ms: int
) -> Answer:
    ids = [edit.stream.partition("/")[2] for edit in edits if edit.stream.startswith("item/")]
    if len(ids) != 1:
        return {}
    [outcome] = await app.sql.read([item_store.load_statement(caller.namespace, ids)])
    items, references = item_store.loaded(outcome)
    record = item_store.require(items, ids[0]).record
    [edit] = [edit for edit in edits if edit.stream == item_stream(ids[0])]
    for draft in edit.drafts:
        record = after_draft(record, draft, now_ms)
    return {"item": item_view(record, references)}
