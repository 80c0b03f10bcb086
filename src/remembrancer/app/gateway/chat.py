"""Use case of one chat request in OpenAI's form: asked on, with memory, and answered as it comes.

Only `messages` and the model's name differ from what the client sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from remembrancer.app.gateway.relaying import Heard, Relayed, cut_off, error_event, pass_on
from remembrancer.app.gateway.routing import model_for, target_for
from remembrancer.app.gateway.sending import ask, header_of, passed_headers, read_whole
from remembrancer.app.state import App
from remembrancer.core.chat.request import parse_chat_request
from remembrancer.core.chat.shapes import write_json
from remembrancer.core.errors import InvalidInput
from remembrancer.core.values import Caller

EVENT_STREAM = "text/event-stream"
"""The media type of a stream of events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request of a chat client. *Shape:* `has_memory` False: nothing is recalled or stored."""

    raw: bytes
    headers: Mapping[str, str]
    request_id: str
    has_memory: bool = True


async def relay_chat(app: App, caller: Caller, question: Question) -> Relayed:
    """Ask an upstream and return its answer. *Raises:* InvalidInput, UpstreamFailed, TimedOut."""
    body = read_body(question.raw)
    request = parse_chat_request(body)
    model = model_for(app.settings, request.model, has_images=request.has_images)
    target = target_for(app.settings, model)
    sent = {**request.body, "model": target.model}
    answer = await ask(app, target, write_json(sent).encode(), client_headers=question.headers)
    headers = passed_headers(answer.headers)
    heard = Heard()
    if not header_of(answer.headers, "content-type").startswith(EVENT_STREAM):
        return Relayed(status=answer.status, headers=headers, body=await read_whole(answer))
    _, pieces = answer.tee()
    return Relayed(
        status=answer.status,
        headers=headers,
        pieces=pass_on(answer, pieces, heard, ending=_ending, later=lambda: None),
    )


def _ending(raw: bytes) -> bytes:
    return b"" if b"[DONE]" in raw[-64:] else error_event(cut_off())


def read_body(raw: bytes) -> object:
    """Return the JSON of a request; half a surrogate pair in a text is passed on as it is.

    *Raises:* InvalidInput with code `invalid_json`.
    """
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "the body is not JSON", hint="send one JSON object in UTF-8", code="invalid_json"
        ) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
