"""Tools of the four levels of context: startup, topic, project, raw."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from remembrancer.app.commit import Answer
from remembrancer.app.context import load
from remembrancer.app.context.startup import get_startup_context
from remembrancer.app.state import App
from remembrancer.core.context.budget import TOKENS_MIN
from remembrancer.core.context.levels import ContextRequest, Level
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import (
    Kinds,
    Names,
    Paged,
    Startup,
    Types,
    named,
    page_limit,
    project_slug,
)
from remembrancer.mcp.registry import Tool


class Budgeted(Arguments):
    max_tokens: Annotated[int, Field(ge=TOKENS_MIN)] | None = Field(
        None, description="Trim to about so many tokens; the answer says what was left out"
    )
    use_cache: bool = True


class LoadContext(Budgeted, Paged):
    level: Level = "raw_memories"
    topic: str | None = named("topic", "group_slug", "scope", description="Topic, else tag")
    project: str | None = project_slug()
    include_history: bool = Field(False, description="Also superseded, archived, completed")
    tags: Names = named("tags", "tag", default=())
    projects: Names = named("project_slugs", "projects", default=())
    topics: Names = named("group_slugs", "topics", default=())
    is_profile: bool | None = named("profile", description="Only what says who the user is")
    is_pinned: bool | None = named("pinned")
    current_only: bool = True
    kinds: Kinds = named("kinds", "kind", "item_kind", default=())
    types: Types = named("entity_types", "types", "entity_type", default=())
    startup_priority_min: Startup | None = None
    startup_priority_max: Startup | None = None
    limit: int = page_limit(50)


class Summary(Budgeted):
    topic: str | None = named("topic", "scope", "group_slug", description="A topic, else a tag")
    project: str | None = project_slug()


async def _load(app: App, caller: Caller, arguments: LoadContext) -> Answer:
    return await load.load_context(app, caller, ContextRequest(**dict(arguments)))


async def _startup(app: App, caller: Caller, arguments: Budgeted) -> Answer:
    return await get_startup_context(
        app, caller, use_cache=arguments.use_cache, max_tokens=arguments.max_tokens
    )


async def _summary(app: App, caller: Caller, arguments: Summary) -> Answer:
    return await load.get_context_summary(
        app,
        caller,
        scope=arguments.topic,
        project=arguments.project,
        use_cache=arguments.use_cache,
        max_tokens=arguments.max_tokens,
    )


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="get_startup_context",
        title="Start here",
        description="Call first in every conversation: who the user is, goals, focus, projects, "
        "what is always loaded, topics. Then get_context_summary, then load_context.",
        handler=_startup,
        arguments=Budgeted,
        result=results.record(
            {
                "level": results.TEXT,
                "source": results.TEXT,
                "context_version": results.NUMBER,
                "generated_at": results.TEXT,
                "profile": results.OBJECT_OR_NULL,
                "active_goals": results.listed(results.OBJECT),
                "current_focus": results.OBJECT_OR_NULL,
                "active_projects": results.listed(results.OBJECT),
                "always_load": results.listed(results.OBJECT),
                "topic_summaries": results.listed(results.OBJECT),
            }
        ),
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "memory", "context"}),
        read_only=True,
    ),
    Tool(
        name="get_context_summary",
        title="Summarise a topic or project",
        description="Second step: the current state of one topic, tag or project.",
        handler=_summary,
        arguments=Summary,
        result=results.BUNDLE,
        scope="memory:read",
        toolsets=frozenset({"essential", "memory", "context"}),
        read_only=True,
    ),
    Tool(
        name="load_context",
        title="Load context",
        description="Any level: startup, topic_summary (topic), project (project_slug), and last "
        "raw_memories (filters). Go down only as far as needed.",
        handler=_load,
        arguments=LoadContext,
        result=results.BUNDLE,
        scope="memory:read",
        toolsets=frozenset({"essential", "memory", "context"}),
        read_only=True,
    ),
)
"""The tools of this area."""
