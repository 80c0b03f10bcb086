"""A chat completion as a reply of Anthropic's Messages API: streamed, whole, or an error.

The request's half is in `messages_request`. Thinking carries no signature: only the model that
thought could check one, and these are not Claude. Any ring may import it.
*Source:* Anthropic, streaming messages; OpenAI, chat completion chunk object.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from remembrancer.core.chat.request import text_of
from remembrancer.core.chat.shapes import Body, object_of, objects_of, read_object, string_of
from remembrancer.core.chat.shapes import write_json as write
from remembrancer.core.chat.sse import SseEvent, encode_event
from remembrancer.core.chat.usage import Usage, usage_from_openai
from remembrancer.core.jsontext import parse_json

_STOPS: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
"""Finish reason → stop reason."""

_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
"""HTTP status → type of error. Source: Anthropic, errors."""

ENDED_EARLY: Final = "The upstream's stream ended before its reply was complete."
"""The error of a stream that stops half-way."""

Kind: TypeAlias = Literal["text", "thinking", "tool_use"]


class ChunksToMessages:
    """Translates one streamed reply, event by event.

    *Shape:* bytes of whole events; `usage` as reported. Blocks come one after another: a block is
    ended when another begins.
    """

    def __init__(self, *, model_name: str, id: str) -> None:  # noqa: A002
        self._model = model_name
        self._id = id
        self._open: Kind | None = None
        self._index = -1
        self._call: int | None = None
        self._has_calls = False
        self._finish = ""
        self._is_started = False
        self._is_over = False
        self.usage: Usage | None = None
        self.thinking_blocks: dict[str, list[Body]] = {}

    def feed(self, event: SseEvent) -> list[bytes]:
        """Return what the client is sent for one event; nothing for one that is not known."""
        if self._is_over:
            return []
        if event.data.startswith("[DONE]"):
            return self._end()
        value = read_object(event.data)
        if value is None:
            return []
        if value.get("error"):
            return self._fail(error_to_messages(0, value))
        self.usage = usage_from_openai(value.get("usage")) or self.usage
        sent = self._start()
        for choice in objects_of(value.get("choices"))[:1]:
            sent += self._say(object_of(choice.get("delta")))
            self._finish = string_of(choice.get("finish_reason")) or self._finish
        return sent

    def close(self) -> list[bytes]:
        """Return what is sent when the bytes end: an error when the reply is cut."""
        if self._is_over:
            return []
        if self._finish:
            return self._end()
        return self._fail(_error("api_error", ENDED_EARLY))

    def _say(self, delta: Body) -> list[bytes]:
        sent: list[bytes] = []
        thought = string_of(delta.get("reasoning_content")) or string_of(delta.get("reasoning"))
        if thought:
            sent += self._block("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            sent.append(self._delta({"type": "thinking_delta", "thinking": thought}))
        text = text_of(delta.get("content")) or string_of(delta.get("refusal"))
        if text:
            sent += self._block("text", {"type": "text", "text": ""})
            sent.append(self._delta({"type": "text_delta", "text": text}))
        for call in objects_of(delta.get("tool_calls")):
            sent += self._tool(call)
        return sent

    def _tool(self, call: Body) -> list[bytes]:
        function, index = object_of(call.get("function")), call.get("index")
        name, sent = string_of(function.get("name")), []
        number = index if isinstance(index, int) else self._call
        if name and (self._open != "tool_use" or number != self._call or number is None):
            self._call, self._has_calls = number, True
            call_id = string_of(call.get("id")) or f"toolu_{self._id}_{self._index + 1}"
            block: Body = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            sent += self._block("tool_use", block, is_new=True)
        piece = string_of(function.get("arguments"))
        if piece and self._open == "tool_use":
            sent.append(self._delta({"type": "input_json_delta", "partial_json": piece}))
        return sent

    def _start(self) -> list[bytes]:
        if self._is_started:
            return []
        self._is_started = True
        message = _message(self._id, self._model, [], None, self.usage)
        return [_event("message_start", {"message": message})]

    def _block(self, kind: Kind, block: Body, *, is_new: bool = False) -> list[bytes]:
        """Open a block of a kind, unless it is open."""
        if self._open == kind and not is_new:
            return []
        sent = self._close_block()
        self._open, self._index = kind, self._index + 1
        started: Body = {"index": self._index, "content_block": block}
        return [*sent, _event("content_block_start", started)]

    def _close_block(self) -> list[bytes]:
        if self._open is None:
            return []
        self._open = None
        return [_event("content_block_stop", {"index": self._index})]

    def _delta(self, delta: Body) -> bytes:
        return _event("content_block_delta", {"index": self._index, "delta": delta})

    def _end(self) -> list[bytes]:
        self._is_over = True
        sent = [*self._start(), *self._close_block()]
        reason = _stop_reason(self._finish, has_calls=self._has_calls)
        delta: Body = {"stop_reason": reason, "stop_sequence": None}
        sent.append(_event("message_delta", {"delta": delta, "usage": _usage(self.usage)}))
        return [*sent, _event("message_stop", {})]

    def _fail(self, body: Body) -> list[bytes]:
        self._is_over = True
        return [encode_event(write(body), event="error")]


def to_message(reply: Body, *, model_name: str, id: str) -> Body:  # noqa: A002
    """Return a whole chat completion as a message."""
    choice = object_of((objects_of(reply.get("choices")) or [{}])[0])
    said = object_of(choice.get("message"))
    content: list[Body] = []
    thought = string_of(said.get("reasoning_content")) or string_of(said.get("reasoning"))
    if thought:
        content.append({"type": "thinking", "thinking": thought, "signature": ""})
    text = text_of(said.get("content")) or string_of(said.get("refusal"))
    calls = objects_of(said.get("tool_calls"))
    if text or not calls:
        content.append({"type": "text", "text": text})
    for number, call in enumerate(calls):
        function = object_of(call.get("function"))
        content.append(
            {
                "type": "tool_use",
                "id": string_of(call.get("id")) or f"toolu_{id}_{number}",
                "name": string_of(function.get("name")),
                "input": _input(function.get("arguments")),
            }
        )
    reason = _stop_reason(string_of(choice.get("finish_reason")), has_calls=bool(calls))
    usage = usage_from_openai(reply.get("usage"))
    return _message(id, model_name, content, reason, usage)


def error_to_messages(status: int, body: object) -> Body:
    """Return an error's body in the form of the Messages API; the message is the upstream's own."""
    given = object_of(body).get("error")
    message = string_of(given) or string_of(object_of(given).get("message"))
    message = message or string_of(object_of(body).get("message"))
    return _error(
        _KINDS.get(status, "invalid_request_error" if 400 <= status < 500 else "api_error"),
        message or f"The upstream answered with status {status}.",
    )


def _error(kind: str, message: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _message(
    id: str,  # noqa: A002
    model: str,
    content: list[Body],
    stop_reason: str | None,
    usage: Usage | None,
) -> Body:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": _usage(usage),
    }


def _usage(usage: Usage | None) -> Body:
    """Tokens as the API counts them: the prompt without what the cache read or was written."""
    told = usage or Usage()
    return {
        "input_tokens": max(0, told.prompt - told.cached - told.cache_write),
        "cache_creation_input_tokens": told.cache_write,
        "cache_read_input_tokens": told.cached,
        "output_tokens": told.completion,
    }


def _stop_reason(finish: str, *, has_calls: bool) -> str:
    if has_calls and finish in ("", "stop"):
        return "tool_use"
    return _STOPS.get(finish, "end_turn")


def _input(arguments: object) -> Body:
    if not isinstance(arguments, str):
        return object_of(arguments)
    try:
        return object_of(parse_json(arguments or "{}"))
    except (ValueError, RecursionError):
        return {}


def _event(kind: str, data: Body) -> bytes:
    return encode_event(write({"type": kind, **data}), event=kind)
