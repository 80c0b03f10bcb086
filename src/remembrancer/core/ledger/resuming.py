"""Places in long work on the ledger, as one opaque text that goes from one request to the next.

As `core.cursors`, for places with more parts: not a secret and not signed, since whoever sends one
may do the whole work anyway. Pure. Every ring may import it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.jsontext import parse_json
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.core.values import JSON, canonical_json

PLACE_CHARS_MAX: Final = 16_000
"""Characters of a place: it may stand in an address, of which Cloudflare takes 16 KB. Our choice;
one with a hundred namespaces has about 12,000."""


def encode_place(kind: str, members: Mapping[str, JSON]) -> str:
    """Return the text of a place. *Shape:* `kind` names the work, so that no other takes it."""
    text = canonical_json({"of": kind, **members})
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode("ascii")


def decode_place(text: str, kind: str, example: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the members of a place.

    *Shape:* those of `example`, each of the same type as there: what stands in a list or an object
    is like its first one, null stands for a text or nothing. *Raises:* InvalidInput for anything
    that this work did not hand out.
    """
    members = _decoded(text)
    if members.pop("of", None) != kind or not _is_alike(members, dict(example)):
        raise InvalidInput(
            f"cursor is {text[:40]!r}, which this work did not return",
            hint="send the cursor of the answer before, or leave it out to begin",
            field="cursor",
        )
    return members


def _decoded(text: str) -> dict[str, JSON]:
    if len(text) > PLACE_CHARS_MAX or not text.isascii():
        return {}
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        members = parse_json(raw.decode())
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _is_alike(value: JSON, example: JSON) -> bool:
    if example is None:
        return value is None or (isinstance(value, str) and value.isprintable())
    if type(value) is not type(example):
        return False
    if isinstance(value, int):
        return 0 <= value <= INTEGER_MAX
    if isinstance(value, str):
        return value.isprintable()
    if isinstance(value, list) and isinstance(example, list):
        return all(_is_alike(one, example[0]) for one in value)
    if isinstance(value, dict) and isinstance(example, dict):
        if len(example) == 1 and "" in example:
            return all(_is_alike(one, example[""]) for one in value.values())
        return value.keys() == example.keys() and all(
            _is_alike(value[name], example[name]) for name in example
        )
    return True
