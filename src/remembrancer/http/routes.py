"""Every route that is served, in one place; each area declares its own.

A composition serves `ROUTES`; the reference and the documentation test read the same.
"""

from __future__ import annotations

from typing import Final

from remembrancer.http import docs, health, openapi
from remembrancer.http.rest import (
    admin,
    artifacts,
    boot,
    consolidation,
    context,
    export,
    focus,
    history,
    item_states,
    items,
    keys,
    library,
    memories,
    messages,
    projects,
    relations,
    search,
    settings,
    tags,
    topics,
)
from remembrancer.http.route_table import AnyRoute

ROUTES: Final[tuple[AnyRoute, ...]] = (
    *health.ROUTES,
    *openapi.ROUTES,
    *docs.ROUTES,
    *items.ROUTES,
    *item_states.ROUTES,
    *artifacts.ROUTES,
    *projects.ROUTES,
    *topics.ROUTES,
    *tags.ROUTES,
    *relations.ROUTES,
    *search.ROUTES,
    *consolidation.ROUTES,
    *memories.ROUTES,
    *boot.ROUTES,
    *library.ROUTES,
    *messages.ROUTES,
    *context.ROUTES,
    *focus.ROUTES,
    *history.ROUTES,
    *settings.ROUTES,
    *keys.ROUTES,
    *export.ROUTES,
    *admin.ROUTES,
)
"""All routes; their order is that of the reference."""
