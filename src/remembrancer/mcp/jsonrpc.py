"""JSON-RPC 2.0 on the wire: codes, decoding, encoding, the two shapes of an answer.

It knows the envelope only. What a method means, and which revision asks, is decided elsewhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.jsontext import NESTING_MAX, parse_json
from remembrancer.core.values import JSON

PARSE_ERROR: Final = -32700
"""The text is not JSON. Source: JSON-RPC 2.0, section 5.1."""
INVALID_REQUEST: Final = -32600
"""The JSON is not one request. Source: JSON-RPC 2.0, section 5.1."""
METHOD_NOT_FOUND: Final = -32601
"""Nobody serves this method. Source: JSON-RPC 2.0, section 5.1."""
INVALID_PARAMS: Final = -32602
"""The parameters cannot be taken. Source: JSON-RPC 2.0, section 5.1."""
INTERNAL_ERROR: Final = -32603
"""A defect on our side. Source: JSON-RPC 2.0, section 5.1."""
RESOURCE_NOT_FOUND: Final = -32002
"""No such resource, for revisions up to 2025-11-25. Source: MCP 2025-11-25, server/resources."""
HEADER_MISMATCH: Final = -32020
"""A routing header contradicts the body. Source: MCP 2026-07-28, basic/transports."""
MISSING_CAPABILITY: Final = -32021
"""The client did not declare what the request needs. Source: MCP 2026-07-28, basic."""
UNSUPPORTED_VERSION: Final = -32022
"""The revision is not served. Source: MCP 2026-07-28, basic/versioning."""

RequestId = str | int
"""What a client numbers its requests with."""

Message = dict[str, JSON]
"""One JSON-RPC message in plain Python."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An outcome that is a protocol error, not a result."""

    code: int
    message: str
    data: JSON = None


def decode(raw: bytes | str) -> JSON:
    """Return the JSON value of one message.

    *Raises:* InvalidInput with code `invalid_json`, also for what could not be written again (NaN,
    1e999, lone surrogates) and for nesting beyond `NESTING_MAX`.
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        value: JSON = parse_json(text, parse_constant=_refuse_constant, parse_float=_finite)
        if text.count("[") + text.count("{") > NESTING_MAX:
            _refuse_depth(value)
        if "\\u" in text or not text.isascii():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"The message is not JSON in UTF-8: {type(error).__name__}.", code="invalid_json"
        ) from error
    return value


def encode(message: Message | list[Message]) -> str:
    """Return a message, or the answers to a batch, as one line of compact JSON."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def success(request_id: RequestId, result: Message) -> Message:
    """Return the answer that carries a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failure(request_id: RequestId | None, code: int, message: str, data: JSON = None) -> Message:
    """Return the answer that carries an error; `data` is left out when None."""
    error: Message = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def notification(method: str, params: Message) -> Message:
    """Return a message that expects no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _refuse_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("a number is too large to be kept")
    return number


def _refuse_depth(value: JSON) -> None:
    """Look at one level after the other: what follows may walk a value by calling itself."""
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(NESTING_MAX):
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [each for parts in inside for each in parts if isinstance(each, list | dict)]
    if level:
        raise ValueError("lists and objects are nested too deep")
