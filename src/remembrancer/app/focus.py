"""The focus: the next step and what is around it, and the tasks that were left lying.

Reading the focus writes nothing. Which task comes first is `core.focus.ranking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.read import read_references
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import InvalidInput, NotFound
from remembrancer.core.focus.ranking import (
    Horizon,
    first_anywhere,
    first_in_project,
    horizon_at,
    reason_for,
)
from remembrancer.core.ids import Namespace
from remembrancer.core.items.commands import Moment
from remembrancer.core.items.decide import mark_stale
from remembrancer.core.items.record import (
    ItemRecord,
    References,
    after_draft,
    brief_view,
    item_view,
)
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Outcome, Row, Statement
from remembrancer.store import focus as store
from remembrancer.store import items as item_store

_NOTHING: Final = "no task is open"
_ALL_BLOCKED: Final = "every task that is open and not put off is blocked"


async def read_settings(app: App, namespace: Namespace) -> dict[str, JSON]:
    """Return the namespace's settings with their defaults. *Promise:* one round trip."""
    [outcome] = await app.sql.read([item_store.setting_statement(namespace)])
    return {**SETTINGS, **item_store.settings_of(outcome.rows)}


def _horizon(now_ms: int, zone: ZoneInfo, settings: Mapping[str, JSON]) -> Horizon:
    days = settings["default_upcoming_days"]
    assert isinstance(days, int)
    return horizon_at(now_ms, zone, upcoming_days=days)


async def get_focus_task(app: App, caller: Caller, *, project: str | None = None) -> Answer:
    """Return the one task to do now, of a project or of all, and why.

    *Shape:* `{"item", "reason"}`; `item` None when no task is open or all are blocked.
    *Raises:* NotFound for an unknown project. *Promise:* at most three round trips; writes nothing.
    """
    settings = await read_settings(app, caller.namespace)
    now_ms = app.runtime.now_ms()
    horizon = _horizon(now_ms, zone_of(app, settings), settings)
    namespace = caller.namespace
    chosen, outcome = await app.sql.read(
        [
            store.project_statement(namespace, project, "anywhere"),
            store.tasks_statement(namespace, None, "anywhere", horizon=horizon)
            if project is None
            else store.project_tasks_statement(namespace, project, "anywhere", now_ms=now_ms),
        ]
    )
    row = _project_row(chosen, project)
    free, blocked = store.tasks_of(outcome.rows)
    step, reason = _step(free, blocked, row, horizon)
    if step is None:
        return {"item": None, "reason": reason}
    references = await read_references(app, caller, [step])
    return {"item": item_view(step, references), "reason": reason}


def _project_row(outcome: Outcome, project: str | None) -> Row | None:
    row = outcome.rows[0]
    if row["id"] is not None:
        return row
    if project is not None:
        raise NotFound(
            f"there is no project {project[:60]!r}", hint="list_projects shows those there are"
        )
    return None


def _step(
    free: Sequence[ItemRecord],
    blocked: Sequence[tuple[ItemRecord, JSON]],
    project: Row | None,
    horizon: Horizon,
) -> tuple[ItemRecord | None, str]:
    if project is None:
        objective_id, step = None, first_anywhere(free, horizon)
    else:
        value = project["active_objective_id"]
        objective_id = None if value is None else str(value)
        step = first_in_project(free, horizon, objective_id=objective_id)
    if step is None:
        return None, _ALL_BLOCKED if blocked else _NOTHING
    return step, reason_for(step, horizon, objective_id=objective_id)


def focus_statements(
    namespace: Namespace,
    now_ms: int,
    zone: ZoneInfo,
    settings: Mapping[str, JSON],
    *,
    project: str | None = None,
) -> list[Statement]:
    """Return the statements of one batch whose outcomes `focus_of` takes.

    *Shape:* without a project that of the newest objective; when there is none, all tasks.
    *Promise:* about 200 rows read at most, however many items there are.
    """
    horizon = _horizon(now_ms, zone, settings)
    return [
        store.project_statement(namespace, project, "newest"),
        store.objective_statement(namespace, project, "newest"),
        store.project_tasks_statement(namespace, project, "newest", now_ms=now_ms),
        store.tasks_statement(namespace, project, "newest", horizon=horizon),
        store.recurring_statement(namespace, project, "newest"),
        store.replaced_statement(namespace, project, "newest"),
    ]


async def focus_of(
    app: App,
    caller: Caller,
    outcomes: Sequence[Outcome],
    *,
    now_ms: int,
    zone: ZoneInfo,
    settings: Mapping[str, JSON],
) -> Answer:
    """Return the focus from the outcomes of `focus_statements`.

    *Promise:* one round trip, for the names of projects and topics.
    """
    project = _project_row(outcomes[0], None)
    [goals, recurring, replaced] = [
        [item_store.item_of(row) for row in outcomes[index].rows] for index in (1, 4, 5)
    ]
    free, blocked = store.tasks_of([*outcomes[2].rows, *outcomes[3].rows])
    step, reason = _step(free, blocked, project, _horizon(now_ms, zone, settings))
    shown = [*goals, *recurring, *replaced, *(record for record, _ in blocked)]
    references = await read_references(app, caller, [*shown, *([step] if step else [])])
    return {
        "project": _project_view(project),
        "objective": _objective_view(project, goals),
        "strategic_focus": brief_view(goals[0], references) if goals else None,
        "tactical_next_step": brief_view(step, references) if step else None,
        "reason": reason,
        "blockers": _blockers_view(blocked, references),
        "recurring_systems": [brief_view(record, references) for record in recurring],
        "replaced_items": [_replaced_view(record, references) for record in replaced],
        "focus_version": int(str(outcomes[0].rows[0]["focus_version"] or 0)),
    }


def _project_view(project: Row | None) -> JSON:
    if project is None:
        return None
    return {name: _text(project[name]) for name in ("id", "slug", "name", "description")}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _objective_view(project: Row | None, goals: Sequence[ItemRecord]) -> JSON:
    if project is None or not goals:
        return None
    since = project["objective_since"]
    return {
        "item_id": goals[0].id,
        "title": goals[0].fields.get("title"),
        "state": goals[0].fields.get("state"),
        "since": format_iso(since) if isinstance(since, int) else None,
    }


def _blockers_view(
    blocked: Sequence[tuple[ItemRecord, JSON]], references: References
) -> list[JSON]:
    ordered = sorted(blocked, key=lambda pair: pair[0].id)
    return [
        {"item": brief_view(record, references), "blocked_by": blockers}
        for record, blockers in ordered
    ]


def _replaced_view(record: ItemRecord, references: References) -> dict[str, JSON]:
    view = brief_view(record, references)
    return {**view, "superseded_by": record.fields.get("superseded_by")}


async def get_focus_context(app: App, caller: Caller, *, project: str | None = None) -> Answer:
    """Return the focus: a project's goal and next step, what is blocked, recurs, was replaced.

    *Shape:* `project` (the given one, else that of the newest objective, else None and the step
    is chosen among all tasks), `objective`, `strategic_focus`, `tactical_next_step`, `reason`,
    `blockers` (tasks that would come first but wait: `{"item", "blocked_by"}`),
    `recurring_systems`, `replaced_items`, `focus_version` (grows with each change of what is
    shown). *Raises:* NotFound for an unknown project. *Promise:* three round trips; writes
    nothing.
    """
    settings = await read_settings(app, caller.namespace)
    now_ms, zone = app.runtime.now_ms(), zone_of(app, settings)
    outcomes = await app.sql.read(
        focus_statements(caller.namespace, now_ms, zone, settings, project=project)
    )
    _project_row(outcomes[0], project)
    return await focus_of(app, caller, outcomes, now_ms=now_ms, zone=zone, settings=settings)


async def get_stale_tasks(app: App, caller: Caller, *, limit: int = 25) -> Answer:
    """Return the tactical tasks that nobody touched for 21 days, the longest first.

    *Shape:* `{"items": [brief and `untouched_since`], "count"}`; those marked as stale count
    from before they were marked; those put off are left out. *Promise:* two round trips at most;
    writes nothing.
    """
    _check_limit(limit)
    [outcome] = await app.sql.read(
        [store.untouched_statement(caller.namespace, now_ms=app.runtime.now_ms(), limit=limit)]
    )
    records = [item_store.item_of(row) for row in outcome.rows]
    references = await read_references(app, caller, records)
    return {
        "items": [
            _untouched_view(record, references, row)
            for record, row in zip(records, outcome.rows, strict=True)
        ],
        "count": len(records),
    }


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= limits.PAGE_ITEMS_MAX:
        raise InvalidInput(
            f"limit {limit!r} is out of range", hint=f"1 to {limits.PAGE_ITEMS_MAX}", field="limit"
        )


def _untouched_view(record: ItemRecord, references: References, row: Row) -> dict[str, JSON]:
    since = int(str(row["untouched_since"]))
    return {**brief_view(record, references), "untouched_since": format_iso(since)}


async def mark_stale_candidates(app: App, caller: Caller, *, limit: int = 25) -> Answer:
    """Mark the longest untouched tasks as stale: those neither pinned nor serving an objective.

    *Shape:* `{"items": [brief and `untouched_since`], "marked": ids, "count"}`; being marked is
    no touch, so `get_stale_tasks` goes on to count from the same moment. *Promise:* all or none;
    at most four round trips.
    """
    _check_limit(limit)
    namespace = caller.namespace

    async def decide() -> Plan:
        now_ms = app.runtime.now_ms()
        settings, found = await app.sql.read(
            [
                item_store.setting_statement(namespace),
                store.untouched_statement(namespace, now_ms=now_ms, limit=limit, is_markable=True),
            ]
        )
        at = Moment(now_ms, zone_of(app, item_store.settings_of(settings.rows)))
        rows = {str(row["id"]): row for row in found.rows}
        [loaded] = await app.sql.read([item_store.load_statement(namespace, list(rows))])
        items, references = item_store.loaded(loaded)
        views: list[JSON] = []
        edits = []
        for id_, row in rows.items():
            item = items[id_]
            # Touched between the two reads: no longer a candidate.
            draft = mark_stale(item.record.fields, at=at)
            if draft is None or item.record.version != row["version"]:
                continue
            edits.append(item.edit(draft))
            views.append(_untouched_view(after_draft(item.record, draft, now_ms), references, row))
        marked: list[JSON] = [edit.stream.partition("/")[2] for edit in edits]
        return Plan(
            answer={"items": views, "marked": marked, "count": len(views)},
            at_ms=now_ms,
            edits=edits,
        )

    return await write(app, caller, decide)
