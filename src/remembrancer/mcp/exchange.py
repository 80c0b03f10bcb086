"""What an interactive handler can do beside answering: report progress, log, ask the client.

Asking is the multi-round request of revision 2026-07-28: the answer says what is missing, and
the client repeats the call with it. Nothing waits on the server in between; what it must know in
the next round travels with the client, signed. Earlier revisions cannot be asked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import JSON, Caller, canonical_json
from remembrancer.mcp.classify import Request
from remembrancer.mcp.jsonrpc import Message, notification

LOG_LEVEL_KEY: Final = "io.modelcontextprotocol/logLevel"
"""Key in `_meta`: the lowest level of log messages wanted. Source: MCP 2026-07-28, logging."""
LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Log levels, lowest first. Source: RFC 5424 as MCP uses it."""

CAPABILITY_OF: Final = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""What a question asks for → the capability a client must have declared."""

Emit = Callable[[Message], Awaitable[None]]
"""Sends one message to the client ahead of the answer."""


@dataclass(frozen=True, slots=True)
class InputRequired:
    """An outcome: the client must answer these questions first.

    *Shape:* `questions` name → {method, params}; `state` comes back with the answers, signed.
    """

    questions: Mapping[str, Message]
    state: JSON = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as an interactive handler sees it.

    *Shape:* `answers` holds only well-formed ones, by the name of their question; `state` is what
    the round before left, None in the first round.
    """

    caller: Caller
    request: Request
    answers: Mapping[str, Message] = field(default_factory=dict)
    state: JSON = None
    emit: Emit | None = None

    def can_ask(self, method: str) -> bool:
        """Tell whether the client said that it can answer such a question."""
        return self.request.is_modern and CAPABILITY_OF[method] in self.request.capabilities

    def accepted(self, name: str) -> Message | None:
        """Return what a person filled in, or None: not asked, declined, cancelled, malformed."""
        answer = self.answers.get(name, {})
        content = answer.get("content")
        return content if answer.get("action") == "accept" and isinstance(content, dict) else None

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress, when the client asked to be told."""
        token = self.request.meta.get("progressToken")
        if self.emit is None or token is None or isinstance(token, bool | list | dict):
            return
        params: Message = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.emit(notification("notifications/progress", params))

    async def log(self, level: str, data: JSON) -> None:
        """Send a log message, when the client asked for this level (earlier revisions: always)."""
        wanted = self.request.meta.get(LOG_LEVEL_KEY)
        if self.emit is None or (self.request.is_modern and wanted not in LEVELS):
            return
        lowest = LEVELS.index(str(wanted)) if wanted in LEVELS else 0
        if LEVELS.index(level) >= lowest:
            params: Message = {"level": level, "logger": "remembrancer", "data": data}
            await self.emit(notification("notifications/message", params))


def elicitation(message: str, properties: Mapping[str, JSON]) -> Message:
    """Return the question that shows a person a form; every field is required."""
    schema: Message = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
    }
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


def seal(key: bytes, state: JSON, *, bound_to: str) -> str:
    """Return a state as text that the client can carry but not change.

    *Promise:* `unseal` takes it only under the same key and for the same `bound_to`.
    """
    payload = base64.urlsafe_b64encode(canonical_json(state).encode("utf-8")).decode("ascii")
    return f"{payload}.{_signature(key, payload, bound_to)}"


def unseal(key: bytes, sealed: str, *, bound_to: str) -> JSON:
    """Return the state that `seal` was given.

    *Raises:* InvalidInput when it was changed, or made for another request.
    """
    payload, _, signature = sealed.rpartition(".")
    expected = _signature(key, payload, bound_to)
    if not hmac.compare_digest(signature.encode("utf-8"), expected.encode("ascii")):
        raise InvalidInput(
            "requestState is not what this server gave for this request.",
            hint="Start the call again without requestState.",
            field="requestState",
        )
    state: JSON = json.loads(base64.urlsafe_b64decode(payload))
    return state


def _signature(key: bytes, payload: str, bound_to: str) -> str:
    bound = hashlib.sha256(bound_to.encode("utf-8")).digest()
    return hmac.new(key, bound + payload.encode("utf-8"), hashlib.sha256).hexdigest()
