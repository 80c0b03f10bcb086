"""One interface to all levels of context, and the shortcut to summaries.

Startup → topic summary → project → raw memories; each level is built by its own module.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from remembrancer.app.commit import Answer
from remembrancer.app.context.owner_bundles import project_bundle, topic_bundle
from remembrancer.app.context.startup import startup_bundle
from remembrancer.app.items.read import list_items
from remembrancer.app.state import App
from remembrancer.core.context.budget import trim_bundle
from remembrancer.core.context.levels import ContextRequest
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.topics.decide import PROFILE_SLUG
from remembrancer.core.values import Caller


async def load_context(app: App, caller: Caller, request: ContextRequest) -> Answer:
    """Return the bundle of a level.

    *Raises:* InvalidInput when the level's own argument is missing, NotFound for an unknown
    topic, tag or project. *Promise:* writes nothing to the store.
    """
    match request.level:
        case "startup":
            return await startup_bundle(app, caller, request)
        case "topic_summary":
            return await topic_bundle(app, caller, request)
        case "project":
            return await project_bundle(app, caller, request)
        case "raw_memories":
            return await _raw(app, caller, request)
        case never:
            assert_never(never)


async def get_context_summary(
    app: App,
    caller: Caller,
    *,
    scope: str | None = None,
    project: str | None = None,
    use_cache: bool = True,
    max_tokens: int | None = None,
) -> Answer:
    """Return the summary of a topic, a tag or a project.

    *Shape:* exactly one of the two; `scope` is a topic's slug or name, else a tag.
    *Raises:* InvalidInput, NotFound.
    """
    given = [value for value in (scope, project) if value is not None]
    if len(given) != 1:
        raise InvalidInput(
            "say what to summarise by exactly one of scope and project_slug",
            hint="list_groups and list_projects show what there is",
            field="scope",
        )
    if project is not None:
        request = ContextRequest(
            level="project", project=project, use_cache=use_cache, max_tokens=max_tokens
        )
    else:
        request = ContextRequest(
            level="topic_summary",
            topic=scope,
            use_cache=use_cache,
            max_tokens=max_tokens,
        )
    return await load_context(app, caller, request)


async def _raw(app: App, caller: Caller, request: ContextRequest) -> Answer:
    topics = (*request.topics, *([request.topic] if request.topic else []))
    projects = (*request.projects, *([request.project] if request.project else []))
    query = ItemQuery(
        kinds=request.kinds,
        types=request.types,
        pinned=request.is_pinned,
        startup_priority_min=request.startup_priority_min,
        startup_priority_max=request.startup_priority_max,
        projects=projects,
        topics=(*topics, PROFILE_SLUG) if request.is_profile else topics,
        tags=request.tags,
        current_only=request.current_only and not request.include_history,
        limit=request.limit,
        cursor=request.cursor,
        sort="startup",
    )
    bundle = await _raw_page(app, caller, query, request)
    asked = bundle["count"]
    # The cursor of a page that was trimmed would skip what was left out, and the one of a shorter
    # page takes room as well: so shorter pages are read until one fits with its own.
    while (dropped := _items_left_out(bundle)) and bundle["items"]:
        query = replace(query, limit=_count(bundle) - dropped)
        bundle = await _raw_page(app, caller, query, request)
    if dropped:
        return {**bundle, "next_cursor": request.cursor}
    if isinstance(asked, int) and asked > _count(bundle):
        bundle["left_out"] = {"items": asked - _count(bundle)}
    return bundle


def _count(bundle: Answer) -> int:
    count = bundle["count"]
    assert isinstance(count, int)
    return count


def _items_left_out(bundle: Answer) -> int:
    left_out = bundle.get("left_out")
    dropped = left_out.get("items", 0) if isinstance(left_out, dict) else 0
    return dropped if isinstance(dropped, int) else 0


async def _raw_page(app: App, caller: Caller, query: ItemQuery, request: ContextRequest) -> Answer:
    bundle: Answer = {
        "level": "raw_memories",
        "source": "d1",
        "generated_at": format_iso(app.runtime.now_ms()),
        **await list_items(app, caller, query),
    }
    return trim_bundle(bundle, request.max_tokens)
