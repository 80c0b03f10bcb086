"""The result objects of the protocol: content blocks, tool results, what every result carries.

Builders of plain dictionaries; they decide nothing.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.core.errors import RemembrancerError
from remembrancer.core.values import JSON
from remembrancer.mcp.jsonrpc import Message

SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
"""Key in a result's `_meta`: who answers. Source: MCP 2026-07-28, basic."""
LIST_TTL_MS: Final = 300_000
"""How long a client may keep a list: lists change only with a new release. Our choice."""
DISCOVER_TTL_MS: Final = 3_600_000
"""How long a client may keep what the server is. Our choice."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A tool's outcome when one JSON object does not say it all: blocks, and maybe an object."""

    content: Sequence[Message]
    structured: Mapping[str, object] | None = None


def text_block(text: str) -> Message:
    """Return a block of text."""
    return {"type": "text", "text": text}


def image_block(data: bytes, *, mime_type: str) -> Message:
    """Return a block that holds an image."""
    return {"type": "image", "data": _base64(data), "mimeType": mime_type}


def audio_block(data: bytes, *, mime_type: str) -> Message:
    """Return a block that holds a sound."""
    return {"type": "audio", "data": _base64(data), "mimeType": mime_type}


def resource_block(uri: str, body: str | bytes, *, mime_type: str) -> Message:
    """Return a block that holds a resource."""
    return {"type": "resource", "resource": contents(uri, body, mime_type=mime_type)}


def link_block(uri: str, *, name: str, description: str | None = None) -> Message:
    """Return a block that points to a resource."""
    block: Message = {"type": "resource_link", "uri": uri, "name": name}
    if description is not None:
        block["description"] = description
    return block


def contents(uri: str, body: str | bytes, *, mime_type: str) -> Message:
    """Return a resource's contents: text as it is, bytes in base64."""
    held: Message = {"uri": uri, "mimeType": mime_type}
    if isinstance(body, bytes):
        held["blob"] = _base64(body)
    else:
        held["text"] = body
    return held


def user_message(block: Message) -> Message:
    """Return a prompt's message in the user's name."""
    return {"role": "user", "content": block}


def tool_result(outcome: Mapping[str, object] | Reply) -> Message:
    """Return the result of a tool that worked: the object, and the same as compact text."""
    if isinstance(outcome, Reply):
        result: Message = {"content": list(outcome.content)}
        structured = outcome.structured
    else:
        result = {"content": [text_block(compact(outcome))]}
        structured = outcome
    if structured is not None:
        result["structuredContent"] = as_json(structured)
    return result


def tool_failure(error: RemembrancerError, *, request_id: str) -> Message:
    """Return the result of a tool that failed: a sentence for the model, an object for programs."""
    hint = f"\nHint: {error.hint}" if error.hint else ""
    held = error_object(error, request_id=request_id)
    return {
        "content": [text_block(f"{error.message} ({error.code}){hint}")],
        "structuredContent": {"error": held},
        "isError": True,
    }


def error_object(error: RemembrancerError, *, request_id: str) -> Message:
    """Return an error as every door shows it; empty members are left out."""
    held: Message = {"code": error.code, "message": error.message}
    if error.hint:
        held["hint"] = error.hint
    if error.field:
        held["field"] = error.field
    if error.details:
        held["details"] = as_json(error.details)
    if error.retryable:
        held["retryable"] = True
    held["request_id"] = request_id
    return held


def compact(value: object) -> str:
    """Return a value as compact JSON, in the order it was built."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def as_json(value: Mapping[str, object]) -> JSON:
    """Return a mapping as a JSON object; a value that is not JSON is a defect."""
    held: JSON = json.loads(compact(value))
    return held


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
