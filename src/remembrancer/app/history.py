"""History: what happened to an item, with a diff for each event, and the namespace's feed."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.ids import Stream, item_stream
from remembrancer.core.ledger.events import Event
from remembrancer.core.ledger.undo import undone_versions
from remembrancer.core.values import JSON, Caller
from remembrancer.store import history as store
from remembrancer.store import ledger


async def item_history(
    app: App, caller: Caller, item_id: str, *, limit: int = 50, cursor: str | None = None
) -> Answer:
    """Return an item's events, newest first, each with what it changed.

    *Shape:* `{"item_id", "events", "next_cursor"}`; `changes` is a list of
    `{"field", "before", "after"}`, times as ISO 8601. *Raises:* NotFound, InvalidInput.
    """
    stream = item_stream(item_id)
    events = await ledger.read_stream(app.sql, caller.namespace, stream)
    if not events:
        raise NotFound(f"there is no item {item_id[:60]!r}", hint="list_items finds ids")
    undone = undone_versions(events)
    page, following = _page(list(reversed(events)), limit, cursor)
    return {
        "item_id": item_id,
        "events": [event_view(event, is_undone=event.version in undone) for event in page],
        "next_cursor": following,
    }


async def history(
    app: App,
    caller: Caller,
    *,
    limit: int = 50,
    cursor: str | None = None,
    stream: str | None = None,
    cause: str | None = None,
) -> Answer:
    """Return the namespace's events, newest first.

    *Shape:* `{"events", "next_cursor"}`; `stream` such as `project/prj_…` narrows it, `cause` to
    what one command or run of a job did.
    """
    before = _position(cursor)
    count = _bounded(limit)
    [outcome] = await app.sql.read(
        [
            store.feed_statement(
                caller.namespace,
                before_position=before,
                stream=None if stream is None else Stream(stream),
                cause=cause,
                limit=count + 1,
            )
        ]
    )
    events = [ledger.event_of(row) for row in outcome.rows]
    following = str(events[count - 1].position) if len(events) > count else None
    return {
        "events": [event_view(event) for event in events[:count]],
        "next_cursor": following,
    }


def event_view(event: Event, *, is_undone: bool = False) -> dict[str, JSON]:
    """Return an event's answer form."""
    view: dict[str, JSON] = {
        "position": event.position,
        "stream": event.stream,
        "version": event.version,
        "kind": event.kind,
        "actor": event.actor,
        "at": format_iso(event.at_ms),
        "cause": event.cause,
        "changes": [
            {"field": name, "before": _shown(name, before), "after": _shown(name, after)}
            for name, (before, after) in sorted(event.changes.items())
        ],
        "undone": is_undone,
    }
    if event.note:
        view["note"] = dict(event.note)
    if event.is_forgotten:
        view["forgotten"] = True
    return view


_TIMES = frozenset(
    {"due_at", "state_since", "snoozed_until", "ignored_until", "valid_from", "valid_to"}
    | {"expires_at", "recurrence_until", "last_completed_at", "last_completed_due_at"}
    | {"objective_since", "revoked_at", "created_at"}
)


def _shown(name: str, value: JSON) -> JSON:
    is_time = name in _TIMES and isinstance(value, int) and not isinstance(value, bool)
    return format_iso(value) if is_time and isinstance(value, int) else value


def _page(
    events: Sequence[Event], limit: int, cursor: str | None
) -> tuple[Sequence[Event], str | None]:
    before, count = _position(cursor), _bounded(limit)
    rest = [event for event in events if before is None or event.position < before]
    following = str(rest[count - 1].position) if len(rest) > count else None
    return rest[:count], following


def _bounded(limit: int) -> int:
    if not 1 <= limit <= limits.PAGE_ITEMS_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {limits.PAGE_ITEMS_MAX}", field="limit"
        )
    return limit


def _position(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 15:
        raise InvalidInput(
            f"{cursor[:40]!r} is no cursor of a history",
            hint="use the next_cursor of the page before",
            field="cursor",
        )
    return int(cursor)
