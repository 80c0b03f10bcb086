"""Reads along while a reply passes to its client: what was said, called and counted.

It changes nothing on the way and never fails: whatever cannot be read is passed over, so that
storing a reply cannot break it. Any ring may import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from remembrancer.core.chat.anthropic_stream import finish_reason_of
from remembrancer.core.chat.request import text_of
from remembrancer.core.chat.shapes import (
    Body,
    object_of,
    objects_of,
    read_object,
    string_of,
    whole_text,
    write_json,
)
from remembrancer.core.chat.sse import SseEvent, SseReader
from remembrancer.core.chat.usage import Usage, usage_from_anthropic, usage_from_openai
from remembrancer.core.errors import UpstreamFailed

Shape: TypeAlias = Literal["openai", "anthropic"]
"""Whose form the reply has."""

REPLY_CHARS_MAX: Final = 1_000_000
"""Characters of one reply that are kept, with its reasoning and arguments. Our choice: above
every model's longest answer; a stream without end does not fill the memory."""

_CALL_CHARS: Final = 64
"""What a call without arguments counts for, so that their number is bounded too."""

_UNREADABLE: Final = "the reply could not be read along"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model made. *Shape:* `arguments` is the JSON text as it came."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply said.

    *Shape:* `finish_reason` in OpenAI's words or None; `usage` None when none was reported;
    `is_complete` is False when it ended early, by a fault (`error`) or because somebody left;
    `is_cut` when it was longer than what is kept.
    """

    text: str
    reasoning: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    usage: Usage | None
    is_complete: bool
    error: str | None
    model: str = ""
    is_cut: bool = False


class _Call:
    """A call in the making."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []


class ReplyCollector:
    """Collects one reply from its stream or its body.

    *Promise:* never raises; the same reply however the bytes are split; at most `chars_max`
    characters are kept.
    """

    def __init__(self, *, shape: Shape = "openai", chars_max: int = REPLY_CHARS_MAX) -> None:
        self._shape = shape
        self._left = chars_max
        self._reader = SseReader()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._anthropic_usage: Body = {}
        self._usage: Usage | None = None
        self._finish: str | None = None
        self._error: str | None = None
        self._model = ""
        self._is_done = False
        self._is_cut = False
        self._is_deaf = False

    def feed(self, chunk: bytes) -> None:
        """Take bytes of the stream, in pieces of any size."""
        if self._is_deaf:
            return
        try:
            events = self._reader.feed(chunk)
        except UpstreamFailed:
            self._is_deaf = True
            self._error = self._error or _UNREADABLE
            return
        for event in events:
            self._take(event)

    def feed_json(self, body: object) -> None:
        """Take a whole reply, or an error's body."""
        if not isinstance(body, dict):
            return
        if self._is_error(body):
            return
        if self._shape == "anthropic":
            self._whole_message(body)
        else:
            self._whole(body)

    def close(self) -> Reply:
        """Return the reply as far as it came. It may be called again."""
        if not self._is_deaf:
            for event in self._reader.close():
                self._take(event)
            self._is_deaf = True
        return Reply(
            text=whole_text(self._text),
            reasoning=whole_text(self._reasoning),
            tool_calls=tuple(
                ToolCall(call.id, call.name, whole_text(call.arguments)) for call in self._calls
            ),
            finish_reason=self._finish,
            usage=self._usage,
            is_complete=self._error is None and (self._is_done or self._finish is not None),
            error=self._error,
            model=self._model,
            is_cut=self._is_cut,
        )

    def _take(self, event: SseEvent) -> None:
        if event.data.startswith("[DONE]"):
            self._is_done = True
            return
        value = read_object(event.data)
        if value is None or self._is_error(value):
            return
        if self._shape == "anthropic":
            self._event(value, string_of(value.get("type")) or (event.event or ""))
        else:
            self._chunk(value)

    def _is_error(self, value: Body) -> bool:
        error = value.get("error")
        if not error:
            return False
        self._error = string_of(object_of(error).get("message")) or string_of(error) or "an error"
        return True

    def _keep(self, pieces: list[str], text: str) -> None:
        if len(text) > self._left:
            self._is_cut = True
            text = text[: self._left]
        self._left -= len(text)
        if text:
            pieces.append(text)

    def _new_call(self) -> _Call | None:
        if self._left < _CALL_CHARS:
            self._is_cut = True
            return None
        self._left -= _CALL_CHARS
        self._calls.append(_Call())
        return self._calls[-1]

    # -- chat completions ----------------------------------------------------------------------

    def _chunk(self, chunk: Body) -> None:
        self._model = string_of(chunk.get("model")) or self._model
        self._usage = usage_from_openai(chunk.get("usage")) or self._usage
        for choice in objects_of(chunk.get("choices")):
            if choice.get("index") in (0, None):
                self._say(object_of(choice.get("delta")))
                self._finish = string_of(choice.get("finish_reason")) or self._finish

    def _whole(self, body: Body) -> None:
        self._model = string_of(body.get("model")) or self._model
        self._usage = usage_from_openai(body.get("usage")) or self._usage
        for choice in objects_of(body.get("choices")):
            if choice.get("index") in (0, None):
                message = object_of(choice.get("message"))
                for index, call in enumerate(objects_of(message.get("tool_calls"))):
                    self._call(call, index)
                self._say({**message, "tool_calls": None})
                self._finish = string_of(choice.get("finish_reason")) or self._finish
                self._is_done = True

    def _say(self, delta: Body) -> None:
        self._keep(self._text, text_of(delta.get("content")) or string_of(delta.get("refusal")))
        reasoning = string_of(delta.get("reasoning_content")) or string_of(delta.get("reasoning"))
        self._keep(self._reasoning, reasoning)
        for call in objects_of(delta.get("tool_calls")):
            index = call.get("index")
            self._call(call, index if isinstance(index, int) else None)
        if isinstance(delta.get("function_call"), dict):
            self._call({"function": delta["function_call"]}, 0)

    def _call(self, piece: Body, index: int | None) -> None:
        """Put a piece to its call: by index, unless an id says that another call begins."""
        call_id, function = string_of(piece.get("id")), object_of(piece.get("function"))
        function = function or object_of(piece.get("custom"))
        if index is None:
            same = [call for call in self._calls if not call_id or call.id == call_id]
            call = same[-1] if same else None
        else:
            call = self._by_index.get(index)
        if call is None or (call_id and call.id and call.id != call_id):
            call = self._new_call()
            if call is None:
                return
        if index is not None:
            self._by_index[index] = call
        call.id = call.id or call_id[:_CALL_CHARS]
        call.name = call.name or string_of(function.get("name"))[:200]
        self._keep(call.arguments, string_of(function.get("arguments", function.get("input"))))

    # -- messages ------------------------------------------------------------------------------

    def _event(self, value: Body, kind: str) -> None:
        index = value.get("index")
        index = index if isinstance(index, int) else -1
        if kind == "message_start":
            message = object_of(value.get("message"))
            self._model = string_of(message.get("model")) or self._model
            self._count(message.get("usage"))
        elif kind == "content_block_start":
            self._block(object_of(value.get("content_block")), index)
        elif kind == "content_block_delta":
            delta = object_of(value.get("delta"))
            self._keep(self._text, string_of(delta.get("text")))
            self._keep(self._reasoning, string_of(delta.get("thinking")))
            if index in self._by_index:
                self._keep(self._by_index[index].arguments, string_of(delta.get("partial_json")))
        elif kind == "message_delta":
            self._count(value.get("usage"))
            reason = string_of(object_of(value.get("delta")).get("stop_reason"))
            if reason:
                self._finish = finish_reason_of(reason, has_calls=bool(self._calls))
        elif kind == "message_stop":
            self._is_done = True

    def _block(self, block: Body, index: int) -> None:
        self._keep(self._text, string_of(block.get("text")))
        self._keep(self._reasoning, string_of(block.get("thinking")))
        if block.get("type") == "tool_use" and (call := self._new_call()) is not None:
            call.id = string_of(block.get("id"))[:_CALL_CHARS]
            call.name = string_of(block.get("name"))[:200]
            if given := object_of(block.get("input")):
                self._keep(call.arguments, write_json(given))
            self._by_index[index] = call

    def _whole_message(self, message: Body) -> None:
        self._model = string_of(message.get("model")) or self._model
        for index, block in enumerate(objects_of(message.get("content"))):
            self._block(block, index)
        self._count(message.get("usage"))
        reason = string_of(message.get("stop_reason"))
        self._finish = finish_reason_of(reason, has_calls=bool(self._calls))
        self._is_done = True

    def _count(self, usage: object) -> None:
        given = {key: value for key, value in object_of(usage).items() if value is not None}
        self._anthropic_usage.update(given)
        if self._anthropic_usage:
            self._usage = usage_from_anthropic(self._anthropic_usage)
