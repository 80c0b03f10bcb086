"""Errors on the wire: one shape, `{"error": {code, message, type, hint, request_id}}`.

The status and type of a code are in `core.errors.CODES`; nothing here decides what went wrong.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from remembrancer.core.errors import CODES, LimitExceeded, RemembrancerError, Unauthenticated
from remembrancer.http.answers import json_bytes

REALM: Final = 'Bearer realm="remembrancer"'
"""What a 401 asks for. No `resource_metadata`: there is no OAuth here."""


class DoorError(RemembrancerError):
    """A fault of the request as such, before any use case: path, method, origin or media type."""

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, allow: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.allow = allow


class RateLimited(LimitExceeded):
    """A key asked too often. *Units:* `retry_after_s` seconds until one request is free."""

    code = "rate_limited"

    def __init__(self, *, per_minute: int, retry_after_s: int) -> None:
        super().__init__(
            f"this key sent more than {per_minute} requests a minute",
            hint=f"wait {retry_after_s} s, or raise RATE_LIMIT_PER_MINUTE",
        )
        self.retry_after_s = retry_after_s


def error_body(error: RemembrancerError, request_id: str) -> dict[str, object]:
    """Return the JSON of an error; `details` is there only when the error has some."""
    shape: dict[str, object] = {
        "code": error.code,
        "message": error.message,
        "type": CODES[error.code].openai_type,
        "hint": error.hint,
        "request_id": request_id,
    }
    details = dict(error.details)
    if error.field is not None:
        details["field"] = error.field
    if details:
        shape["details"] = details
    return {"error": shape}


ANTHROPIC_PATHS: Final = ("/v1/messages", "/v1/messages/count_tokens")
"""Endings of the paths whose clients read Anthropic's form of an error."""

_ANTHROPIC_KINDS: Final = {
    "conflict_error": "invalid_request_error",
    "server_error": "api_error",
    "upstream_error": "api_error",
}
"""Types of error that Anthropic names otherwise. Source: Anthropic, errors."""


def error_response(error: RemembrancerError, request_id: str, *, path: str = "") -> Response:
    """Return the response for an error: the status of its code, and the headers it calls for."""
    body = error_body(error, request_id)
    if path.endswith(ANTHROPIC_PATHS):
        body = _as_anthropic(body, request_id)
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = REALM
    if isinstance(error, RateLimited):
        headers["retry-after"] = str(error.retry_after_s)
    if isinstance(error, DoorError) and error.allow:
        headers["allow"] = ", ".join(error.allow)
    return Response(
        json_bytes(body),
        status_code=CODES[error.code].http,
        headers=headers,
        media_type="application/json",
    )


def _as_anthropic(body: dict[str, object], request_id: str) -> dict[str, object]:
    """Return the same error in the envelope of the Messages API, its type named as there."""
    error = body["error"]
    assert isinstance(error, dict)
    kind = _ANTHROPIC_KINDS.get(error["type"], error["type"])
    return {"type": "error", "error": {**error, "type": kind}, "request_id": request_id}


def internal_error(request_id: str) -> RemembrancerError:
    """Return what a user sees of a defect: nothing but the id that the log has."""
    return RemembrancerError(
        "something went wrong here; nothing of it is your fault",
        hint=f"look for {request_id} in the log and report it",
    )
