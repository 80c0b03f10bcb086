"""Creating and editing items.

Changes of state by verb are `states.py`; relations and supersession are `app.relations`.
"""

from __future__ import annotations

from dataclasses import replace

from remembrancer.app.commit import Answer, Plan, write
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.resolve import Surroundings, look_around, resolve
from remembrancer.app.items.wording import read_words
from remembrancer.app.objectives import clear_objective_of
from remembrancer.app.state import App
from remembrancer.core.capture import parse_capture
from remembrancer.core.errors import Conflict
from remembrancer.core.ids import item_stream
from remembrancer.core.items.commands import ItemEdit
from remembrancer.core.items.decide import create_item as decide_create
from remembrancer.core.items.decide import edit_item as decide_edit
from remembrancer.core.items.edit import check_text
from remembrancer.core.items.fields import PRIORITIES
from remembrancer.core.items.record import ItemRecord, after_draft, item_view
from remembrancer.core.items.secrecy import without_secrets
from remembrancer.core.ledger.changes import apply_changes
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.redact.redaction import redact
from remembrancer.core.text.fold import clean
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Statement
from remembrancer.store import artifacts
from remembrancer.store.items import LoadedItem, require
from remembrancer.store.ledger import StreamEdit


async def create_item(app: App, caller: Caller, given: ItemInput) -> Answer:
    """Make a task or a memory.

    *Shape:* answers `{"item", "outcome": "created"}`. *Raises:* InvalidInput, LimitExceeded,
    NotFound (project, topic, objective), Conflict (the fact key is held).
    *Promise:* two round trips.
    """
    return await _create(app, caller, given, is_capture=False)


async def _create(app: App, caller: Caller, asked: ItemInput, *, is_capture: bool) -> Answer:
    item_id = app.runtime.new_id("itm")

    async def decide() -> Plan:
        given = asked.copy()
        around = await look_around(app, caller.namespace, [], given, is_lenient=is_capture)
        if is_capture:
            given.setdefault("kind", str(around.settings["default_capture_kind"]))
        if given.get("kind", "task") == "task":
            default = str(around.settings["default_quick_add_priority"])
            given.setdefault("priority", PRIORITIES[default])
        if given.get("kind") == "memory":
            given = without_secrets(given)
        edit = resolve(app, given, around, item_id=item_id)
        if is_capture:
            edit |= read_words(given, around.at)
        edit.setdefault("authored_by", caller.authored_by)
        draft = decide_create(edit, at=around.at)
        now = around.at.now_ms
        record = ItemRecord(item_id, 1, now, now, apply_changes({}, draft.changes))
        made = StreamEdit(item_stream(item_id), Head(), {}, (draft,))
        return Plan(
            answer={"item": item_view(record, around.with_found()), "outcome": "created"},
            at_ms=now,
            edits=[*around.edits(), made],
            extra=_artifact(caller, item_id, given, edit, now),
        )

    return await write(app, caller, decide)


def _artifact(
    caller: Caller, item_id: str, given: ItemInput, edit: ItemEdit, now_ms: int
) -> list[Statement]:
    artifact_id = edit.get("artifact_id")
    if not artifact_id:
        return []
    text = clean(str(given.get("content")))
    return artifacts.keep_statements(caller.namespace, artifact_id, item_id, text, at_ms=now_ms)


async def update_item(
    app: App,
    caller: Caller,
    item_id: str,
    given: ItemInput,
    *,
    expected_version: int | None = None,
) -> Answer:
    """Change the given fields of an item; tags are replaced as a whole.

    *Shape:* answers `{"item", "changed"}`. *Raises:* as `create_item`, and Conflict
    (`version_conflict`) when the item is not at `expected_version`. *Promise:* two round trips, a
    third when a goal ends or leaves its project.
    """

    async def decide() -> Plan:
        around = await look_around(app, caller.namespace, [item_id], given)
        item = require(around.items, item_id)
        check_version(item, expected_version)
        is_memory = given.get("kind", item.record.fields["kind"]) == "memory"
        safe = without_secrets(given) if is_memory else given
        edit = resolve(app, safe, around, item_id=item_id)
        draft = decide_edit(item.record.fields, edit, at=around.at)
        plan = changed_plan(around, item, draft)
        if draft is None:
            return plan
        plan = replace(plan, extra=_artifact(caller, item_id, safe, edit, around.at.now_ms))
        return await clear_objective_of(app, caller, plan, [(item, draft)])

    return await write(app, caller, decide)


def check_version(item: LoadedItem, expected: int | None) -> None:
    """Refuse an edit of an item that has moved on. *Raises:* Conflict (`version_conflict`)."""
    if expected is not None and item.record.version != expected:
        raise Conflict(
            f"item {item.record.id} is at version {item.record.version}, not {expected}",
            hint="read it again and repeat the edit",
            code="version_conflict",
            details={"version": item.record.version},
        )


def changed_plan(around: Surroundings, item: LoadedItem, draft: Draft | None) -> Plan:
    """Return the plan of one item's change; without a draft nothing is written."""
    references = around.with_found()
    if draft is None:
        answer: Answer = {"item": item_view(item.record, references), "changed": False}
        return Plan(answer=answer, at_ms=around.at.now_ms)
    after = after_draft(item.record, draft, around.at.now_ms)
    return Plan(
        answer={"item": item_view(after, references), "changed": True},
        at_ms=around.at.now_ms,
        edits=[*around.edits(), item.edit(draft)],
    )


async def quick_capture(app: App, caller: Caller, text: str, given: ItemInput) -> Answer:
    """Make an item from one line with markers (`#tag +project @topic due:…`, `记住：`).

    *Shape:* what `given` names wins over the markers, and they over a date or a series in the
    words of a task (`wording.py`); unknown projects and topics are made; secrets are redacted
    unless the line says that it is a task. *Raises:* as `create_item`.
    *Promise:* two round trips.
    """
    check_text("raw_input", text)
    captured = parse_capture(text)
    if given.get("kind", captured.kind) != "task":
        # Before its markers are read: a secret may hold the signs of one.
        safe = redact(text)
        captured = captured if safe == text else parse_capture(safe)
        text = safe
    filled: ItemInput = {
        "title": captured.title,
        "content": captured.content or None,
        "raw_input": text,
        "tags": captured.tags,
    }
    if captured.kind is not None:
        filled["kind"] = captured.kind
    if captured.project is not None:
        filled["project"] = captured.project
    if captured.topic is not None:
        filled["topic"] = captured.topic
    if captured.due is not None:
        filled["due"] = captured.due
    if captured.priority is not None:
        filled["priority"] = captured.priority
    filled.update(given)
    if "tags" in given:
        filled["tags"] = [*captured.tags, *given["tags"]]
    return await _create(app, caller, filled, is_capture=True)
