"""Parsing JSON that somebody else wrote, however deep it nests.

CPython's parser calls itself for each list and object, and ends with a RecursionError where that
goes too deep. Compiled to WebAssembly it does not see the host's stack end: the whole isolate is
lost, with every request in it. There the nesting is counted first. Every ring may import it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any, Final

NESTING_MAX: Final = 200
"""Lists and objects within each other in one text. Source: what REST's parser takes (jiter)."""

_IS_WEBASSEMBLY: Final = sys.platform == "emscripten"

_BETWEEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[^\[\]{}"]+', re.DOTALL)
"""Strings, also one that is not closed, and all else that is no bracket."""


# Any: what a JSON text holds.
def parse_json(
    text: str | bytes,
    *,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """Return the value of a text. *Raises:* ValueError, and RecursionError for what is too deep."""
    if _IS_WEBASSEMBLY:
        refuse_depth(text)
    return json.loads(text, parse_constant=parse_constant, parse_float=parse_float)


def parse_from(decoder: json.JSONDecoder, text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at a place of a text, and where it ends. *Raises:* as above."""
    if _IS_WEBASSEMBLY:
        refuse_depth(text[start:])
    return decoder.raw_decode(text, start)


def refuse_depth(text: str | bytes) -> None:
    """Raise what CPython's parser does for a text that nests deeper than `NESTING_MAX`.

    *Raises:* RecursionError; also for some text that is no JSON at all.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "replace")
    if text.count("[") + text.count("{") <= NESTING_MAX:
        return
    depth = 0
    for bracket in _BETWEEN.sub("", text):
        depth += 1 if bracket in "[{" else -1
        if depth > NESTING_MAX:
            raise RecursionError("lists and objects are nested too deep")
