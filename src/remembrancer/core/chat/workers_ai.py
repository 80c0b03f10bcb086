"""Requests to and replies of Workers AI, which has two forms of its own and OpenAI's.

A model answers a stream with `{"response": …}` or with `{"choices": [{"delta": …}]}`, told apart
for each event; some answer whole JSON although a stream was asked for. Any ring may import it.
*Source:* Workers AI, text generation; workerd's binding for the errors.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.core.chat.chunks import (
    ChunkWriter,
    FinishReason,
    completion,
    error_body,
    error_event,
)
from remembrancer.core.chat.request import TEXT_PARTS, text_of, wishes_beyond
from remembrancer.core.chat.shapes import (
    Body,
    object_of,
    objects_of,
    read_object,
    string_of,
    write_json,
)
from remembrancer.core.chat.sse import SseEvent
from remembrancer.core.chat.usage import Usage, usage_from_openai

_FIELDS: Final = frozenset(
    """messages stream max_tokens temperature top_p top_k seed repetition_penalty stop
    frequency_penalty presence_penalty tools tool_choice parallel_tool_calls response_format
    reasoning_effort chat_template_kwargs lora raw functions""".split()
)
"""Fields that its models take; others may be refused. Source: the models' schemas."""

_READ: Final = _FIELDS | {"model", "max_completion_tokens", "stream_options", "metadata"}
"""Fields that are sent, or read here and elsewhere."""

_STATUS: Final = {
    3003: 400,
    3004: 400,
    3039: 400,
    5004: 400,
    5007: 400,
    3016: 403,
    3023: 403,
    3041: 403,
    5016: 403,
    5018: 403,
    3042: 404,
    5005: 405,
    5019: 405,
    3007: 408,
    3008: 408,
    3006: 413,
    3036: 429,
    3040: 429,
}
"""Code of an error → HTTP status. Source: Workers AI, errors."""

_KINDS: Final = {403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_CODE: Final = re.compile(r"\b([35]\d{3})\b")
_FINISH: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}

ENDED_EARLY: Final = "The model's stream ended before its reply was complete."
"""The error of a stream that stops half-way."""


def to_workers_ai(body: Body) -> Body:
    """Return the inputs of a run for a chat completion request.

    *Shape:* no null content, which is refused; text parts as one string, other parts as they are;
    the newer name of the limit of tokens as the older one. The model is named in the run.
    *Promise:* `body` is not changed.
    """
    inputs: Body = {key: body[key] for key in body if key in _FIELDS and body[key] is not None}
    limit = body.get("max_completion_tokens")
    if limit is not None:
        inputs["max_tokens"] = limit
    inputs["messages"] = [_message(message) for message in objects_of(body.get("messages"))]
    return inputs


def not_taken(body: Body) -> tuple[str, ...]:
    """Return the fields of a request that ask for something, and that its models do not know."""
    return tuple(wishes_beyond(body, _READ))


def _message(message: Body) -> Body:
    content = message.get("content")
    plain = {key: value for key, value in message.items() if value is not None}
    plain.pop("cache_control", None)
    if message.get("role") == "developer":
        plain["role"] = "system"
    parts = objects_of(content)
    if content is None or all(part.get("type") in TEXT_PARTS for part in parts):
        plain["content"] = text_of(content)
    return plain


class WorkersAIToOpenAI:
    """Translates one reply, event by event.

    *Shape:* bytes of whole events; `usage` as reported.
    """

    def __init__(
        self,
        *,
        model_name: str,
        id: str,  # noqa: A002
        created: int,
        wants_usage: bool,
    ) -> None:
        self._id = id
        self._writer = ChunkWriter(
            model_name=model_name, reply_id=id, created=created, wants_usage=wants_usage
        )
        self._calls: list[bool] = []  # whether each call has arguments yet
        self._by_index: dict[int, int] = {}
        self._finish: FinishReason | None = None
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
        return self._read(value) if value is not None else []

    def feed_json(self, body: object) -> list[bytes]:
        """Return the whole stream for a reply that came as one JSON object."""
        if self._is_over:
            return []
        sent = self._read(_unwrapped(body))
        return sent + self._end_once()

    def close(self) -> list[bytes]:
        """Return what is sent when the bytes end: an error when the reply is cut."""
        if self._is_over:
            return []
        if self._finish is not None:
            return self._end()
        return self._fail(error_body(ENDED_EARLY, "upstream_error", "upstream_failed"))

    def _read(self, value: Body) -> list[bytes]:
        if value.get("error") or value.get("errors"):
            return self._fail(workers_ai_error_to_openai(0, value)[1])
        self.usage = usage_from_openai(value.get("usage")) or self.usage
        sent: list[bytes] = []
        if not self._is_started:
            self._is_started = True
            sent.append(self._writer.start())
        choices = objects_of(value.get("choices"))
        if choices:
            said = object_of(choices[0].get("delta")) or object_of(choices[0].get("message"))
            reason = string_of(choices[0].get("finish_reason"))
            self._finish = _FINISH.get(reason, "stop") if reason else self._finish
            return sent + self._say(said, text_of(said.get("content")))
        return sent + self._say(value, _response(value.get("response")))

    def _say(self, said: Body, text: str) -> list[bytes]:
        sent: list[bytes] = []
        reasoning = string_of(said.get("reasoning_content")) or string_of(said.get("reasoning"))
        if reasoning:
            sent.append(self._writer.delta({"reasoning_content": reasoning}))
        if text:
            sent.append(self._writer.delta({"content": text}))
        for call in objects_of(said.get("tool_calls")):
            sent += self._call(call)
        return sent

    def _call(self, call: Body) -> list[bytes]:
        """A call, whole or a piece of one; fields that are null at its end say nothing."""
        function = object_of(call.get("function")) or call
        name, given, index = string_of(function.get("name")), function.get("arguments"), None
        if isinstance(call.get("index"), int):
            index = call["index"]
        own = self._by_index.get(index) if isinstance(index, int) else None
        sent: list[bytes] = []
        if own is None:
            if not name:
                return []
            own = len(self._calls)
            self._calls.append(False)
            if isinstance(index, int):
                self._by_index[index] = own
            call_id = string_of(call.get("id")) or f"call_{own}_{self._id}"
            sent.append(self._writer.tool_start(own, call_id, name))
        piece = given if isinstance(given, str) else write_json(given) if given is not None else ""
        if piece:
            self._calls[own] = True
            sent.append(self._writer.tool_arguments(own, piece))
        return sent

    def _end_once(self) -> list[bytes]:
        return [] if self._is_over else self._end()

    def _end(self) -> list[bytes]:
        self._is_over = True
        sent = [] if self._is_started else [self._writer.start()]
        for index, has_arguments in enumerate(self._calls):
            if not has_arguments:
                sent.append(self._writer.tool_arguments(index, "{}"))
        reason = self._finish or "stop"
        if self._calls and reason == "stop":
            reason = "tool_calls"
        return [*sent, *self._writer.end(reason, self.usage)]

    def _fail(self, body: Body) -> list[bytes]:
        self._is_over = True
        return [error_event(body)]


def from_workers_ai(
    body: object,
    *,
    model_name: str,
    id: str,  # noqa: A002
    created: int,
) -> Body:
    """Return a whole reply, in any of its forms, as a chat completion."""
    value = _unwrapped(body)
    choice = object_of((objects_of(value.get("choices")) or [{}])[0])
    said = object_of(choice.get("message"))
    text = text_of(said.get("content")) if choice else _response(value.get("response"))
    calls = [
        _whole_call(call, f"call_{index}_{id}")
        for index, call in enumerate(objects_of((said if choice else value).get("tool_calls")))
    ]
    message: Body = {"role": "assistant", "content": text or (None if calls else "")}
    message["refusal"] = None
    reasoning = string_of(said.get("reasoning_content")) or string_of(said.get("reasoning"))
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    reason = _FINISH.get(string_of(choice.get("finish_reason")), "stop")
    if calls and reason == "stop":
        reason = "tool_calls"
    return completion(
        model_name=model_name,
        reply_id=id,
        created=created,
        message=message,
        finish_reason=reason,
        usage=usage_from_openai(value.get("usage")),
    )


def workers_ai_error_to_openai(status: int, body: object) -> tuple[int, Body]:
    """Return an error, an object or the text of a failed run, in OpenAI's form.

    *Shape:* `status` is the upstream's, or 0 when only the body tells; the code inside it decides
    where it is known, since a binding's own errors lose their status.
    """
    value = object_of(body)
    first = object_of((objects_of(value.get("errors")) or [{}])[0]) or object_of(value.get("error"))
    message = string_of(first.get("message")) or string_of(value.get("description"))
    message = message or string_of(value.get("error")) or string_of(body)
    code = first.get("code", value.get("internalCode"))
    if not isinstance(code, int) and (found := _CODE.search(message)):
        code = int(found[1])
    if isinstance(code, int):
        status = _STATUS.get(code, status)
    status = status or 502
    other = "invalid_request_error" if 400 <= status < 500 else "server_error"
    message = message or f"Workers AI answered with status {status}."
    kind = _KINDS.get(status, other)
    return status, error_body(message, kind, str(code) if isinstance(code, int) else None)


def _whole_call(call: Body, call_id: str) -> Body:
    function = object_of(call.get("function")) or call
    given = function.get("arguments")
    arguments = given if isinstance(given, str) else write_json(object_of(given))
    return {
        "id": string_of(call.get("id")) or call_id,
        "type": "function",
        "function": {"name": string_of(function.get("name")), "arguments": arguments or "{}"},
    }


def _unwrapped(body: object) -> Body:
    """The reply inside the envelope of the REST interface, or the reply itself."""
    value = object_of(body)
    return object_of(value.get("result")) or value


def _response(response: object) -> str:
    """The text of a reply; in JSON mode it comes as a value, and a lone digit as a number."""
    if response is None or isinstance(response, str):
        return response or ""
    return write_json(response)
