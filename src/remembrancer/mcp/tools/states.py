"""Tools that change one thing of an item: its state, pin, startup priority, topic, project."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from remembrancer.app.commit import Answer
from remembrancer.app.items import states
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.write import update_item
from remembrancer.app.relations import supersede_task
from remembrancer.app.state import App
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import State
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.models import OfItem, Startup, named
from remembrancer.mcp.registry import Tool


class UpdateTaskState(OfItem):
    action: Literal["complete", "snooze", "ignore", "reactivate", "archive", "supersede"]
    until: str | None = Field(None, description="For snooze: ISO 8601 or words")
    occurrence_due_at: str | None = Field(
        None, description="For complete: the due_at that is meant, when the task recurs"
    )
    superseded_by: str | None = named(
        "superseded_by_id", "superseded_by", description="For supersede: the item that replaces it"
    )
    reason: str | None = None


class SetState(OfItem):
    state: State = named("lifecycle_state", "state", default=...)


class SetPinned(OfItem):
    pinned: bool


class SetStartupPriority(OfItem):
    startup_priority: Startup = named("startup_priority", "priority", default=...)


class SetTopic(OfItem):
    topic: str | None = named("group_slug", "topic", "topic_slug", "group", "slug")
    topic_name: str | None = named(
        "group_name", "topic_name", "name", description="Makes it when it is new"
    )
    is_cleared: bool = named("clear_group", "clear_topic", "clear", default=False)


class SetProject(OfItem):
    project: str | None = named("project_slug", "project", "slug")
    project_name: str | None = named("project_name", "name", description="Makes it when it is new")
    is_cleared: bool = named("clear_project", "clear", default=False)


async def _update_state(app: App, caller: Caller, arguments: UpdateTaskState) -> Answer:
    action, item_id = arguments.action, arguments.item_id
    _refuse_idle(arguments)
    if action != "supersede":
        return await states.update_task_state(
            app,
            caller,
            item_id,
            action,
            until=arguments.until,
            occurrence_due_at=arguments.occurrence_due_at,
        )
    if arguments.superseded_by is None:
        raise InvalidInput(
            "The action 'supersede' needs superseded_by_id.",
            hint="Name the item that takes its place.",
            field="superseded_by_id",
        )
    return await supersede_task(
        app, caller, item_id, by_item_id=arguments.superseded_by, reason=arguments.reason
    )


def _refuse_idle(arguments: UpdateTaskState) -> None:
    """Refuse an argument that the action would silently leave aside."""
    belongs = (
        ("until", arguments.until, "snooze"),
        ("occurrence_due_at", arguments.occurrence_due_at, "complete"),
        ("superseded_by_id", arguments.superseded_by, "supersede"),
        ("reason", arguments.reason, "supersede"),
    )
    for name, value, action in belongs:
        if value is not None and arguments.action != action:
            raise InvalidInput(
                f"{name!r} belongs to the action {action!r}, not to {arguments.action!r}.",
                hint=f"Leave {name} out.",
                field=name,
            )


async def _set_state(app: App, caller: Caller, arguments: SetState) -> Answer:
    return await states.set_item_state(app, caller, arguments.item_id, arguments.state)


async def _set_pinned(app: App, caller: Caller, arguments: SetPinned) -> Answer:
    return await update_item(app, caller, arguments.item_id, {"pinned": arguments.pinned})


async def _set_startup(app: App, caller: Caller, arguments: SetStartupPriority) -> Answer:
    given: ItemInput = {"startup_priority": arguments.startup_priority}
    return await update_item(app, caller, arguments.item_id, given)


async def _set_topic(app: App, caller: Caller, arguments: SetTopic) -> Answer:
    given: ItemInput = {}
    if _is_moving("group", arguments.topic, arguments.topic_name, arguments.is_cleared):
        given = {"topic": arguments.topic}
        if arguments.topic_name is not None:
            given["topic_name"] = arguments.topic_name
    else:
        given = {"topic": None}
    return await update_item(app, caller, arguments.item_id, given)


async def _set_project(app: App, caller: Caller, arguments: SetProject) -> Answer:
    given: ItemInput = {}
    if _is_moving("project", arguments.project, arguments.project_name, arguments.is_cleared):
        given = {"project": arguments.project}
        if arguments.project_name is not None:
            given["project_name"] = arguments.project_name
    else:
        given = {"project": None}
    return await update_item(app, caller, arguments.item_id, given)


def _is_moving(what: str, slug: str | None, name: str | None, is_cleared: bool) -> bool:
    """Tell whether the item goes somewhere (or nowhere); refuse both, and neither."""
    is_named = slug is not None or name is not None
    if is_named == is_cleared:
        raise InvalidInput(
            f"Give either {what}_slug or {what}_name, or clear_{what}.",
            hint=f"clear_{what}: true takes the item out.",
            field=f"{what}_slug",
        )
    return is_named


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="update_task_state",
        title="Complete, snooze, …",
        description="Complete, snooze, ignore (48 h out of focus), reactivate, archive or "
        "supersede an item. Completing a recurring task moves it to its next due date.",
        handler=_update_state,
        arguments=UpdateTaskState,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks"}),
    ),
    Tool(
        name="set_item_lifecycle_state",
        title="Set the state",
        description="Set an item's state by name. For tasks prefer update_task_state.",
        handler=_set_state,
        arguments=SetState,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"tasks", "memory"}),
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="set_item_pinned",
        title="Pin",
        description="Pin or unpin an item.",
        handler=_set_pinned,
        arguments=SetPinned,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"tasks", "memory"}),
        idempotent=True,
    ),
    Tool(
        name="set_item_startup_priority",
        title="Set the startup priority",
        description="How soon an item is loaded: 10 always at startup, 8 usually, 5 with its "
        "topic, 2 history, 0 never.",
        handler=_set_startup,
        arguments=SetStartupPriority,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"memory", "context"}),
        idempotent=True,
    ),
    Tool(
        name="set_item_group",
        title="Set the topic",
        description="Move an item into a topic, or out of it.",
        handler=_set_topic,
        arguments=SetTopic,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"memory"}),
        idempotent=True,
    ),
    Tool(
        name="set_item_project",
        title="Set the project",
        description="Move an item into a project, or out of it.",
        handler=_set_project,
        arguments=SetProject,
        result=results.CHANGED,
        scope="memory:write",
        toolsets=frozenset({"tasks"}),
        idempotent=True,
    ),
)
"""The tools of this area."""
