"""Where a command works and how it answers: the options that every command has.

It opens nothing; `door.py` does, from what is chosen here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Final, get_type_hints

import typer

from remembrancer.core.errors import InvalidInput
from remembrancer.core.ids import is_namespace


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

    def __post_init__(self) -> None:
        if self.namespace is not None and not is_namespace(self.namespace):
            raise InvalidInput(
                f"namespace is {self.namespace[:64]!r}, which cannot name one",
                hint="use 1 to 64 of letters, digits, '.', '_' and '-'",
                field="namespace",
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
    """Give a command, whose first parameter is its Place, the options of every command.

    *Shape:* a parameter that is a dataclass stands for its fields, each an option of its own.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    grouped: dict[str, Any] = {
        each.name: each.annotation for each in own if is_dataclass(each.annotation)
    }
    members = {name: _members(kind) for name, kind in grouped.items()}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = Place(**{name: given.pop(name) for name in NAMES})
        for name, kind in grouped.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in members[name]})
        command(chosen, **given)

    whole = [single for each in own for single in members.get(each.name, [each])]
    whole = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in whole] + _shared()
    run.__dict__["__signature__"] = inspect.Signature(whole)
    run.__annotations__ = {each.name: each.annotation for each in whole}
    return run


def _members(kind: Any) -> list[inspect.Parameter]:  # Any: a dataclass
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _shared() -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "is_json" else None,
            annotation=_OPTIONS[name],
        )
        for name in NAMES
    ]
