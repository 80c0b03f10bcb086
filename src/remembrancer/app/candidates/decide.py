"""Deciding candidates: approve, discard, merge, supersede, together with what follows from it.

A decision is that of whoever makes it: what a person approves is the person's own memory from then
on, which no job rewrites; the messages it came from stay named as its sources. The decision and
its effects are one batch, so undo of its cause takes both back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypedDict, cast

from remembrancer.app.candidates.queue import Scene, look, targets_of
from remembrancer.app.commit import Answer, Plan, write, write_in_turn
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.memories.replacing import Place, plan_replacing
from remembrancer.app.memories.save import (
    NewMemory,
    Saving,
    plan_saving,
    plan_superseding,
    saving_of,
)
from remembrancer.app.relations import Link, plan_link
from remembrancer.app.state import App
from remembrancer.core import limits
from remembrancer.core.candidates import decide as rules
from remembrancer.core.candidates.decide import Action, candidate_view
from remembrancer.core.distill.facts import normal_key
from remembrancer.core.errors import InvalidInput, LimitExceeded, RemembrancerError
from remembrancer.core.ids import item_stream
from remembrancer.core.items import decide as items
from remembrancer.core.items.commands import ItemEdit
from remembrancer.core.items.record import after_draft, item_view
from remembrancer.core.ledger.events import Draft
from remembrancer.core.memories import decide as memories
from remembrancer.core.memories.view import memory_view
from remembrancer.core.memories.wording import content_of, worded
from remembrancer.core.redact.redaction import redact
from remembrancer.core.values import JSON, Caller
from remembrancer.store.candidates import candidate_stream
from remembrancer.store.items import LoadedItem, require
from remembrancer.store.ledger import StreamEdit

DECISIONS_MAX: Final = 50
"""Decisions of one call. Our choice: a sitting; each is a batch of its own."""

DECISION_STATEMENTS: Final = 22
"""Statements that a decision takes at most: while a request affords no more of them, what is left
is for another one. Source: measured."""


class Decision(TypedDict, total=False):
    """What is said about a candidate, and what of it is changed before.

    *Shape:* `target_id` the memory that is merged into or superseded; by default what the
    candidate names.
    """

    target_id: str | None
    content: str
    type: str
    fact_key: str | None
    confidence: float
    importance: float
    tags: Sequence[str]
    decision_note: str | None


async def preview_merge(
    app: App, caller: Caller, candidate_id: str, decision: Decision | None = None
) -> Answer:
    """Show both texts and what a merge would leave; nothing is written.

    *Shape:* `{"candidate", "target": memory, "result": {"content", "tags", "confidence",
    "importance"}}`. *Raises:* NotFound, InvalidInput, Conflict. *Promise:* two round trips.
    """
    decision = decision or {}
    scene = await look(app, caller, candidate_id, decision.get("target_id"))
    target = _merge_target(scene, decision)
    references = scene.around.references
    edit = _merged(scene, target, decision)
    return {
        "candidate": candidate_view(scene.candidate),
        "target": memory_view(item_view(target.record, references)),
        "result": {
            "content": content_of(cast("dict[str, JSON]", edit)),
            "tags": [*edit["tags"]],
            "confidence": edit["confidence"],
            "importance": edit["importance"],
        },
    }


async def decide_candidate(
    app: App, caller: Caller, candidate_id: str, action: str, decision: Decision | None = None
) -> Answer:
    """Decide a candidate: approve, discard, merge or supersede.

    *Shape:* `{"candidate", "memory" | null, "outcome"}`; outcome `created`, `superseded`, `seen`,
    `merged`, `archived`, `stale`, or `none` for what is discarded. *Raises:* NotFound,
    InvalidInput, LimitExceeded, Conflict (decided already; a task holds the key; the target has
    ended). *Promise:* the decision and its effects are one batch.
    """
    if action not in rules.ACTIONS:
        raise InvalidInput(
            f"{action!r} is no decision", hint=f"one of {', '.join(rules.ACTIONS)}", field="action"
        )
    decided, decision = cast(Action, action), decision or {}
    note = rules.check_note(decision.get("decision_note"))

    async def decide() -> Plan:
        scene = await look(app, caller, candidate_id, decision.get("target_id"))
        rules.refuse_decided(scene.candidate)
        plan = await _effects(app, caller, scene, decided, decision)
        result = plan.answer.get("memory")
        draft = rules.decide_candidate(
            scene.candidate,
            decided,
            note=note,
            result_id=str(result["id"]) if isinstance(result, dict) else None,
            now_ms=plan.at_ms,
        )
        loaded = scene.loaded
        edit = StreamEdit(
            candidate_stream(candidate_id), loaded.head, loaded.candidate.fields, (draft,)
        )
        after = rules.after_decision(scene.candidate, draft, plan.at_ms)
        answer: Answer = {
            "candidate": candidate_view(after),
            "memory": result if isinstance(result, dict) else None,
            "outcome": plan.answer.get("outcome", "none"),
        }
        return replace(plan, answer=answer, edits=[*plan.edits, edit])

    return await write_in_turn(app, caller, decide)


async def decide_candidates(
    app: App, caller: Caller, decisions: Sequence[tuple[str, str, Decision]]
) -> Answer:
    """Decide several candidates, each on its own.

    *Shape:* `decisions` triples of id, action and edits; answers `{"results": [{"id", "status",
    "outcome", "memory_id"} or {"id", "error": {"code", "message"}}], "decided", "failed", "left":
    ids that another call is to name: a request on Cloudflare takes a few}`.
    *Raises:* InvalidInput, LimitExceeded for the list as a whole. *Promise:* what can be decided
    is, whatever becomes of the others.
    """
    if not decisions:
        raise InvalidInput("no decisions were given", hint="name at least one", field="decisions")
    if len(decisions) > DECISIONS_MAX:
        raise LimitExceeded(
            f"{len(decisions)} decisions", hint=f"at most {DECISIONS_MAX}", field="decisions"
        )

    async def decide() -> Plan:
        return Plan(await _decide_each(app, caller, decisions), app.runtime.now_ms())

    # Each decision is a batch of its own; the call's answer is kept after the last.
    return await write(app, caller, decide)


async def _decide_each(
    app: App, caller: Caller, decisions: Sequence[tuple[str, str, Decision]]
) -> Answer:
    results: list[JSON] = []
    failed = 0
    for candidate_id, action, decision in decisions:
        if results and not app.spending.affords(DECISION_STATEMENTS):
            break
        # An idempotency key is the whole call's; each decision is refused the second time anyway.
        alone = replace(caller, idempotency=None)
        try:
            answer = await decide_candidate(app, alone, candidate_id, action, decision)
        except RemembrancerError as error:
            failed += 1
            results.append(
                {"id": candidate_id, "error": {"code": error.code, "message": error.message}}
            )
            continue
        shown = cast("dict[str, JSON]", answer["candidate"])
        results.append(
            {
                "id": candidate_id,
                "status": shown["status"],
                "outcome": answer["outcome"],
                "memory_id": shown["memory_id"],
            }
        )
    return {
        "results": results,
        "decided": len(results) - failed,
        "failed": failed,
        "left": [candidate_id for candidate_id, _, _ in decisions[len(results) :]],
    }


async def _effects(
    app: App, caller: Caller, scene: Scene, action: Action, decision: Decision
) -> Plan:
    now_ms = scene.around.at.now_ms
    if action == "discard":
        return Plan({}, now_ms)
    kind = scene.candidate.fields.get("kind")
    if action != "approve":
        rules.require_worded(scene.candidate, action)
    if action == "merge":
        return _plan_merge(scene, decision)
    if action == "supersede":
        [target, *_] = _require_targets(scene, decision)
        saving = _saving(app, caller, scene, decision)
        return await plan_superseding(saving, target.record.id, "reviewed")
    if kind == "fact":
        return await plan_saving(_saving(app, caller, scene, decision))
    if kind == "conflict":
        return await _plan_conflict(app, caller, scene, decision)
    targets = _require_targets(scene, decision)
    if kind in ("merge", "replace"):
        place = Place(targets, scene.around.references, scene.relations_head)
        saving = _saving(app, caller, scene, decision)
        return plan_replacing(saving, scene.around, place, reason="reviewed")
    return _plan_change(scene, str(kind), targets)


def _require_targets(scene: Scene, decision: Decision) -> list[LoadedItem]:
    targets = scene.targets(decision.get("target_id"))
    if not targets:
        raise InvalidInput(
            f"the candidate {scene.candidate.id} names no memory",
            hint="give the target_id",
            field="target_id",
        )
    return targets


async def _plan_conflict(app: App, caller: Caller, scene: Scene, decision: Decision) -> Plan:
    """Return the plan by which one side of a conflict supersedes the other, by default the first
    named the last."""
    named = targets_of(scene.candidate)
    ended_id = decision.get("target_id") or named[-1]
    staying = [id_ for id_ in named if id_ != ended_id]
    if ended_id not in named or not staying:
        raise InvalidInput(
            f"{ended_id[:60]!r} is no side of the conflict {scene.candidate.id}",
            hint=f"one of {', '.join(named)}",
            field="target_id",
        )
    older, newer = (require(scene.around.items, id_) for id_ in (ended_id, staying[0]))
    for side in (older, newer):
        memories.refuse_ended(side.record)
    link = Link(newer.record.id, [ended_id], reason="reviewed", is_superseding=True)
    linked = await plan_link(app, caller, link)
    [draft] = [edit.drafts[0] for edit in linked.plan.edits if edit.stream == item_stream(ended_id)]
    shown = _changed(scene, older, draft, "superseded")
    return replace(linked.plan, answer=shown.answer)


def _plan_change(scene: Scene, kind: str, targets: list[LoadedItem]) -> Plan:
    """Return the plan of a proposed change that needs no text."""
    at = scene.around.at
    [target, *_] = targets
    if kind == "stale_task":
        return _changed(scene, target, items.mark_stale(target.record.fields, at=at), "stale")
    return _changed(scene, target, items.archive_item(target.record.fields, at=at), "archived")


def _changed(scene: Scene, item: LoadedItem, draft: Draft | None, outcome: str) -> Plan:
    at_ms = scene.around.at.now_ms
    record = item.record if draft is None else after_draft(item.record, draft, at_ms)
    view = item_view(record, scene.around.references)
    memory = memory_view(view) if view["kind"] == "memory" else None
    changed = [] if draft is None else [item.edit(draft)]
    return Plan({"memory": memory, "outcome": outcome}, at_ms, changed)


def _saving(app: App, caller: Caller, scene: Scene, decision: Decision) -> Saving:
    fields = scene.candidate.fields
    given: dict[str, object] = {
        "type": decision.get("type") or fields.get("type"),
        "fact_key": _key(decision) if "fact_key" in decision else fields.get("fact_key"),
        "importance": decision.get("importance", fields.get("importance")),
        "confidence": decision.get("confidence", fields.get("confidence")),
        "source": fields.get("source"),
        "source_message_ids": fields.get("source_message_ids") or [],
    }
    tags = decision.get("tags", fields.get("tags"))
    if tags:
        given["tags"] = tags
    content = decision.get("content") or str(fields["content"])
    # The names are those of ItemInput, the values were checked when the candidate was filed.
    return saving_of(app, caller, NewMemory(content, cast(ItemInput, given), "note"))


def _key(decision: Decision) -> str | None:
    given = decision.get("fact_key")
    if given is None or not given.strip():
        return None
    return normal_key(given) or given.strip()


def _merge_target(scene: Scene, decision: Decision) -> LoadedItem:
    rules.require_worded(scene.candidate, "merge")
    [target, *_] = _require_targets(scene, decision)
    memories.require_memory(target.record)
    memories.refuse_ended(target.record)
    return target


def _merged(scene: Scene, target: LoadedItem, decision: Decision) -> ItemEdit:
    """Return the edit that merges: the larger scores, all tags, the text as previewed."""
    old, new = target.record.fields, scene.candidate.fields
    given = decision.get("content")
    text = given or rules.merged_text(content_of(old), str(new["content"]))
    title, content = worded(redact(text))
    tags = decision.get("tags", new.get("tags"))
    edit: ItemEdit = {
        "title": title,
        "content": content,
        "tags": [str(tag) for tag in rules.merged_tags(old.get("tags"), _listed(tags))],
        "confidence": rules.larger(
            old.get("confidence"), decision.get("confidence", new.get("confidence"))
        ),
        "importance": rules.larger(
            old.get("importance"), decision.get("importance", new.get("importance"))
        ),
    }
    sources = [*_listed(old.get("source_message_ids")), *_listed(new.get("source_message_ids"))]
    if sources:
        kept = list(dict.fromkeys(map(str, sources)))
        edit["source_message_ids"] = kept[-limits.SOURCE_IDS_MAX :]
    if decision.get("type"):
        edit["type"] = decision["type"]
    return edit


def _listed(value: object) -> list[JSON]:
    return list(value) if isinstance(value, list | tuple) else []


def _plan_merge(scene: Scene, decision: Decision) -> Plan:
    target = _merge_target(scene, decision)
    draft = items.edit_item(
        target.record.fields, _merged(scene, target, decision), at=scene.around.at
    )
    return _changed(scene, target, draft, "merged")
