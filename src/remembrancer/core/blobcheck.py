"""The one check that every blob driver runs: what R2 would refuse, and more than we keep.

Pure; it knows no driver. Any ring may import it.
"""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.limits import BLOB_BYTES_MAX, BLOB_KEY_BYTES_MAX, BLOB_KEYS_MAX


def check_key(key: str) -> None:
    """Refuse a key that is empty, not Unicode or over 1,024 bytes. *Raises:* InvalidInput."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the blob key has a lone surrogate at {error.start}", hint="send valid Unicode"
        ) from error
    if not 1 <= size <= BLOB_KEY_BYTES_MAX:
        raise InvalidInput(
            f"a blob key of {size} bytes is not between 1 and {BLOB_KEY_BYTES_MAX}: {key[:40]!r}",
            hint="use another key",
        )


def check_put(key: str, data: bytes) -> None:
    """Refuse what `put` may not keep. *Raises:* InvalidInput, LimitExceeded."""
    check_key(key)
    if len(data) > BLOB_BYTES_MAX:
        raise LimitExceeded(
            f"a blob of {len(data)} bytes is over the limit of {BLOB_BYTES_MAX}",
            hint="keep it in parts",
        )


def check_keys(keys: Sequence[str]) -> None:
    """Refuse more keys than one call removes. *Raises:* InvalidInput, LimitExceeded."""
    if len(keys) > BLOB_KEYS_MAX:
        raise LimitExceeded(
            f"{len(keys)} blobs at once are over the limit of {BLOB_KEYS_MAX}",
            hint="remove them in parts",
        )
    for key in keys:
        check_key(key)
