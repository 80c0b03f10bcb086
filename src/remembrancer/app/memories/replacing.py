"""One statement in the place of several memories: what a merge of a job or a review writes.

The rules are those of `save.py`; here several old ones are ended by one new one, as one plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembrancer.app.commit import Answer, Plan
from remembrancer.app.items.resolve import Surroundings
from remembrancer.app.memories.save import Saving
from remembrancer.core.ids import RELATIONS
from remembrancer.core.items.decide import supersede_item
from remembrancer.core.items.record import References
from remembrancer.core.ledger.events import Head
from remembrancer.core.memories import decide as rules
from remembrancer.core.relations.decide import add_relations, relation_key
from remembrancer.store.items import LoadedItem
from remembrancer.store.ledger import StreamEdit


@dataclass(frozen=True, slots=True)
class Place:
    """The memories whose place a statement takes, and what was read with them."""

    olds: Sequence[LoadedItem]
    references: References
    relations_head: Head


def plan_replacing(
    saving: Saving, around: Surroundings, place: Place, *, reason: str | None = None
) -> Plan:
    """Return the plan that makes a memory in the place of others; it inherits from the first.

    *Raises:* NotFound (a task), Conflict (one has ended; a job meets what a person wrote).
    *Promise:* no round trip; the first key that one of them has is kept, unless another is given.
    """
    for old in place.olds:
        rules.require_memory(old.record)
        rules.refuse_ended(old.record)
        rules.refuse_job(old.record, authored_by=saving.caller.authored_by, verb="supersede")
    if saving.fact_key is None:
        keys = [old.record.fields.get("fact_key") for old in place.olds]
        key = next((str(key) for key in keys if key is not None), None)
        saving = replace(saving, fact_key=key)
    plan = saving.made(around, place.olds[0].record, place.references)
    ended = [
        old.edit(
            supersede_item(old.record.fields, by_id=saving.item_id, at=around.at, reason=reason)
        )
        for old in place.olds
    ]
    edges = {
        relation_key(saving.item_id, "supersedes", old.record.id): (1.0, reason)
        for old in place.olds
    }
    drawn = add_relations({}, edges, now_ms=around.at.now_ms)
    assert drawn is not None
    relations = StreamEdit(RELATIONS, place.relations_head, {}, (drawn,))
    answer: Answer = {**plan.answer, "superseded": [old.record.id for old in place.olds]}
    return Plan(answer, plan.at_ms, [*plan.edits, *ended, relations], plan.extra)
