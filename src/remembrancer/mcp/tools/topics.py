"""Tools of topics, which the predecessor calls groups."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from remembrancer.app import topics
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.app.topics import TopicInput
from remembrancer.core.topics.decide import RETRIEVAL_PRIORITY_MAX
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import Paged, given_of, named, page_limit
from remembrancer.mcp.registry import Tool


class TopicFields(Arguments):
    description: str | None = None
    kind: Literal["topic", "profile", "project", "system"] | None = named("group_kind", "kind")
    retrieval_priority: Annotated[int, Field(ge=0, le=RETRIEVAL_PRIORITY_MAX)] | None = Field(
        None, description="From 1 on it is summarised at startup, highest first"
    )
    summary_mode: Literal["auto", "manual"] | None = None


class UpsertTopic(TopicFields):
    name: str | None = named("name", "group_name")
    slug: str | None = named("slug", "group_slug", "topic")


class EditTopic(TopicFields):
    slug: str = named("slug", "group_slug", "topic", default=...)
    name: str | None = named("name", "group_name", description="A new name; the slug stays")


class OfTopic(Arguments):
    slug: str = named("slug", "group_slug", "topic", default=...)


class SetCanonical(Arguments):
    slug: str = named("group_slug", "slug", "topic", default=...)
    item_id: str | None = named(
        "item_id", "id", "canonical_item_id", description="Left out: none, the first one counts"
    )


class ListTopics(Paged):
    limit: int = page_limit(100)
    as_of: str | None = Field(None, description="A past time, or a position of the history")


def _fields(arguments: TopicFields) -> TopicInput:
    given = given_of(arguments)
    # The names are the same, and the models have checked the types.
    return cast(TopicInput, {name: value for name, value in given.items() if name != "slug"})


async def _list(app: App, caller: Caller, arguments: ListTopics) -> Answer:
    return await topics.list_topics(
        app, caller, limit=arguments.limit, cursor=arguments.cursor, as_of=arguments.as_of
    )


async def _upsert(app: App, caller: Caller, arguments: UpsertTopic) -> Answer:
    return await topics.upsert_topic(app, caller, slug=arguments.slug, **_fields(arguments))


async def _edit(app: App, caller: Caller, arguments: EditTopic) -> Answer:
    return await topics.update_topic_metadata(app, caller, arguments.slug, _fields(arguments))


async def _set_canonical(app: App, caller: Caller, arguments: SetCanonical) -> Answer:
    return await topics.set_canonical_item(app, caller, arguments.slug, arguments.item_id)


async def _delete(app: App, caller: Caller, arguments: OfTopic) -> Answer:
    return await topics.delete_topic(app, caller, arguments.slug)


_ONE: Final = results.owner("topic")

# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="list_groups",
        title="List topics",
        description="Topics ('groups') by slug, with canonical item and counts.",
        handler=_list,
        arguments=ListTopics,
        result=results.page_of("topics"),
        scope="memory:read",
        toolsets=frozenset({"essential", "memory", "context"}),
        read_only=True,
    ),
    Tool(
        name="upsert_group",
        title="Make or edit a topic",
        description="Edit the topic of this slug or name, or make it.",
        handler=_upsert,
        arguments=UpsertTopic,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"essential", "memory", "context"}),
        idempotent=True,
    ),
    Tool(
        name="update_group_metadata",
        title="Edit a topic",
        description="Edit an existing topic: kind, retrieval priority, description, summary mode.",
        handler=_edit,
        arguments=EditTopic,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"context"}),
        idempotent=True,
    ),
    Tool(
        name="set_group_canonical_item",
        title="Set a topic's canonical item",
        description="Name the one current item that stands for a topic in summaries.",
        handler=_set_canonical,
        arguments=SetCanonical,
        result=_ONE,
        scope="memory:write",
        toolsets=frozenset({"essential", "memory", "context"}),
        idempotent=True,
    ),
    Tool(
        name="delete_group",
        title="Delete a topic",
        description="Delete a topic; its items stay. undo brings it back.",
        handler=_delete,
        arguments=OfTopic,
        result=results.record({"deleted": results.FLAG, "topic": results.OBJECT}),
        scope="memory:write",
        toolsets=frozenset({"memory", "context"}),
        destructive=True,
    ),
)
"""The tools of this area."""
