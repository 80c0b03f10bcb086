"""REST of searching items, and of what may conflict with a statement. Only parsing and form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, cast

from pydantic import Field

from remembrancer.app import search
from remembrancer.app.search import MATCHES_MAX, ConflictQuery, SearchFilters
from remembrancer.core.items.fields import Kind, State
from remembrancer.http.answers import Answer
from remembrancer.http.calls import Call
from remembrancer.http.parsing import Flag, Query, Shape
from remembrancer.http.rest.item_bodies import ItemType, Share
from remembrancer.http.rest.item_shapes import BriefItem
from remembrancer.http.rest.names import Named, optional
from remembrancer.http.route_table import Route

MatchLimit = Annotated[int, Field(ge=1, le=MATCHES_MAX, description="Matches, at most.")]


class SearchQuery(Query):
    """What to look for; a repeated parameter means any of its values."""

    q: str = Field(description="Words, in any script.")
    kind: list[Kind] = Field(default_factory=list)
    type: list[ItemType] = Field(default_factory=list)
    state: list[State] = Field(default_factory=list)
    project: str | None = Field(None, description="Slug or name.")
    topic: str | None = Field(None, description="Slug or name.")
    tag: list[str] = Field(default_factory=list, description="Any of them.")
    include_obsolete: Flag = Field(False, description="Also what is history by now.")
    limit: MatchLimit = 10


class SearchBody(Named):
    """What to look for."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {
        "q": "query",
        "item_kinds": "kinds",
        "entity_types": "types",
        "lifecycle_states": "states",
        "project_slug": "project",
        "group_slug": "topic",
    }

    query: str = Field(description="Words, in any script.")
    kinds: list[Kind] = optional()
    types: list[ItemType] = optional()
    states: list[State] = optional()
    project: str | None = optional(description="Slug or name.")
    topic: str | None = optional(description="Slug or name.")
    tags: list[str] = optional(description="Any of them.")
    include_obsolete: bool = optional(description="Also what is history by now.")
    limit: MatchLimit = optional()


class MatchShape(Shape):
    """An item, and how sure the match is."""

    score: float
    item: BriefItem


class MatchesAnswer(Shape):
    """The matches, the surest first; `degraded` says what had no part in the search."""

    query: str
    matches: list[MatchShape]
    count: int
    degraded: list[str]


class ConflictBody(Named):
    """A statement, or an item, that others may conflict with."""

    OTHER_NAMES: ClassVar[Mapping[str, str]] = {"project_slug": "project"}
    EXACTLY_ONE: ClassVar[tuple[str, ...]] = ("query", "item_id")

    query: str = optional(description="The statement.")
    item_id: str = optional(description="Instead of a statement.")
    project: str | None = optional(description="Slug or name.")
    threshold: Share = optional(description="Score from which an item counts.")
    limit: MatchLimit = optional()


class ConflictShape(MatchShape):
    """An item that says nearly the same, and in what it differs."""

    suggested_action: str
    differences: list[str]


class ConflictsAnswer(Shape):
    """Items that say nearly the same, the most alike first."""

    matches: list[ConflictShape]
    count: int


async def _search_by_query(call: Call[SearchQuery, None]) -> Answer:
    query = call.query
    answer = await search.search_items(
        call.app,
        call.caller,
        query.q,
        kinds=query.kind,
        types=query.type,
        states=query.state,
        project=query.project,
        topic=query.topic,
        tags=query.tag,
        include_obsolete=query.include_obsolete,
        limit=query.limit,
    )
    return Answer(answer)


async def _search_by_body(call: Call[None, SearchBody]) -> Answer:
    given = call.body.given()
    words = given.pop("query")
    # The model's other fields have the names and the types of SearchFilters'.
    filters = cast(SearchFilters, given)
    return Answer(await search.search_items(call.app, call.caller, words, **filters))


async def _find_conflicts(call: Call[None, ConflictBody]) -> Answer:
    # The model's fields have the names and the types of ConflictQuery's.
    given = cast(ConflictQuery, call.body.given())
    return Answer(await search.find_semantic_conflicts(call.app, call.caller, **given))


_NOTE: Final = "By words and meaning; `degraded` says what had no part."

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/search/items",
        name="search_items",
        area="search",
        summary="Find items by what they say",
        description=_NOTE,
        scope="memory:read",
        query=SearchQuery,
        response=MatchesAnswer,
        errors=("not_found", "limit_exceeded"),
        handler=_search_by_query,
    ),
    Route(
        method="POST",
        path="/v1/search/items",
        name="search_items_by_body",
        area="search",
        summary="Find items by what they say, asked in a body",
        description=_NOTE,
        scope="memory:read",
        body=SearchBody,
        response=MatchesAnswer,
        errors=("not_found",),
        handler=_search_by_body,
    ),
    Route(
        method="POST",
        path="/v1/search/conflicts",
        name="find_conflicts",
        area="search",
        summary="Find active items that say nearly the same as a statement or an item",
        scope="memory:read",
        body=ConflictBody,
        response=ConflictsAnswer,
        errors=("not_found",),
        handler=_find_conflicts,
    ),
)
"""The routes of searching."""
