"""`remembrancer projects`: bodies of work, their objective and what happened in them."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import ask
from remembrancer.cli.groups import group
from remembrancer.cli.items import local_time
from remembrancer.cli.options import AsOf, Limit, Slug
from remembrancer.cli.output import Column, print_fields, print_json, print_line, print_table
from remembrancer.cli.place import Place, placed
from remembrancer.core.values import JSON

projects = group("Projects: list, add, show, timeline, objective.")

Description = Annotated[str | None, typer.Option(help="What it is about.")]


def list_projects(place: Place, limit: Limit = 100, as_of: AsOf = None) -> None:
    """List the projects."""
    reply = ask(place, "list_projects", {"limit": limit, "as_of": as_of})
    if place.is_json:
        print_json(reply.answer)
        return
    found = rows(reply.answer, "projects")
    if not found:
        print_line("No projects.")
        return
    columns = (Column("slug", whole=True), Column("name"), Column("objective"), Column("items"))
    print_table(columns, [_line(project) for project in found])


def _line(project: Answer) -> list[str]:
    objective = words(part(project, "active_objective"), "title")
    return [words(project, "slug"), words(project, "name"), objective, counted(project)]


def counted(owner: Answer) -> str:
    """Return how many items of each state a project or topic has."""
    return ", ".join(f"{count} {state}" for state, count in part(owner, "counts").items() if count)


def add_project(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, in any script.")],
    slug: Annotated[str | None, typer.Option(help="Its slug, when not made from the name.")] = None,
    description: Description = None,
) -> None:
    """Add a project."""
    arguments: dict[str, JSON] = {"name": name, "slug": slug, "description": description}
    _show_owner(place, ask(place, "create_project", arguments).answer, "created")


def show_project(place: Place, slug: Slug) -> None:
    """Show a project."""
    reply = ask(place, "get_project", {"slug": slug})
    if place.is_json:
        print_json(reply.answer)
        return
    project = part(reply.answer, "project")
    objective = part(project, "active_objective")
    print_line(words(project, "name"), style="bold")
    print_fields(
        [
            ("slug", words(project, "slug")),
            ("description", words(project, "description")),
            ("objective", f"{words(objective, 'title')}  {words(objective, 'id')}".strip()),
            ("items", counted(project)),
            ("created", local_time(project.get("created_at"), reply.zone)),
            ("updated", local_time(project.get("updated_at"), reply.zone)),
        ]
    )


def show_timeline(
    place: Place,
    slug: Slug,
    limit: Limit = 50,
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before.")] = None,
) -> None:
    """Show what happened in a project, newest first."""
    arguments: dict[str, JSON] = {"project_slug": slug, "limit": limit, "cursor": cursor}
    reply = ask(place, "get_project_timeline", arguments)
    if place.is_json:
        print_json(reply.answer)
        return
    columns = (Column("at", whole=True), Column("what"), Column("item"), Column("by"))
    print_table(
        columns,
        [
            [
                local_time(event.get("at"), reply.zone),
                words(event, "summary") or words(event, "kind"),
                words(event, "title"),
                words(event, "actor"),
            ]
            for event in rows(reply.answer, "events")
        ],
    )


def set_objective(
    place: Place,
    slug: Slug,
    title: Annotated[
        str | None, typer.Argument(metavar="[TITLE]", help="The title of a new goal.")
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="ID", help="Or an item of the project.")
    ] = None,
    description: Description = None,
) -> None:
    """Set the goal that a project now serves."""
    arguments: dict[str, JSON] = {
        "project_slug": slug,
        "item_id": item,
        "title": title,
        "description": description,
    }
    reply = ask(place, "set_active_objective", arguments)
    if place.is_json:
        print_json(reply.answer)
        return
    goal = part(reply.answer, "item")
    print_line(f"objective: {words(goal, 'title')}  {words(goal, 'id')}")


def delete_project(place: Place, slug: Slug) -> None:
    """Delete a project; its items stay."""
    _show_owner(place, ask(place, "delete_project", {"slug": slug}).answer, "deleted")


def _show_owner(place: Place, answer: Answer, done: str) -> None:
    if place.is_json:
        print_json(answer)
        return
    project = part(answer, "project")
    print_line(
        f"{words(answer, 'outcome') or done}: {words(project, 'name')}  {words(project, 'slug')}"
    )


for _name, _command in (
    ("list", list_projects),
    ("add", add_project),
    ("show", show_project),
    ("timeline", show_timeline),
    ("objective", set_objective),
    ("delete", delete_project),
):
    projects.command(_name)(placed(_command))
