"""Files in which a memory travels: exports, line by line; and the database's copies.

It knows no line's meaning. The command line reaches it through `local.wire`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from remembrancer.core.errors import InvalidInput, StoreUnavailable
from remembrancer.core.ledger.transfer import LINE_BYTES_MAX
from remembrancer.local.backup import back_up, restore
from remembrancer.local.folder import find_folder

__all__ = ["back_up", "find_folder", "read_lines", "restore", "write_lines"]


async def write_lines(path: Path, lines: AsyncIterator[bytes]) -> int:
    """Write lines to a file of the owner's alone and return its size in bytes.

    *Raises:* StoreUnavailable, and what the lines raise. *Promise:* the file appears, or is
    replaced, when it is whole.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                async for line in lines:
                    file.write(line)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"the file {str(path)!r} cannot be written: {error.strerror}",
            hint="check the path and its permissions",
        ) from error
    return size


def read_lines(path: Path) -> Iterator[bytes]:
    """Give the lines of a file; one that is too long comes without its end.

    *Raises:* InvalidInput when the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            while line := file.readline(LINE_BYTES_MAX):
                yield line
    except OSError as error:
        raise InvalidInput(
            f"the file {str(path)!r} cannot be read: {error.strerror}",
            hint="check the path and its permissions",
            field="file",
        ) from error
