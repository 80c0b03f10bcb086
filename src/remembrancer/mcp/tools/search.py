"""Tools that find items by what they say."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from remembrancer.app import search
from remembrancer.app.commit import Answer
from remembrancer.app.state import App
from remembrancer.core.values import Caller
from remembrancer.mcp import result_schemas as results
from remembrancer.mcp.arguments import Arguments
from remembrancer.mcp.models import (
    Kinds,
    Names,
    Share,
    States,
    Types,
    named,
    page_limit,
    project_slug,
    topic_slug,
)
from remembrancer.mcp.registry import Tool

MATCHES_MAX: Final = 50
"""Matches of one search. Source: the predecessor's tool schema."""


class Search(Arguments):
    query: str = named("query", "q", default=...)
    kinds: Kinds = named("kinds", "kind", "item_kind", default=())
    types: Types = named("entity_types", "types", "entity_type", default=())
    states: States = named("lifecycle_states", "states", default=())
    project: str | None = project_slug()
    topic: str | None = topic_slug()
    tags: Names = named("tags", "tag", default=())
    include_obsolete: bool = Field(False, description="Also superseded, archived, completed")
    limit: int = page_limit(10, MATCHES_MAX)


class Conflicts(Arguments):
    query: str | None = Field(None, description="What you are about to save")
    item_id: str | None = named("item_id", "id", description="Or an item that is there already")
    project: str | None = project_slug()
    threshold: Share = 0.78
    limit: int = page_limit(10, MATCHES_MAX)


async def _search(app: App, caller: Caller, arguments: Search) -> Answer:
    return await search.search_items(app, caller, **dict(arguments))


async def _conflicts(app: App, caller: Caller, arguments: Conflicts) -> Answer:
    return await search.find_semantic_conflicts(app, caller, **dict(arguments))


# Any: each tool has its own arguments.
TOOLS: Final[tuple[Tool[App, Any], ...]] = (
    Tool(
        name="semantic_search",
        title="Search",
        description="Find current items by what they say, best first, in any language. Filters "
        "narrow it.",
        handler=_search,
        arguments=Search,
        result=results.MATCHES,
        scope="memory:read",
        toolsets=frozenset({"essential", "tasks", "memory"}),
        read_only=True,
    ),
    Tool(
        name="find_semantic_conflicts",
        title="Look for conflicts",
        description="Call this before saving: items that say the same or the opposite, with what "
        "to do about each.",
        handler=_conflicts,
        arguments=Conflicts,
        result=results.MATCHES,
        scope="memory:read",
        toolsets=frozenset({"essential", "memory"}),
        read_only=True,
    ),
)
"""The tools of this area."""
