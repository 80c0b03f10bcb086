"""The forms of upstreams: a request written for one, and its answers put into OpenAI's form.

The translations themselves are `core.chat`'s. It sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

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
from remembrancer.core.chat.sse import SseEvent
from remembrancer.core.chat.usage import Usage
from remembrancer.core.errors import UpstreamFailed

Thinking = dict[str, list[Body]]
"""Id of a tool call → the thinking blocks before it, as they must be sent back."""


@dataclass(frozen=True, slots=True)
class Written:
    """A request as it is sent. *Shape:* `notes` name the fields that were left out or changed."""

    body: bytes
    notes: tuple[str, ...] = ()


def write_request(
    settings: Settings, target: Target, body: Body, *, kept_thinking: Mapping[str, Sequence[Body]]
) -> Written:
    """Return a request of OpenAI's form in the form of its target.

    *Raises:* InvalidInput: it has nothing that the target could answer.
    """
    if target.form == "anthropic":
        options = anthropic_options(settings, kept_thinking)
        translated = to_anthropic(body, model=target.model, options=options)
        notes = tuple(note.field for note in translated.notes)
        return Written(write_json(translated.body).encode(), notes)
    return Written(write_json({**body, "model": target.model}).encode())


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


@dataclass(frozen=True, slots=True)
class ReplyName:
    """What a translated reply is called. *Units:* `created` in seconds since the epoch."""

    model: str
    id: str
    created: int
    wants_usage: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole reply in OpenAI's form, and the thinking that belongs to its calls."""

    status: int
    body: bytes
    thinking: Thinking


def translator_for(target: Target, name: ReplyName) -> AnthropicToOpenAI | None:
    """Return what translates a target's stream; None when it is in OpenAI's form already."""
    if target.form == "anthropic":
        return AnthropicToOpenAI(
            model_name=name.model, id=name.id, created=name.created, wants_usage=name.wants_usage
        )
    return None


def translate_whole(target: Target, name: ReplyName, status: int, raw: bytes) -> Whole:
    """Return a whole answer, a reply or an error, in OpenAI's form.

    *Raises:* UpstreamFailed: a reply that is no JSON.
    """
    if target.form == "openai":
        return Whole(status, raw, {})
    value = read_object(raw.decode(errors="replace"))
    if status >= 400:
        status, error = anthropic_error_to_openai(status, value)
        return Whole(status, write_json(error).encode(), {})
    if value is None:
        raise UpstreamFailed("the upstream's answer is not JSON", hint="try again")
    reply = from_anthropic_message(value, model_name=name.model, id=name.id, created=name.created)
    return Whole(status, write_json(reply).encode(), thinking_before_calls(value))
