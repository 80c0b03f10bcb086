"""`remembrancer remember` and `search`: putting a memory in, and finding what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from remembrancer.cli.answers import rows, words
from remembrancer.cli.door import ask
from remembrancer.cli.items import print_matches
from remembrancer.cli.options import Capture, Text
from remembrancer.cli.output import print_json, print_line
from remembrancer.cli.place import Place
from remembrancer.cli.results import show_changed
from remembrancer.core.values import JSON


@dataclass(frozen=True, slots=True)
class Fact:
    """What can be said of a memory alone."""

    type: Annotated[
        str | None, typer.Option(help="Its type: fact, preference, decision, rule, …")
    ] = None
    fact_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The name of the fact, such as profile:city; one each."),
    ] = None
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="From 0 to 1.")] = None
    valid_from: Annotated[str | None, typer.Option(metavar="WHEN", help="True from then.")] = None
    valid_to: Annotated[str | None, typer.Option(metavar="WHEN", help="True until then.")] = None

    def arguments(self) -> dict[str, JSON]:
        """Return them as `capture_context` takes them."""
        return {
            "entity_type": self.type,
            "fact_key": self.fact_key,
            "importance": self.importance,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
        }


def remember(place: Place, text: Text, given: Capture, fact: Fact) -> None:
    """Remember something; #tags, +project and @topic in the text are understood."""
    arguments: dict[str, JSON] = {"input": " ".join(text)}
    reply = ask(place, "capture_context", arguments | given.arguments() | fact.arguments())
    show_changed(place, reply, words(reply.answer, "outcome") or "remembered")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Where a search looks."""

    kind: Annotated[list[str] | None, typer.Option(help="task or memory; repeatable.")] = None
    type: Annotated[list[str] | None, typer.Option(help="Of this type; repeatable.")] = None
    project: Annotated[str | None, typer.Option(metavar="SLUG", help="Of this project.")] = None
    topic: Annotated[str | None, typer.Option(metavar="SLUG", help="Of this topic.")] = None
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="With this tag; repeatable.")
    ] = None
    obsolete: Annotated[
        bool, typer.Option("--obsolete", help="Also superseded, archived and completed ones.")
    ] = False
    limit: Annotated[int, typer.Option(min=1, max=50, help="At most so many.")] = 10

    def arguments(self) -> dict[str, JSON]:
        """Return them as `semantic_search` takes them."""
        return {
            "kinds": list(self.kind) if self.kind else None,
            "entity_types": list(self.type) if self.type else None,
            "project_slug": self.project,
            "group_slug": self.topic,
            "tags": list(self.tag) if self.tag else None,
            "include_obsolete": self.obsolete,
            "limit": self.limit,
        }


def search(
    place: Place,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.")],
    where: Narrowing,
) -> None:
    """Find memories and tasks."""
    arguments: dict[str, JSON] = {"query": " ".join(query)}
    reply = ask(place, "semantic_search", arguments | where.arguments())
    if place.is_json:
        print_json(reply.answer)
        return
    matches = rows(reply.answer, "matches")
    if matches:
        print_matches(matches, reply.zone)
    else:
        print_line("Nothing found.")
