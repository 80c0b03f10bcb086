"""The levels of context and what a request for one may say.

Startup → topic → project → raw: an agent goes down only when it needs more. Every ring may
import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from remembrancer.core.errors import InvalidInput
from remembrancer.core.text.fold import fold
from remembrancer.core.text.slugs import slugify
from remembrancer.core.values import canonical_json

Level = Literal["startup", "topic_summary", "project", "raw_memories"]

LEVELS: Final = get_args(Level)

GOALS_MAX: Final = 10
PROJECTS_MAX: Final = 10
ALWAYS_LOAD_MAX: Final = 10
TOPICS_MAX: Final = 10
RECURRING_MAX: Final = 10
"""Entries of each part of a bundle. Source: the predecessor's bundle."""

LIMIT_DEFAULT: Final = 50
"""Items of a bundle unless asked otherwise. Source: the predecessor's tool."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A request for one level.

    *Shape:* `topic` is a topic's slug or name, else a tag; the filters belong to `raw_memories`;
    `max_tokens` trims the bundle from the bottom.
    """

    level: Level = "raw_memories"
    topic: str | None = None
    project: str | None = None
    include_history: bool = False
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    is_profile: bool | None = None
    is_pinned: bool | None = None
    current_only: bool = True
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    startup_priority_min: int | None = None
    startup_priority_max: int | None = None
    limit: int = LIMIT_DEFAULT
    cursor: str | None = None
    use_cache: bool = True
    max_tokens: int | None = None


def cache_arguments(request: ContextRequest) -> str:
    """Return the text that tells apart bundles of one scope; empty for the usual arguments.

    The token budget is not part of it: the whole bundle is kept and trimmed when it is read.
    """
    if request.limit == LIMIT_DEFAULT and not request.include_history:
        return ""
    return canonical_json([request.include_history, request.limit])


def startup_scope() -> str:
    """Return the name of the startup bundle's scope in cache keys."""
    return "startup"


def topic_scope(name: str) -> str:
    """Return the name of a topic's or tag's scope in cache keys, from its slug or name.

    *Promise:* one for all spellings under which it is found, so that forgetting knows them all.
    """
    return f"topic:{_spelled_once(name)}"


def project_scope(name: str) -> str:
    """Return the name of a project's scope in cache keys, from its slug or name; as
    `topic_scope`."""
    return f"project:{_spelled_once(name)}"


def _spelled_once(name: str) -> str:
    try:
        return slugify(name)
    except InvalidInput:
        return fold(name)
