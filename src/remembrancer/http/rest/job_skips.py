"""REST of messages that a model refused: list, try again, let go. Only parsing and form."""

from __future__ import annotations

from typing import Final, Literal

from remembrancer.app.jobs import skips
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Limit, Query, Shape
from remembrancer.http.rest.jobs import RanAnswer
from remembrancer.http.route_table import Route

_ID: Final = {"message_id": "The message's id, `msg_…`."}


class SkipsQuery(Query):
    """A page of refused messages, the oldest first."""

    limit: Limit = 50
    cursor: Cursor | None = None


class SkipShape(Shape):
    """A message that extraction passed without a model; the rules have read it."""

    message_id: str
    conversation_id: str
    content: str
    said_at: str
    skipped_at: str
    goes_at: str
    reason: Literal["too_long", "filtered", "unreadable", "rejected", "failing"]
    tries: int
    run_id: str


class SkipsAnswer(Shape):
    """A page of refused messages."""

    skipped: list[SkipShape]
    count: int
    total: int
    next_cursor: str | None


class DroppedSkip(Shape):
    """A message that was let go."""

    dropped: str


async def _list(call: Call[SkipsQuery, None]) -> Answer:
    query = call.query
    return Answer(
        await skips.list_skips(call.app, call.caller, limit=query.limit, cursor=query.cursor)
    )


async def _retry(call: Call[None, None]) -> Answer:
    return Answer(await skips.retry_skip(call.app, call.caller, call.path["message_id"]))


async def _drop(call: Call[None, None]) -> Answer:
    return Answer(await skips.drop_skip(call.app, call.caller, call.path["message_id"]))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/jobs/extract/skipped",
        name="list_skipped",
        area="jobs",
        summary="List messages that the model refused to read, the oldest first",
        description="`content` is the beginning of the message; at `goes_at` it is let go by "
        "itself.",
        scope="memory:read",
        query=SkipsQuery,
        response=SkipsAnswer,
        handler=_list,
    ),
    Route(
        method="POST",
        path="/v1/jobs/extract/skipped/{message_id}/retry",
        name="retry_skipped",
        area="jobs",
        summary="Let the model read a refused message again, now",
        params=_ID,
        scope="memory:write",
        response=RanAnswer,
        errors=("conflict", "model_refused", "upstream_failed", "timed_out", "limit_exceeded"),
        handler=_retry,
    ),
    Route(
        method="POST",
        path="/v1/jobs/extract/skipped/{message_id}/drop",
        name="drop_skipped",
        area="jobs",
        summary="Let a refused message go: nothing more is learned from it",
        params=_ID,
        scope="memory:write",
        response=DroppedSkip,
        handler=_drop,
    ),
)
"""The routes of refused messages."""
