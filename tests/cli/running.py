"""Running the program in this process: arguments in; exit code, output and errors out."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remembrancer.cli.main import run


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of the program came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # Any: whatever the command answers
        """The one JSON line that was printed."""
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:  # Any: members of an error
        """The error as `--json` prints it."""
        held: dict[str, Any] = json.loads(self.err)["error"]
        return held


@dataclass(frozen=True, slots=True)
class Program:
    """The program, with a data folder of its own."""

    data: Path

    def __call__(self, *arguments: str) -> Ran:
        """Run it with these arguments and the folder."""
        return self.bare(*arguments, "--data", str(self.data))

    def bare(self, *arguments: str) -> Ran:
        """Run it with these arguments alone."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(arguments)
        return Ran(code, out.getvalue(), err.getvalue())

    def item(self, *arguments: str) -> dict[str, Any]:  # Any: members of an item
        """Run it for JSON and return the item of its answer."""
        item: dict[str, Any] = self(*arguments, "--json").json["item"]
        return item
