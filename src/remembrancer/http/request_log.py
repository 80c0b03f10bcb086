"""The request log: one JSON line per request, and one per defect.

Never in it: memory text, tokens, query strings, paths (a path can hold a title), the text of an
exception (it can quote a row). A defect's line has the kinds of the exceptions and where they
were raised.
"""

from __future__ import annotations

import json
import logging
import traceback
from dataclasses import dataclass, fields

LOGGER = logging.getLogger("remembrancer.request")
"""Where the lines go; a wire module decides what is done with them."""


@dataclass(slots=True)
class RequestLine:
    """What is known of one request; filled while it runs. *Units:* `ms` milliseconds."""

    id: str
    method: str
    route: str = "-"
    status: int = 0
    ms: int = 0
    queries: int = 0
    statements: int = 0
    key: str | None = None
    namespace: str | None = None
    error: str | None = None
    cause: str | None = None


_NAMES = [field.name for field in fields(RequestLine)]


def log_request(line: RequestLine) -> None:
    """Write a request's one line; a server fault is a warning."""
    told = {name: value for name in _NAMES if (value := getattr(line, name)) is not None}
    level = logging.WARNING if line.status >= 500 or line.status == 0 else logging.INFO
    LOGGER.log(level, "%s", json.dumps({"event": "request", **told}, ensure_ascii=False))


def log_defect(error: BaseException, request_id: str) -> None:
    """Write where an exception came from, and what it was raised from, without their texts."""
    chain: list[dict[str, object]] = []
    current: BaseException | None = error
    while current is not None and len(chain) < 8:
        frames = traceback.extract_tb(current.__traceback__)
        chain.append(
            {
                "kind": f"{type(current).__module__}.{type(current).__qualname__}",
                "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]],
            }
        )
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )
    LOGGER.error(
        "%s", json.dumps({"event": "defect", "id": request_id, "chain": chain}, ensure_ascii=False)
    )
