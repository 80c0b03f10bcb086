"""`remembrancer tasks edit`: changes of an item, field by field. An empty text clears a field."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Final

import typer

from remembrancer.cli.door import ask
from remembrancer.cli.options import Id
from remembrancer.cli.place import Place
from remembrancer.cli.results import show_changed
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON

_TOOL_NAMES: Final = {
    "content": "description",
    "startup": "startup_priority",
    "project": "project_slug",
    "topic": "group_slug",
    "tag": "tags",
    "kind": "item_kind",
    "type": "entity_type",
    "repeat": "recurrence_kind",
    "every": "recurrence_interval",
    "repeat_until": "recurrence_until",
    "note": "add_note",
    "decision": "add_decision",
    "problem": "add_problem",
    "version": "expected_version",
}
"""Option → the tool's argument, where they differ."""

_CLEARED_BY: Final = {
    "due": "clear_due",
    "project": "clear_project",
    "topic": "clear_group",
    "repeat": "clear_recurrence",
}
"""Option → the argument that clears it, where it has one of its own."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to change; what is not given stays."""

    title: Annotated[str | None, typer.Option(help="A new title.")] = None
    content: Annotated[str | None, typer.Option(help="A new text.")] = None
    due: Annotated[str | None, typer.Option(metavar="WHEN", help="ISO 8601 or words.")] = None
    priority: Annotated[str | None, typer.Option(help="low, medium or high.")] = None
    startup: Annotated[
        int | None, typer.Option(min=0, max=10, help="Load at startup: 10 always, 0 never.")
    ] = None
    project: Annotated[str | None, typer.Option(metavar="SLUG", help="Its project.")] = None
    topic: Annotated[str | None, typer.Option(metavar="SLUG", help="Its topic.")] = None
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Its tags, all of them; repeatable.")
    ] = None
    pinned: Annotated[bool | None, typer.Option("--pin/--unpin", help="Pin it or not.")] = None
    kind: Annotated[str | None, typer.Option(help="task or memory.")] = None
    type: Annotated[str | None, typer.Option(help="Its type, such as preference.")] = None
    fact_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The name of the fact, such as profile:city.")
    ] = None
    progress: Annotated[str | None, typer.Option(help="pending, in_progress or failed.")] = None
    repeat: Annotated[str | None, typer.Option(help="daily, weekly, monthly or weekdays.")] = None
    every: Annotated[int | None, typer.Option(min=1, max=365, help="Each so many.")] = None
    repeat_until: Annotated[str | None, typer.Option(metavar="WHEN", help="Its last day.")] = None
    note: Annotated[str | None, typer.Option(help="A line to add to its notes.")] = None
    decision: Annotated[str | None, typer.Option(help="A line to add to its decisions.")] = None
    problem: Annotated[str | None, typer.Option(help="A line to add to its problems.")] = None
    tick: Annotated[
        list[str] | None, typer.Option(metavar="STEP", help="The id of a step that is done.")
    ] = None
    untick: Annotated[
        list[str] | None, typer.Option(metavar="STEP", help="The id of a step that is not.")
    ] = None
    version: Annotated[
        int | None, typer.Option(min=1, help="Refuse when it has another version by now.")
    ] = None

    def arguments(self) -> dict[str, JSON]:
        """Return them as `update_item` takes them. *Raises:* InvalidInput for no change at all."""
        given: dict[str, JSON] = {}
        cleared: list[JSON] = []
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            if value is None or name in ("tick", "untick"):
                continue
            if value != "":
                given[_TOOL_NAMES.get(name, name)] = list(value) if name == "tag" else value
            elif name in _CLEARED_BY:
                given[_CLEARED_BY[name]] = True
            else:
                cleared.append(_TOOL_NAMES.get(name, name))
        if cleared:
            given["clear"] = cleared
        steps: dict[str, JSON] = dict.fromkeys(self.tick or (), True)
        steps |= dict.fromkeys(self.untick or (), False)
        if steps:
            given["step_done"] = steps
        if not given.keys() - {"expected_version"}:
            raise InvalidInput(
                "nothing is to change", hint="name a field, such as --due 'friday 3pm'"
            )
        # A tag given as an empty text alone means: no tags.
        if given.get("tags") == [""]:
            given["tags"] = []
        return given


def edit_task(place: Place, item_id: Id, changes: Changes) -> None:
    """Change fields of a task or any other item; an empty text clears one."""
    show_changed(
        place, ask(place, "update_item", {"id": item_id, **changes.arguments()}), "changed"
    )
