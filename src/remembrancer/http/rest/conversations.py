"""REST of conversations: what was said, what each turn cost, and why a prompt cache was lost.

Only parsing and form.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from remembrancer.app.gateway import receipts
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Limit, Query, Shape
from remembrancer.http.route_table import Route


class ConversationsQuery(Query):
    """A page."""

    limit: Limit = 50
    cursor: Cursor | None = None


class ConversationShape(Shape):
    """A conversation with its sums; `answers` are those of upstreams, tool loops included."""

    id: str
    model: str
    created_at: str
    updated_at: str
    answers: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float


class ListedConversation(ConversationShape):
    """A conversation in a list."""

    said: str | None = Field(description="How the user's latest message begins.")


class ConversationsAnswer(Shape):
    """A page of conversations, the latest first."""

    data: list[ListedConversation]
    next_cursor: str | None


class TurnShape(Shape):
    """One answer of an upstream. Milliseconds; tokens are null where the upstream tells none."""

    id: str
    turn: str = Field(description="The same for all answers of one tool loop.")
    request_id: str
    model: str
    status: int
    is_stream: bool
    is_complete: bool
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    first_byte_ms: int
    total_ms: int
    recall_id: str | None
    saved: list[str]
    degraded: list[str]
    cache_note: str | None = Field(description="Why the prompt cache kept less than before.")
    created_at: str


class ConversationAnswer(Shape):
    """A conversation with a page of its turns, the latest first."""

    conversation: ConversationShape
    turns: list[TurnShape]
    next_cursor: str | None


class MessageShape(Shape):
    """A stored message; `content` is the beginning of a long one, `chars` its whole length."""

    id: str
    conversation_id: str
    role: str
    content: str
    chars: int
    source: str | None
    model: str | None = Field(description="Which one answered, where the gateway saw it.")
    is_partial: bool = Field(description="The answer was cut off.")
    created_at: str


class MessagesAnswer(Shape):
    """A page of messages, the latest first."""

    data: list[MessageShape]
    next_cursor: str | None


async def _list(call: Call[ConversationsQuery, None]) -> Answer:
    query = call.query
    return Answer(
        await receipts.list_conversations(
            call.app, call.caller, limit=query.limit, cursor=query.cursor
        )
    )


async def _get(call: Call[ConversationsQuery, None]) -> Answer:
    query = call.query
    return Answer(
        await receipts.get_conversation(
            call.app,
            call.caller,
            call.path["conversation_id"],
            limit=query.limit,
            cursor=query.cursor,
        )
    )


async def _messages(call: Call[ConversationsQuery, None]) -> Answer:
    query = call.query
    return Answer(
        await receipts.list_messages(
            call.app,
            call.caller,
            call.path["conversation_id"],
            limit=query.limit,
            cursor=query.cursor,
        )
    )


_ID: Final = {
    "conversation_id": "A conversation's id, as `x-remembrancer-conversation` has it.",
}

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/conversations",
        name="list_conversations",
        area="chat",
        summary="List conversations with what they cost",
        scope="memory:read",
        query=ConversationsQuery,
        response=ConversationsAnswer,
        handler=_list,
    ),
    Route(
        method="GET",
        path="/v1/conversations/{conversation_id}",
        name="get_conversation",
        area="chat",
        summary="Show a conversation's turns: tokens, cache, cost",
        description="Cached and written tokens as the upstream reports them; a drop is explained "
        "by the part of the prefix that changed.",
        scope="memory:read",
        params=_ID,
        query=ConversationsQuery,
        response=ConversationAnswer,
        handler=_get,
    ),
    Route(
        method="GET",
        path="/v1/conversations/{conversation_id}/messages",
        name="list_messages",
        area="chat",
        summary="List a conversation's stored messages, the latest first",
        description="Also of one that was ingested. Messages go when retention takes them.",
        scope="memory:read",
        params=_ID,
        query=ConversationsQuery,
        response=MessagesAnswer,
        handler=_messages,
    ),
)
"""The routes of conversations."""
