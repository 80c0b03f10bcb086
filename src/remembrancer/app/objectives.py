"""Objectives: a project's active goal, and what happens to it when its item changes.

An objective is an item of type `strategic_goal`; the project names it. Completing, superseding,
archiving or deleting the item updates the project in the same batch, and so does moving it to
another project or making it another type. Reactivating or restoring a goal does not make it the
objective again: that is said by `set_active_objective`, or by an undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.projects import named_choice, project_view, require_project
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.ids import RELATIONS, item_stream
from remembrancer.core.items import decide as item_rules
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.fields import CURRENT_STATES, PRIORITIES
from remembrancer.core.items.record import (
    ItemRecord,
    Owner,
    References,
    after_draft,
    brief_view,
    item_view,
)
from remembrancer.core.ledger.changes import Fields, apply_changes, changes_between
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.projects.decide import OBJECTIVE_STARTUP_PRIORITY, set_objective
from remembrancer.core.projects.record import after_draft as after_project_draft
from remembrancer.core.relations.decide import add_relations, relation_key, remove_relations
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON, Caller
from remembrancer.store import items as item_store
from remembrancer.store import projects as store
from remembrancer.store import relations as relation_store
from remembrancer.store.items import LoadedItem, require
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.projects import Seen

_SUPERSEDES: Final = "supersedes"
_ENDING: Final = frozenset({"completed", "superseded", "archived", "deleted", "expired"})
_MOVING: Final = frozenset({"project_id", "type"})


async def clear_objective_of(
    app: App, caller: Caller, plan: Plan, changed: Sequence[tuple[LoadedItem, Draft]]
) -> Plan:
    """Add to the plan that projects lose the objectives which these changes end.

    *Shape:* a project that the plan edits anyway is left to it. *Promise:* no round trip unless a
    goal ends, leaves its project or becomes something else; then one.
    """
    ended = {
        item.record.id: str(item.record.fields["project_id"])
        for item, draft in changed
        if _ends(item.record.fields, draft)
    }
    if not ended:
        return plan
    projects = await store.load_projects_of_objectives(app.sql, caller.namespace, ended)
    drafts = [
        (project, set_objective(project.owner.fields, None, now_ms=plan.at_ms))
        for project in projects
        if all(edit.stream != project.stream for edit in plan.edits)
    ]
    edits = [project.edit(draft) for project, draft in drafts if draft is not None]
    return replace(plan, edits=[*plan.edits, *edits])


def _ends(fields: Mapping[str, JSON], draft: Draft) -> bool:
    if fields.get("type") != "strategic_goal" or fields.get("project_id") is None:
        return False  # the goal of a project is in it
    state = draft.changes.get("state", (None, None))[1]
    return state in _ENDING or not _MOVING.isdisjoint(draft.changes)


@dataclass(frozen=True, slots=True)
class _Scene:
    """What one read brought for `set_active_objective`."""

    project: Seen
    at: Moment
    item: LoadedItem | None
    previous: LoadedItem | None
    references: References
    relations_head: Head
    over: Fields
    """The relations by which others supersede the item: they end when it becomes the goal."""
    under: Fields
    """The relations by which the item supersedes others."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said of the goal; None is not given."""

    title: str | None
    description: str | None

    def edit(self) -> ItemEdit:
        edit: ItemEdit = {}
        if self.title is not None:
            edit["title"] = self.title
        if self.description is not None:
            edit["content"] = self.description
        return edit


async def set_active_objective(
    app: App,
    caller: Caller,
    *,
    project: str,
    item_id: str | None = None,
    title: str | None = None,
    description: str | None = None,
) -> Answer:
    """Make an item, or a new one of a title, the goal that a project now serves.

    The item becomes an active, pinned strategic goal that startup loads; the goal before is
    superseded by it. With an item, title and description edit it.
    *Shape:* answers `{"project", "item", "previous_item_id"}`.
    *Raises:* NotFound (project; item, even with a title), InvalidInput (neither item nor title;
    a memory), LimitExceeded, Conflict (the item belongs to another project or is deleted).
    *Promise:* two round trips; all or nothing.
    """
    if item_id is None and title is None:
        raise InvalidInput(
            "no objective was named", hint="give item_id or a title", field="item_id"
        )
    new_id, words = app.runtime.new_id("itm"), _Words(title, description)

    async def decide() -> Plan:
        scene = await _look(app, caller, project, item_id)
        if scene.item is None:
            record, edit = _new_goal(caller, scene, new_id, words)
        elif scene.project.owner.fields.get("active_objective_id") == item_id:
            record, edit = _edited_goal(scene, scene.item, words)
        else:
            record, edit = _chosen_goal(scene, scene.item, words)
        return _plan(scene, record, edit)

    return await write_in_turn(app, caller, decide)


async def _look(app: App, caller: Caller, project: str, item_id: str | None) -> _Scene:
    namespace = caller.namespace
    choice = named_choice(caller, project, None)
    wanted = [] if item_id is None else [item_id]
    statements = [
        *store.view_statements(choice),
        item_store.setting_statement(namespace),
        item_store.load_statement(namespace, wanted),
        *store.objective_statements(choice),
        relation_store.head_statement(namespace),
        relation_store.incoming_statement(namespace, _SUPERSEDES, item_id or ""),
        relation_store.outgoing_statement(namespace, _SUPERSEDES, item_id or ""),
    ]
    outcomes = await app.sql.read(statements)
    views, rest = outcomes[: store.VIEW_STATEMENTS], outcomes[store.VIEW_STATEMENTS :]
    present = {one.slug: one for one in store.seen(views, choice)}
    chosen = require_project(present, project)
    settings = {**SETTINGS, **item_store.settings_of(rest[0].rows)}
    items, references = item_store.loaded(rest[1])
    previous = store.objectives(rest[2:4])
    item = None if item_id is None else require(items, item_id)
    if item is not None:
        _refuse_foreign(item, chosen, references)
    return _Scene(
        project=chosen,
        at=Moment(app.runtime.now_ms(), zone_of(app, settings)),
        item=item,
        previous=previous.get(str(chosen.owner.fields.get("active_objective_id"))),
        references=_with_project(references, chosen),
        relations_head=relation_store.head_of(rest[4].rows),
        over=relation_store.present_of(rest[5].rows),
        under=relation_store.present_of(rest[6].rows),
    )


def _refuse_foreign(item: LoadedItem, project: Seen, references: References) -> None:
    fields = item.record.fields
    if fields.get("kind") != "task":
        raise InvalidInput(
            f"{item.record.id} is a memory, not a goal",
            hint="name a task, or give a title for a new goal",
            field="item_id",
        )
    owner = references.projects.get(str(fields.get("project_id")))
    if owner is not None and owner.is_active and owner.id != project.owner.id:
        raise Conflict(
            f"{item.record.id} belongs to the project {owner.slug!r}",
            hint="move it with set_item_project first",
            details={"project": owner.slug},
        )


def _with_project(references: References, project: Seen) -> References:
    owner = Owner(project.owner.id, project.slug, str(project.owner.fields["name"]))
    return replace(references, projects={**references.projects, owner.id: owner})


def _new_goal(
    caller: Caller, scene: _Scene, new_id: str, words: _Words
) -> tuple[ItemRecord, StreamEdit]:
    edit: ItemEdit = {
        "title": words.title or "",
        "content": words.description,
        "kind": "task",
        "type": "strategic_goal",
        "priority": PRIORITIES["high"],
        "pinned": True,
        "startup_priority": OBJECTIVE_STARTUP_PRIORITY,
        "project_id": scene.project.owner.id,
        "authored_by": caller.authored_by,
    }
    draft = item_rules.create_item(edit, at=scene.at)
    now_ms = scene.at.now_ms
    record = ItemRecord(new_id, 1, now_ms, now_ms, apply_changes({}, draft.changes))
    return record, StreamEdit(item_stream(new_id), Head(), {}, (draft,))


def _chosen_goal(scene: _Scene, item: LoadedItem, words: _Words) -> tuple[ItemRecord, StreamEdit]:
    before = item.record.fields
    back = item_rules.reactivate_item(before, at=scene.at)
    active = before if back is None else apply_changes(before, back.changes)
    startup = active.get("startup_priority")
    # "Never at startup" was set by hand and stays.
    is_never = startup == 0
    edit: ItemEdit = {
        "type": "strategic_goal",
        "pinned": True,
        "project_id": scene.project.owner.id,
        "startup_priority": 0
        if is_never
        else max(OBJECTIVE_STARTUP_PRIORITY, startup if isinstance(startup, int) else 0),
        **words.edit(),
    }
    draft = item_rules.edit_item(active, edit, at=scene.at)
    after = active if draft is None else apply_changes(active, draft.changes)
    # Written even when nothing changes: whoever completes the item meanwhile must notice.
    names = before.keys() | after.keys()
    changes = changes_between(before, {name: after.get(name) for name in names})
    chosen = Draft("ItemChosenAsObjective", changes, {"project_id": scene.project.owner.id})
    return after_draft(item.record, chosen, scene.at.now_ms), item.edit(chosen)


def _edited_goal(scene: _Scene, item: LoadedItem, words: _Words) -> tuple[ItemRecord, StreamEdit]:
    draft = item_rules.edit_item(item.record.fields, words.edit(), at=scene.at)
    if draft is None:
        return item.record, item.edit()
    return after_draft(item.record, draft, scene.at.now_ms), item.edit(draft)


def _plan(scene: _Scene, record: ItemRecord, item_edit: StreamEdit) -> Plan:
    project, now_ms = scene.project, scene.at.now_ms
    owner, previous = project.owner, scene.previous
    edits = [item_edit]
    set_ = set_objective(owner.fields, record.id, now_ms=now_ms)
    if set_ is None:
        previous = None
    else:
        owner = after_project_draft(owner, set_, now_ms)
        edits += [project.edit(set_), *_succession(scene, record.id)]
    shown = replace(project, owner=owner, chief=record, references=scene.references)
    return Plan(
        answer={
            "project": project_view(shown.recounted(edits)),
            "item": item_view(record, scene.references),
            "previous_item_id": None if previous is None else previous.record.id,
        },
        at_ms=now_ms,
        edits=edits,
    )


def _succession(scene: _Scene, item_id: str) -> list[StreamEdit]:
    """Supersede the goal before, and end what said that another supersedes this one."""
    now_ms, previous = scene.at.now_ms, scene.previous
    edits: list[StreamEdit] = []
    drafts = [remove_relations(scene.over, list(scene.over))]
    if previous is not None and previous.record.fields.get("state") in CURRENT_STATES:
        ended = item_rules.supersede_item(
            previous.record.fields, by_id=item_id, at=scene.at, reason=None
        )
        edits.append(previous.edit(ended))
        edge = relation_key(item_id, _SUPERSEDES, previous.record.id)
        drafts.append(add_relations(scene.under, {edge: (1.0, None)}, now_ms=now_ms))
    made = tuple(draft for draft in drafts if draft is not None)
    present = {**scene.over, **scene.under}
    return [*edits, StreamEdit(RELATIONS, scene.relations_head, present, made)]


async def get_active_objectives(app: App, caller: Caller) -> Answer:
    """Show the active objectives of all projects, newest first.

    *Shape:* answers `{"objectives": [{"project": {slug, name}, "item": brief, "since"}],
    "count"}`, at most 100. *Promise:* one round trip.
    """
    choice = store.with_objective(caller.namespace, limit=limits.PAGE_ITEMS_MAX)
    found = store.seen(await app.sql.read(store.view_statements(choice)), choice)
    shown: list[JSON] = []
    for one in found:
        since = one.owner.fields.get("objective_since")
        if one.chief is not None:
            shown.append(
                {
                    "project": {"slug": one.slug, "name": one.owner.fields["name"]},
                    "item": brief_view(one.chief, one.references),
                    "since": format_iso(since) if isinstance(since, int) else None,
                }
            )
    return {"objectives": shown, "count": len(shown)}
