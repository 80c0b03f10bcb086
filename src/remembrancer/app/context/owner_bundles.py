"""The topic and the project bundle: what stands now in one bucket or one body of work."""

from __future__ import annotations

from remembrancer.app.context.envelope import (
    Built,
    Bundle,
    Level,
    Scoped,
    end_of_validity,
    serve,
)
from remembrancer.app.context.startup import summarised, topic_summary
from remembrancer.app.items.read import read_references
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.context.levels import ContextRequest, project_scope, topic_scope
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.items.record import ItemRecord, brief_view
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.text.slugs import tag_key
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Outcome
from remembrancer.store import context as store
from remembrancer.store import items as item_store

_TAG = "tag:"


async def topic_bundle(app: App, caller: Caller, request: ContextRequest) -> Bundle:
    """Return the summary of a topic, or of a tag when no topic has that name."""
    name = _required(request.topic, "topic", "list_groups shows the topics")
    _check_limit(request.limit)
    tag = tag_key(name)

    def scoped(outcomes: list[Outcome]) -> Scoped:
        if outcomes[0].rows:
            row = outcomes[0].rows[0]
            return Scoped(store.number(row, "version"), str(row["id"]), str(row["slug"]))
        if outcomes[1].rows and store.number(outcomes[1].rows[0], "value") > 0:
            return Scoped(store.number(outcomes[2].rows[0], "version"), _TAG + tag, tag)
        raise NotFound(
            f"there is no topic or tag {name[:60]!r}", hint="list_groups and list_tags show them"
        )

    async def build(found: Scoped, now_ms: int) -> Built:
        if found.id.startswith(_TAG):
            return await _build_tag(app, caller, tag, request.limit, now_ms)
        return await _build_topic(app, caller, found, request.limit, now_ms)

    return await serve(
        app,
        caller,
        request,
        Level(
            scope=topic_scope(name),
            versions=[
                store.owner_version_statement(caller.namespace, "topic", name),
                store.tag_count_statement(caller.namespace, tag),
                store.versions_statement(caller.namespace, "startup"),
            ],
            scoped=scoped,
            build=build,
        ),
    )


async def _build_topic(app: App, caller: Caller, found: Scoped, limit: int, now_ms: int) -> Built:
    topic, items, changes, setting_rows = await app.sql.read(
        [
            store.topic_statement(caller.namespace, found.id, now_ms),
            store.owner_items_statement(
                caller.namespace,
                now_ms,
                area="topic",
                owner_id=found.id,
                limit=limit,
                without=None,
            ),
            store.next_change_statement(caller.namespace, now_ms),
            item_store.setting_statement(caller.namespace),
        ]
    )
    row = topic.rows[0]
    records = [item_store.item_of(one) for one in items.rows]
    shown = str(row["shown_item_id"]) if row["shown_item_id"] else None
    canonical, references = await summarised(app, caller, [shown] if shown else [], records)
    item = canonical.get(shown) if shown else None
    bundle: Bundle = {
        "level": "topic_summary",
        **topic_summary(row, item, references),
        "items": [brief_view(record, references) for record in records if record.id != shown],
    }
    zone = zone_of(app, {**SETTINGS, **item_store.settings_of(setting_rows.rows)})
    return Built(bundle, end_of_validity(zone, now_ms, changes))


async def _build_tag(app: App, caller: Caller, tag: str, limit: int, now_ms: int) -> Built:
    items, count, changes, setting_rows = await app.sql.read(
        [
            store.tag_items_statement(caller.namespace, now_ms, tag, limit),
            store.tag_count_statement(caller.namespace, tag),
            store.next_change_statement(caller.namespace, now_ms),
            item_store.setting_statement(caller.namespace),
        ]
    )
    records = [item_store.item_of(row) for row in items.rows]
    references = await read_references(app, caller, records)
    top = records[0] if records else None
    bundle: Bundle = {
        "level": "topic_summary",
        "scope": tag,
        "group": None,
        "tag": tag,
        "canonical_item": brief_view(top, references) if top is not None else None,
        "summary": {
            "total": store.number(count.rows[0], "value") if count.rows else 0,
            "active_count": sum(record.fields["state"] == "active" for record in records),
            "pinned_count": sum(bool(record.fields.get("pinned")) for record in records),
            "top_item": None if top is None else {"id": top.id, "title": top.fields["title"]},
        },
        "items": [brief_view(record, references) for record in records[1:]],
    }
    zone = zone_of(app, {**SETTINGS, **item_store.settings_of(setting_rows.rows)})
    return Built(bundle, end_of_validity(zone, now_ms, changes))


async def project_bundle(app: App, caller: Caller, request: ContextRequest) -> Bundle:
    """Return a project, its active objective, its current items and recurring systems."""
    name = _required(request.project, "project_slug", "list_projects shows the projects")
    _check_limit(request.limit)

    def scoped(outcomes: list[Outcome]) -> Scoped:
        if not outcomes[0].rows:
            raise NotFound(
                f"there is no project {name[:60]!r}", hint="list_projects shows the projects"
            )
        row = outcomes[0].rows[0]
        return Scoped(store.number(row, "version"), str(row["id"]), str(row["slug"]))

    async def build(found: Scoped, now_ms: int) -> Built:
        return await _build_project(app, caller, found, request, now_ms)

    return await serve(
        app,
        caller,
        request,
        Level(
            scope=project_scope(name),
            versions=[
                store.owner_version_statement(caller.namespace, "project", name),
            ],
            scoped=scoped,
            build=build,
        ),
    )


async def _build_project(
    app: App, caller: Caller, found: Scoped, request: ContextRequest, now_ms: int
) -> Built:
    namespace = caller.namespace
    statements = [
        item_store.owner_by_id_statement(namespace, "projects", found.id),
        store.recurring_statement(namespace, found.id, now_ms),
        store.next_change_statement(namespace, now_ms),
        item_store.setting_statement(namespace),
    ]
    if request.include_history:
        statements.append(store.project_history_statement(namespace, found.id, request.limit))
    project, recurring, changes, setting_rows, *history = await app.sql.read(statements)
    row = project.rows[0]
    objective_id = None if row["active_objective_id"] is None else str(row["active_objective_id"])
    second = [
        store.owner_items_statement(
            namespace,
            now_ms,
            area="project",
            owner_id=found.id,
            limit=request.limit,
            without=objective_id,
        ),
        item_store.items_statement(namespace, [objective_id] if objective_id else []),
    ]
    items, objectives = await app.sql.read(second)
    records, recurring_records, past = (
        [item_store.item_of(one) for one in rows]
        for rows in (items.rows, recurring.rows, history[0].rows if history else [])
    )
    objective = [item_store.item_of(one) for one in objectives.rows]
    references = await read_references(
        app, caller, [*records, *recurring_records, *past, *objective]
    )

    def views(some: list[ItemRecord]) -> list[JSON]:
        return [brief_view(record, references) for record in some]

    repeated = {record.id for record in recurring_records}
    bundle: Bundle = {
        "level": "project",
        "project": {
            "id": found.id,
            "slug": found.slug,
            "name": str(row["name"]),
            "description": None if row["description"] is None else str(row["description"]),
            "version": store.number(row, "version"),
        },
        "active_objective": brief_view(objective[0], references) if objective else None,
        "active_items": views([record for record in records if record.id not in repeated]),
        "recurring_systems": views(recurring_records),
    }
    if request.include_history:
        bundle["history"] = views(past)
    zone = zone_of(app, {**SETTINGS, **item_store.settings_of(setting_rows.rows)})
    return Built(bundle, end_of_validity(zone, now_ms, changes))


def _required(value: str | None, field: str, hint: str) -> str:
    if value is None or not value.strip():
        raise InvalidInput(f"this level needs {field}", hint=hint, field=field)
    return value.strip()


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= limits.PAGE_ITEMS_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {limits.PAGE_ITEMS_MAX}", field="limit"
        )
