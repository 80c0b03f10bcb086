"""The first look at a message: what it is, which revision it speaks, or why it is refused.

A pure function over decoded JSON and headers. Whether the method exists, and whether the caller
may use it, is the dispatcher's part; sending the answer is the transport's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from remembrancer.core.values import JSON
from remembrancer.mcp import jsonrpc
from remembrancer.mcp.headers import PARAM_HEADER_PREFIX, VERSION_HEADER, routing_mismatch

MODERN: Final = "2026-07-28"
"""The current revision: every request stands alone."""
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Earlier revisions that are served, newest first."""
BATCH_VERSION: Final = "2025-03-26"
"""The one revision that had batches; also what a request without a version header speaks."""
BATCH_MAX: Final = 50
"""Messages of one batch. Our choice."""

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
"""Key in `_meta`: the revision. Source: MCP 2026-07-28, basic."""
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
"""Key in `_meta`: what the client can do. Source: as above."""
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
"""Key in `_meta`: the client's name and version. Source: as above."""


@dataclass(frozen=True, slots=True)
class Request:
    """A message that is owed an answer.

    *Shape:* `meta` is `params._meta` or empty; `headers` holds only the `mcp-param-…` ones,
    None where the transport has no headers.
    """

    id: jsonrpc.RequestId
    method: str
    params: Mapping[str, JSON]
    version: str
    meta: Mapping[str, JSON] = field(default_factory=dict)
    headers: Mapping[str, str] | None = None

    @property
    def is_modern(self) -> bool:
        """Whether the rules of the current revision hold for this request."""
        return self.version == MODERN

    @property
    def client_name(self) -> str | None:
        """The client's own name, when it gave one with this request."""
        info = self.meta.get(CLIENT_KEY, self.params.get("clientInfo"))
        name = info.get("name") if isinstance(info, dict) else None
        return name if isinstance(name, str) else None

    @property
    def capabilities(self) -> Mapping[str, JSON]:
        """What the client declared with this request."""
        declared = self.meta.get(CAPABILITIES_KEY)
        return declared if isinstance(declared, dict) else {}


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that expects no answer."""

    method: str
    params: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to a question that we never ask; it is accepted and dropped."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a message is refused: the first rung of the ladder that broke."""

    code: int
    message: str
    http_status: int = 400
    data: JSON = None
    id: jsonrpc.RequestId | None = None

    def answer(self) -> jsonrpc.Message:
        """Return the refusal as a message."""
        return jsonrpc.failure(self.id, self.code, self.message, self.data)


Single = Request | Notification | Response | Rejection
"""What one JSON object can be."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages in one array, as revision 2025-03-26 allowed."""

    messages: tuple[Single, ...]


def classify(body: JSON, headers: Mapping[str, str] | None) -> Single | Batch:
    """Tell what a decoded body is.

    *Shape:* `headers` with lower-case names, or None for a transport that has none.
    """
    if isinstance(body, list):
        return _classify_batch(body, headers)
    if not isinstance(body, dict):
        return Rejection(jsonrpc.INVALID_REQUEST, "The body must be one JSON-RPC object.")
    request_id = _id_of(body)
    if body.get("jsonrpc") != "2.0":
        return Rejection(
            jsonrpc.INVALID_REQUEST, "The member 'jsonrpc' must be '2.0'.", id=request_id
        )
    method = body.get("method")
    if not isinstance(method, str):
        if "method" not in body and ("result" in body or "error" in body):
            return Response()
        return Rejection(
            jsonrpc.INVALID_REQUEST, "The member 'method' must be a string.", id=request_id
        )
    if "id" in body and request_id is None:
        return Rejection(jsonrpc.INVALID_REQUEST, "The member 'id' must be a string or an integer.")
    params = body.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        return Rejection(
            jsonrpc.INVALID_PARAMS, "The member 'params' must be an object.", id=request_id
        )
    if request_id is None:
        return _classify_notification(method, params, headers)
    return _classify_request(request_id, method, params, headers)


def _classify_batch(body: list[JSON], headers: Mapping[str, str] | None) -> Batch | Rejection:
    # Clients of that revision cannot name it: the header came with the next one.
    if headers is None or headers.get(VERSION_HEADER, BATCH_VERSION) != BATCH_VERSION:
        return Rejection(
            jsonrpc.INVALID_REQUEST,
            f"Batches exist only in revision {BATCH_VERSION}; send one message at a time.",
        )
    if not 0 < len(body) <= BATCH_MAX:
        return Rejection(
            jsonrpc.INVALID_REQUEST, f"A batch holds 1 to {BATCH_MAX} messages, not {len(body)}."
        )
    messages: list[Single] = []
    for member in body:
        message = (
            Rejection(jsonrpc.INVALID_REQUEST, "A batch cannot hold a batch.")
            if isinstance(member, list)
            else classify(member, headers)
        )
        assert not isinstance(message, Batch)
        if isinstance(message, Request) and message.method == "initialize":
            message = Rejection(
                jsonrpc.INVALID_REQUEST, "'initialize' cannot be in a batch.", id=message.id
            )
        messages.append(message)
    return Batch(tuple(messages))


def _classify_notification(
    method: str, params: dict[str, JSON], headers: Mapping[str, str] | None
) -> Notification | Rejection:
    version = headers.get(VERSION_HEADER) if headers else None
    if version is not None and version not in (MODERN, *LEGACY):
        return _unsupported(version, None)
    return Notification(method, params)


def _classify_request(
    request_id: jsonrpc.RequestId,
    method: str,
    params: dict[str, JSON],
    headers: Mapping[str, str] | None,
) -> Request | Rejection:
    meta = params.get("_meta", {})
    header = headers.get(VERSION_HEADER) if headers is not None else None
    claimed = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if header == MODERN or (claimed is not None and claimed not in LEGACY):
        return _climb(request_id, method, params, headers)
    if not isinstance(meta, dict):
        return Rejection(jsonrpc.INVALID_PARAMS, "params._meta must be an object.", id=request_id)
    if header is not None and header not in LEGACY:
        return _unsupported(header, request_id)
    if header is not None and claimed is not None and header != claimed:
        return Rejection(
            jsonrpc.HEADER_MISMATCH,
            "The MCP-Protocol-Version header differs from the version in params._meta.",
            id=request_id,
        )
    default = LEGACY[0] if headers is None else BATCH_VERSION
    version = claimed if isinstance(claimed, str) else header or default
    return Request(request_id, method, params, version, meta, _param_headers(headers))


def _climb(
    request_id: jsonrpc.RequestId,
    method: str,
    params: dict[str, JSON],
    headers: Mapping[str, str] | None,
) -> Request | Rejection:
    """Check a modern request rung by rung: envelope, headers, version."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return Rejection(
            jsonrpc.INVALID_PARAMS,
            f"params._meta must be an object with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}.",
            id=request_id,
        )
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        return Rejection(
            jsonrpc.INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.", id=request_id
        )
    version = meta[VERSION_KEY]
    mismatch = (
        routing_mismatch(method, params, headers, version=version) if headers is not None else None
    )
    if mismatch is not None:
        return Rejection(jsonrpc.HEADER_MISMATCH, mismatch, id=request_id)
    if not isinstance(version, str) or not isinstance(meta[CAPABILITIES_KEY], dict):
        return Rejection(
            jsonrpc.INVALID_PARAMS,
            f"{VERSION_KEY!r} must be a string and {CAPABILITIES_KEY!r} an object.",
            id=request_id,
        )
    if version != MODERN:
        return _unsupported(version, request_id, supported=[MODERN])
    return Request(request_id, method, params, version, meta, _param_headers(headers))


def _unsupported(
    requested: str, request_id: jsonrpc.RequestId | None, *, supported: list[JSON] | None = None
) -> Rejection:
    # Who asked in the modern envelope is told only versions that this envelope can carry.
    served: list[JSON] = supported or [MODERN, *LEGACY]
    return Rejection(
        jsonrpc.UNSUPPORTED_VERSION,
        f"Protocol version {requested[:40]!r} is not served.",
        data={"supported": served, "requested": requested},
        id=request_id,
    )


def _param_headers(headers: Mapping[str, str] | None) -> Mapping[str, str] | None:
    if headers is None:
        return None
    return {name: value for name, value in headers.items() if name.startswith(PARAM_HEADER_PREFIX)}


def _id_of(body: dict[str, JSON]) -> jsonrpc.RequestId | None:
    request_id = body.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    return request_id
