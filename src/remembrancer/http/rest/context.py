"""REST of context, level by level: startup, topic, project, raw. Only parsing and form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from remembrancer.app.commit import Answer as AppAnswer
from remembrancer.app.context import load
from remembrancer.core import limits
from remembrancer.core.context.budget import TOKENS_MIN
from remembrancer.core.context.levels import ContextRequest, Level
from remembrancer.core.items.fields import Kind
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Cursor, Flag, Limit, Query, Shape
from remembrancer.http.rest.focus import FocusShape
from remembrancer.http.rest.item_bodies import ItemType, StartupPriority
from remembrancer.http.rest.item_shapes import BriefItem, ItemShape, MomentShape
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route
from remembrancer.http.shapes import AnyOf

_TOKENS: Final = "Trims the bundle from the bottom; what was left out is said."


class BundleQuery(Query):
    """How a bundle is served."""

    use_cache: Flag = True
    max_tokens: int | None = Field(None, ge=TOKENS_MIN, le=limits.INTEGER_MAX, description=_TOKENS)


class TopicBundleQuery(BundleQuery):
    """How a topic's bundle is served."""

    limit: Limit = 50


class ProjectBundleQuery(TopicBundleQuery):
    """How a project's bundle is served."""

    include_history: Flag = Field(False, description="Also what is history by now.")


class ContextBody(Named):
    """A request for one level; the filters belong to raw_memories."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        "group": "topic",
        "group_slug": "topic",
        "project_slug": "project",
        "project_slugs": "projects",
        "group_slugs": "topics",
        "entity_types": "types",
    }

    level: Level = optional(description="By default raw_memories.")
    topic: str | None = optional(description="Slug or name of a topic, else a tag.")
    project: str | None = optional(description="Slug or name.")
    include_history: bool = optional()
    tags: list[str] = optional()
    projects: list[str] = optional()
    topics: list[str] = optional()
    profile: bool | None = optional(description="True: only what says who the user is.")
    pinned: bool | None = optional()
    current_only: bool = optional(description="By default true.")
    kinds: list[Kind] = optional()
    types: list[ItemType] = optional()
    startup_priority_min: StartupPriority | None = optional()
    startup_priority_max: StartupPriority | None = optional()
    limit: Limit = optional()
    cursor: Cursor | None = optional()
    use_cache: bool = optional(description="By default true.")
    max_tokens: int | None = optional(ge=TOKENS_MIN, le=limits.INTEGER_MAX, description=_TOKENS)


class TopItem(Shape):
    """An item by its title."""

    id: str
    title: str | None


class ProjectBrief(Shape):
    """An active project as startup shows it."""

    id: str
    slug: str
    name: str
    description: str | None
    active_objective: TopItem | None
    active_count: int


class GroupShape(Shape):
    """The topic that is summarised."""

    slug: str
    name: str
    group_kind: str
    retrieval_priority: int
    description: str | None


class Rollup(Shape):
    """How much a topic holds."""

    total: int
    active_count: int
    pinned_count: int
    top_item: TopItem | None


class TopicSummary(Shape):
    """A topic, or a tag, with the item that stands for it."""

    scope: str
    group: GroupShape | None
    canonical_item: BriefItem | None
    summary: Rollup


class Trimmed(Shape):
    """What a token budget did: list → entries left out, and the tokens that remain."""

    left_out: dict[str, int] = Field(default_factory=dict)
    tokens: int = 0


class Bundle(Trimmed):
    """What every cached bundle carries."""

    source: Literal["d1", "kv_cache"]
    context_version: int
    generated_at: str
    valid_until: str


class StartupBundle(Bundle):
    """What a new conversation loads first."""

    level: Literal["startup"]
    last_consolidated: str | None
    profile: BriefItem | None
    active_goals: list[BriefItem]
    current_focus: FocusShape | None
    active_projects: list[ProjectBrief]
    always_load: list[BriefItem]
    topic_summaries: list[TopicSummary]


class TopicBundle(Bundle, TopicSummary):
    """A topic, or a tag, and its current items."""

    level: Literal["topic_summary"]
    tag: str | None = None
    items: list[BriefItem]


class ProjectHead(Shape):
    """The project of a bundle."""

    id: str
    slug: str
    name: str
    description: str | None
    version: int


class ProjectBundle(Bundle):
    """A project, its goal and its current items."""

    level: Literal["project"]
    project: ProjectHead
    active_objective: BriefItem | None
    active_items: list[BriefItem]
    recurring_systems: list[BriefItem]
    history: list[BriefItem] = Field(default_factory=list)


class RawBundle(Trimmed):
    """Items themselves, by filters."""

    level: Literal["raw_memories"]
    source: Literal["d1"]
    generated_at: str
    items: list[ItemShape]
    count: int
    total: int
    total_is_minimum: bool
    next_cursor: str | None
    as_of: MomentShape | None


class ContextAnswer(AnyOf):
    """The bundle of the level that was asked for."""

    root: StartupBundle | TopicBundle | ProjectBundle | RawBundle


_FIELD_OF: Final = {"profile": "is_profile", "pinned": "is_pinned"}


def context_request(given: Mapping[str, Any]) -> ContextRequest:
    """Return the fields that were sent as a request for a level."""
    # The body's model has checked names and types; lists become tuples.
    fields: dict[str, Any] = {
        _FIELD_OF.get(name, name): tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
    }
    return ContextRequest(**fields)


async def _load(call: Call[Any, Any], request: ContextRequest) -> Answer:
    bundle: AppAnswer = await load.load_context(call.app, call.caller, request)
    return Answer(bundle)


async def _startup(call: Call[BundleQuery, None]) -> Answer:
    return await _load(
        call,
        ContextRequest(
            level="startup", use_cache=call.query.use_cache, max_tokens=call.query.max_tokens
        ),
    )


async def _topic(call: Call[TopicBundleQuery, None]) -> Answer:
    query = call.query
    return await _load(
        call,
        ContextRequest(
            level="topic_summary",
            topic=call.path["name"],
            limit=query.limit,
            use_cache=query.use_cache,
            max_tokens=query.max_tokens,
        ),
    )


async def _project(call: Call[ProjectBundleQuery, None]) -> Answer:
    query = call.query
    return await _load(
        call,
        ContextRequest(
            level="project",
            project=call.path["slug"],
            include_history=query.include_history,
            limit=query.limit,
            use_cache=query.use_cache,
            max_tokens=query.max_tokens,
        ),
    )


async def _any_level(call: Call[None, ContextBody]) -> Answer:
    return await _load(call, context_request(call.body.given()))


_OF_NAMES: Final = (
    "The predecessor's names are taken too: "
    f"{', '.join(f'`{name}`' for name in ContextBody.OTHER_NAMES)}."
)

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/context/startup",
        name="get_startup_context",
        area="context",
        summary="Load what a new conversation needs first",
        description="Reading writes nothing; a write is seen by the very next read.",
        scope="memory:read",
        query=BundleQuery,
        response=StartupBundle,
        handler=_startup,
    ),
    Route(
        method="GET",
        path="/v1/context/topics/{name}",
        name="get_topic_context",
        area="context",
        summary="Load a topic's summary, or a tag's",
        params={"name": "The topic's slug or name, else a tag; percent-encoded."},
        scope="memory:read",
        query=TopicBundleQuery,
        response=TopicBundle,
        handler=_topic,
    ),
    Route(
        method="GET",
        path="/v1/context/projects/{slug}",
        name="get_project_context",
        area="context",
        summary="Load a project with its goal and its current items",
        params={"slug": "The project's slug or name, percent-encoded."},
        scope="memory:read",
        query=ProjectBundleQuery,
        response=ProjectBundle,
        handler=_project,
    ),
    Route(
        method="POST",
        path="/v1/context",
        name="load_context",
        area="context",
        summary="Load any level of context",
        description=_OF_NAMES,
        scope="memory:read",
        body=ContextBody,
        response=ContextAnswer,
        errors=("not_found",),
        handler=_any_level,
    ),
)
"""The routes of context."""
