"""`remembrancer topics`: retrieval buckets, and the item that stands for each."""

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import ask
from remembrancer.cli.groups import group
from remembrancer.cli.options import AsOf, Limit, Slug
from remembrancer.cli.output import Column, print_json, print_line, print_table
from remembrancer.cli.place import Place, placed
from remembrancer.cli.projects import Description, counted
from remembrancer.core.values import JSON

topics = group("Topics: list, add, canonical item.")

Kind = Annotated[str | None, typer.Option(help="topic, profile, project or system.")]
Retrieval = Annotated[
    int | None,
    typer.Option("--priority", min=0, help="From 1 on it is summarised at startup, highest first."),
]


def list_topics(place: Place, limit: Limit = 100, as_of: AsOf = None) -> None:
    """List the topics."""
    reply = ask(place, "list_groups", {"limit": limit, "as_of": as_of})
    if place.is_json:
        print_json(reply.answer)
        return
    found = rows(reply.answer, "topics") or rows(reply.answer, "groups")
    if not found:
        print_line("No topics.")
        return
    columns = (
        Column("slug", whole=True),
        Column("name"),
        Column("kind"),
        Column("priority", right=True),
        Column("items"),
    )
    print_table(columns, [_line(topic) for topic in found])


def _line(topic: Answer) -> list[str]:
    kind = words(topic, "kind") or words(topic, "group_kind")
    priority = words(topic, "retrieval_priority")
    return [words(topic, "slug"), words(topic, "name"), kind, priority, counted(topic)]


def add_topic(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, in any script.")],
    kind: Kind = None,
    priority: Retrieval = None,
    description: Description = None,
) -> None:
    """Add a topic, or change what is given of one that exists."""
    arguments: dict[str, JSON] = {
        "name": name,
        "group_kind": kind,
        "retrieval_priority": priority,
        "description": description,
    }
    _show_topic(place, ask(place, "upsert_group", arguments).answer, "added")


def set_canonical(
    place: Place,
    slug: Slug,
    item: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The item; without it, none.")
    ] = None,
) -> None:
    """Set the item that stands for a topic."""
    arguments: dict[str, JSON] = {"group_slug": slug, "item_id": item}
    _show_topic(place, ask(place, "set_group_canonical_item", arguments).answer, "changed")


def delete_topic(place: Place, slug: Slug) -> None:
    """Delete a topic; its items stay."""
    _show_topic(place, ask(place, "delete_group", {"slug": slug}).answer, "deleted")


def _show_topic(place: Place, answer: Answer, done: str) -> None:
    if place.is_json:
        print_json(answer)
        return
    topic = part(answer, "topic") or part(answer, "group")
    word = words(answer, "outcome") or done
    print_line(f"{word}: {words(topic, 'name')}  {words(topic, 'slug')}")


for _name, _command in (
    ("list", list_topics),
    ("add", add_topic),
    ("canonical", set_canonical),
    ("delete", delete_topic),
):
    topics.command(_name)(placed(_command))
