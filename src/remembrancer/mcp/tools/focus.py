"""Tools that say what to do next, and what was left lying."""

from __future__ import annotations

from typing import Any, Final

from remembrancer.app import focus
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import page_limit, project_slug
from remembrancer.mcp.registry import Tool


class Focus(Arguments):
    project: str | None = project_slug()


class Stale(Arguments):
    limit: int = page_limit(25)


async def _task(app: App, caller: Caller, arguments: Focus) -> Answer:
    return await focus.get_focus_task(app, caller, project=arguments.project)


async def _context(app: App, caller: Caller, arguments: Focus) -> Answer:
    return await focus.get_focus_context(app, caller, project=arguments.project)


async def _stale(app: App, caller: Caller, arguments: Stale) -> Answer:
    return await focus.get_stale_tasks(app, caller, limit=arguments.limit)


async def _mark(app: App, caller: Caller, arguments: Stale) -> Answer:
    return await focus.mark_stale_candidates(app, caller, limit=arguments.limit)


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="get_focus_task",
        title="What to do next",
        description="The one task to do now, and why; in a project or in all.",
        handler=_task,
        arguments=Focus,
        result=results.ITEM_OR_NONE,
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "context"}),
        read_only=True,
    ),
    Tool(
        name="get_focus_context",
        title="Show the focus",
        description="A project's objective, next step, blockers and recurring tasks.",
        handler=_context,
        arguments=Focus,
        result=results.record(
            {
                "project": results.OBJECT_OR_NULL,
                "strategic_focus": results.OBJECT_OR_NULL,
                "tactical_next_step": results.OBJECT_OR_NULL,
                "blockers": results.listed(results.OBJECT),
            }
        ),
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "context"}),
        read_only=True,
    ),
    Tool(
        name="get_stale_tasks",
        title="Show stale tasks",
        description="Tasks that nobody touched for 21 days, oldest first.",
        handler=_stale,
        arguments=Stale,
        result=results.page_of("items", results.ITEM),
        scope="memory:read",
        toolsets=frozenset({"tasks"}),
        read_only=True,
    ),
    Tool(
        name="mark_stale_candidates",
        title="Mark stale tasks",
        description="Set untouched tasks that are unpinned and serve no goal to stale.",
        handler=_mark,
        arguments=Stale,
        result=results.record({"items": results.listed(results.OBJECT), "marked": results.IDS}),
        scope="memory:write",
        toolsets=frozenset({"tasks"}),
        idempotent=True,
    ),
)
"""The tools of this area."""
