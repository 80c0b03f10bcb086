"""A chat in Anthropic's form: read, given memory, passed on, and its replies read.

A Claude is asked in the same form, so nothing is translated: only `messages`, `system` (the boot
pack, and clock lines that move behind it) and the model's name differ, and marks for the prompt
cache are the client's own. Any other model is asked in OpenAI's form, and its replies translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn

from remembrancer.app.gateway.forms import (
    EVENT_STREAM,
    Chained,
    ReplyName,
    StreamTranslator,
    Whole,
    Written,
    check_reply,
    translate_whole,
    translator_for,
    whole_as_stream,
    write_request,
)
from remembrancer.app.gateway.history import read_history
from remembrancer.app.gateway.memory import Given
from remembrancer.app.gateway.routing import Target
from remembrancer.app.gateway.speech import View, read_body, read_reply
from remembrancer.app.gateway.turns import Turn
from remembrancer.app.settings import Settings
from remembrancer.core.chat.chores import is_chore
from remembrancer.core.chat.chunks import status_of_whole
from remembrancer.core.chat.collect import Reply
from remembrancer.core.chat.inject import (
    inject_boot_anthropic,
    move_volatile_anthropic,
    place_block_anthropic,
    strip_injected_messages,
    user_turn_indexes,
)
from remembrancer.core.chat.messages_reply import (
    ChunksToMessages,
    error_to_messages,
    to_message,
)
from remembrancer.core.chat.messages_request import to_chat_completion
from remembrancer.core.chat.request import text_of
from remembrancer.core.chat.shapes import (
    Body,
    object_of,
    objects_of,
    read_object,
    string_of,
    write_json,
)
from remembrancer.core.chat.sse import SseReader, encode_event
from remembrancer.core.errors import CODES, InvalidInput, RemembrancerError, UpstreamFailed

_KINDS: Final = {
    "conflict_error": "invalid_request_error",
    "server_error": "api_error",
    "upstream_error": "api_error",
}
"""Types of error in OpenAI's form that Anthropic's names otherwise."""


class AnthropicSpeech:
    """The Speech of the Messages API."""

    def __init__(self, raw: bytes, headers: Mapping[str, str]) -> None:
        """Read a request. *Raises:* InvalidInput, with code `invalid_json` when it is no JSON."""
        self._came = read_body(raw)
        self._asked = _check(self._came.body)
        messages = objects_of(self._asked.get("messages"))
        cleaned: Body = {**self._asked, "messages": strip_injected_messages(messages)}
        self._body, volatile = move_volatile_anthropic(cleaned)
        said = objects_of(self._body.get("messages"))
        turns = set(user_turn_indexes(said))
        reading = read_history(
            [_as_chat(one, is_turn=index in turns) for index, one in enumerate(said)],
            headers=headers,
            body=self._asked,
            stable_system=text_of(self._body.get("system")),
        )
        self.view = View(
            model=string_of(self._asked.get("model")),
            has_images=any(_has_image(one) for one in messages),
            is_stream=self._asked.get("stream") is True,
            wants_usage=True,
            is_native=True,
            reading=reading,
            volatile=volatile,
            is_chore=is_chore(text_of(self._body.get("system")), reading.message),
        )

    def write(self, settings: Settings, target: Target, turn: Turn, given: Given) -> Written:
        """Return the request for its target."""
        body = self._asked
        if turn.is_recalled:
            # From the end: a block may become a message of its own, which moves what follows.
            body = self._body
            for index, key in reversed(self.view.reading.places):
                body = place_block_anthropic(body, given.blocks.get(key, ""), at=index)
            body = inject_boot_anthropic(body, given.boot)
        if target.form == "anthropic":
            messages = [_signed(one) for one in objects_of(body.get("messages"))]
            sent: Body = {**body, "messages": messages, "model": target.model}
            return Written(sent, raw=self._came.unchanged(sent))
        chat = to_chat_completion(body, model=target.model)
        return write_request(settings, target, chat, kept_thinking={})

    def bare(self, target: Target) -> bytes:
        """Return the request as it came, but for the model's name."""
        return write_json({**self._asked, "model": target.model}).encode()

    def translator(self, target: Target, name: ReplyName) -> StreamTranslator | None:
        """Return what translates the stream of a model that is no Claude."""
        if target.form == "anthropic":
            return None
        last = ChunksToMessages(model_name=name.model, id=_message_id(name))
        first = translator_for(target, name)
        return last if first is None else Chained(first, last)

    def whole(self, target: Target, name: ReplyName, status: int, raw: bytes) -> Whole:
        """Return a whole answer, one in Anthropic's form byte for byte."""
        if target.form == "anthropic":
            check_reply(status, raw)
            return Whole(status, raw)
        told = translate_whole(target, name, status, raw, is_stream=self.view.is_stream)
        chunks = told.body
        if told.media_type != EVENT_STREAM:
            value = read_object(told.body.decode(errors="replace"))
            status = status_of_whole(told.status, value or {})
            if status >= 400:
                return Whole(status, write_json(error_to_messages(status, value)).encode())
            if value is None:
                raise UpstreamFailed("the upstream's answer is not JSON", hint="try again")
            if not self.view.is_stream:
                message = to_message(value, model_name=name.model, id=_message_id(name))
                return Whole(told.status, write_json(message).encode())
            chunks = whole_as_stream(name, value)
        last = ChunksToMessages(model_name=name.model, id=_message_id(name))
        events = [one for event in SseReader().feed(chunks) for one in last.feed(event)]
        return Whole(told.status, b"".join([*events, *last.close()]), EVENT_STREAM)

    def told(self, raw: bytes, *, is_stream: bool) -> Reply:
        """Return what a reply said."""
        return read_reply(raw, shape="anthropic", is_stream=is_stream)

    def fault(self, error: RemembrancerError) -> bytes:
        """Return the event that Anthropic's clients raise."""
        return encode_event(write_json(anthropic_error(error)), event="error")


def _message_id(name: ReplyName) -> str:
    return name.id.replace("chatcmpl-", "msg_")


def anthropic_error(error: RemembrancerError) -> Body:
    """Return the JSON of an error as Anthropic's clients read it."""
    return {
        "type": "error",
        "error": {"type": anthropic_kind(error), "message": error.message, "hint": error.hint},
    }


def anthropic_kind(error: RemembrancerError) -> str:
    """Return Anthropic's type of an error."""
    kind = CODES[error.code].openai_type
    return _KINDS.get(kind, kind)


def _check(body: object) -> Body:
    if not isinstance(body, dict):
        _refuse("the body", "an object", "body")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        _refuse("messages", "an array with a message", "messages")
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            _refuse(where, "an object with a role", where)
        if not isinstance(message.get("content"), str | list):
            _refuse(f"{where}.content", "a string or an array of blocks", f"{where}.content")
    return body


def _refuse(name: str, expected: str, field: str) -> NoReturn:
    raise InvalidInput(f"{name} must be {expected}", field=field)


def _signed(message: Body) -> Body:
    """Return a message without thinking that no Claude has signed: another model's, of before."""
    blocks = objects_of(message.get("content"))
    kept = [one for one in blocks if one.get("type") != "thinking" or one.get("signature") != ""]
    return message if len(kept) == len(blocks) else {**message, "content": kept}


def _has_image(message: Body) -> bool:
    return any(block.get("type") == "image" for block in objects_of(message.get("content")))


def _as_chat(message: Body, *, is_turn: bool) -> Body:
    """Return a message as the history reads it: tool results apart, pictures as addresses."""
    content = message.get("content")
    if message.get("role") == "user" and not is_turn:
        return {"role": "tool", "content": ""}
    if isinstance(content, str):
        return message
    blocks = objects_of(content)
    parts = [part for block in blocks if (part := _part(block)) is not None]
    chat: Body = {"role": message.get("role"), "content": parts}
    if any(block.get("type") == "tool_use" for block in blocks):
        chat["tool_calls"] = [{}]
    return chat


def _part(block: Body) -> Body | None:
    kind, source = block.get("type"), object_of(block.get("source"))
    if kind == "text":
        return {"type": "text", "text": string_of(block.get("text"))}
    if kind in ("image", "document") and source.get("type") == "base64":
        url = f"data:{string_of(source.get('media_type'))};base64,{string_of(source.get('data'))}"
        return {"type": "image_url", "image_url": {"url": url}}
    return None
