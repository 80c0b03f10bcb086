"""REST of projects and their objectives. Only parsing and form; the use cases decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from remembrancer.app import objectives, projects
from remembrancer.app.commit import Answer as AppAnswer
from remembrancer.app.owners import UNSET
from remembrancer.core import limits
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Limit, Query, Shape
from remembrancer.http.rest.item_bodies import text
from remembrancer.http.rest.item_shapes import BriefItem, ItemShape, MomentShape, OwnerName
from remembrancer.http.rest.items import AsOf
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

Name = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": limits.NAME_CHARS_MAX})]
"""A name; its length is checked by the rules of projects and topics."""


class OwnersQuery(Query):
    """A page of projects or topics, now or in the past."""

    limit: Limit = limits.PAGE_ITEMS_MAX
    cursor: Cursor | None = None
    as_of: AsOf | None = None


class ProjectShape(Shape):
    """A project; `counts` says how many items it has in each state."""

    id: str
    slug: str
    name: str
    description: str | None
    active_objective: BriefItem | None
    counts: dict[str, int] = Field(default_factory=dict)
    version: int
    created_at: str
    updated_at: str


class ProjectsAnswer(Shape):
    """A page of projects by slug; a look into the past has no counts."""

    projects: list[ProjectShape]
    count: int
    total: int
    total_is_minimum: bool
    next_cursor: str | None
    as_of: MomentShape | None


class ProjectAnswer(Shape):
    """One project."""

    project: ProjectShape


class WrittenProject(ProjectAnswer):
    """A project that was made or edited."""

    outcome: Literal["created", "updated", "unchanged"]


class DeletedProject(ProjectAnswer):
    """A project that was deleted, as it was."""

    deleted: bool


class NewProject(Named):
    """A project to make."""

    name: Name
    slug: str = optional(description="Made from the name when left out; kept when renamed.")
    description: str | None = text(limits.DESCRIPTION_CHARS_MAX)


class ProjectChange(Named):
    """Fields to change; what is left out stays, null empties the description."""

    name: Name = optional()
    description: str | None = text(limits.DESCRIPTION_CHARS_MAX)


class TimelineQuery(Query):
    """A page of a timeline."""

    limit: Limit = 50
    cursor: Cursor | None = None


class TimelineEvent(Shape):
    """One thing that happened in a project."""

    position: int
    at: str
    kind: str
    actor: str
    item_id: str | None
    title: str | None
    summary: str


class TimelineAnswer(Shape):
    """A page of a timeline, newest first."""

    events: list[TimelineEvent]
    next_cursor: str | None


class Objective(Named):
    """The goal: an item, or a title for a new one."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"content": "description"}

    item_id: str = optional()
    title: str = text(limits.TITLE_CHARS_MAX, "Of a new goal; with item_id it renames that one.")
    description: str = text(limits.CONTENT_CHARS_MAX)


class ObjectiveAnswer(Shape):
    """A project with its new goal, and the goal that was superseded."""

    project: ProjectShape
    item: ItemShape
    previous_item_id: str | None


class ActiveObjective(Shape):
    """A project's active goal."""

    project: OwnerName
    item: BriefItem
    since: str | None


class ObjectivesAnswer(Shape):
    """The active goals of all projects, newest first."""

    objectives: list[ActiveObjective]
    count: int


def owner_answer(answer: AppAnswer, name: str) -> Answer:
    """Return an answer with one project or topic; its version is the ETag."""
    owner = answer[name]
    assert isinstance(owner, dict)
    version = owner["version"]
    assert isinstance(version, int)
    return Answer(answer, version=version)


def made_answer(answer: AppAnswer, name: str) -> Answer:
    """Return an answer as `owner_answer`, with 201 when the project or topic is new."""
    status = 201 if answer.get("outcome") == "created" else 200
    return replace(owner_answer(answer, name), status=status)


async def _list(call: Call[OwnersQuery, None]) -> Answer:
    query = call.query
    answer = await projects.list_projects(
        call.app, call.caller, limit=query.limit, cursor=query.cursor, as_of=query.as_of
    )
    return Answer(answer)


async def _create(call: Call[None, NewProject]) -> Answer:
    given = call.body.given()
    answer = await projects.create_project(
        call.app,
        call.caller,
        name=given["name"],
        slug=given.get("slug"),
        description=given.get("description"),
    )
    return made_answer(answer, "project")


async def _get(call: Call[None, None]) -> Answer:
    answer = await projects.get_project(call.app, call.caller, call.path["slug"])
    return owner_answer(answer, "project")


async def _put(call: Call[None, ProjectChange]) -> Answer:
    given = call.body.given()
    answer = await projects.upsert_project(
        call.app,
        call.caller,
        slug=call.path["slug"],
        name=given.get("name"),
        description=given.get("description", UNSET),
        expected_version=call.expected_version,
    )
    return made_answer(answer, "project")


async def _update(call: Call[None, ProjectChange]) -> Answer:
    answer = await projects.update_project(
        call.app,
        call.caller,
        call.path["slug"],
        call.body.given(),
        expected_version=call.expected_version,
    )
    return owner_answer(answer, "project")


async def _delete(call: Call[None, None]) -> Answer:
    return Answer(await projects.delete_project(call.app, call.caller, call.path["slug"]))


async def _timeline(call: Call[TimelineQuery, None]) -> Answer:
    answer = await projects.get_project_timeline(
        call.app,
        call.caller,
        call.path["slug"],
        limit=call.query.limit,
        cursor=call.query.cursor,
    )
    return Answer(answer)


async def _set_objective(call: Call[None, Objective]) -> Answer:
    body = call.body
    answer = await objectives.set_active_objective(
        call.app,
        call.caller,
        project=call.path["slug"],
        item_id=body.item_id,
        title=body.title,
        description=body.description,
    )
    return owner_answer(answer, "project")


async def _objectives(call: Call[None, None]) -> Answer:
    return Answer(await objectives.get_active_objectives(call.app, call.caller))


_SLUG: Final = {"slug": "The project's slug or name, percent-encoded."}

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/projects",
        name="list_projects",
        area="projects",
        summary="List the projects, now or in the past",
        scope="memory:read",
        query=OwnersQuery,
        response=ProjectsAnswer,
        errors=("invalid_date",),
        handler=_list,
    ),
    Route(
        method="POST",
        path="/v1/projects",
        name="create_project",
        area="projects",
        summary="Make a project",
        description="409 when the name, or a slug that is sent, exists.",
        scope="memory:write",
        body=NewProject,
        response=WrittenProject,
        statuses=(201,),
        handler=_create,
    ),
    Route(
        method="GET",
        path="/v1/projects/{slug}",
        name="get_project",
        area="projects",
        summary="Show a project with its objective",
        params=_SLUG,
        scope="memory:read",
        response=ProjectAnswer,
        handler=_get,
    ),
    Route(
        method="PUT",
        path="/v1/projects/{slug}",
        name="upsert_project",
        area="projects",
        summary="Edit a project, or make it",
        description="A new one needs a name.",
        params=_SLUG,
        scope="memory:write",
        body=ProjectChange,
        response=WrittenProject,
        statuses=(200, 201),
        if_match=True,
        handler=_put,
    ),
    Route(
        method="PATCH",
        path="/v1/projects/{slug}",
        name="update_project",
        area="projects",
        summary="Change fields of a project; a new name keeps the slug",
        params=_SLUG,
        scope="memory:write",
        body=ProjectChange,
        response=WrittenProject,
        if_match=True,
        handler=_update,
    ),
    Route(
        method="DELETE",
        path="/v1/projects/{slug}",
        name="delete_project",
        area="projects",
        summary="Delete a project; its items stay",
        params=_SLUG,
        scope="memory:write",
        response=DeletedProject,
        handler=_delete,
    ),
    Route(
        method="GET",
        path="/v1/projects/{slug}/timeline",
        name="get_project_timeline",
        area="projects",
        summary="List what happened in a project, newest first",
        params=_SLUG,
        scope="memory:read",
        query=TimelineQuery,
        response=TimelineAnswer,
        handler=_timeline,
    ),
    Route(
        method="PUT",
        path="/v1/projects/{slug}/objective",
        name="set_active_objective",
        area="projects",
        summary="Set the goal that a project now serves; the one before is superseded",
        params=_SLUG,
        scope="memory:write",
        body=Objective,
        response=ObjectiveAnswer,
        errors=("invalid_transition",),
        handler=_set_objective,
    ),
    Route(
        method="GET",
        path="/v1/objectives",
        name="get_active_objectives",
        area="projects",
        summary="List the active goals of all projects",
        scope="memory:read",
        response=ObjectivesAnswer,
        handler=_objectives,
    ),
)
"""The routes of projects."""
