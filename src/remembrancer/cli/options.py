"""Options and arguments that several commands share. Declarations only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from remembrancer.core.values import JSON

Id = Annotated[str, typer.Argument(metavar="ID", help="The item's id, `itm_…`.")]
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="Its slug or name.")]
Text = Annotated[list[str], typer.Argument(metavar="TEXT", help="The words; quotes are optional.")]
When = Annotated[str | None, typer.Option(metavar="WHEN", help="ISO 8601 or words.")]
AsOf = Annotated[
    str | None, typer.Option(metavar="WHEN", help="As it was then: a time or a position.")
]
Limit = Annotated[int, typer.Option(min=1, max=100, help="At most so many.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Trim to about so many tokens.")
]


@dataclass(frozen=True, slots=True)
class Capture:
    """What can be said of a new item beside its words."""

    priority: Annotated[str | None, typer.Option(help="low, medium or high.")] = None
    project: Annotated[str | None, typer.Option(metavar="SLUG", help="Its project.")] = None
    topic: Annotated[str | None, typer.Option(metavar="SLUG", help="Its topic.")] = None
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag; repeatable.")] = None
    pinned: Annotated[bool, typer.Option("--pin", help="Pin it.")] = False
    startup: Annotated[
        int | None, typer.Option(min=0, max=10, help="Load at startup: 10 always, 0 never.")
    ] = None

    def arguments(self) -> dict[str, JSON]:
        """Return them as a capturing tool takes them."""
        return {
            "priority": self.priority,
            "project_slug": self.project,
            "group_slug": self.topic,
            "tags": list(self.tag) if self.tag else None,
            "pinned": True if self.pinned else None,
            "startup_priority": self.startup,
        }
