"""Changing a memory that is there: edit, archive, delete, restore. Saving a new one is `save.py`.

Each answers the memory's form; the rules of the change are those of any item.
"""

from __future__ import annotations

from collections.abc import Mapping

from remembrancer.app.commit import Answer
from remembrancer.app.items import states
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.write import update_item
from remembrancer.app.memories.read import read_memory
from remembrancer.app.state import App
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.items.secrecy import without_secrets
from remembrancer.core.memories import decide as rules
from remembrancer.core.memories.view import memory_view
from remembrancer.core.memories.wording import worded
from remembrancer.core.values import JSON, Caller


async def _require(app: App, caller: Caller, memory_id: str, verb: str) -> ItemRecord:
    record = await read_memory(app, caller, memory_id)
    rules.refuse_job(record, authored_by=caller.authored_by, verb=verb)
    return record


def _changed(answer: Mapping[str, JSON]) -> Answer:
    item = answer["item"]
    assert isinstance(item, dict)
    return {"memory": memory_view(item), "changed": answer["changed"]}


async def update_memory(
    app: App,
    caller: Caller,
    memory_id: str,
    given: ItemInput,
    *,
    expected_version: int | None = None,
) -> Answer:
    """Change the given fields of a memory; a new content is worded as a new memory's.

    *Shape:* answers `{"memory", "changed"}`. *Raises:* as `update_item`, NotFound for a task,
    Conflict when a job meets what a person wrote or pinned. *Promise:* three round trips.
    """
    await _require(app, caller, memory_id, "edit")
    fields = given.copy()
    if "content" in given:
        safe = without_secrets({"content": str(given["content"] or "")})
        fields["title"], fields["content"] = worded(safe["content"])
    answer = await update_item(app, caller, memory_id, fields, expected_version=expected_version)
    return _changed(answer)


async def archive_memory(app: App, caller: Caller, memory_id: str) -> Answer:
    """Take a memory out of recall; it stays and can be made active again.

    *Shape:* answers `{"memory", "changed"}`. *Raises:* NotFound, Conflict.
    *Promise:* three round trips.
    """
    await _require(app, caller, memory_id, "archive")
    return _changed(await states.update_task_state(app, caller, memory_id, "archive"))


async def delete_memory(app: App, caller: Caller, memory_id: str) -> Answer:
    """Delete a memory softly: it can be restored for 30 days.

    *Shape:* answers `{"deleted": id, "already_deleted": bool, "restorable_days"}`.
    *Raises:* NotFound, Conflict. *Promise:* three round trips.
    """
    await _require(app, caller, memory_id, "delete")
    answer = await states.delete_items(app, caller, [memory_id])
    return {
        "deleted": memory_id,
        "already_deleted": bool(answer["already_deleted"]),
        "restorable_days": answer["restorable_days"],
    }


async def restore_memory(app: App, caller: Caller, memory_id: str) -> Answer:
    """Bring a deleted memory back to the state it had.

    *Shape:* answers `{"memory", "changed"}`. *Raises:* NotFound, Conflict (deleted too long ago;
    its key is held by another by now). *Promise:* four round trips.
    """
    await read_memory(app, caller, memory_id)
    return _changed(await states.restore_item(app, caller, memory_id))
