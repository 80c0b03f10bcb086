"""REST of storing chat messages, at the predecessor's paths. Only parsing and form."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from remembrancer.app import messages
from remembrancer.core import limits
from remembrancer.core.messages import Message
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Body, Shape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route


class NewMessage(Body):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Annotated[
        str, Field(json_schema_extra={"minLength": 1, "maxLength": limits.MESSAGE_CHARS_MAX})
    ]


class IngestBody(Named):
    """Messages to store, in their order."""

    messages: list[NewMessage] = Field(
        json_schema_extra={"minItems": 1, "maxItems": limits.MESSAGES_MAX}
    )
    conversation_id: str | None = optional(
        description="The namespace's one endless conversation when left out.",
        json_schema_extra={"maxLength": limits.CONVERSATION_ID_CHARS_MAX},
    )
    source: str | None = optional(
        description="Where they are from.",
        json_schema_extra={"maxLength": limits.CONVERSATION_ID_CHARS_MAX},
    )
    auto_extract: bool = optional(
        description="Taken, and changes nothing: facts are distilled by a job, later."
    )


class Saved(Shape):
    """A statement that a user's message asked to be remembered; `seen`: it was known already."""

    id: str
    content: str
    outcome: Literal["created", "seen"]


class IngestAnswer(Shape):
    """An id for each message as sent; `repeated` ones were stored before.

    `deferred` statements ask to be remembered beyond what one call saves at once: extraction reads
    them.
    """

    conversation_id: str
    message_ids: list[str]
    stored: int
    repeated: int
    saved: list[Saved]
    deferred: int


async def _ingest(call: Call[None, IngestBody]) -> Answer:
    body = call.body
    answer = await messages.ingest_messages(
        call.app,
        call.caller,
        [Message(one.role, one.content) for one in body.messages],
        conversation_id=body.conversation_id,
        source=body.source,
    )
    return Answer(answer)


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/ingest/messages",
        aliases=("/v1/memories/ingest", "/v1/messages/ingest"),
        name="ingest_messages",
        area="messages",
        summary="Store chat messages, each once",
        description="All of them or none: an unknown role is refused by name. A message that is "
        "sent again within ten minutes is the same message. What a user asks to be remembered "
        "(“请记住：…”, “remember that …”) is saved at once.",
        scope="memory:write",
        body=IngestBody,
        response=IngestAnswer,
        handler=_ingest,
    ),
)
"""The route of messages."""
