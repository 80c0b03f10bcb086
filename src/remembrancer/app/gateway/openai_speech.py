"""A chat in OpenAI's form: read, given memory, written for any upstream, and its replies read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from remembrancer.app.gateway.forms import (
    ReplyName,
    StreamTranslator,
    Whole,
    Written,
    translate_whole,
    translator_for,
    write_request,
)
from remembrancer.app.gateway.history import read_history
from remembrancer.app.gateway.memory import Given
from remembrancer.app.gateway.routing import Target
from remembrancer.app.gateway.speech import View, read_body, read_reply
from remembrancer.app.gateway.turns import Turn
from remembrancer.app.settings import Settings
from remembrancer.core.chat.chores import is_chore
from remembrancer.core.chat.chunks import error_event
from remembrancer.core.chat.collect import Reply
from remembrancer.core.chat.inject import (
    inject_boot,
    move_volatile,
    place_block,
    strip_injected_messages,
)
from remembrancer.core.chat.request import SYSTEM_ROLES, parse_chat_request, text_of
from remembrancer.core.chat.shapes import Body, write_json
from remembrancer.core.errors import CODES, RemembrancerError


class OpenAISpeech:
    """The Speech of Chat Completions."""

    def __init__(self, raw: bytes, headers: Mapping[str, str]) -> None:
        """Read a request. *Raises:* InvalidInput, with code `invalid_json` when it is no JSON."""
        self._asked = read_body(raw)
        request = parse_chat_request(self._asked.body)
        self._body = request.body
        self._messages, volatile = move_volatile(strip_injected_messages(request.messages))
        system = "\n".join(text_of(one.get("content")) for one in self._messages if _is_system(one))
        reading = read_history(
            self._messages, headers=headers, body=request.body, stable_system=system
        )
        self.view = View(
            model=request.model,
            has_images=request.has_images,
            is_stream=request.stream,
            wants_usage=request.wants_usage,
            is_native=False,
            reading=reading,
            volatile=volatile,
            is_chore=is_chore(system, reading.message),
        )

    def write(self, settings: Settings, target: Target, turn: Turn, given: Given) -> Written:
        """Return the request for its target; only `messages` and the model's name differ."""
        body = self._body
        if turn.is_recalled:
            messages = self._messages
            for index, key in self.view.reading.places:
                messages = place_block(messages, given.blocks.get(key, ""), at=index)
            body = {**body, "messages": inject_boot(messages, given.boot)}
        written = write_request(
            settings, target, body, kept_thinking=turn.thinking, has_memory=turn.is_recalled
        )
        return replace(written, raw=self._asked.unchanged(written.sent))

    def bare(self, target: Target) -> bytes:
        """Return the request as it came, but for the model's name."""
        return write_json({**self._body, "model": target.model}).encode()

    def translator(self, target: Target, name: ReplyName) -> StreamTranslator | None:
        """Return what translates the target's stream."""
        return translator_for(target, name)

    def whole(self, target: Target, name: ReplyName, status: int, raw: bytes) -> Whole:
        """Return a whole answer in OpenAI's form; one that has it already byte for byte."""
        return translate_whole(target, name, status, raw, is_stream=self.view.is_stream)

    def told(self, raw: bytes, *, is_stream: bool) -> Reply:
        """Return what a reply said."""
        return read_reply(raw, shape="openai", is_stream=is_stream)

    def fault(self, error: RemembrancerError) -> bytes:
        """Return the event that OpenAI's clients raise. *Source:* openai-python's decoder."""
        body: Body = {
            "message": error.message,
            "type": CODES[error.code].openai_type,
            "code": error.code,
            "param": None,
            "hint": error.hint,
        }
        return error_event({"error": body})


def _is_system(message: Body) -> bool:
    return message.get("role") in SYSTEM_ROLES
