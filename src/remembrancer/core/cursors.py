"""Cursors: where a page ended, as one opaque text that every door can hand out.

Not a secret and not signed: a cursor only names a place, and every query that uses one is bound
to its namespace. Every ring may import it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.jsontext import parse_json
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.core.values import canonical_json

CURSOR_CHARS_MAX: Final = 1_024
"""Characters of a cursor. Our choice; the longest of ours has about 400."""

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")

CursorValue = str | int | float | None
"""One part of a place: what a list is ordered by, and the id."""


def encode_cursor(kind: str, values: Sequence[CursorValue]) -> str:
    """Return the cursor of a place. *Shape:* `kind` names the list, so that no other takes it."""
    text = canonical_json([kind, *values])
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode("ascii")


def decode_cursor(
    text: str, *, kind: str, types: Sequence[type | tuple[type, ...]]
) -> tuple[CursorValue, ...]:
    """Return the place that a cursor names.

    *Shape:* one value for each of `types`, of that type; integers within ±(2⁵³ - 1).
    *Raises:* InvalidInput for anything that this list did not hand out.
    """
    values = _decode(text)
    is_ours = (
        len(values) == len(types) + 1
        and values[0] == kind
        and all(_is(value, type_) for value, type_ in zip(values[1:], types, strict=True))
    )
    if not is_ours:
        raise InvalidInput(
            f"cursor is {text[:40]!r}, which this list did not return",
            hint="send next_cursor of the page before, or leave it out for the first page",
            field="cursor",
        )
    return tuple(values[1:])


def _decode(text: str) -> list[CursorValue]:
    if len(text) > CURSOR_CHARS_MAX or not text.isascii():
        return []
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        values = parse_json(raw.decode())
    except (binascii.Error, ValueError, RecursionError):
        return []
    return values if isinstance(values, list) else []


def _is(value: object, type_: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool) or not isinstance(value, type_):
        return False
    if isinstance(value, float):
        return abs(value) <= INTEGER_MAX  # also refuses nan and the infinities
    if isinstance(value, str):
        # Not `isprintable`: to it a character newer than this Python is none.
        return _UNSTORABLE.search(value) is None
    return not isinstance(value, int) or abs(value) <= INTEGER_MAX
