"""Every route that is served, in one place; each area declares its own.

A composition serves `AREAS`; the reference and the documentation test read the same routes.
"""

from __future__ import annotations

from typing import Final

from remembrancer.http.route_table import AnyRoute, Area, RouteTable


def _rest(area: str, *paths: str) -> Area:
    return Area(f"remembrancer.http.rest.{area}", paths)


AREAS: Final = (
    Area("remembrancer.http.health", ("/", "/health", "/favicon.ico")),
    Area("remembrancer.http.openapi", ("/openapi.json",)),
    Area("remembrancer.http.docs", ("/docs",)),
    Area(
        "remembrancer.http.admin",
        ("/admin", "/memory-admin", "/admin/{path:path}", "/memory-admin/{path:path}"),
    ),
    _rest("items", "/v1/items", "/v1/capture", "/v1/items/delete", "/v1/items/{item_id}"),
    _rest(
        "item_states",
        "/v1/items/{item_id}/state",
        "/v1/items/{item_id}/supersede",
        "/v1/items/{item_id}/restore",
    ),
    _rest("artifacts", "/v1/artifacts/{artifact_id}"),
    _rest(
        "projects",
        "/v1/projects",
        "/v1/projects/{slug}",
        "/v1/projects/{slug}/timeline",
        "/v1/projects/{slug}/objective",
        "/v1/objectives",
    ),
    _rest("topics", "/v1/topics", "/v1/topics/{slug}", "/v1/topics/{slug}/canonical"),
    _rest("tags", "/v1/tags"),
    _rest("relations", "/v1/relations", "/v1/items/{item_id}/relations"),
    _rest("search", "/v1/search/items", "/v1/search/conflicts"),
    _rest("consolidation", "/v1/consolidation"),
    _rest(
        "memories",
        "/v1/memories",
        "/v1/memory",
        "/v1/search/memories",
        "/v1/memories/search",
        "/v1/memory/search",
        "/v1/memories/export",
        "/v1/memory/export",
        "/api/memories/export",
        "/v1/memories/{memory_id}",
        "/v1/memory/{memory_id}",
    ),
    _rest("recalls", "/v1/recalls", "/v1/recalls/{recall_id}"),
    _rest(
        "candidates",
        "/v1/candidates",
        "/v1/candidates/decide",
        "/v1/candidates/{candidate_id}",
        "/v1/candidates/{candidate_id}/preview",
        "/v1/candidates/{candidate_id}/approve",
        "/v1/candidates/{candidate_id}/discard",
        "/v1/candidates/{candidate_id}/merge",
        "/v1/candidates/{candidate_id}/supersede",
    ),
    _rest("boot", "/v1/memory_boot"),
    _rest("days", "/v1/days", "/v1/days/{date}"),
    _rest(
        "library",
        "/v1/precious",
        "/v1/precious/{precious_id}",
        "/v1/glossary",
        "/v1/glossary/{entry_id}",
    ),
    _rest(
        "chat",
        "/v1/chat/completions",
        "/v1/guide-dog/chat/completions",
        "/v1/models",
        "/v1/guide-dog/models",
        "/anthropic/v1/models",
        "/anthropic/v1/messages",
        "/v1/messages",
        "/anthropic/v1/messages/count_tokens",
        "/v1/messages/count_tokens",
    ),
    _rest("cache", "/v1/cache/{bucket}/{key:path}"),
    _rest(
        "conversations",
        "/v1/conversations",
        "/v1/conversations/{conversation_id}",
        "/v1/conversations/{conversation_id}/messages",
    ),
    _rest("messages", "/v1/ingest/messages", "/v1/memories/ingest", "/v1/messages/ingest"),
    _rest(
        "context",
        "/v1/context/startup",
        "/v1/context/topics/{name}",
        "/v1/context/projects/{slug}",
        "/v1/context",
    ),
    _rest("focus", "/v1/focus", "/v1/focus/task", "/v1/stale"),
    _rest(
        "history",
        "/v1/history",
        "/v1/items/{item_id}/history",
        "/v1/undo",
        "/v1/redo",
        "/v1/items/{item_id}/undo",
        "/v1/items/{item_id}/redo",
        "/v1/items/{item_id}/forget",
    ),
    _rest(
        "jobs",
        "/v1/jobs",
        "/v1/jobs/runs",
        "/v1/jobs/runs/{run_id}",
        "/v1/jobs/runs/{run_id}/undo",
        "/v1/jobs/{name}/run",
        "/v1/jobs/{name}/pause",
        "/v1/jobs/{name}/resume",
        "/v1/jobs/{name}/preview",
        "/v1/memories/dream",
        "/v1/memories/digest",
        "/v1/memory/dream",
        "/v1/memory/digest",
    ),
    _rest(
        "job_skips",
        "/v1/jobs/extract/skipped",
        "/v1/jobs/extract/skipped/{message_id}/retry",
        "/v1/jobs/extract/skipped/{message_id}/drop",
    ),
    _rest("settings", "/v1/settings", "/v1/settings/server", "/v1/dates/parse"),
    _rest("keys", "/v1/keys", "/v1/keys/{key_id}"),
    _rest("export", "/v1/export"),
    _rest("debug", "/v1/debug/vector_health", "/v1/debug/vector_reindex", "/v1/debug/cache_health"),
    _rest("admin", "/v1/admin/verify", "/v1/admin/rebuild", "/v1/admin/import"),
)
"""All areas, in the order of the reference. A new route's path stands here and in its area."""


def every_route() -> tuple[AnyRoute, ...]:
    """Return all routes, MCP's left out; this imports every area."""
    return RouteTable(AREAS).routes
