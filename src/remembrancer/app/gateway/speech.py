"""What a client speaks: the one interface between the flow of a chat and the form of its request.

Implementations are `openai_speech` and `anthropic_speech`; the flow is `chat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, Protocol

from remembrancer.app.gateway.forms import ReplyName, StreamTranslator, Whole, Written
from remembrancer.app.gateway.history import Reading
from remembrancer.app.gateway.memory import Given
from remembrancer.app.gateway.routing import Target
from remembrancer.app.gateway.turns import Turn
from remembrancer.app.settings import Settings
from remembrancer.core.chat.collect import Reply, ReplyCollector, Shape
from remembrancer.core.chat.shapes import Body, read_object
from remembrancer.core.errors import InvalidInput, RemembrancerError
from remembrancer.core.jsontext import parse_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request of a chat client. *Shape:* `has_memory` False: nothing is recalled or stored."""

    raw: bytes
    headers: Mapping[str, str]
    request_id: str
    has_memory: bool = True


@dataclass(frozen=True, slots=True)
class View:
    """What the flow needs to know of a request. *Shape:* `is_native` asks for Anthropic's form;
    `volatile` what the client's instructions say of the moment; `is_chore` when a client asks for
    itself, a title or the like."""

    model: str
    has_images: bool
    is_stream: bool
    wants_usage: bool
    is_native: bool
    reading: Reading
    volatile: str = ""
    is_chore: bool = False


class Speech(Protocol):
    """One request in its client's form, and how its answers are read and told."""

    @property
    def view(self) -> View:
        """Return what was read of it."""
        ...

    def write(self, settings: Settings, target: Target, turn: Turn, given: Given) -> Written:
        """Return the request for its target, with the memory that the turn was given."""
        ...

    def bare(self, target: Target) -> bytes:
        """Return the request for its target in its own form, without any memory."""
        ...

    def translator(self, target: Target, name: ReplyName) -> StreamTranslator | None:
        """Return what translates the target's stream; None when the client reads it as it is."""
        ...

    def whole(self, target: Target, name: ReplyName, status: int, raw: bytes) -> Whole:
        """Return a whole answer, a reply or an error, as the client reads it."""
        ...

    def told(self, raw: bytes, *, is_stream: bool) -> Reply:
        """Return what a reply said, from the bytes that the client was sent."""
        ...

    def fault(self, error: RemembrancerError) -> bytes:
        """Return the event that reports a fault in the middle of a stream."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A request's body. *Shape:* `raw` its bytes where they may be passed on as they came: they are
    UTF-8, without a mark at their front."""

    body: object
    raw: bytes | None

    def unchanged(self, sent: Body) -> bytes | None:
        """Return the bytes where `sent` says nothing else than they do, else None.

        What was not touched is the same object still.
        """
        if self.raw is None or not isinstance(self.body, dict) or sent.keys() != self.body.keys():
            return None
        for name, value in sent.items():
            own = self.body[name]
            if name == "messages":
                if not _same_items(value, own):
                    return None
            elif value is not own and (name != "model" or value != own):
                return None
        return self.raw


def _same_items(first: object, second: object) -> bool:
    if not isinstance(first, list) or not isinstance(second, list) or len(first) != len(second):
        return False
    return all(one is other for one, other in zip(first, second, strict=True))


def read_body(raw: bytes) -> Asked:
    """Return the JSON of a request; half a surrogate pair in a text is passed on as it is.

    *Raises:* InvalidInput with code `invalid_json`.
    """
    try:
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return Asked(parse_json(raw, parse_constant=_refuse_constant), None)
        if text.startswith(("\ufeff", "\0")) or text[1:2] == "\0":
            return Asked(parse_json(raw, parse_constant=_refuse_constant), None)
        return Asked(parse_json(text, parse_constant=_refuse_constant), raw)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "the body is not JSON", hint="send one JSON object in UTF-8", code="invalid_json"
        ) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def read_reply(raw: bytes, *, shape: Shape, is_stream: bool) -> Reply:
    """Return what a reply said, a stream or a whole body."""
    collector = ReplyCollector(shape=shape)
    if is_stream:
        collector.feed(raw)
    else:
        collector.feed_json(read_object(raw.decode(errors="replace")))
    return collector.close()
