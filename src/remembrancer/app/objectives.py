"""Objectives: a project's active goal, and what happens to it when its item changes.

An objective is an item of type `strategic_goal`; the project names it. Completing, superseding,
archiving or deleting the item updates the project in the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from remembrancer.app.commit import Plan
from remembrancer.app.state import App
from remembrancer.core.ids import project_stream
from remembrancer.core.ledger.events import Draft
from remembrancer.core.projects.decide import set_objective
from remembrancer.core.values import Caller
from remembrancer.store.items import LoadedItem
from remembrancer.store.ledger import StreamEdit
from remembrancer.store.projects import load_projects_of_objectives

_ENDING = frozenset({"completed", "superseded", "archived", "deleted", "expired"})


async def clear_objective_of(
    app: App, caller: Caller, plan: Plan, changed: Sequence[tuple[LoadedItem, Draft]]
) -> Plan:
    """Add to the plan that projects lose the objectives which these changes end.

    *Promise:* no round trip unless a goal changes its state; then one.
    """
    ended = [
        item.record.id
        for item, draft in changed
        if item.record.fields.get("type") == "strategic_goal"
        and draft.changes.get("state", (None, None))[1] in _ENDING
    ]
    if not ended:
        return plan
    projects = await load_projects_of_objectives(app.sql, caller.namespace, ended)
    edits: list[StreamEdit] = []
    for project in projects:
        draft = set_objective(project.fields, None, now_ms=plan.at_ms)
        if draft is not None:
            edits.append(
                StreamEdit(project_stream(project.id), project.head, project.fields, (draft,))
            )
    return replace(plan, edits=[*plan.edits, *edits])
