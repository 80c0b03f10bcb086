"""Answers: what a handler returns, and its form on the wire.

A handler that streams returns a Starlette response instead. Errors are in `errors.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import Response

EMPTY_STATUSES: Final = frozenset({202, 204, 304})
"""Statuses whose answers may have no body. Source: RFC 9110."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A handler's success.

    *Shape:* `body` a JSON value, bytes or text as they are, or None for no body; `version` becomes
    the ETag `"<version>"`; `media_type` counts for bytes and text only.
    """

    body: object = None
    status: int = 200
    version: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"


def json_bytes(value: object) -> bytes:
    """Return a JSON value as UTF-8 without spaces; keys keep their order."""
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
    ).encode()


def render(answer: Answer) -> Response:
    """Return the response of an answer."""
    headers = dict(answer.headers)
    if answer.version is not None:
        headers["etag"] = f'"{answer.version}"'
    if answer.body is None:
        assert answer.status in EMPTY_STATUSES
        return Response(status_code=answer.status, headers=headers)
    if isinstance(answer.body, bytes | str):
        content, media_type = answer.body, answer.media_type
    else:
        content, media_type = json_bytes(answer.body), "application/json"
    return Response(content, status_code=answer.status, headers=headers, media_type=media_type)
