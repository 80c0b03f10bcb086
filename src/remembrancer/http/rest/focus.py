"""REST of the focus, and of tasks that were left lying. Only parsing and form."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from remembrancer.app import focus
from remembrancer.core.items.fields import State
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Limit, Query, Shape
from remembrancer.http.rest.item_shapes import BriefItem, ItemShape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route


class FocusQuery(Query):
    """Whose focus."""

    project: str | None = Field(None, description="Slug or name; left out, of all.")


class FocusProject(Shape):
    """The project that the focus is on."""

    id: str
    slug: str
    name: str
    description: str | None


class FocusObjective(Shape):
    """The goal that the project now serves."""

    item_id: str
    title: str
    state: State
    since: str | None


class Blocker(Shape):
    """What a blocked task waits for."""

    id: str
    title: str
    state: State


class BlockedTask(Shape):
    """A task that would come first but waits."""

    item: BriefItem
    blocked_by: list[Blocker]


class ReplacedItem(BriefItem):
    """An item that another took the place of."""

    superseded_by: str | None


class FocusShape(Shape):
    """The goal and the next step, what is blocked, recurs and was replaced."""

    project: FocusProject | None
    objective: FocusObjective | None
    strategic_focus: BriefItem | None
    tactical_next_step: BriefItem | None
    reason: str
    blockers: list[BlockedTask]
    recurring_systems: list[BriefItem]
    replaced_items: list[ReplacedItem]
    focus_version: int


class FocusTaskAnswer(Shape):
    """The one task to do now, and why; null when there is none."""

    item: ItemShape | None
    reason: str


class UntouchedItem(BriefItem):
    """A task that nobody touched for long."""

    untouched_since: str


class StaleQuery(Query):
    """How many are shown."""

    limit: Limit = 25


class StaleAnswer(Shape):
    """The longest untouched tasks."""

    items: list[UntouchedItem]
    count: int


class Marking(Named):
    """How many are marked at most."""

    limit: Limit = optional()


class MarkedAnswer(StaleAnswer):
    """The tasks that were marked as stale."""

    marked: list[str]


async def _focus(call: Call[FocusQuery, None]) -> Answer:
    answer = await focus.get_focus_context(call.app, call.caller, project=call.query.project)
    return Answer(answer)


async def _task(call: Call[FocusQuery, None]) -> Answer:
    return Answer(await focus.get_focus_task(call.app, call.caller, project=call.query.project))


async def _stale(call: Call[StaleQuery, None]) -> Answer:
    return Answer(await focus.get_stale_tasks(call.app, call.caller, limit=call.query.limit))


async def _mark(call: Call[None, Marking]) -> Answer:
    limits = call.body.given()
    return Answer(await focus.mark_stale_candidates(call.app, call.caller, **limits))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/focus",
        name="get_focus",
        area="focus",
        summary="Show the goal and the next step, what is blocked, recurs and was replaced",
        scope="memory:read",
        query=FocusQuery,
        response=FocusShape,
        errors=("not_found",),
        handler=_focus,
    ),
    Route(
        method="GET",
        path="/v1/focus/task",
        name="get_focus_task",
        area="focus",
        summary="Show the one task to do now, and why",
        scope="memory:read",
        query=FocusQuery,
        response=FocusTaskAnswer,
        errors=("not_found",),
        handler=_task,
    ),
    Route(
        method="GET",
        path="/v1/stale",
        name="get_stale_tasks",
        area="focus",
        summary="List tasks that nobody touched for three weeks",
        scope="memory:read",
        query=StaleQuery,
        response=StaleAnswer,
        handler=_stale,
    ),
    Route(
        method="POST",
        path="/v1/stale",
        name="mark_stale",
        area="focus",
        summary="Mark the longest untouched tasks as stale",
        description="Those that are neither pinned nor serve a goal.",
        scope="memory:write",
        body=Marking,
        response=MarkedAnswer,
        handler=_mark,
    ),
)
"""The routes of the focus."""
