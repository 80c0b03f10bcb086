"""The doors of chat clients: OpenAI's form, with memory and without, and the list of models."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from remembrancer.app.gateway.chat import relay
from remembrancer.app.gateway.models import list_models
from remembrancer.app.gateway.openai_speech import OpenAISpeech
from remembrancer.app.gateway.speech import Question
from remembrancer.http.answers import Answer
from remembrancer.http.bodies import JSON_TYPES
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query
from remembrancer.http.relaying import RelayResponse
from remembrancer.http.route_table import Route

_UPSTREAM_ERRORS: Final = ("invalid_json", "upstream_failed", "timed_out", "conflict")

_COMPLETION: Final = {
    "type": "object",
    "description": "What the model's server answers, as it answers: a completion, or a stream of "
    "chunks as server-sent events when `stream` is true. An error of its own comes with its own "
    "status and body.",
}


class ChatQuery(Query):
    """Nothing: what a chat is, its body says."""


def _question(call: Call[ChatQuery, None], *, has_memory: bool) -> Question:
    return Question(
        raw=call.raw,
        headers=call.headers,
        request_id=call.request_id,
        has_memory=has_memory,
    )


async def _chat(call: Call[ChatQuery, None]) -> Response:
    return _relay(call, has_memory=True)


async def _guide_dog(call: Call[ChatQuery, None]) -> Response:
    return _relay(call, has_memory=False)


def _relay(call: Call[ChatQuery, None], *, has_memory: bool) -> Response:
    question = _question(call, has_memory=has_memory)
    speech = OpenAISpeech(question.raw, question.headers)
    return RelayResponse(relay(call.app, call.caller, question, speech))


async def _models(call: Call[None, None]) -> Answer:
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
        "`user`, or known by how it begins.",
        scope="chat:proxy",
        query=ChatQuery,
        raw_body=JSON_TYPES,
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
        response=_COMPLETION,
        errors=_UPSTREAM_ERRORS,
        handler=_guide_dog,
    ),
    Route(
        method="GET",
        path="/v1/models",
        aliases=("/v1/guide-dog/models",),
        name="list_models",
        area="chat",
        summary="List the models that a chat may name",
        description="The public name first; any other model of the upstream may be named as well.",
        scope=None,
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
