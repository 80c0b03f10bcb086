"""REST of the boot pack and the digest, at the predecessor's path. Only parsing and form."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from remembrancer.app.library import boot, digest
from remembrancer.core import limits
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Query, Shape
from remembrancer.http.rest.days import DayBrief
from remembrancer.http.rest.library import EntryShape, PreciousShape
from remembrancer.http.rest.names import Named
from remembrancer.http.route_table import Route


class BootQuery(Query):
    """Which messages and which diary page; in words or ISO 8601, in the namespace's zone."""

    start: str | None = Field(None, description="Today 00:00 when left out.")
    end: str | None = Field(None, description="Now when left out.")
    daily_date: str | None = Field(None, description="Yesterday when left out.")


class BootChange(Named):
    """Another digest."""

    content: str = Field(
        description="An empty one takes it away.",
        json_schema_extra={"maxLength": limits.DIGEST_CHARS_MAX},
    )


class DigestShape(Shape):
    """The digest and its version."""

    content: str
    version: int
    updated_at: str


class MessageShape(Shape):
    """A stored message; a long one is cut here, and says so."""

    id: str
    conversation_id: str
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    is_cut: bool
    chars: int
    source: str | None
    created_at: str


class BootStats(Shape):
    """What there is in all."""

    today_raw_count: int
    pending_candidates: int
    memory_type_counts: dict[str, int]
    precious_total: int


class BootWindow(Shape):
    """The messages' window and the diary page's day."""

    start: str
    end: str
    daily_date: str
    time_zone: str


class BootAnswer(Shape):
    """The boot pack; quotes and messages oldest first."""

    digest: DigestShape | None
    daily_log: DayBrief | None = Field(description="Yesterday's page of the diary.")
    precious: list[PreciousShape]
    glossary: list[EntryShape]
    longtail: list[str] = Field(description="The cold tier; empty so far.")
    today_messages: list[MessageShape]
    stats: BootStats
    window: BootWindow


class DigestAnswer(Shape):
    """The digest after a change; `changed` is false when it was so already."""

    digest: DigestShape | None
    changed: bool


async def _boot(call: Call[BootQuery, None]) -> Answer:
    query = call.query
    answer = await boot.memory_boot(
        call.app, call.caller, start=query.start, end=query.end, daily_date=query.daily_date
    )
    return Answer(answer)


async def _set_digest(call: Call[None, BootChange]) -> Answer:
    answer = await digest.set_digest(
        call.app, call.caller, call.body.content, expected_version=call.expected_version
    )
    return Answer(answer)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/memory_boot",
        name="memory_boot",
        area="library",
        summary="Load what a new conversation needs to know",
        description="The digest, yesterday's diary page, the newest 100 precious quotes, the "
        "whole glossary, the cold tier, the newest 160 messages of today, and counts.",
        scope="memory:read",
        query=BootQuery,
        response=BootAnswer,
        errors=("invalid_date",),
        handler=_boot,
    ),
    Route(
        method="PATCH",
        path="/v1/memory_boot",
        name="set_digest",
        area="library",
        summary="Set the digest",
        description=f"More than {limits.DIGEST_CHARS_MAX} characters are refused, never cut. "
        '`If-Match` takes the version that was shown, `"0"` where there was none.',
        scope="memory:write",
        if_match=True,
        body=BootChange,
        response=DigestAnswer,
        handler=_set_digest,
    ),
)
"""The routes of the boot pack."""
