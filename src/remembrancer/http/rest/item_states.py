"""REST of an item's states: by verb or by name, superseding, restoring. Only parsing and form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from remembrancer.app import relations
from remembrancer.app.items import states
from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import State
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Shape
from remembrancer.http.rest.item_bodies import text
from remembrancer.http.rest.item_shapes import ChangedItem, ItemShape, item_answer
from remembrancer.http.rest.items import ITEM_ID
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

Verb = Literal["complete", "snooze", "ignore", "reactivate", "archive", "supersede"]


class StateChange(Named):
    """A verb, or a state by its name."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        "lifecycle_state": "state",
        "by_item_id": "superseded_by",
    }
    EXACTLY_ONE: ClassVar[tuple[str, ...]] = ("action", "state")

    action: Verb = optional()
    state: State = optional(description="Instead of a verb.")
    until: str = optional(description="Of a snooze: words or ISO 8601; by default the setting's.")
    occurrence_due_at: str = optional(
        description="Of completing a recurring task: which occurrence was done."
    )
    superseded_by: str = optional(description="Of superseding: the item that takes the place.")
    reason: str = text(limits.REASON_CHARS_MAX, "Of superseding.")


class Superseding(Named):
    """The items whose place is taken."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"target_item_ids": "target_ids"}

    target_ids: list[str] = Field(
        json_schema_extra={"minItems": 1, "maxItems": limits.BULK_ITEMS_MAX}
    )
    reason: str | None = text(limits.REASON_CHARS_MAX)


class SupersededAnswer(Shape):
    """The item that took the place of others."""

    source: ItemShape
    superseded: list[str]
    already: list[str]


_USED_BY = {
    "until": "snooze",
    "occurrence_due_at": "complete",
    "superseded_by": "supersede",
    "reason": "supersede",
}


async def _set_state(call: Call[None, StateChange]) -> Answer:
    body, item_id = call.body, call.path["item_id"]
    given = body.given()
    if ("action" in given) == ("state" in given):
        raise InvalidInput(
            "say either an action or a state",
            hint=f"action is one of {', '.join(states.ACTIONS)}",
            field="action",
        )
    for name, verb in _USED_BY.items():
        if name in given and given.get("action") != verb:
            raise InvalidInput(
                f"{name!r} says nothing here", hint=f"it belongs to action {verb!r}", field=name
            )
    if "state" in given:
        return item_answer(await states.set_item_state(call.app, call.caller, item_id, body.state))
    if body.action == "supersede":
        return await _supersede_one(call)
    return item_answer(
        await states.update_task_state(
            call.app,
            call.caller,
            item_id,
            body.action,
            until=given.get("until"),
            occurrence_due_at=given.get("occurrence_due_at"),
        )
    )


async def _supersede_one(call: Call[None, StateChange]) -> Answer:
    given = call.body.given()
    if "superseded_by" not in given:
        raise InvalidInput(
            "superseding needs the item that takes the place",
            hint="send superseded_by, the id of that item",
            field="superseded_by",
        )
    answer = await relations.supersede_task(
        call.app,
        call.caller,
        call.path["item_id"],
        by_item_id=given["superseded_by"],
        reason=given.get("reason"),
    )
    return item_answer(answer)


async def _supersede(call: Call[None, Superseding]) -> Answer:
    answer = await relations.supersede_items(
        call.app,
        call.caller,
        source_item_id=call.path["item_id"],
        target_item_ids=call.body.target_ids,
        reason=call.body.reason,
    )
    return Answer(answer)


async def _restore(call: Call[None, None]) -> Answer:
    return item_answer(await states.restore_item(call.app, call.caller, call.path["item_id"]))


ROUTES = (
    Route(
        method="POST",
        path="/v1/items/{item_id}/state",
        name="set_item_state",
        area="items",
        summary="Complete, snooze, ignore, reactivate, archive or supersede an item",
        description="Completing a recurring task moves it to its next date past now.",
        params=ITEM_ID,
        scope="memory:write",
        body=StateChange,
        response=ChangedItem,
        errors=("invalid_date", "invalid_transition", "cycle"),
        handler=_set_state,
    ),
    Route(
        method="POST",
        path="/v1/items/{item_id}/supersede",
        name="supersede_items",
        area="items",
        summary="Let this item take the place of others, which stay as history",
        params=ITEM_ID,
        scope="memory:write",
        body=Superseding,
        response=SupersededAnswer,
        errors=("cycle", "invalid_transition"),
        handler=_supersede,
    ),
    Route(
        method="POST",
        path="/v1/items/{item_id}/restore",
        name="restore_item",
        area="items",
        summary="Bring a deleted item back to the state it had",
        params=ITEM_ID,
        scope="memory:write",
        response=ChangedItem,
        errors=("invalid_transition",),
        handler=_restore,
    ),
)
"""The routes of an item's states."""
