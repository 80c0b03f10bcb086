"""Serves the conformance fixtures on the standard streams: `python -m tests.mcp.stdio_fixtures`."""

from __future__ import annotations

import asyncio
import itertools
import sys
from functools import partial

from tests.mcp.fixtures import fixture_server

from remembrancer.core.access.scopes import SCOPES
from remembrancer.core.ids import Namespace
from remembrancer.core.values import Caller
from remembrancer.local.stdio import read_lines, take_stdin, take_stdout, write_line
from remembrancer.mcp.call import Call
from remembrancer.mcp.stdio import serve_lines


async def serve() -> None:
    """Serve until standard input ends; what is printed meanwhile must not disturb the client."""
    numbers = itertools.count(1)

    def new_call() -> Call[None]:
        cause = f"req_{next(numbers)}"
        return Call(None, Caller(Namespace("fixtures"), "user", cause, frozenset[str](SCOPES)))

    output = take_stdout()
    sys.stdout.write("this is no message\n")
    await serve_lines(
        read_lines(take_stdin()),
        partial(write_line, output),
        server=fixture_server(),
        new_call=new_call,
    )


if __name__ == "__main__":
    asyncio.run(serve())
