"""A reply of Anthropic's Messages API as a chat completion: streamed, whole, or an error.

The request's half is in `anthropic_request`. Any ring may import it.
*Source:* Anthropic, streaming messages; OpenAI, chat completion chunk object.
"""

from __future__ import annotations

from typing import Final

from remembrancer.core.chat.chunks import (
    ChunkWriter,
    FinishReason,
    completion,
    error_body,
    error_event,
)
from remembrancer.core.chat.shapes import (
    Body,
    join_halves,
    object_of,
    objects_of,
    read_object,
    string_of,
    write_json,
)
from remembrancer.core.chat.sse import SseEvent
from remembrancer.core.chat.usage import Usage, usage_from_anthropic

_FINISH: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Stop reason → finish reason. A paused turn only comes with server tools; the client may go on."""

_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 503,
}
"""Type of error → HTTP status. Source: Anthropic, errors; 529 is no status that clients know."""

_KINDS: Final = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    504: "timeout_error",
}
"""HTTP status → type of error in OpenAI's form; else it is the request's or the server's."""

ENDED_EARLY: Final = "The upstream's stream ended before its reply was complete."
"""The error of a stream that stops half-way."""


class AnthropicToOpenAI:
    """Translates one streamed reply, event by event.

    *Shape:* bytes of whole events, ready to be sent. After the end, `usage` and `stop_reason` as
    reported, `message_id`, and `thinking_blocks`: id of a tool call → the blocks before it, to
    be sent back exactly as they are.
    """

    def __init__(
        self,
        *,
        model_name: str,
        id: str,  # noqa: A002
        created: int,
        wants_usage: bool,
    ) -> None:
        self._writer = ChunkWriter(
            model_name=model_name, reply_id=id, created=created, wants_usage=wants_usage
        )
        self._usage: Body = {}
        self._blocks: dict[int, Body] = {}
        self._tools: dict[int, int] = {}
        self._has_arguments: set[int] = set()
        self._pending: list[Body] = []
        self._is_started = False
        self._is_over = False
        self.thinking_blocks: dict[str, list[Body]] = {}
        self.stop_reason = ""
        self.message_id = ""

    @property
    def usage(self) -> Usage | None:
        """The tokens that the stream has reported so far."""
        return usage_from_anthropic(self._usage) if self._usage else None

    def feed(self, event: SseEvent) -> list[bytes]:
        """Return what the client is sent for one event; nothing for one that is not known."""
        if self._is_over:
            return []
        value = read_object(event.data)
        if value is None:
            return []
        kind = string_of(value.get("type")) or (event.event or "")
        if kind == "error" or (not kind and "error" in value):
            return self._fail(anthropic_error_to_openai(0, value)[1])
        if kind == "message_start":
            return self._start(object_of(value.get("message")))
        index = value.get("index")
        index = index if isinstance(index, int) else -1
        if kind == "content_block_start":
            first = self._start({})
            return [*first, *self._block_start(index, object_of(value.get("content_block")))]
        if not self._is_started:
            return []
        if kind == "content_block_delta":
            return self._delta(index, object_of(value.get("delta")))
        if kind == "content_block_stop":
            return self._block_stop(index)
        if kind == "message_delta":
            self._remember(value)
        elif kind == "message_stop":
            return self._finish()
        return []

    def close(self) -> list[bytes]:
        """Return what is sent when the upstream's bytes end: an error when the reply is cut."""
        if self._is_over:
            return []
        if self.stop_reason:
            return self._finish()
        return self._fail(error_body(ENDED_EARLY, "upstream_error", "upstream_failed"))

    def _start(self, message: Body) -> list[bytes]:
        if self._is_started:
            return []
        self._is_started = True
        self.message_id = string_of(message.get("id"))
        self._usage.update(_present(message.get("usage")))
        return [self._writer.start()]

    def _block_start(self, index: int, block: Body) -> list[bytes]:
        # A copy without what deltas will bring, so that a block can be told apart and kept.
        self._blocks[index] = {**block}
        kind = block.get("type")
        if kind == "text" and (text := string_of(block.get("text"))):
            return [self._writer.delta({"content": text})]
        if kind == "thinking" and (text := string_of(block.get("thinking"))):
            return [self._writer.delta({"reasoning_content": text})]
        if kind == "tool_use":
            self._tools[index] = len(self._tools)
            call_id, name = string_of(block.get("id")), string_of(block.get("name"))
            if self._pending:
                self.thinking_blocks[call_id] = self._pending
                self._pending = []
            return [self._writer.tool_start(self._tools[index], call_id, name)]
        return []

    def _delta(self, index: int, delta: Body) -> list[bytes]:
        block, kind = self._blocks.get(index, {}), delta.get("type")
        if kind == "text_delta" and block.get("type") == "text":
            text = string_of(delta.get("text"))
            return [self._writer.delta({"content": text})] if text else []
        if kind == "input_json_delta" and index in self._tools:
            piece = string_of(delta.get("partial_json"))
            if not piece:
                return []
            self._has_arguments.add(index)
            return [self._writer.tool_arguments(self._tools[index], piece)]
        if kind == "thinking_delta" and block.get("type") == "thinking":
            text = string_of(delta.get("thinking"))
            block["thinking"] = string_of(block.get("thinking")) + text
            return [self._writer.delta({"reasoning_content": text})] if text else []
        if kind == "signature_delta" and block.get("type") == "thinking":
            signature = string_of(delta.get("signature"))
            block["signature"] = string_of(block.get("signature")) + signature
        return []

    def _block_stop(self, index: int) -> list[bytes]:
        block = self._blocks.pop(index, {})
        kind = block.get("type")
        if kind == "thinking":
            block["thinking"] = join_halves(string_of(block.get("thinking")))
            self._pending.append(block)
        elif kind == "redacted_thinking":
            self._pending.append(block)
        elif kind == "tool_use" and index not in self._has_arguments:
            # Some upstreams send the whole input at the start; without any it is an empty object.
            whole = write_json(object_of(block.get("input")))
            return [self._writer.tool_arguments(self._tools[index], whole)]
        return []

    def _remember(self, value: Body) -> None:
        self._usage.update(_present(value.get("usage")))
        reason = string_of(object_of(value.get("delta")).get("stop_reason"))
        self.stop_reason = reason or self.stop_reason

    def _finish(self) -> list[bytes]:
        self._is_over = True
        late = [chunk for index in sorted(self._blocks) for chunk in self._block_stop(index)]
        reason = finish_reason_of(self.stop_reason, has_calls=bool(self._tools))
        return [*late, *self._writer.end(reason, self.usage)]

    def _fail(self, body: Body) -> list[bytes]:
        self._is_over = True
        return [error_event(body)]


def from_anthropic_message(
    message: Body,
    *,
    model_name: str,
    id: str,  # noqa: A002
    created: int,
) -> Body:
    """Return a whole message of the Messages API as a chat completion."""
    blocks = objects_of(message.get("content"))
    texts = [string_of(block.get("text")) for block in blocks if block.get("type") == "text"]
    reasons = [
        string_of(block.get("thinking")) for block in blocks if block.get("type") == "thinking"
    ]
    calls: list[Body] = [
        {
            "id": string_of(block.get("id")),
            "type": "function",
            "function": {
                "name": string_of(block.get("name")),
                "arguments": write_json(object_of(block.get("input"))),
            },
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    text = "".join(texts)
    answer: Body = {
        "role": "assistant",
        "content": text or (None if calls else ""),
        "refusal": None,
    }
    if reasoning := "".join(reasons):
        answer["reasoning_content"] = reasoning
    if calls:
        answer["tool_calls"] = calls
    reason = finish_reason_of(string_of(message.get("stop_reason")), has_calls=bool(calls))
    return completion(
        model_name=model_name,
        reply_id=id,
        created=created,
        message=answer,
        finish_reason=reason,
        usage=usage_from_anthropic(message.get("usage")),
    )


def thinking_before_calls(message: Body) -> dict[str, list[Body]]:
    """Return the thinking blocks of a whole message: id of a tool call → those before it."""
    kept: dict[str, list[Body]] = {}
    pending: list[Body] = []
    for block in objects_of(message.get("content")):
        if block.get("type") in ("thinking", "redacted_thinking"):
            pending.append(block)
        elif block.get("type") == "tool_use" and pending:
            kept[string_of(block.get("id"))] = pending
            pending = []
    return kept


def finish_reason_of(stop_reason: str, *, has_calls: bool) -> FinishReason:
    """Return the finish reason for a stop reason; one that is not known goes by the calls."""
    return _FINISH.get(stop_reason, "tool_calls" if has_calls else "stop")


def anthropic_error_to_openai(status: int, body: object) -> tuple[int, Body]:
    """Return an error answer in OpenAI's form.

    *Shape:* `status` is the upstream's, or 0 when only the body tells (an error inside a stream);
    the message is the upstream's own, the code its own type of error.
    """
    error = object_of(object_of(body).get("error"))
    kind = string_of(error.get("type"))
    if not status:
        status = _STATUS.get(kind, 500)
    status = 503 if status == 529 else status
    message = string_of(error.get("message")) or string_of(object_of(body).get("message"))
    message = message or f"The upstream answered with status {status}."
    other = "invalid_request_error" if 400 <= status < 500 else "server_error"
    return status, error_body(message, _KINDS.get(status, other), kind or None)


def _present(usage: object) -> Body:
    return {key: value for key, value in object_of(usage).items() if value is not None}
