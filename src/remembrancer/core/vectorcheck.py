"""The one check that every vector driver runs: what Vectorize would refuse.

Pure; it knows no driver and no model. Any ring may import it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from remembrancer.core.errors import InvalidInput, LimitExceeded

VECTOR_ID_BYTES_MAX: Final = 64
"""Bytes of a vector's id. Source: Vectorize limits, developers.cloudflare.com, 2026-08."""

VECTOR_SCOPE_BYTES_MAX: Final = 64
"""Bytes of a namespace or of a value that is filtered by. Source: as above."""

UPSERT_ROWS_MAX: Final = 1_000
"""Rows of one upsert. Source: Vectorize limits for a Worker, as above."""

DELETE_IDS_MAX: Final = 1_000
"""Ids of one delete, and of one question which are held. Our choice, as for an upsert."""

QUERY_TOP_MAX: Final = 100
"""Matches of one query without values and metadata. Source: Vectorize limits, as above."""

EMBED_TEXTS_MAX: Final = 100
"""Texts of one call to an embedder. Source: Workers AI, `@cf/baai/bge-m3`, batch of 100."""

EMBED_CHARS_MAX: Final = 2_000
"""Characters of a text that are embedded, its first. Our choice: here a thousand take 13 ms in
English and 60 ms in Chinese, and a vector of more than a page says little about any of it."""


def check_texts(texts: Sequence[str]) -> None:
    """Refuse more texts than one call may carry. *Raises:* LimitExceeded."""
    if len(texts) > EMBED_TEXTS_MAX:
        raise LimitExceeded(
            f"{len(texts)} texts are over the limit of {EMBED_TEXTS_MAX} a call",
            hint="send them in parts",
        )


def check_ids(ids: Sequence[str]) -> None:
    """Refuse ids that are too many, too long or empty. *Raises:* InvalidInput, LimitExceeded."""
    if len(ids) > DELETE_IDS_MAX:
        raise LimitExceeded(
            f"{len(ids)} ids are over the limit of {DELETE_IDS_MAX} a call",
            hint="send them in parts",
        )
    for id_ in ids:
        check_id(id_)


def check_id(id_: str) -> None:
    """Refuse an id that is empty or over 64 bytes. *Raises:* InvalidInput."""
    if not 1 <= _bytes(id_) <= VECTOR_ID_BYTES_MAX:
        raise InvalidInput(
            f"the vector id {id_[:70]!r} is not allowed", hint=f"1 to {VECTOR_ID_BYTES_MAX} bytes"
        )


def check_scope(*values: str) -> None:
    """Refuse a namespace or filter value over 64 bytes. *Raises:* InvalidInput."""
    for value in values:
        if _bytes(value) > VECTOR_SCOPE_BYTES_MAX:
            raise InvalidInput(
                f"{value[:70]!r} is too long to filter vectors by",
                hint=f"at most {VECTOR_SCOPE_BYTES_MAX} bytes",
            )


def check_values(values: Sequence[float], dims: int) -> None:
    """Refuse a vector of other dimensions, or with a value that is no number.

    *Raises:* InvalidInput.
    """
    if len(values) != dims:
        raise InvalidInput(
            f"a vector of {len(values)} dimensions does not fit an index of {dims}",
            hint="embed it with the index's model",
        )
    if not math.isfinite(sum(values)):
        raise InvalidInput("a vector holds a value that is no finite number", hint="embed it again")


def check_upsert(count: int) -> None:
    """Refuse more rows than one call may carry. *Raises:* LimitExceeded."""
    if count > UPSERT_ROWS_MAX:
        raise LimitExceeded(
            f"{count} vectors are over the limit of {UPSERT_ROWS_MAX} a call",
            hint="send them in parts",
        )


def check_top(top: int) -> None:
    """Refuse a number of matches that Vectorize does not give. *Raises:* InvalidInput."""
    if not 1 <= top <= QUERY_TOP_MAX:
        raise InvalidInput(f"top {top!r} is out of range", hint=f"1 to {QUERY_TOP_MAX}")


def _bytes(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{text[:70]!r} has a lone surrogate at {error.start}", hint="send valid Unicode"
        ) from error
