"""Tools that make an item of a few words: the line with markers, a task, a memory."""

from __future__ import annotations

from typing import Any, Final

from remembrancer.app.commit import Answer
from remembrancer.app.items import write
from remembrancer.app.state import App
from remembrancer.core.items.fields import PRIORITIES, Kind
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import CaptureFields, MemoryFields, item_input, named
from remembrancer.mcp.registry import Tool


class Worded(Arguments):
    text: str = named("input", "text", "content", default=...)


class Owners(Arguments):
    """A capture makes a project or topic that is new, so a name does as well as a slug."""

    project: str | None = named("project_slug", "project", "project_name")
    topic: str | None = named(
        "group_slug", "topic", "topic_slug", "group", "group_name", "topic_name"
    )


class QuickCapture(Owners, CaptureFields, Worded):
    kind: Kind | None = named("item_kind", "kind")


class CaptureContext(Owners, MemoryFields, Worded):
    pass


class QuickAddTask(Owners, CaptureFields):
    text: str = named("title", "input", "text", default=...)


async def _capture(app: App, caller: Caller, arguments: QuickCapture) -> Answer:
    return await write.quick_capture(app, caller, arguments.text, item_input(arguments))


async def _remember(app: App, caller: Caller, arguments: CaptureContext) -> Answer:
    given = item_input(arguments)
    given["kind"] = "memory"
    given.setdefault("priority", PRIORITIES["low"])
    return await write.quick_capture(app, caller, arguments.text, given)


async def _add_task(app: App, caller: Caller, arguments: QuickAddTask) -> Answer:
    given = item_input(arguments)
    given["kind"] = "task"
    return await write.quick_capture(app, caller, arguments.text, given)


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="quick_add_task",
        title="Add a task",
        description="Add a task in one line, with defaults. The line may hold #tag +project @topic "
        "!high due:friday; else a date or 每周五 in its words counts.",
        handler=_add_task,
        arguments=QuickAddTask,
        result=results.CREATED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks"}),
    ),
    Tool(
        name="quick_capture",
        title="Capture a line",
        description="Turn what the user typed into an item. #tag +project @topic !high due:friday "
        "are read, else a task's date or series in its words; 'note:' or '记住：' in front makes "
        "it a memory.",
        handler=_capture,
        arguments=QuickCapture,
        result=results.CREATED,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "memory"}),
    ),
    Tool(
        name="capture_context",
        title="Remember",
        description="Remember a fact, preference, decision or note in one line. Call "
        "find_semantic_conflicts first: update_item or supersede_items beats a second copy.",
        handler=_remember,
        arguments=CaptureContext,
        result=results.CREATED,
        scope="memory:write",
        toolsets=frozenset({"essential", "memory"}),
    ),
)
"""The tools of this area."""
