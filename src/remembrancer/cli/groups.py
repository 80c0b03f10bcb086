"""How commands are grouped: a group answers without a subcommand as its first one would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import typer
from typer.core import TyperGroup

_HELP: Final = ("--help",)


class DefaultGroup(TyperGroup):
    """A group that takes options without a subcommand as those of its first subcommand."""

    # Any: the context is typer's own and only handed on.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in _HELP):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


class RootGroup(TyperGroup):
    """The program: without a command it shows its help, in the order of a person's first day."""

    order: ClassVar[Sequence[str]] = ()

    # Any: as above.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    # Any: as above.
    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=self.order.index)


def group(about: str) -> typer.Typer:
    """Return an empty group of commands."""
    return typer.Typer(cls=DefaultGroup, help=about, add_completion=False)
