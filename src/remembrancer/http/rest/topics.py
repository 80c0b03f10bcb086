"""REST of topics and their canonical items. Only parsing and form; the use cases decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, cast

from pydantic import Field

from remembrancer.app import topics
from remembrancer.app.topics import TopicInput
from remembrancer.core import limits
from remembrancer.core.topics.decide import RETRIEVAL_PRIORITY_MAX
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Shape
from remembrancer.http.rest.item_bodies import text
from remembrancer.http.rest.item_shapes import BriefItem, MomentShape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.rest.projects import Name, OwnersQuery, made_answer, owner_answer
from remembrancer.http.route_table import Route

TopicKind = Literal["topic", "profile", "project", "system"]
SummaryMode = Literal["auto", "manual"]


class TopicShape(Shape):
    """A topic; the profile is shown with version 0 before anything was written to it."""

    id: str | None
    slug: str
    name: str
    description: str | None
    kind: TopicKind
    retrieval_priority: int
    summary_mode: SummaryMode
    canonical_item: BriefItem | None
    counts: dict[str, int] = Field(default_factory=dict)
    version: int
    created_at: str | None
    updated_at: str | None


class TopicsAnswer(Shape):
    """A page of topics by slug; a look into the past has no counts."""

    topics: list[TopicShape]
    count: int
    total: int
    total_is_minimum: bool
    next_cursor: str | None
    as_of: MomentShape | None


class TopicAnswer(Shape):
    """One topic."""

    topic: TopicShape


class WrittenTopic(TopicAnswer):
    """A topic that was made or edited."""

    outcome: Literal["created", "updated", "unchanged"]


class DeletedTopic(TopicAnswer):
    """A topic that was deleted, as it was."""

    deleted: bool


class TopicChange(Named):
    """Fields to change; what is left out stays, null empties the description."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"group_kind": "kind"}

    name: Name = optional()
    description: str | None = text(limits.DESCRIPTION_CHARS_MAX)
    kind: TopicKind = optional()
    retrieval_priority: Annotated[int, Field(ge=0, le=RETRIEVAL_PRIORITY_MAX)] = optional(
        description="From 1 on it is summarised at startup, the highest first."
    )
    summary_mode: SummaryMode = optional()


class NewTopic(TopicChange):
    """A topic to make."""

    name: Name
    slug: str = optional(description="Made from the name when left out; kept when renamed.")


class Canonical(Named):
    """The item that stands for a topic."""

    item_id: str | None = Field(description="Null takes it away.")


def _given(body: TopicChange) -> TopicInput:
    given = body.given()
    given.pop("slug", None)
    # The model's fields have the names and the types of TopicInput's.
    return cast(TopicInput, given)


async def _list(call: Call[OwnersQuery, None]) -> Answer:
    query = call.query
    answer = await topics.list_topics(
        call.app, call.caller, limit=query.limit, cursor=query.cursor, as_of=query.as_of
    )
    return Answer(answer)


async def _create(call: Call[None, NewTopic]) -> Answer:
    answer = await topics.create_topic(
        call.app, call.caller, slug=call.body.slug, **_given(call.body)
    )
    return made_answer(answer, "topic")


async def _get(call: Call[None, None]) -> Answer:
    return owner_answer(await topics.get_topic(call.app, call.caller, call.path["slug"]), "topic")


async def _put(call: Call[None, TopicChange]) -> Answer:
    answer = await topics.upsert_topic(
        call.app,
        call.caller,
        slug=call.path["slug"],
        expected_version=call.expected_version,
        **_given(call.body),
    )
    return made_answer(answer, "topic")


async def _update(call: Call[None, TopicChange]) -> Answer:
    answer = await topics.update_topic_metadata(
        call.app,
        call.caller,
        call.path["slug"],
        _given(call.body),
        expected_version=call.expected_version,
    )
    return owner_answer(answer, "topic")


async def _delete(call: Call[None, None]) -> Answer:
    return Answer(await topics.delete_topic(call.app, call.caller, call.path["slug"]))


async def _set_canonical(call: Call[None, Canonical]) -> Answer:
    answer = await topics.set_canonical_item(
        call.app, call.caller, call.path["slug"], call.body.item_id
    )
    return owner_answer(answer, "topic")


_SLUG: Final = {"slug": "The topic's slug or name, percent-encoded."}

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/topics",
        name="list_topics",
        area="topics",
        summary="List the topics, now or in the past",
        scope="memory:read",
        query=OwnersQuery,
        response=TopicsAnswer,
        errors=("invalid_date",),
        handler=_list,
    ),
    Route(
        method="POST",
        path="/v1/topics",
        name="create_topic",
        area="topics",
        summary="Make a topic",
        description="409 when the name, or a slug that is sent, exists.",
        scope="memory:write",
        body=NewTopic,
        response=WrittenTopic,
        statuses=(201,),
        handler=_create,
    ),
    Route(
        method="GET",
        path="/v1/topics/{slug}",
        name="get_topic",
        area="topics",
        summary="Show a topic with its canonical item",
        params=_SLUG,
        scope="memory:read",
        response=TopicAnswer,
        handler=_get,
    ),
    Route(
        method="PUT",
        path="/v1/topics/{slug}",
        name="upsert_topic",
        area="topics",
        summary="Edit a topic, or make it",
        description="A new one needs a name.",
        params=_SLUG,
        scope="memory:write",
        body=TopicChange,
        response=WrittenTopic,
        statuses=(200, 201),
        if_match=True,
        handler=_put,
    ),
    Route(
        method="PATCH",
        path="/v1/topics/{slug}",
        name="update_topic",
        area="topics",
        summary="Change fields of a topic; a new name keeps the slug",
        params=_SLUG,
        scope="memory:write",
        body=TopicChange,
        response=WrittenTopic,
        if_match=True,
        handler=_update,
    ),
    Route(
        method="DELETE",
        path="/v1/topics/{slug}",
        name="delete_topic",
        area="topics",
        summary="Delete a topic; its items stay",
        params=_SLUG,
        scope="memory:write",
        response=DeletedTopic,
        handler=_delete,
    ),
    Route(
        method="PUT",
        path="/v1/topics/{slug}/canonical",
        name="set_canonical_item",
        area="topics",
        summary="Name the item that stands for a topic",
        params=_SLUG,
        scope="memory:write",
        body=Canonical,
        response=WrittenTopic,
        handler=_set_canonical,
    ),
)
"""The routes of topics."""
