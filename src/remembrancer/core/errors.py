"""The error tree, and the one table that maps an error code to every door.

    RemembrancerError
    ├── domain (the caller can act on it)
    │   ├── InvalidInput      a value cannot be taken as it is
    │   ├── NotFound          the named thing does not exist in this namespace
    │   ├── Conflict          somebody else was faster, or something stands in the way
    │   ├── Forbidden         the key lacks a scope, or names a foreign namespace
    │   ├── Unauthenticated   no key, an unknown key, an expired key
    │   └── LimitExceeded     too many, too large, too often
    └── platform (the operator can act on it)
        ├── StoreUnavailable  the database did not answer
        ├── UpstreamFailed    a model or a remote service failed
        │   ├── ModelRefused  a model will not answer this very prompt
        │   └── Rejected      a model's server said no, and not why in words that are known
        ├── TimedOut          it took longer than its limit
        └── CorruptData       stored bytes are not what was written

It is not a place for wording: the message is written where the error is raised, names the value
in repr form and the way out, and never holds a secret or memory text. Every ring may import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


class RemembrancerError(Exception):
    """Base of all errors that a user may see.

    *Shape:* `code` is a stable lower-case word, `message` one sentence, `hint` the way out,
    `field` the name of the offending input, `details` extra JSON values.
    """

    code: str = "internal_error"
    retryable: bool = False

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        code: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field
        self.details: Mapping[str, object] = dict(details or {})
        if code is not None:
            if code not in CODES:
                raise AssertionError(f"unknown error code {code!r}")
            self.code = code


class DomainError(RemembrancerError):
    """An outcome that the caller can act on."""


class InvalidInput(DomainError):
    """A value cannot be taken as it is."""

    code = "invalid_input"


class NotFound(DomainError):
    """The named thing does not exist in this namespace."""

    code = "not_found"


class Conflict(DomainError):
    """Somebody else was faster, or something stands in the way."""

    code = "conflict"


class Forbidden(DomainError):
    """The key may not do this."""

    code = "forbidden"


class Unauthenticated(DomainError):
    """No key, an unknown key or an expired key."""

    code = "unauthenticated"


class LimitExceeded(DomainError):
    """Too many, too large or too often."""

    code = "limit_exceeded"


class PlatformError(RemembrancerError):
    """A failing resource that the operator can act on."""


class StoreUnavailable(PlatformError):
    """The database did not answer."""

    code = "store_unavailable"
    retryable = True


class UpstreamFailed(PlatformError):
    """A model or a remote service failed."""

    code = "upstream_failed"
    retryable = True


class ModelRefused(UpstreamFailed):
    """A model will not answer this very prompt: asking the same again brings the same.

    *Shape:* `reason` is `too_long`, `filtered`, `unreadable`, `rejected` or `failing`: the server
    said no, or failed, again and again, to this prompt and to no other.
    """

    code = "model_refused"
    retryable = False

    def __init__(self, message: str, *, reason: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class Rejected(UpstreamFailed):
    """A model's server said no: to this very prompt, or to any. Asking another tells which."""


class TimedOut(PlatformError):
    """It took longer than its limit."""

    code = "timed_out"
    retryable = True


class CorruptData(PlatformError):
    """Stored bytes are not what was written."""

    code = "corrupt_data"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What one error code means at every door.

    *Shape:* `http` status, `jsonrpc` code (our own are outside −32768 … −32000), `openai_type`
    of the error object, `exit` code of the command line, and one sentence for the reference.
    """

    http: int
    jsonrpc: int
    openai_type: str
    exit: int
    meaning: str


_INVALID = "invalid_request_error"
_SERVER = "server_error"

CODES: Final[Mapping[str, CodeInfo]] = MappingProxyType(
    {
        "invalid_input": CodeInfo(400, -32602, _INVALID, 2, "a value cannot be taken as it is"),
        "invalid_json": CodeInfo(400, -32700, _INVALID, 2, "the body is not JSON"),
        "invalid_date": CodeInfo(
            400, -32602, _INVALID, 2, "a date is impossible or not understood"
        ),
        "invalid_transition": CodeInfo(
            409, -32602, _INVALID, 5, "the state cannot follow the present one"
        ),
        "unauthenticated": CodeInfo(
            401, -31001, "authentication_error", 3, "the key is missing, unknown or expired"
        ),
        "forbidden": CodeInfo(
            403, -31003, "permission_error", 3, "the key lacks the scope, or the origin is refused"
        ),
        "not_found": CodeInfo(404, -32602, "not_found_error", 4, "nothing here has that name"),
        "method_not_allowed": CodeInfo(
            405, -32601, _INVALID, 2, "the path exists, the method does not"
        ),
        "conflict": CodeInfo(409, -32602, "conflict_error", 5, "something stands in the way"),
        "version_conflict": CodeInfo(
            409, -32602, "conflict_error", 5, "it was changed since it was read"
        ),
        "cycle": CodeInfo(409, -32602, "conflict_error", 5, "the relation would close a circle"),
        "idempotency_key_reused": CodeInfo(
            409, -32602, "conflict_error", 5, "the key was used for another request"
        ),
        "payload_too_large": CodeInfo(413, -32602, _INVALID, 6, "the body is over the limit"),
        "unsupported_media_type": CodeInfo(415, -32602, _INVALID, 2, "the body must be JSON"),
        "limit_exceeded": CodeInfo(400, -32602, _INVALID, 6, "more than the limit allows"),
        "rate_limited": CodeInfo(
            429, -31029, "rate_limit_error", 6, "too many requests; see retry-after"
        ),
        "internal_error": CodeInfo(500, -32603, _SERVER, 1, "a defect; the log has the request id"),
        "corrupt_data": CodeInfo(500, -32603, _SERVER, 7, "stored bytes are not what was written"),
        "upstream_failed": CodeInfo(502, -32603, "upstream_error", 7, "a model or service failed"),
        "model_refused": CodeInfo(
            502, -32603, "upstream_error", 7, "a model will not answer this very prompt"
        ),
        "store_unavailable": CodeInfo(503, -32603, _SERVER, 7, "the database did not answer"),
        "timed_out": CodeInfo(504, -32603, "timeout_error", 7, "it took longer than its limit"),
    }
)
"""Code → its meaning at each door. A code never changes once shipped; new ones may be added."""
