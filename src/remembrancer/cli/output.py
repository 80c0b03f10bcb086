"""What a command prints: one JSON line, plain lines, tables; and errors on stderr.

Rich is loaded when a person is to read something, not for `--json`. Colour follows the terminal
and NO_COLOR. What the lines say is the commands' business.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from remembrancer.core.errors import RemembrancerError

if TYPE_CHECKING:
    from rich.console import Console


def print_json(value: object) -> None:
    """Print one JSON line."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def console(*, is_error: bool = False) -> Console:
    """Return a Rich console; texts of memory are never read as markup."""
    from rich.console import Console

    return Console(stderr=is_error, markup=False, highlight=False, emoji=False)


def print_error(error: RemembrancerError, *, as_json: bool) -> None:
    """Print an error on stderr: one line and its hint, or the one JSON shape of every door."""
    if as_json:
        shown = {"code": error.code, "message": error.message, "hint": error.hint}
        if error.field is not None:
            shown["field"] = error.field
        sys.stderr.write(json.dumps({"error": shown}, ensure_ascii=False) + "\n")
        return
    out = console(is_error=True)
    out.print(f"error: {error.message}", style="bold red", soft_wrap=True)
    if error.hint:
        out.print(f"hint: {error.hint}", soft_wrap=True)


def text_of(value: object) -> str:
    """Return a JSON value as a person reads it in a line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
