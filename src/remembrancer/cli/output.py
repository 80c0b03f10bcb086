"""What a command prints: one JSON line, plain lines, tables; and errors on stderr.

Rich is loaded when a person is to read something, not for `--json`. Colour follows the terminal
and NO_COLOR. What the lines say is the commands' business.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from remembrancer.core.errors import RemembrancerError

if TYPE_CHECKING:
    from rich.console import Console

_TURNING: Final = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

WIDE: Final = 1_000
"""Columns where no terminal sets a width: whoever reads a pipe wants whole values."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; a `whole` one is never cut."""

    head: str
    whole: bool = False
    right: bool = False


def ready_streams() -> None:
    """Make the standard streams take any text, so that no command fails at telling what it did.

    A sign that the terminal has no bytes for is shown as `?`; a stream that is closed takes all.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = vars(sys)[name]
        if stream is None:
            # In its old place, which the next file that is opened would take otherwise.
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, "w" if number else "r", encoding="utf-8"))
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_json(value: object) -> None:
    """Print one JSON line; with escapes where the stream cannot hold every sign."""
    sys.stdout.write(_json_line(value, sys.stdout.encoding))


def print_bytes(raw: bytes) -> None:
    """Print bytes in UTF-8 as they are, whatever the stream's own encoding and line ends."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
    else:
        sys.stdout.write(raw.decode())


def _json_line(value: object, encoding: str | None) -> str:
    is_ascii = codecs.lookup(encoding or "utf-8").name != "utf-8"
    return json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":")) + "\n"


def console(*, is_error: bool = False) -> Console:
    """Return a Rich console; texts of memory are never read as markup."""
    from rich.console import Console

    stream = sys.stderr if is_error else sys.stdout
    width = None if stream.isatty() else WIDE
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def print_line(text: str, style: str | None = None) -> None:
    """Print one line for a person, not wrapped; a control sign in it cannot steer the terminal."""
    console().print(visible(text), style=style, soft_wrap=True)


def print_table(columns: Sequence[Column], lines: Sequence[Sequence[str]]) -> None:
    """Print rows under heads; a terminal too narrow for them cuts or folds the texts."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column.head,
            no_wrap=column.whole,
            overflow="fold",
            justify="right" if column.right else "left",
        )
    for line in lines:
        table.add_row(*(visible(cell) for cell in line))
    console().print(table)


def print_fields(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair a line; empty values are left out."""
    shown = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        first, *more = visible(value).split("\n")
        print_line(f"{name:<{width}}  {first}")
        for line in more:
            print_line(f"{'':<{width}}  {line}")


def visible(text: str) -> str:
    """Return a text without control signs: a memory must not steer somebody's terminal."""
    return "".join(
        sign if sign in "\n\t" or not _is_control(sign) else "\N{REPLACEMENT CHARACTER}"
        for sign in text
    )


def _is_control(sign: str) -> bool:
    # C0, DEL and C1; and the signs that turn the direction of what follows.
    return sign < " " or "\x7f" <= sign < "\xa0" or sign in _TURNING


def print_error(error: RemembrancerError, *, as_json: bool) -> None:
    """Print an error on stderr: a red line and its hint, or the one JSON shape of every door."""
    if as_json:
        shown = {"code": error.code, "message": error.message, "hint": error.hint}
        if error.field is not None:
            shown["field"] = error.field
        sys.stderr.write(_json_line({"error": shown}, sys.stderr.encoding))
        return
    out = console(is_error=True)
    out.print(f"error: {visible(error.message)}", style="bold red", soft_wrap=True)
    if error.hint:
        out.print(f"hint: {visible(error.hint)}", soft_wrap=True)


def text_of(value: object) -> str:
    """Return a JSON value as a person reads it in a line; nothing for null."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


class Progress:
    """How far long work has come; it is told, and shows it when somebody watches."""

    def __call__(self, done: int, total: int | None = None) -> None:
        """Tell how much is done, and of how much when that is known."""


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Progress]:
    """Show a bar on stderr while the block works; nothing when quiet or when nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield Progress()
        return
    from rich.progress import Progress as Bars

    with Bars(console=console(is_error=True), transient=True) as bars:
        bar = bars.add_task(label, total=None)

        class Shown(Progress):
            def __call__(self, done: int, total: int | None = None) -> None:
                bars.update(bar, completed=done, total=total)

        yield Shown()
