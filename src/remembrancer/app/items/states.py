"""Changes of an item's state by verb, and deleting and restoring.

Superseding needs relations and lives in `app.relations`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.resolve import Surroundings, look_around
from remembrancer.app.items.write import changed_plan, check_version
from remembrancer.app.objectives import clear_objective_of
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.dates import parse_date
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.items import decide as rules
from remembrancer.core.items.record import after_draft, item_view
from remembrancer.core.ledger.events import Draft
from remembrancer.core.values import HOUR_MS, Caller
from remembrancer.store import ledger
from remembrancer.store.items import LoadedItem, require

Action = Literal["complete", "snooze", "ignore", "reactivate", "archive"]

ACTIONS: Final = ("complete", "snooze", "ignore", "reactivate", "archive", "supersede")
"""Verbs of `update_task_state`; `supersede` is served by `app.relations`."""

Decision = Callable[[LoadedItem, Surroundings], Draft | None]


async def change_item(
    app: App,
    caller: Caller,
    item_id: str,
    decision: Decision,
    *,
    expected_version: int | None = None,
) -> Answer:
    """Load one item, decide, write: the shape of every change by verb.

    *Shape:* answers `{"item", "changed"}`. *Promise:* two round trips, a third when the item is
    a project's active objective.
    """

    async def decide() -> Plan:
        around = await look_around(app, caller.namespace, [item_id], {})
        item = require(around.items, item_id)
        check_version(item, expected_version)
        draft = decision(item, around)
        plan = changed_plan(around, item, draft)
        if draft is None:
            return plan
        return await clear_objective_of(app, caller, plan, [(item, draft)])

    return await write(app, caller, decide)


async def update_task_state(
    app: App,
    caller: Caller,
    item_id: str,
    action: Action,
    *,
    until: str | None = None,
    occurrence_due_at: str | None = None,
) -> Answer:
    """Complete, snooze, ignore, reactivate or archive an item.

    *Shape:* `until` words or ISO time for a snooze (default: the setting's hours from now;
    without it a task that is snoozed already stays as it is); `occurrence_due_at` names which
    occurrence of a recurring task was done. *Raises:* InvalidInput, NotFound, Conflict.
    """

    def decision(item: LoadedItem, around: Surroundings) -> Draft | None:
        fields, at = item.record.fields, around.at
        if action == "complete":
            due = None
            if occurrence_due_at is not None:
                due = parse_date(
                    occurrence_due_at, now_ms=at.now_ms, zone=at.zone, field="occurrence_due_at"
                ).at_ms
            return rules.complete_item(fields, at=at, occurrence_ms=due)
        if action == "ignore":
            return rules.ignore_item(fields, at=at)
        if action == "reactivate":
            return rules.reactivate_item(fields, at=at)
        if action == "archive":
            return rules.archive_item(fields, at=at)
        snoozed = fields.get("snoozed_until")
        if until is None and isinstance(snoozed, int) and snoozed > at.now_ms:
            return None
        if until is not None:
            until_ms = parse_date(until, now_ms=at.now_ms, zone=at.zone, field="until").at_ms
        else:
            hours = around.settings["default_snooze_hours"]
            assert isinstance(hours, int)
            until_ms = at.now_ms + hours * HOUR_MS
        return rules.snooze_item(fields, until_ms=until_ms, at=at)

    return await change_item(app, caller, item_id, decision)


async def set_item_state(app: App, caller: Caller, item_id: str, state: str) -> Answer:
    """Set one of the states by name. *Raises:* InvalidInput (`invalid_transition`), NotFound."""

    def decision(item: LoadedItem, around: Surroundings) -> Draft | None:
        return rules.set_state(item.record.fields, state, at=around.at)

    return await change_item(app, caller, item_id, decision)


async def delete_items(app: App, caller: Caller, ids: Sequence[str]) -> Answer:
    """Delete items softly, all or none.

    *Shape:* 1–100 ids; answers `{"deleted": ids, "already_deleted": ids, "restorable_days"}`.
    *Raises:* NotFound naming the first unknown id, LimitExceeded.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        raise InvalidInput("no ids were given", hint="name at least one item", field="ids")
    if len(wanted) > limits.BULK_ITEMS_MAX:
        raise LimitExceeded(
            f"{len(wanted)} ids", hint=f"at most {limits.BULK_ITEMS_MAX} in one call", field="ids"
        )

    async def decide() -> Plan:
        around = await look_around(app, caller.namespace, wanted, {})
        items = [require(around.items, id_) for id_ in wanted]
        drafts = [(item, rules.delete_item(item.record.fields, at=around.at)) for item in items]
        changed = [(item, draft) for item, draft in drafts if draft is not None]
        plan = Plan(
            answer={
                "deleted": [item.record.id for item, _ in changed],
                "already_deleted": [item.record.id for item, draft in drafts if draft is None],
                "restorable_days": app.settings.deleted_keep_days,
            },
            at_ms=around.at.now_ms,
            edits=[item.edit(draft) for item, draft in changed],
        )
        return await clear_objective_of(app, caller, plan, changed)

    return await write(app, caller, decide)


async def restore_item(app: App, caller: Caller, item_id: str) -> Answer:
    """Bring a deleted item back to the state it had.

    *Raises:* NotFound, Conflict (deleted too long ago, or its fact key is taken by now).
    """

    async def decide() -> Plan:
        around = await look_around(app, caller.namespace, [item_id], {})
        item = require(around.items, item_id)
        events = await ledger.read_stream(app.sql, caller.namespace, item.edit().stream)
        state = "active"
        for event in events:
            before, after = event.changes.get("state", (None, None))
            if after == "deleted" and before is not None:
                state = str(before)
        days = app.settings.deleted_keep_days
        draft = rules.restore_item(item.record.fields, state=state, at=around.at, days=days)
        if draft is None:
            answer: Answer = {
                "item": item_view(item.record, around.references),
                "changed": False,
            }
            return Plan(answer=answer, at_ms=around.at.now_ms)
        record = after_draft(item.record, draft, around.at.now_ms)
        return Plan(
            answer={"item": item_view(record, around.references), "changed": True},
            at_ms=around.at.now_ms,
            edits=[item.edit(draft)],
        )

    return await write(app, caller, decide)
