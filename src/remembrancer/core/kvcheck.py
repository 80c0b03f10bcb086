"""The one check that every key-value driver runs: what Workers KV would refuse.

Pure; it knows no driver. Any ring may import it.
"""

from __future__ import annotations

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import KV_KEY_BYTES_MAX, KV_TTL_S_MIN, KV_VALUE_BYTES_MAX


def check_key(key: str) -> None:
    """Refuse a key that is empty, `.`, `..`, not Unicode or over 512 bytes.

    *Raises:* InvalidInput; keys hold no secret, so the message names it.
    """
    if key in ("", ".", ".."):
        raise InvalidInput(f"the cache key {key!r} is not allowed", hint="use a longer key")
    size = _bytes(key, "key")
    if size > KV_KEY_BYTES_MAX:
        raise InvalidInput(
            f"a cache key of {size} bytes is over the limit of {KV_KEY_BYTES_MAX}: {key[:40]!r}…",
            hint="hash the long part",
        )


def check_entry(key: str, value: str, ttl_s: int) -> None:
    """Refuse what `put` may not store.

    *Units:* `ttl_s` seconds, ≥ 60. *Raises:* InvalidInput; the value is never shown.
    """
    check_key(key)
    size = _bytes(value, "value")
    if size > KV_VALUE_BYTES_MAX:
        raise InvalidInput(
            f"a cache value of {size} bytes is over the limit of {KV_VALUE_BYTES_MAX}",
            hint="cache less",
        )
    if ttl_s < KV_TTL_S_MIN:
        raise InvalidInput(
            f"a time to live of {ttl_s!r} s is below the least of {KV_TTL_S_MIN} s",
            hint=f"keep it for {KV_TTL_S_MIN} s or not at all",
        )


def _bytes(text: str, what: str) -> int:
    try:
        return len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the cache {what} has a lone surrogate at {error.start}", hint="send valid Unicode"
        ) from error
