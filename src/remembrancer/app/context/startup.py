"""The startup bundle: who the user is, what they work on, what is always loaded."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.app.commit import Answer
from remembrancer.app.context.envelope import (
    Built,
    Bundle,
    Level,
    Scoped,
    end_of_validity,
    serve,
)
from remembrancer.app.focus import focus_of, focus_statements
from remembrancer.app.items.read import NO_REFERENCES, read_references
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.state import App
from remembrancer.core.context.levels import ContextRequest, startup_scope
from remembrancer.core.dates import format_iso
from remembrancer.core.items.record import ItemRecord, Owner, References, brief_view
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Outcome, Row
from remembrancer.store import context as store
from remembrancer.store import focus as focus_store
from remembrancer.store import items as item_store


async def get_startup_context(
    app: App, caller: Caller, *, use_cache: bool = True, max_tokens: int | None = None
) -> Answer:
    """Return the startup bundle.

    *Shape:* level, source, context_version, generated_at, valid_until, last_consolidated,
    profile, active_goals, current_focus, active_projects, always_load, topic_summaries.
    *Promise:* one round trip when cached, four when fresh; writes nothing to the store.
    """
    request = ContextRequest(level="startup", use_cache=use_cache, max_tokens=max_tokens)
    return await startup_bundle(app, caller, request)


async def startup_bundle(app: App, caller: Caller, request: ContextRequest) -> Bundle:
    """Return the startup bundle as a request for the level asks for it."""

    async def build(_: Scoped, now_ms: int) -> Built:
        return await _build(app, caller, now_ms)

    return await serve(
        app,
        caller,
        request,
        Level(
            scope=startup_scope(),
            versions=[store.versions_statement(caller.namespace, "startup")],
            scoped=lambda outcomes: Scoped(store.number(outcomes[0].rows[0], "version")),
            build=build,
        ),
    )


async def _build(app: App, caller: Caller, now_ms: int) -> Built:
    namespace = caller.namespace
    first = await app.sql.read(
        [
            item_store.setting_statement(namespace),
            store.profile_statement(namespace, now_ms),
            store.goals_statement(namespace, now_ms),
            store.always_load_statement(namespace, now_ms),
            store.projects_statement(namespace),
            store.topics_statement(namespace, now_ms),
            store.next_change_statement(namespace, now_ms),
            store.consolidated_statement(namespace),
            focus_store.next_change_statement(namespace, now_ms),
        ]
    )
    settings = {**SETTINGS, **item_store.settings_of(first[0].rows)}
    zone = zone_of(app, settings)
    focus = await app.sql.read(focus_statements(namespace, now_ms, zone, settings))
    shown = [str(row["shown_item_id"]) for row in first[5].rows if row["shown_item_id"]]
    parts = [[item_store.item_of(row) for row in outcome.rows] for outcome in first[1:4]]
    summaries, references = await summarised(
        app,
        caller,
        shown,
        [record for part in parts for record in part],
        known=References(*(_owners(outcome.rows) for outcome in first[4:6])),
    )
    profile, goals, always = parts
    bundle: Bundle = {
        "level": "startup",
        "last_consolidated": _moment(first[7]),
        "profile": brief_view(profile[0], references) if profile else None,
        "active_goals": [brief_view(record, references) for record in goals],
        "current_focus": await focus_of(
            app, caller, focus, now_ms=now_ms, zone=zone, settings=settings
        ),
        "active_projects": [_project(row) for row in first[4].rows],
        "always_load": [brief_view(record, references) for record in always],
        "topic_summaries": [
            topic_summary(row, summaries.get(str(row["shown_item_id"])), references)
            for row in first[5].rows
        ],
    }
    return Built(bundle, end_of_validity(zone, now_ms, first[6], first[8]))


async def summarised(
    app: App,
    caller: Caller,
    ids: Sequence[str],
    records: Sequence[ItemRecord],
    *,
    known: References = NO_REFERENCES,
) -> tuple[dict[str, ItemRecord], References]:
    """Return the items of these ids, and the names that they and the records refer to.

    *Promise:* two round trips at most, none without ids and records.
    """
    found: dict[str, ItemRecord] = {}
    if ids:
        [outcome] = await app.sql.read([item_store.items_statement(caller.namespace, ids)])
        found = {str(row["id"]): item_store.item_of(row) for row in outcome.rows}
    return found, await read_references(app, caller, [*records, *found.values()], known=known)


def _owners(rows: Sequence[Row]) -> dict[str, Owner]:
    """Return the projects or topics that the bundle shows itself."""
    return {
        str(row["id"]): Owner(str(row["id"]), str(row["slug"]), str(row["name"])) for row in rows
    }


def topic_summary(row: Row, item: ItemRecord | None, references: References) -> dict[str, JSON]:
    """Return a topic with its canonical item and its rollup."""
    active, pinned = store.number(row, "active_count"), store.number(row, "pinned_count")
    total = active + store.number(row, "dormant_count") + store.number(row, "stale_count")
    return {
        "scope": str(row["slug"]),
        "group": {
            "slug": str(row["slug"]),
            "name": str(row["name"]),
            "group_kind": str(row["kind"]),
            "retrieval_priority": store.number(row, "retrieval_priority"),
            "description": None if row["description"] is None else str(row["description"]),
        },
        "canonical_item": brief_view(item, references) if item is not None else None,
        "summary": {
            "total": total,
            "active_count": active,
            "pinned_count": pinned,
            "top_item": None
            if item is None
            else {"id": item.id, "title": item.fields.get("title")},
        },
    }


def _project(row: Row) -> dict[str, JSON]:
    objective: JSON = None
    if row["active_objective_id"] is not None:
        objective = {
            "id": str(row["active_objective_id"]),
            "title": None if row["objective_title"] is None else str(row["objective_title"]),
        }
    return {
        "id": str(row["id"]),
        "slug": str(row["slug"]),
        "name": str(row["name"]),
        "description": None if row["description"] is None else str(row["description"]),
        "active_objective": objective,
        "active_count": store.number(row, "active_count"),
    }


def _moment(outcome: Outcome) -> JSON:
    value = outcome.rows[0]["value"] if outcome.rows else None
    return format_iso(value) if isinstance(value, int) else None
