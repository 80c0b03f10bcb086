"""Tools of projects and of the goals that they serve."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from remembrancer.app import objectives, projects
from remembrancer.app.commit import Answer
from remembrancer.app.owners import UNSET
from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments, NoArguments
from remembrancer.mcp.models import Paged, named, page_limit
from remembrancer.mcp.registry import Tool


class CreateProject(Arguments):
    name: str
    slug: str | None = None
    description: str | None = None


class UpsertProject(Arguments):
    name: str | None = None
    slug: str | None = named("slug", "project_slug")
    description: str | None = None


class OfProject(Arguments):
    slug: str = named("slug", "project_slug", "project", default=...)


class ListProjects(Paged):
    limit: int = page_limit(100)
    as_of: str | None = Field(None, description="A past time, or a position of the history")


class ActiveProjects(Arguments):
    limit: int = page_limit(10)


class SetObjective(Arguments):
    project: str = named("project_slug", "project", "slug", default=...)
    item_id: str | None = named("item_id", "id", description="An item of the project")
    title: str | None = Field(None, description="Or the title of a new goal")
    description: str | None = named("description", "content")


class Timeline(Paged):
    project: str = named("project_slug", "project", "slug", default=...)
    limit: int = page_limit(50)


async def _create(app: App, caller: Caller, arguments: CreateProject) -> Answer:
    return await projects.create_project(
        app,
        caller,
        name=arguments.name,
        slug=arguments.slug,
        description=arguments.description,
    )


async def _upsert(app: App, caller: Caller, arguments: UpsertProject) -> Answer:
    return await projects.upsert_project(
        app,
        caller,
        name=arguments.name,
        slug=arguments.slug,
        description=UNSET if arguments.description is None else arguments.description,
    )


async def _get(app: App, caller: Caller, arguments: OfProject) -> Answer:
    return await projects.get_project(app, caller, arguments.slug)


async def _list(app: App, caller: Caller, arguments: ListProjects) -> Answer:
    return await projects.list_projects(
        app, caller, limit=arguments.limit, cursor=arguments.cursor, as_of=arguments.as_of
    )


async def _active(app: App, caller: Caller, arguments: ActiveProjects) -> Answer:
    return await projects.get_active_projects(app, caller, limit=arguments.limit)


async def _delete(app: App, caller: Caller, arguments: OfProject) -> Answer:
    return await projects.delete_project(app, caller, arguments.slug)


async def _timeline(app: App, caller: Caller, arguments: Timeline) -> Answer:
    return await projects.get_project_timeline(
        app, caller, arguments.project, limit=arguments.limit, cursor=arguments.cursor
    )


async def _set_objective(app: App, caller: Caller, arguments: SetObjective) -> Answer:
    return await objectives.set_active_objective(
        app,
        caller,
        project=arguments.project,
        item_id=arguments.item_id,
        title=arguments.title,
        description=arguments.description,
    )


async def _objectives(app: App, caller: Caller, _: NoArguments) -> Answer:
    return await objectives.get_active_objectives(app, caller)


_ONE: Final = results.owner("project")

# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="create_project",
        title="Create a project",
        description="Make a project; an existing name or slug is refused.",
        handler=_create,
        arguments=CreateProject,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"tasks"}),
    ),
    Tool(
        name="upsert_project",
        title="Make or edit a project",
        description="Edit the project of this slug or name, or make it.",
        handler=_upsert,
        arguments=UpsertProject,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "context"}),
        idempotent=True,
    ),
    Tool(
        name="get_project",
        title="Show a project",
        description="A project's objective and counts. For its items: load_context level project.",
        handler=_get,
        arguments=OfProject,
        result=_ONE,
        scope="memory:read",
        toolsets=frozenset({"tasks", "context"}),
        read_only=True,
    ),
    Tool(
        name="list_projects",
        title="List projects",
        description="All projects by slug, with objective and counts.",
        handler=_list,
        arguments=ListProjects,
        result=results.page_of("projects"),
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "context"}),
        read_only=True,
    ),
    Tool(
        name="get_active_projects",
        title="Show active projects",
        description="Projects with open items, latest change of objective first.",
        handler=_active,
        arguments=ActiveProjects,
        result=results.page_of("projects"),
        scope="memory:read",
        toolsets=frozenset({"context"}),
        read_only=True,
    ),
    Tool(
        name="delete_project",
        title="Delete a project",
        description="Delete a project; its items stay. undo brings it back.",
        handler=_delete,
        arguments=OfProject,
        result=results.record({"deleted": results.FLAG, "project": results.OBJECT}),
        scope="memory:write",
        toolsets=frozenset({"tasks"}),
        destructive=True,
    ),
    Tool(
        name="get_project_timeline",
        title="Show a project's timeline",
        description="What happened in a project and to its items, newest first.",
        handler=_timeline,
        arguments=Timeline,
        result=results.page_of("events"),
        scope="memory:read",
        toolsets=frozenset({"tasks", "context"}),
        read_only=True,
    ),
    Tool(
        name="set_active_objective",
        title="Set the objective",
        description="Make an item, or a new one of a title, the goal that a project now serves; "
        "the goal before is superseded.",
        handler=_set_objective,
        arguments=SetObjective,
        result=results.record(
            {
                "project": results.OBJECT,
                "item": results.ITEM,
                "previous_item_id": results.TEXT_OR_NULL,
            }
        ),
        scope="memory:write",
        toolsets=frozenset({"essential", "tasks", "context"}),
    ),
    Tool(
        name="get_active_objectives",
        title="Show objectives",
        description="The active goal of each project.",
        handler=_objectives,
        arguments=NoArguments,
        result=results.page_of("objectives"),
        scope="memory:read",
        toolsets=frozenset({"tasks", "context"}),
        read_only=True,
    ),
)
"""The tools of this area."""
