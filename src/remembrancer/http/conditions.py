"""Conditions of a request: `If-Match`, `Idempotency-Key`, the bookmark and the request's own id.

Each is read from a header into a typed value or refused; what they mean is the use cases' matter.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.limits import IDEMPOTENCY_KEY_CHARS_MAX
from remembrancer.core.values import Idempotency, canonical_json

BOOKMARK_CHARS_MAX: Final = 512
"""Characters of a bookmark. Source: our choice; the platform's have about 60."""

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_PRINTABLE: Final = re.compile(r"[ -~]+")
_ETAG: Final = re.compile(r'(?:W/)?"([0-9]{1,16})"|([0-9]{1,16})')


def request_id_from(headers: Mapping[str, str]) -> str | None:
    """Return the request id that the client chose, None when it is missing or not fit for a log."""
    text = headers.get("x-request-id", "").strip()
    return text if _REQUEST_ID.fullmatch(text) else None


def bookmark_from(headers: Mapping[str, str]) -> str | None:
    """Return the bookmark that the reads of this request must not be behind.

    *Raises:* InvalidInput.
    """
    text = headers.get("x-remembrancer-bookmark", "").strip()
    if not text:
        return None
    if len(text) > BOOKMARK_CHARS_MAX or _PRINTABLE.fullmatch(text) is None:
        raise InvalidInput(
            f"x-remembrancer-bookmark is not a bookmark: {text[:40]!r}",
            hint="send back what a write returned, or leave the header out",
            field="x-remembrancer-bookmark",
        )
    return text


def expected_version_from(headers: Mapping[str, str]) -> int | None:
    """Return the version that `If-Match` demands; None for no header and for `*`.

    A weak tag counts like a strong one: a compressing proxy weakens the tags that it passes on.
    *Raises:* InvalidInput for anything that is not one tag of ours.
    """
    text = headers.get("if-match", "").strip()
    if text in ("", "*"):
        return None
    match = _ETAG.fullmatch(text)
    if match is None:
        raise InvalidInput(
            f"if-match is {text[:60]!r}, which is not one version of ours",
            hint='send the etag of the last answer, such as "3", or *',
            field="if-match",
        )
    return int(match.group(1) or match.group(2))


def idempotency_from(
    headers: Mapping[str, str],
    *,
    method: str,
    path: str,
    query: Sequence[tuple[str, str]],
    body: object,
) -> Idempotency:
    """Return the idempotency key, whose header is there, and the hash of the request.

    *Shape:* `body` is the parsed JSON, bytes, or None. *Promise:* the hash depends on what is
    asked, not on the order of keys or parameters, on white space or on the access key.
    *Raises:* InvalidInput.
    """
    key = headers["idempotency-key"].strip()
    if len(key) > IDEMPOTENCY_KEY_CHARS_MAX or _PRINTABLE.fullmatch(key) is None:
        raise InvalidInput(
            f"idempotency-key has {len(key)} characters or is not printable ASCII",
            hint=f"use 1 to {IDEMPOTENCY_KEY_CHARS_MAX} characters, such as a UUID",
            field="idempotency-key",
        )
    content = hashlib.sha256(body).hexdigest() if isinstance(body, bytes) else body
    asked = canonical_json([method, path, sorted(map(list, query)), content])
    return Idempotency(key, hashlib.sha256(asked.encode()).hexdigest())
