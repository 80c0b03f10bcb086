"""`remembrancer tasks`: the list of tasks, and what a person does with one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import ask
from remembrancer.cli.edits import edit_task
from remembrancer.cli.groups import group
from remembrancer.cli.items import print_item, print_items, print_relations
from remembrancer.cli.options import AsOf, Capture, Id, Text, When
from remembrancer.cli.output import print_json, print_line
from remembrancer.cli.place import Place, placed
from remembrancer.cli.results import show_changed
from remembrancer.core.values import JSON

OPEN: Final = ("active", "dormant", "stale")
"""States of tasks that are still to be done."""

tasks = group("Tasks: list, add, finish, put off, edit.")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which tasks are listed, and in what order."""

    everything: Annotated[bool, typer.Option("--all", help="Finished ones as well.")] = False
    project: Annotated[str | None, typer.Option(metavar="SLUG", help="Of this project.")] = None
    topic: Annotated[str | None, typer.Option(metavar="SLUG", help="Of this topic.")] = None
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="With this tag; repeatable.")
    ] = None
    query: Annotated[str | None, typer.Option("--query", "-q", help="With these words.")] = None
    due_before: Annotated[str | None, typer.Option(metavar="WHEN", help="Due before.")] = None
    stale: Annotated[bool, typer.Option("--stale", help="Untouched for a long time.")] = False
    as_of: AsOf = None
    sort: Annotated[
        str, typer.Option(help="due_at, priority, title, created_at or updated_at; - turns it.")
    ] = "due_at"
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 50
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before.")] = None

    def arguments(self) -> dict[str, JSON]:
        """Return them as `list_items` takes them."""
        return {
            "kinds": ["task"],
            "lifecycle_states": None if self.everything or self.stale else list(OPEN),
            "project_slugs": [self.project] if self.project else None,
            "group_slugs": [self.topic] if self.topic else None,
            "tags": list(self.tag) if self.tag else None,
            "tags_match": "all",
            "q": self.query,
            "due_before": self.due_before,
            "stale_only": self.stale,
            "as_of": self.as_of,
            "sort": self.sort,
            "limit": self.limit,
            "cursor": self.cursor,
        }


def list_tasks(place: Place, filters: Filters) -> None:
    """List tasks, those due first at the top."""
    reply = ask(place, "list_items", filters.arguments())
    if place.is_json:
        print_json(reply.answer)
        return
    items = rows(reply.answer, "items")
    if not items:
        print_line("No tasks.")
        return
    print_items(items, reply.zone)
    print_rest(reply.answer, len(items))


def print_rest(answer: Answer, shown: int) -> None:
    """Tell that a page is not all there is."""
    total = answer.get("total")
    if isinstance(total, int) and total > shown:
        count = f"at least {total}" if answer.get("total_is_minimum") else str(total)
        print_line(f"{shown} of {count}; --limit shows more.")


def add_task(
    place: Place,
    text: Text,
    given: Capture,
    due: When = None,
) -> None:
    """Add a task; #tags, +project, @topic, due: and dates in the text are understood."""
    arguments: dict[str, JSON] = {"input": " ".join(text), "item_kind": "task", "due": due}
    reply = ask(place, "quick_capture", arguments | given.arguments())
    show_changed(place, reply, words(reply.answer, "outcome") or "added")


def show_task(place: Place, item_id: Id, as_of: AsOf = None) -> None:
    """Show a task, or any other item, in full."""
    reply = ask(place, "get_item", {"id": item_id, "as_of": as_of})
    if place.is_json:
        print_json(reply.answer)
        return
    print_item(part(reply.answer, "item"), reply.zone)
    print_relations(rows(reply.answer, "relations"))


def _act(place: Place, item_id: str, action: str, done: str, until: str | None = None) -> None:
    arguments: dict[str, JSON] = {"id": item_id, "action": action, "until": until}
    show_changed(place, ask(place, "update_task_state", arguments), done)


def finish_task(place: Place, item_id: Id) -> None:
    """Complete a task; a recurring one moves to its next day."""
    _act(place, item_id, "complete", "done")


def snooze_task(place: Place, item_id: Id, until: When = None) -> None:
    """Put a task off."""
    _act(place, item_id, "snooze", "snoozed", until)


def ignore_task(place: Place, item_id: Id) -> None:
    """Keep a task out of the focus for a while."""
    _act(place, item_id, "ignore", "ignored")


def reopen_task(place: Place, item_id: Id) -> None:
    """Make a finished, snoozed or archived task active again."""
    _act(place, item_id, "reactivate", "reopened")


def archive_task(place: Place, item_id: Id) -> None:
    """Put a task away without doing it."""
    _act(place, item_id, "archive", "archived")


def delete_task(place: Place, item_id: Id) -> None:
    """Delete an item; it can be restored for 30 days."""
    show_changed(place, ask(place, "delete_item", {"id": item_id}), "deleted")


def restore_task(place: Place, item_id: Id) -> None:
    """Restore a deleted item."""
    show_changed(place, ask(place, "restore_item", {"id": item_id}), "restored")


def focus_task(
    place: Place,
    project: Annotated[str | None, typer.Option(metavar="SLUG", help="In this project.")] = None,
) -> None:
    """Show the one task to do next, and why."""
    reply = ask(place, "get_focus_task", {"project_slug": project})
    if place.is_json:
        print_json(reply.answer)
        return
    item = part(reply.answer, "item")
    if item:
        print_item(item, reply.zone)
    print_line(words(reply.answer, "reason") or ("" if item else "Nothing to do."))


for _name, _command in (
    ("list", list_tasks),
    ("add", add_task),
    ("show", show_task),
    ("done", finish_task),
    ("snooze", snooze_task),
    ("ignore", ignore_task),
    ("reopen", reopen_task),
    ("archive", archive_task),
    ("edit", edit_task),
    ("delete", delete_task),
    ("restore", restore_task),
    ("focus", focus_task),
):
    tasks.command(_name)(placed(_command))
