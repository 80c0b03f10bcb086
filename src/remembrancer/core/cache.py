"""The general cache: how long a client's entry may be and live. Every ring may import it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.text.fold import clean
from remembrancer.core.values import JSON

VALUE_BYTES_MAX: Final = 262_144
"""Bytes of a value as JSON. Source: the predecessor."""

TTL_S: Final = 86_400
"""Seconds that an entry lives unless it says otherwise. Source: the predecessor."""

TTL_S_MAX: Final = 10 * 365 * 86_400
"""Seconds that an entry may ask for; null is for ever. Our choice."""

NAME_BYTES_MAX: Final = 512
"""Bytes of a bucket's or an entry's name. Source: Workers KV's limit of a key."""

TAGS_MAX: Final = 50
"""Tags of one entry. Our choice."""

TEXT: Final = "text/plain"
JSON_TYPE: Final = "application/json"


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """An entry that is about to be kept.

    *Shape:* `value` its JSON, in the order in which it came. *Units:* `ttl_s` seconds, None for
    ever; `size` bytes of the value.
    """

    value: str
    size: int
    content_type: str
    tags: tuple[str, ...]
    ttl_s: int | None


def check_name(name: str, *, field: str) -> str:
    """Return the name of a bucket or an entry. *Raises:* InvalidInput, LimitExceeded."""
    if not name or name != clean(name):
        raise InvalidInput(
            f"{field} {name[:60]!r} is empty or holds control characters",
            hint="give it a plain name",
            field=field,
        )
    if len(name.encode()) > NAME_BYTES_MAX:
        raise LimitExceeded(
            f"{field} has {len(name.encode())} bytes",
            hint=f"at most {NAME_BYTES_MAX}",
            field=field,
        )
    return name


def check_entry(
    value: JSON, *, content_type: str | None, tags: Sequence[str], ttl_s: float | None
) -> CacheEntry:
    """Return an entry that may be kept.

    *Shape:* without a `content_type`, a text is `text/plain` and everything else JSON; 0 seconds
    are over at once. *Raises:* InvalidInput, LimitExceeded (the value, the tags).
    """
    if ttl_s is not None and not 0 <= ttl_s <= TTL_S_MAX:
        raise InvalidInput(
            f"ttl_seconds {ttl_s!r} is out of range",
            hint=f"0 to {TTL_S_MAX}, or null for ever",
            field="ttl_seconds",
        )
    if len(tags) > TAGS_MAX:
        raise LimitExceeded(f"{len(tags)} tags", hint=f"at most {TAGS_MAX}", field="tags")
    kind = content_type or (TEXT if isinstance(value, str) else JSON_TYPE)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "the value holds half of a surrogate pair", hint="send valid Unicode", field="value"
        ) from error
    if size > VALUE_BYTES_MAX:
        raise LimitExceeded(
            f"the value has {size} bytes as JSON",
            hint=f"at most {VALUE_BYTES_MAX}",
            field="value",
            code="payload_too_large",
        )
    return CacheEntry(
        text,
        size,
        check_name(kind, field="content_type"),
        tuple(check_name(tag, field="tags") for tag in tags),
        None if ttl_s is None else int(ttl_s),
    )
