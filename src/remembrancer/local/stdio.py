"""The standard streams as lines: what a client that starts this program as a child speaks through.

It moves bytes and knows no protocol; the loop over the lines is `mcp/stdio.py`'s. Only the wire
and tests import it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import BinaryIO


async def read_lines(stream: BinaryIO) -> AsyncIterator[bytes]:
    """Give the lines of a blocking stream, until it ends.

    *Promise:* waiting for a line blocks no other work, and keeps no program from ending.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        line = b"\n"
        while line:
            line = stream.readline()
            try:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            except RuntimeError:
                return  # the loop was closed while this thread waited for a line

    # A daemon: the default executor would be joined at the end, and a client may never speak.
    threading.Thread(target=read, name="read-lines", daemon=True).start()
    while line := await lines.get():
        yield line


def take_stdin() -> BinaryIO:
    """Return the standard input for `read_lines` alone.

    The interpreter closes its own at the end, and dies of it while a thread still waits there.
    """
    return os.fdopen(os.dup(sys.stdin.fileno()), "rb")


def take_stdout() -> BinaryIO:
    """Return the standard output for answers alone; what else is printed goes to standard error."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


async def write_line(stream: BinaryIO, line: bytes) -> None:
    """Write one whole line at once."""
    stream.write(line)
    stream.flush()


def standard_lines() -> tuple[AsyncIterator[bytes], Callable[[bytes], Awaitable[None]]]:
    """Return the lines of standard input, and the way to write one to standard output."""
    output = take_stdout()
    return read_lines(take_stdin()), partial(write_line, output)
