"""The program `remembrancer`: its commands, and the one place where a failure becomes an exit code.

Commands import what they need when they run, so that `--help` answers at once.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from remembrancer.cli.candidates import candidates
from remembrancer.cli.context import context
from remembrancer.cli.doctor import doctor, settings
from remembrancer.cli.groups import RootGroup
from remembrancer.cli.history import forget, history, redo, undo
from remembrancer.cli.jobs import jobs
from remembrancer.cli.keys import keys
from remembrancer.cli.ledger import rebuild, verify
from remembrancer.cli.mcp import mcp
from remembrancer.cli.memories import remember, search
from remembrancer.cli.output import print_error, ready_streams
from remembrancer.cli.place import placed
from remembrancer.cli.projects import projects
from remembrancer.cli.recall import recall
from remembrancer.cli.serve import serve
from remembrancer.cli.tasks import tasks
from remembrancer.cli.topics import topics
from remembrancer.cli.transfer import backup, export, import_, restore
from remembrancer.core.errors import CODES, InvalidInput, RemembrancerError, StoreUnavailable
from remembrancer.core.product import NAME, VERSION

INTERRUPTED: Final = 130
"""Exit code after Ctrl+C. Source: the shells' custom, 128 and the signal's number."""

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What writing to a file meets when its disk or device takes no more."""

FRAMES_SHOWN: Final = 8
"""Innermost frames of a defect that are shown. Our choice."""

app = typer.Typer(
    cls=RootGroup,
    help="Long-term memory and tasks for agents and people, on your own machine.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{NAME} {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del version


_COMMANDS: Final[tuple[Callable[..., None] | tuple[str, typer.Typer], ...]] = (
    serve,
    mcp,
    ("tasks", tasks),
    remember,
    recall,
    search,
    ("candidates", candidates),
    ("context", context),
    ("projects", projects),
    ("topics", topics),
    history,
    undo,
    redo,
    forget,
    ("jobs", jobs),
    ("keys", keys),
    ("settings", settings),
    export,
    import_,
    backup,
    restore,
    rebuild,
    verify,
    doctor,
)
"""Everything the program does, in the order of its help."""


def _name(entry: Callable[..., None] | tuple[str, typer.Typer]) -> str:
    # `import` is a word of the language, so its function has a line behind it.
    return entry[0] if isinstance(entry, tuple) else entry.__name__.rstrip("_")


for _entry in _COMMANDS:
    if isinstance(_entry, tuple):
        app.add_typer(_entry[1], name=_entry[0])
    else:
        app.command(_name(_entry))(placed(_entry))
RootGroup.order = [_name(each) for each in _COMMANDS]


def main() -> None:
    """Run the program with the process's arguments and end the process."""
    ready_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code."""
    as_json = "--json" in arguments
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except RemembrancerError as error:
        print_error(error, as_json=as_json)
        return CODES[error.code].exit
    except typer.TyperException as error:
        # How the command was written: an unknown option, a missing argument.
        print_error(InvalidInput(error.format_message()), as_json=as_json)
        return CODES["invalid_input"].exit
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # the reader has gone
        return 0
    except Exception as error:
        # The outermost loop of the command line: whatever a command got wrong ends here.
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            _drop_output()
            full = StoreUnavailable(
                f"the output cannot be written: {error.strerror}", hint="what was asked is done"
            )
            print_error(full, as_json=as_json)
            return CODES[full.code].exit
        _tell_defect(error)
        print_error(
            RemembrancerError(
                "something went wrong inside the program", hint="see above for where"
            ),
            as_json=as_json,
        )
        return CODES["internal_error"].exit
    return code


def _drop_output() -> None:
    """Let what is still buffered go nowhere, so that it does not fail again at the very end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@cache
def _command() -> Callable[..., Any]:
    """Return the commands as typer runs them; reading all their signatures takes a while.

    Any: it returns whatever the command's function did, or an exit code.
    """
    return get_command(app)


def _invoke(arguments: Sequence[str]) -> int:
    outcome = _command()(args=list(arguments), prog_name="remembrancer", standalone_mode=False)
    return outcome if isinstance(outcome, int) else 0


def _tell_defect(error: Exception) -> None:
    # Where it happened, without the exception's own text: that can quote somebody's memory.
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES_SHOWN:]
    lines = [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    sys.stderr.write("\n".join([*lines, kind, ""]))
