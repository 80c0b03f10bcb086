"""Proposals while a person types the address of a resource or the argument of a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from remembrancer.app.items.read import list_items
from remembrancer.app.projects import list_projects
from remembrancer.app.state import App
from remembrancer.app.topics import list_topics
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.limits import PAGE_ITEMS_MAX
from remembrancer.core.text.fold import fold
from remembrancer.core.values import JSON, Caller
from remembrancer.mcp.memory_text import as_list, as_view
from remembrancer.mcp.prompts import LANGUAGES, PROMPTS
from remembrancer.mcp.registry import Completion
from remembrancer.mcp.resources import ITEM_URI, PROJECT_URI, TOPIC_URI

ID_PREFIX: Final = "itm_"


async def _items(app: App, caller: Caller, typed: str, _: Mapping[str, str]) -> Sequence[str]:
    """Propose ids: of the latest items by the id's beginning, else of items with these words."""
    is_id = ID_PREFIX.startswith(typed) or typed.startswith(ID_PREFIX)
    query = ItemQuery(limit=PAGE_ITEMS_MAX, q=None if is_id else typed, current_only=not is_id)
    found = as_list((await list_items(app, caller, query))["items"])
    ids = [str(as_view(item)["id"]) for item in found]
    return [id_ for id_ in ids if id_.startswith(typed)] if is_id else ids


async def _projects(app: App, caller: Caller, typed: str, _: Mapping[str, str]) -> Sequence[str]:
    return _slugs((await list_projects(app, caller))["projects"], typed)


async def _topics(app: App, caller: Caller, typed: str, _: Mapping[str, str]) -> Sequence[str]:
    return _slugs((await list_topics(app, caller))["topics"], typed)


def _slugs(owners: JSON, typed: str) -> list[str]:
    """Return the slugs of those whose slug or name has what was typed, beginnings first."""
    wanted = fold(typed)
    ranked: list[tuple[int, str]] = []
    for owner in map(as_view, as_list(owners)):
        slug, name = str(owner["slug"]), fold(str(owner["name"]))
        if slug.startswith(wanted) or name.startswith(wanted):
            ranked.append((0, slug))
        elif wanted in slug or wanted in name:
            ranked.append((1, slug))
    return [slug for _, slug in sorted(ranked)]


async def _languages(_app: App, _caller: Caller, typed: str, _: Mapping[str, str]) -> Sequence[str]:
    return [language for language in LANGUAGES if language.startswith(typed)]


COMPLETIONS: Final[tuple[Completion[App], ...]] = (
    Completion("resource", ITEM_URI, "id", _items, scope="memory:read"),
    Completion("resource", PROJECT_URI, "slug", _projects, scope="memory:read"),
    Completion("resource", TOPIC_URI, "slug", _topics, scope="memory:read"),
    *(Completion("prompt", prompt.name, "language", _languages) for prompt in PROMPTS),
)
"""Who completes what."""
