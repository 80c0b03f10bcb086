"""wrangler for many commands in one process: the program itself, loaded once. Not a suite.

What a fork calls is a small program that hands its command over and ends as the command did.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import ROOT

PROGRAMS = ROOT / "node_modules" / ".bin"
"""Node and wrangler, as locked."""
STOP_S = 60
"""Seconds that the process may take to end."""
STARTER = """#!/bin/sh
exec "{python}" -IS "{command}" "{address}" "$@"
"""
"""Stands where a fork looks for wrangler."""
COMMAND = """import json, os, socket, sys
_, address, *arguments = sys.argv
call = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(address)
    connection.sendall(json.dumps({**call, "given": sys.stdin.read()}).encode())
    connection.shutdown(socket.SHUT_WR)
    ended = json.load(connection.makefile("rb"))
sys.stdout.write(ended["output"])
sys.stderr.write(ended["errors"])
sys.exit(ended["code"])
"""
"""Hands a command over, says what came of it, and ends as it did."""


@contextmanager
def running_wrangler() -> Iterator[Path]:
    """A folder of programs, as `node_modules/.bin` is one, for as long as the block runs."""
    with tempfile.TemporaryDirectory() as made:
        folder, address = Path(made), str(Path(made) / "socket")
        programs = folder / "bin"
        programs.mkdir()
        (programs / "node").symlink_to(PROGRAMS / "node")
        command = folder / "command.py"
        command.write_text(COMMAND)
        facts = {"python": sys.executable, "command": command, "address": address}
        (programs / "wrangler").write_text(STARTER.format(**facts))
        (programs / "wrangler").chmod(0o700)
        process = subprocess.Popen(
            [str(PROGRAMS / "node"), str(Path(__file__).with_suffix(".mjs")), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # What the program reads once, when it is loaded.
            env={"PATH": os.environ["PATH"], "HOME": made, "FORCE_COLOR": "0"},
        )
        assert process.stdin is not None and process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n", "wrangler was not loaded; see above"
            yield programs
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(STOP_S)
