"""Where a command works and how it answers: the options that every command has.

It opens nothing; `door.py` does, from what is chosen here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final

import typer

from remembrancer.core.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What the options of every command said.

    *Shape:* `url` None means this machine's store. The token is a secret.
    """

    url: str | None = None
    token: str | None = None
    data: str | None = None
    namespace: str | None = None
    is_json: bool = False

    def refuse_remote(self, command: str, hint: str) -> None:
        """Stop a command that only works on this machine's store. *Raises:* InvalidInput."""
        if self.url is not None:
            raise InvalidInput(
                f"{command} works on this machine's store, not on {self.url!r}",
                hint=hint,
                field="url",
            )


_OPTIONS: Final[dict[str, Any]] = {  # Any: annotations, as typer reads them
    "url": Annotated[
        str | None,
        typer.Option(
            envvar="REMEMBRANCER_URL",
            metavar="URL",
            help="Work on a remote server, such as https://memory.example.org.",
            rich_help_panel="Where",
        ),
    ],
    "token": Annotated[
        str | None,
        typer.Option(
            envvar="REMEMBRANCER_TOKEN",
            metavar="KEY",
            help="The key for the remote server.",
            rich_help_panel="Where",
        ),
    ],
    "data": Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The data folder on this machine (else REMEMBRANCER_DATA, else the platform's).",
            rich_help_panel="Where",
        ),
    ],
    "namespace": Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Whose memory, when it is not the key's own.",
            rich_help_panel="Where",
        ),
    ],
    "is_json": Annotated[
        bool,
        typer.Option("--json", help="Answer in JSON, for programs.", rich_help_panel="Where"),
    ],
}

NAMES: Final = tuple(field.name for field in fields(Place))
"""The parameters that every command has beside its own."""


# Any: a command has whatever parameters it has, and typer looks at their annotations.
def placed(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, whose first parameter is its Place, the options of every command."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "is_json" else None,
            annotation=_OPTIONS[name],
        )
        for name in NAMES
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in NAMES}
        command(Place(**chosen), **given)

    whole = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + shared
    run.__dict__["__signature__"] = inspect.Signature(whole)
    run.__annotations__ = {each.name: each.annotation for each in whole}
    return run
