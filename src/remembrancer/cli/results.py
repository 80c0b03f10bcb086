"""What a command says of a change: the answer itself for programs, one line for people."""

from __future__ import annotations

from remembrancer.cli.answers import part, words
from remembrancer.cli.door import Reply
from remembrancer.cli.items import local_time
from remembrancer.cli.output import print_json, print_line
from remembrancer.cli.place import Place

_OVER = ("completed", "archived", "superseded", "expired", "deleted")


def show_changed(place: Place, reply: Reply, done: str) -> None:
    """Print what became of an item. *Shape:* `done` is the word for a change, such as `added`."""
    if place.is_json:
        print_json(reply.answer)
        return
    item = part(reply.answer, "item")
    if not item:
        print_line(f"{done}: {words(reply.answer, 'deleted')}")
        return
    word = "unchanged" if reply.answer.get("changed") is False else done
    due = local_time(item.get("due_at"), reply.zone)
    when = f"  (due {due})" if due and item.get("state") not in _OVER else ""
    print_line(f"{word}: {words(item, 'title')}{when}  {words(item, 'id')}")
