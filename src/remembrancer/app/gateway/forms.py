"""The forms of upstreams: a request written for one, and its answers put into OpenAI's form.

The translations themselves are `core.chat`'s. It sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from remembrancer.app.gateway.routing import Target
from remembrancer.app.settings import Settings
from remembrancer.core.chat.anthropic_request import AnthropicOptions, to_anthropic
from remembrancer.core.chat.anthropic_stream import (
    AnthropicToOpenAI,
    anthropic_error_to_openai,
    from_anthropic_message,
    thinking_before_calls,
)
from remembrancer.core.chat.shapes import Body, read_object, write_json
from remembrancer.core.chat.sse import SseEvent, SseReader
from remembrancer.core.chat.usage import Usage
from remembrancer.core.chat.workers_ai import (
    WorkersAIToOpenAI,
    from_workers_ai,
    not_taken,
    to_workers_ai,
    workers_ai_error_to_openai,
)
from remembrancer.core.errors import UpstreamFailed

EVENT_STREAM: Final = "text/event-stream"
"""The media type of a stream of events."""

Thinking = dict[str, list[Body]]
"""Id of a tool call → the thinking blocks before it, as they must be sent back."""


@dataclass(frozen=True, slots=True)
class Written:
    """A request as it is sent.

    *Shape:* `notes` name the fields that were left out or changed; `raw` the client's own bytes
    where nothing differs from what it sent.
    """

    sent: Body
    notes: tuple[str, ...] = ()
    raw: bytes | None = None

    @property
    def body(self) -> bytes:
        """Its bytes."""
        return write_json(self.sent).encode() if self.raw is None else self.raw


def write_request(
    settings: Settings,
    target: Target,
    body: Body,
    *,
    kept_thinking: Mapping[str, Sequence[Body]],
    has_memory: bool = False,
) -> Written:
    """Return a request of OpenAI's form in the form of its target.

    *Shape:* `has_memory` when marked blocks at the end of users' messages are ours, none a
    client's. *Raises:* InvalidInput: it has nothing that the target could answer.
    """
    if target.form == "anthropic":
        options = replace(anthropic_options(settings, kept_thinking), has_memory=has_memory)
        translated = to_anthropic(body, model=target.model, options=options)
        notes = tuple(note.field for note in translated.notes)
        return Written(translated.body, notes)
    if target.form == "workers_ai":
        return Written(to_workers_ai(body), not_taken(body))
    return Written({**body, "model": target.model})


def anthropic_options(
    settings: Settings, kept_thinking: Mapping[str, Sequence[Body]]
) -> AnthropicOptions:
    """Return the settings of Claude's upstream."""
    return AnthropicOptions(
        cache_enabled=settings.anthropic_cache_enabled,
        cache_ttl=settings.anthropic_cache_ttl,
        auto_cache=settings.anthropic_auto_cache_enabled,
        rolling_cache=settings.anthropic_rolling_cache_enabled,
        rolling_window=settings.anthropic_rolling_cache_window_size,
        cache_user_id=settings.anthropic_cache_user_id or "",
        thinking_enabled=settings.anthropic_thinking_enabled,
        thinking_budget=settings.anthropic_thinking_budget,
        kept_thinking=kept_thinking,
    )


class StreamTranslator(Protocol):
    """One streamed reply, put into the client's form event by event."""

    thinking_blocks: Thinking

    @property
    def usage(self) -> Usage | None:
        """The tokens reported so far."""
        ...

    def feed(self, event: SseEvent) -> list[bytes]:
        """Return what the client is sent for one event."""
        ...

    def close(self) -> list[bytes]:
        """Return what is sent when the upstream's bytes end."""
        ...


class Chained:
    """Two translators, one behind the other."""

    def __init__(self, first: StreamTranslator, second: StreamTranslator) -> None:
        self._first = first
        self._second = second
        self._between = SseReader()
        self.thinking_blocks: Thinking = {}

    @property
    def usage(self) -> Usage | None:
        """The tokens reported so far."""
        return self._first.usage

    def feed(self, event: SseEvent) -> list[bytes]:
        """Return what the client is sent for one event."""
        return self._pass(self._first.feed(event))

    def close(self) -> list[bytes]:
        """Return what is sent when the upstream's bytes end."""
        return [*self._pass(self._first.close()), *self._second.close()]

    def _pass(self, told: list[bytes]) -> list[bytes]:
        events = [event for piece in told for event in self._between.feed(piece)]
        return [one for event in events for one in self._second.feed(event)]


@dataclass(frozen=True, slots=True)
class ReplyName:
    """What a translated reply is called. *Units:* `created` in seconds since the epoch."""

    model: str
    id: str
    created: int
    wants_usage: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole reply in the client's form, and the thinking that belongs to its calls."""

    status: int
    body: bytes
    media_type: str = "application/json"
    thinking: Thinking = field(default_factory=dict)


def translator_for(target: Target, name: ReplyName) -> StreamTranslator | None:
    """Return what translates a target's stream; None when it is in OpenAI's form already."""
    if target.form == "openai":
        return None
    translator = AnthropicToOpenAI if target.form == "anthropic" else WorkersAIToOpenAI
    return translator(
        model_name=name.model, id=name.id, created=name.created, wants_usage=name.wants_usage
    )


def check_reply(status: int, raw: bytes) -> None:
    """Look at what came with the status of a reply: it may be any JSON.

    *Raises:* UpstreamFailed: a web page or nothing, which no client could read; most often the
    address of the model's server is another one's.
    """
    if status == 200 and raw.lstrip()[:1] in (b"<", b""):
        raise UpstreamFailed(
            f"the upstream answered with {'a web page' if raw.strip() else 'nothing'}",
            hint="see whether AI_GATEWAY_BASE_URL is the address of its interface",
        )


def translate_whole(
    target: Target, name: ReplyName, status: int, raw: bytes, *, is_stream: bool = False
) -> Whole:
    """Return a whole answer, a reply or an error, in OpenAI's form.

    *Shape:* `is_stream` when the client asked for a stream: some models of Workers AI answer
    whole all the same. *Raises:* UpstreamFailed: a reply that is no JSON.
    """
    check_reply(status, raw)
    if target.form == "openai":
        return Whole(status, raw)
    text = raw.decode(errors="replace")
    value = read_object(text)
    if status < 400 and value is not None and (value.get("error") or value.get("errors")):
        status = 0  # the error says what it is
    if not 0 < status < 400:
        translate = (
            anthropic_error_to_openai if target.form == "anthropic" else workers_ai_error_to_openai
        )
        status, error = translate(status, text if value is None else value)
        return Whole(status, write_json(error).encode())
    if value is None:
        raise UpstreamFailed("the upstream's answer is not JSON", hint="try again")
    if target.form == "workers_ai":
        return _whole_of_workers_ai(name, status, value, is_stream=is_stream)
    reply = from_anthropic_message(value, model_name=name.model, id=name.id, created=name.created)
    return Whole(status, write_json(reply).encode(), thinking=thinking_before_calls(value))


def _whole_of_workers_ai(name: ReplyName, status: int, value: Body, *, is_stream: bool) -> Whole:
    if is_stream:
        return Whole(status, whole_as_stream(name, value), EVENT_STREAM)
    reply = from_workers_ai(value, model_name=name.model, id=name.id, created=name.created)
    return Whole(status, write_json(reply).encode())


def whole_as_stream(name: ReplyName, value: Body) -> bytes:
    """Return a whole reply, in OpenAI's form or one of Workers AI's, as the stream asked for."""
    translator = WorkersAIToOpenAI(
        model_name=name.model, id=name.id, created=name.created, wants_usage=name.wants_usage
    )
    return b"".join(translator.feed_json(value))
