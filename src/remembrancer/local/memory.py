"""Giving memory back to the system after much of it was freed. Only `local` modules use it."""

from __future__ import annotations

import ctypes
import os


def give_back() -> None:
    """Ask the allocator to return what is free; where it cannot, nothing happens.

    glibc keeps freed blocks for later, which after loading weights or filling an array are
    megabytes that nobody uses. *Source:* malloc_trim(3).
    """
    if os.name != "posix":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)
