"""`remembrancer history`, `undo`, `redo` and `forget`: what happened, and taking it back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from remembrancer.cli.answers import Answer, part, rows, words
from remembrancer.cli.door import Reply, ask
from remembrancer.cli.items import local_time
from remembrancer.cli.options import Id, Limit, Yes
from remembrancer.cli.output import print_fields, print_json, print_line, text_of
from remembrancer.cli.place import Place
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON

MaybeId = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="The item whose last change is meant.")
]
Cause = Annotated[
    str | None, typer.Option(metavar="ID", help="Or the command of this id, as history shows it.")
]


def history(
    place: Place,
    item_id: Id,
    limit: Limit = 50,
    cursor: Annotated[str | None, typer.Option(help="next_cursor of the page before.")] = None,
) -> None:
    """Show what happened to an item, newest first, and what each change was."""
    reply = ask(place, "item_history", {"id": item_id, "limit": limit, "cursor": cursor})
    if place.is_json:
        print_json(reply.answer)
        return
    for event in rows(reply.answer, "events"):
        mark = "  (undone)" if event.get("undone") else ""
        at = local_time(event.get("at"), reply.zone)
        who = f"{words(event, 'kind')} by {words(event, 'actor')}"
        print_line(f"{at}  {who}  {words(event, 'cause')}{mark}", style="bold")
        for change in rows(event, "changes"):
            before, after = text_of(change.get("before")), text_of(change.get("after"))
            print_line(f"    {words(change, 'field')}: {before or '–'} → {after or '–'}")
    following = words(reply.answer, "next_cursor")
    if following:
        print_line(f"More: --cursor {following}")


def undo(
    place: Place,
    item_id: MaybeId = None,
    cause: Cause = None,
    position: Annotated[
        int | None, typer.Option(min=1, help="Or the command at this position.")
    ] = None,
) -> None:
    """Take a change back, with everything that the same command did."""
    arguments: dict[str, JSON] = {"id": item_id, "cause": cause, "position": position}
    _show_back(place, ask(place, "undo", arguments), "undone")


def redo(place: Place, item_id: MaybeId = None, cause: Cause = None) -> None:
    """Bring back what was undone."""
    _show_back(place, ask(place, "redo", {"id": item_id, "cause": cause}), "redone")


def _show_back(place: Place, reply: Reply, done: str) -> None:
    if place.is_json:
        print_json(reply.answer)
        return
    for each in rows(reply.answer, done):
        print_line(f"{done}: {words(each, 'kind')} of {words(each, 'stream')}")


def forget(
    place: Place,
    item_id: Id,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
) -> None:
    """Remove an item and every copy of its text, for good."""
    if dry_run:
        preview = ask(place, "forget", {"id": item_id, "dry_run": True}).answer
        if place.is_json:
            print_json(preview)
        else:
            _print_preview(preview)
        return
    if not yes:
        _confirm(place, item_id)
    reply = ask(place, "forget", {"id": item_id})
    if place.is_json:
        print_json(reply.answer)
        return
    print_line(f"forgotten: {words(reply.answer, 'forgotten')}")


def _confirm(place: Place, item_id: str) -> None:
    if place.is_json or not sys.stdin.isatty():
        raise InvalidInput(
            "forget is for ever, and nobody can be asked here", hint="add --yes", field="yes"
        )
    _print_preview(ask(place, "forget", {"id": item_id, "dry_run": True}).answer)
    typer.confirm("Forget it for ever, with every copy?", abort=True, err=True)


def _print_preview(preview: Answer) -> None:
    print_line(f"{words(preview, 'title')}  {words(preview, 'would_forget')}")
    counts = part(preview, "counts")
    print_fields([(name.replace("_", " "), words(counts, name)) for name in counts if counts[name]])
    for each in rows(preview, "passages"):
        texts = each.get("texts")
        for text in texts if isinstance(texts, list) else []:
            print_line(f"{words(each, 'place')} {words(each, 'id')}: {' '.join(str(text).split())}")
    if preview.get("more"):
        print_line(f"and {words(preview, 'more')} more")
