"""What JSON of a chat is called here, and how it is written: objects of two vendors' forms.

It is not a schema: unknown fields are kept, odd values are looked at before use. Any ring may
import it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from remembrancer.core.jsontext import parse_json

Body: TypeAlias = dict[str, object]
"""A JSON object as decoded: a request, a message, a content part, a chunk."""


_HALF: Final = re.compile("[\ud800-\udfff]")


def write_json(value: object) -> str:
    """Return the JSON text of `value` on one line, in the order of its keys.

    *Promise:* can always be encoded as UTF-8: half a surrogate pair, which a stream may carry in
    one piece and its other half in the next, is written as an escape.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def read_object(text: str) -> Body | None:
    """Return the JSON object that `text` is, or None when it is anything else."""
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def objects_of(value: object) -> list[Body]:
    """Return the objects of a list, in order; nothing of what is no list or no object."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_of(value: object) -> Body:
    """Return `value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def string_of(value: object) -> str:
    """Return `value` when it is a string, else ''."""
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int:
    """Return a count of tokens: `value` when it is a whole number above 0, else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < 2**53 else 0


def parts_of(content: object) -> Iterator[Body]:
    """Yield the parts of a message's content; a string counts as one text part."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from objects_of(content)


def join_halves(text: str) -> str:
    """Return `text` with halves of surrogate pairs that stand together made one character."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def whole_text(pieces: Sequence[str]) -> str:
    """Return pieces as one text that can be stored: a half without its other half is replaced."""
    return _HALF.sub("\ufffd", join_halves("".join(pieces)))
