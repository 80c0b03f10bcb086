"""The doors of chat clients: OpenAI's form, Anthropic's form, and the list of models."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict, Field
from starlette.responses import Response

from remembrancer.app.gateway.anthropic_speech import AnthropicSpeech
from remembrancer.app.gateway.chat import count_tokens, relay
from remembrancer.app.gateway.models import list_models
from remembrancer.app.gateway.openai_speech import OpenAISpeech
from remembrancer.app.gateway.speech import Question
from remembrancer.app.state import App
from remembrancer.http.answers import Answer
from remembrancer.http.bodies import JSON_TYPES
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query
from remembrancer.http.relaying import RelayResponse
from remembrancer.http.route_table import Route

MEMORY: Final = "x-remembrancer-memory"
"""The header that turns memory off for one request."""

_UPSTREAM_ERRORS: Final = ("invalid_json", "upstream_failed", "timed_out", "conflict")

_COMPLETION: Final = {
    "type": "object",
    "description": "What the model's server answers, as it answers: a completion, or a stream of "
    "chunks as server-sent events when `stream` is true. An error of its own comes with its own "
    "status and body.",
}


_MESSAGE: Final = {
    "type": "object",
    "description": "What the model's server answers, as it answers: a message, or its events as "
    "server-sent events when `stream` is true.",
}


class ChatQuery(Query):
    """Nothing that changes what is asked: the body says it. What a client adds is passed over."""

    model_config = ConfigDict(extra="ignore")

    beta: str | None = Field(None, description="Sent by Anthropic's clients; changes nothing.")


class ModelsQuery(Query):
    """Nothing: the list is one page, whatever a client asks for."""

    model_config = ConfigDict(extra="ignore")

    limit: str | None = Field(None, description="Sent by Claude Code; changes nothing.")


def _question(call: Call[ChatQuery, None], *, has_memory: bool) -> Question:
    return Question(
        raw=call.raw,
        headers=call.headers,
        request_id=call.request_id,
        has_memory=has_memory and call.headers.get(MEMORY, "").lower() != "off",
    )


def _bytes_max(app: App) -> int:
    return max(app.settings.body_bytes_max, app.settings.chat_body_bytes_max or app.chat_bytes_max)


async def _chat(call: Call[ChatQuery, None]) -> Response:
    return _relay(call, has_memory=True)


async def _guide_dog(call: Call[ChatQuery, None]) -> Response:
    return _relay(call, has_memory=False)


async def _messages(call: Call[ChatQuery, None]) -> Response:
    question = _question(call, has_memory=True)
    speech = AnthropicSpeech(question.raw, question.headers)
    return RelayResponse(relay(call.app, call.caller, question, speech))


async def _count_tokens(call: Call[ChatQuery, None]) -> Response:
    question = _question(call, has_memory=False)
    speech = AnthropicSpeech(question.raw, question.headers)
    return RelayResponse(count_tokens(call.app, question, speech))


def _relay(call: Call[ChatQuery, None], *, has_memory: bool) -> Response:
    question = _question(call, has_memory=has_memory)
    speech = OpenAISpeech(question.raw, question.headers)
    return RelayResponse(relay(call.app, call.caller, question, speech))


async def _models(call: Call[ModelsQuery, None]) -> Answer:
    return Answer(list_models(call.app.settings))


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/chat/completions",
        name="chat_completions",
        area="chat",
        summary="Chat through the gateway, with memory",
        description="OpenAI's form, stream or not. Only `messages` and the model's name differ in "
        "what is asked of the model's server. Headers of the answer: `x-remembrancer-recall` (see "
        "/v1/recalls), `x-remembrancer-saved` (ids of memories, or `pending`), "
        "`x-remembrancer-degraded` (what was left out, and why), `x-remembrancer-conversation`. A "
        "conversation is named by the header `x-remembrancer-conversation`, by `metadata` or "
        "`user`, or known by how it begins. `x-remembrancer-memory: off` gives no memory and keeps "
        "nothing; the same holds for what clients ask for themselves, such as a title.",
        scope="chat:proxy",
        query=ChatQuery,
        raw_body=JSON_TYPES,
        body_bytes_max=_bytes_max,
        response=_COMPLETION,
        errors=_UPSTREAM_ERRORS,
        handler=_chat,
    ),
    Route(
        method="POST",
        path="/v1/guide-dog/chat/completions",
        name="guide_dog_chat_completions",
        area="chat",
        summary="Chat without memory",
        description="As /v1/chat/completions, pictures included; nothing is recalled, nothing is "
        "stored.",
        scope="chat:proxy",
        query=ChatQuery,
        raw_body=JSON_TYPES,
        body_bytes_max=_bytes_max,
        response=_COMPLETION,
        errors=_UPSTREAM_ERRORS,
        handler=_guide_dog,
    ),
    Route(
        method="POST",
        path="/anthropic/v1/messages",
        aliases=("/v1/messages",),
        name="messages",
        area="chat",
        summary="Chat in Anthropic's form, with memory",
        description="The Messages API: Anthropic's SDKs and Claude Code take "
        "`<address>/anthropic` as their base. Only `messages`, `system` and the model's name "
        "differ in what is asked of the model's server. Headers of the answer as those of "
        "/v1/chat/completions.",
        scope="chat:proxy",
        query=ChatQuery,
        raw_body=JSON_TYPES,
        body_bytes_max=_bytes_max,
        response=_MESSAGE,
        errors=_UPSTREAM_ERRORS,
        handler=_messages,
    ),
    Route(
        method="POST",
        path="/anthropic/v1/messages/count_tokens",
        aliases=("/v1/messages/count_tokens",),
        name="count_tokens",
        area="chat",
        summary="Count the tokens of a request in Anthropic's form",
        description="Asked of the model's server as it is; memory is not counted.",
        scope="chat:proxy",
        query=ChatQuery,
        raw_body=JSON_TYPES,
        body_bytes_max=_bytes_max,
        response={"type": "object"},
        errors=_UPSTREAM_ERRORS,
        handler=_count_tokens,
    ),
    Route(
        method="GET",
        path="/v1/models",
        aliases=("/v1/guide-dog/models", "/anthropic/v1/models"),
        name="list_models",
        area="chat",
        summary="List the models that a chat may name",
        description="The public name first; any other model of the upstream may be named as well.",
        scope=None,
        query=ModelsQuery,
        response={
            "type": "object",
            "required": ["object", "data"],
            "properties": {
                "object": {"const": "list"},
                "data": {"type": "array", "items": {"type": "object", "required": ["id"]}},
                "has_more": {"type": "boolean"},
                "first_id": {"type": "string"},
                "last_id": {"type": "string"},
            },
        },
        handler=_models,
    ),
)
"""The routes of chats."""
