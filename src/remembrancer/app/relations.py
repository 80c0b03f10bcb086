"""Use cases of relations between items, and superseding, which is a relation and a state.

All relations of a namespace are one stream: its version is read in the same round trip as the
edges, so two writers cannot close a circle together. `plan_link` is what other use cases build
on (consolidation, superseding as a change of a task's state). Objectives are `app.objectives`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Required, TypedDict, Unpack

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.items.resolve import zone_of
from remembrancer.app.objectives import clear_objective_of
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.dates import format_iso
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from remembrancer.core.ids import RELATIONS
from remembrancer.core.items.commands import Moment
from remembrancer.core.items.decide import supersede_item
from remembrancer.core.items.record import References, after_draft, item_view
from remembrancer.core.ledger.changes import apply_changes
from remembrancer.core.ledger.events import Draft
from remembrancer.core.relations import decide as rules
from remembrancer.core.relations.decide import relation_key, split_key
from remembrancer.core.settings.decide import DEFAULTS as SETTINGS
from remembrancer.core.values import JSON, Caller
from remembrancer.store import items as item_store
from remembrancer.store import relations as store
from remembrancer.store.items import LoadedItem, require
from remembrancer.store.ledger import StreamEdit

_SUPERSEDES: Final = "supersedes"


class RelationInput(TypedDict, total=False):
    """A relation as a door hands it in. *Shape:* `confidence` 0…1, by default 1."""

    source_id: Required[str]
    type: Required[str]
    target_id: Required[str]
    confidence: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """Relations of one type from one item to others, as asked for.

    *Shape:* `target_ids` 1–100 without the source; `is_superseding` also moves the targets to
    the state `superseded`, whatever the type is; `is_incoming` draws the relations from the
    targets to the source, for a type that may close a circle.
    """

    source_id: str
    target_ids: Sequence[str]
    type: str = _SUPERSEDES
    confidence: float = 1.0
    reason: str | None = None
    is_superseding: bool = False
    is_incoming: bool = False

    def edge(self, target_id: str) -> store.Edge:
        """Return the relation with one of the targets."""
        if self.is_incoming:
            return target_id, self.type, self.source_id
        return self.source_id, self.type, target_id


@dataclass(frozen=True, slots=True)
class Linked:
    """What `plan_link` decided.

    *Shape:* `plan` has an empty answer, for the use case to replace; `source` and `targets` as
    they were read; `added` are the targets of new relations, `superseded` those whose state or
    successor changes, `already` those for which nothing changes; ids in the order asked for;
    `known` the asked relations by name, as they will be.
    """

    plan: Plan
    source: LoadedItem
    targets: Sequence[LoadedItem]
    references: References
    added: list[str]
    superseded: list[str]
    already: list[str]
    known: Mapping[str, JSON]


async def plan_link(app: App, caller: Caller, link: Link) -> Linked:
    """Read, check and draft relations, and the superseding of their targets when asked.

    *Raises:* NotFound for an unknown id, InvalidInput (the type, the source among the targets),
    LimitExceeded, Conflict (a deleted item; `cycle`). *Promise:* one round trip, a second when a
    target is a goal; run the plan with `write_in_turn`.
    """
    ids = _check(link)
    reason, namespace = rules.check_reason(link.reason), caller.namespace
    edges = [link.edge(id_) for id_ in ids]
    outcomes = await app.sql.read(
        [
            item_store.setting_statement(namespace),
            item_store.load_statement(namespace, [link.source_id, *ids]),
            store.head_statement(namespace),
            store.present_statement(namespace, edges),
            store.ancestors_statement(namespace, link.type, link.source_id, ids),
        ]
    )
    settings = {**SETTINGS, **item_store.settings_of(outcomes[0].rows)}
    at = Moment(app.runtime.now_ms(), zone_of(app, settings))
    items, references = item_store.loaded(outcomes[1])
    source = require_present(items, link.source_id)
    targets = [require_present(items, id_) for id_ in ids]
    rules.refuse_circle(link.source_id, link.type, ids, store.ancestors_of(outcomes[4].rows))
    present = store.present_of(outcomes[3].rows)
    draft = rules.add_relations(
        present,
        {relation_key(*edge): (link.confidence, reason) for edge in edges},
        now_ms=at.now_ms,
    )
    changed = _supersede(link, targets, at, reason) if link.is_superseding else []
    edits = [item.edit(item_draft) for item, item_draft in changed]
    if draft is not None:
        edits.append(StreamEdit(RELATIONS, store.head_of(outcomes[2].rows), present, (draft,)))
    plan = await clear_objective_of(app, caller, Plan({}, at.now_ms, edits), changed)
    superseded = {item.record.id for item, _ in changed}
    added = {id_ for id_ in ids if relation_key(*link.edge(id_)) not in present}
    return Linked(
        plan=plan,
        source=source,
        targets=targets,
        references=references,
        added=[id_ for id_ in ids if id_ in added],
        superseded=[id_ for id_ in ids if id_ in superseded],
        already=[id_ for id_ in ids if id_ not in superseded | added],
        known=present if draft is None else apply_changes(present, draft.changes),
    )


def _check(link: Link) -> list[str]:
    ids = list(dict.fromkeys(link.target_ids))
    if not ids:
        raise InvalidInput(
            "no target items were given", hint="name at least one", field="target_item_ids"
        )
    if len(ids) > limits.BULK_ITEMS_MAX:
        raise LimitExceeded(
            f"{len(ids)} target items",
            hint=f"at most {limits.BULK_ITEMS_MAX} in one call",
            field="target_item_ids",
        )
    for id_ in ids:
        rules.check_relation(link.source_id, link.type, id_)
    rules.check_confidence(link.confidence)
    return ids


def _supersede(
    link: Link, targets: Sequence[LoadedItem], at: Moment, reason: str | None
) -> list[tuple[LoadedItem, Draft]]:
    drafts = [
        (item, supersede_item(item.record.fields, by_id=link.source_id, at=at, reason=reason))
        for item in targets
    ]
    return [(item, draft) for item, draft in drafts if draft is not None]


def require_present(items: dict[str, LoadedItem], id_: str) -> LoadedItem:
    """Return an item that is there and not deleted. *Raises:* NotFound, Conflict naming the id."""
    item = require(items, id_)
    if item.record.fields.get("state") == "deleted":
        raise Conflict(
            f"item {id_} is deleted",
            hint="restore_item brings it back within 30 days",
            details={"item_id": id_, "state": "deleted"},
        )
    return item


async def refuse_circles(app: App, caller: Caller, edits: Sequence[StreamEdit]) -> None:
    """Refuse edits of the stream of relations that bring back a relation and close a circle.

    *Raises:* Conflict (`cycle`). *Promise:* no round trip unless a relation comes; then one.
    """
    gone: list[store.Edge] = []
    come: list[store.Edge] = []
    for edit in edits:
        for draft in edit.drafts if edit.stream == RELATIONS else ():
            for key, (_, after) in draft.changes.items():
                edge = split_key(key)
                if after is None:
                    gone.append(edge)
                elif edge[1] in rules.ACYCLIC:
                    come.append(edge)
    if come:
        statement = store.circle_statement(caller.namespace, gone=gone, come=come)
        [found] = await app.sql.read([statement])
        for row in found.rows:
            target_id = str(row["target_id"])
            rules.refuse_circle(str(row["source_id"]), str(row["type"]), [target_id], [target_id])


async def supersede_items(
    app: App,
    caller: Caller,
    *,
    source_item_id: str,
    target_item_ids: Sequence[str],
    reason: str | None = None,
) -> Answer:
    """Let one item take the place of others, which stay as history.

    *Shape:* answers `{"source": item, "superseded": ids, "already": ids}`. *Raises:* NotFound
    for any unknown id, InvalidInput, LimitExceeded, Conflict (`cycle`; a deleted item).
    *Promise:* all or none.
    """
    link = Link(source_item_id, target_item_ids, reason=reason, is_superseding=True)

    async def decide() -> Plan:
        linked = await plan_link(app, caller, link)
        done = {*linked.superseded, *linked.added}
        return replace(
            linked.plan,
            answer={
                "source": item_view(linked.source.record, linked.references),
                "superseded": [item.record.id for item in linked.targets if item.record.id in done],
                "already": [*linked.already],
            },
        )

    return await write_in_turn(app, caller, decide)


async def supersede_task(
    app: App, caller: Caller, item_id: str, *, by_item_id: str, reason: str | None = None
) -> Answer:
    """Supersede one item by another: the verb `supersede` of `update_task_state`.

    *Shape:* answers `{"item", "changed"}` as the other verbs do. *Raises:* as `supersede_items`.
    """
    link = Link(by_item_id, [item_id], reason=reason, is_superseding=True)

    async def decide() -> Plan:
        linked = await plan_link(app, caller, link)
        [item] = linked.targets
        record = item.record
        for edit in linked.plan.edits:
            if edit.stream == item.edit().stream:
                record = after_draft(record, edit.drafts[0], linked.plan.at_ms)
        answer: Answer = {
            "item": item_view(record, linked.references),
            "changed": not linked.already,
        }
        return replace(linked.plan, answer=answer)

    return await write_in_turn(app, caller, decide)


async def add_relation(app: App, caller: Caller, **given: Unpack[RelationInput]) -> Answer:
    """Relate two items; the states of both stay as they are.

    *Shape:* answers `{"relation", "outcome": "created" | "unchanged"}`; a relation that is there
    keeps its confidence and reason. *Raises:* NotFound, InvalidInput, LimitExceeded, Conflict
    (`cycle` for supersedes, blocks and depends_on; a deleted item).
    """
    edge = (given["source_id"], given["type"], given["target_id"])
    link = Link(
        given["source_id"],
        [given["target_id"]],
        type=given["type"],
        confidence=given.get("confidence", 1.0),
        reason=given.get("reason"),
    )

    async def decide() -> Plan:
        linked = await plan_link(app, caller, link)
        answer: Answer = {
            "relation": _relation(edge, linked.known[relation_key(*edge)]),
            "outcome": "created" if linked.added else "unchanged",
        }
        return replace(linked.plan, answer=answer)

    return await write_in_turn(app, caller, decide)


# The doors' word for a relation's type is `type`; it is a keyword only.
async def remove_relation(
    app: App,
    caller: Caller,
    *,
    source_id: str,
    type: str,  # noqa: A002
    target_id: str,
) -> Answer:
    """Remove a relation; the states of both items stay as they are.

    *Shape:* answers `{"relation", "removed": true}`. *Raises:* NotFound when it is not there,
    InvalidInput.
    """
    edge = (source_id, type, target_id)
    rules.check_relation(*edge)
    key = relation_key(*edge)

    async def decide() -> Plan:
        head_rows, rows = await app.sql.read(
            [
                store.head_statement(caller.namespace),
                store.present_statement(caller.namespace, [edge]),
            ]
        )
        present = store.present_of(rows.rows)
        draft = rules.remove_relations(present, [key])
        if draft is None:
            raise NotFound(
                f"there is no relation {source_id[:60]!r} {type} {target_id[:60]!r}",
                hint="list_relations shows those of an item",
            )
        return Plan(
            answer={"relation": _relation(edge, present[key]), "removed": True},
            at_ms=app.runtime.now_ms(),
            edits=[StreamEdit(RELATIONS, store.head_of(head_rows.rows), present, (draft,))],
        )

    return await write_in_turn(app, caller, decide)


async def list_relations(app: App, caller: Caller, item_id: str) -> Answer:
    """Show an item's relations with others that are not deleted, newest first.

    *Shape:* answers `{"item_id", "relations": [{type, direction, item_id, title, state,
    confidence, reason}], "count"}`, at most `SHOWN_MAX`. *Raises:* NotFound.
    *Promise:* one round trip.
    """
    outcomes = await app.sql.read(
        [
            item_store.load_statement(caller.namespace, [item_id]),
            store.relations_statement(caller.namespace, item_id),
        ]
    )
    items, _ = item_store.loaded(outcomes[0])
    require(items, item_id)
    relations = store.relation_views(outcomes[1].rows)
    return {"item_id": item_id, "relations": relations, "count": len(relations)}


def _relation(edge: store.Edge, known: JSON) -> dict[str, JSON]:
    facts: Mapping[str, JSON] = known if isinstance(known, dict) else {}
    created = facts.get("created_at")
    return {
        "source_id": edge[0],
        "type": edge[1],
        "target_id": edge[2],
        "confidence": facts.get("confidence"),
        "reason": facts.get("reason"),
        "created_at": format_iso(created) if isinstance(created, int) else None,
    }
