"""Saving a memory: under a key, without one, or in the place of another.

What is only said again is counted and no event; everything else makes a new memory, and the one
whose place it takes stays as history. Changes of a memory that is there are `change.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.resolve import Surroundings, look_around, resolve
from remembrancer.app.memories.repetition import (
    find_repetition,
    find_repetitions,
    terms_statement,
)
from remembrancer.app.state import App
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded
from remembrancer.core.ids import RELATIONS, item_stream
from remembrancer.core.items import decide as items
from remembrancer.core.items.derive import text_hash
from remembrancer.core.items.edit import check_fact_key
from remembrancer.core.items.record import ItemRecord, References, item_view
from remembrancer.core.items.secrecy import without_secrets
from remembrancer.core.ledger.changes import apply_changes
from remembrancer.core.ledger.events import Head
from remembrancer.core.memories import decide as rules
from remembrancer.core.memories.sameness import is_same_text
from remembrancer.core.memories.view import memory_view
from remembrancer.core.memories.wording import content_of, is_kept_apart, worded
from remembrancer.core.redact.redaction import redact
from remembrancer.core.relations.decide import add_relations, check_reason, relation_key
from remembrancer.core.text.fold import clean
from remembrancer.core.values import Caller
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import artifacts, relations
from remembrancer.store import items as item_store
from remembrancer.store import memories as store
from remembrancer.store.items import LoadedItem, require
from remembrancer.store.ledger import StreamEdit

_UNRESOLVED: Final = ("fact_key", "title", "content", "kind")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory as a door hands it in.

    *Shape:* `content` is the whole statement; `given` any other field, `fact_key` among them;
    `type` is that of a memory that neither says nor inherits one.
    """

    content: str
    given: ItemInput = field(default_factory=ItemInput)
    type: str = "note"


@dataclass(frozen=True, slots=True)
class Saving:
    """One command of saving: a new memory made safe (redacted, worded, its key checked), under
    the id that it will have.

    *Shape:* for a caller that has read around itself: `seen`, `made` and `superseding` each
    give the plan of one outcome.
    """

    app: App
    caller: Caller
    item_id: str
    text: str
    given: ItemInput
    type: str
    fact_key: str | None

    @property
    def forgotten(self) -> Statement:
        """The look for a tombstone of this text."""
        fields = {"title": self.given.get("title"), "content": self.given.get("content")}
        return store.forgotten_statement(self.caller.namespace, text_hash(fields))

    def says(self, record: ItemRecord) -> bool:
        """Tell whether a memory says this very text, folded."""
        fields = record.fields
        return is_same_text(content_of(fields), self.text) or is_kept_apart(fields, self.text)

    def refuse_forgotten(self, outcome: Outcome) -> None:
        """Refuse a job that learns again what was forgotten. *Raises:* Conflict."""
        if self.caller.authored_by == "job" and outcome.rows:
            raise Conflict(
                "this text was forgotten on request; a job does not learn it again",
                hint="a person or an agent can save it anew",
                details={"item_id": str(outcome.rows[0]["item_id"])},
            )

    def seen(self, record: ItemRecord, references: References, at_ms: int) -> Plan:
        """Return the plan that counts a repetition."""
        return Plan(
            answer={
                "memory": memory_view(item_view(record, references)),
                "outcome": "seen",
                "superseded": [],
            },
            at_ms=at_ms,
            extra=[store.seen_statement(self.caller.namespace, record.id, at_ms=at_ms)],
        )

    def made(
        self,
        around: Surroundings,
        old: ItemRecord | None = None,
        references: References | None = None,
    ) -> Plan:
        """Return the plan that makes the memory; what it takes the place of is not in it."""
        edit = resolve(self.app, self.given, around, item_id=self.item_id)
        if self.fact_key is not None:
            edit["fact_key"] = self.fact_key
        if edit.get("type") is None:
            edit["type"] = self.type if old is None else str(old.fields["type"])
        edit["authored_by"] = self.caller.authored_by
        edit = rules.with_inherited(edit, None if old is None else old.fields)
        draft = items.create_item(edit, at=around.at)
        now = around.at.now_ms
        record = ItemRecord(self.item_id, 1, now, now, apply_changes({}, draft.changes))
        known = around.with_found()
        if references is not None:
            known = References(
                {**references.projects, **known.projects}, {**references.topics, **known.topics}
            )
        return Plan(
            answer={
                "memory": memory_view(item_view(record, known)),
                "outcome": "created" if old is None else "superseded",
                "superseded": [] if old is None else [old.id],
            },
            at_ms=now,
            edits=[*around.edits(), StreamEdit(item_stream(self.item_id), Head(), {}, (draft,))],
            extra=self._artifact(edit.get("artifact_id"), now),
        )

    def _artifact(self, artifact_id: str | None, now_ms: int) -> list[Statement]:
        if not artifact_id:
            return []
        return artifacts.keep_statements(
            self.caller.namespace, artifact_id, self.item_id, self.text, at_ms=now_ms
        )

    def superseding(
        self,
        around: Surroundings,
        old: LoadedItem,
        references: References,
        head: Head,
        reason: str | None = None,
    ) -> Plan:
        """Return the plan that makes the memory in the place of an old one."""
        rules.refuse_job(old.record, authored_by=self.caller.authored_by, verb="supersede")
        plan = self.made(around, old.record, references)
        ended = items.supersede_item(
            old.record.fields, by_id=self.item_id, at=around.at, reason=reason
        )
        edge = relation_key(self.item_id, "supersedes", old.record.id)
        drawn = add_relations({}, {edge: (1.0, reason)}, now_ms=around.at.now_ms)
        assert drawn is not None
        return Plan(
            answer=plan.answer,
            at_ms=plan.at_ms,
            edits=[*plan.edits, old.edit(ended), StreamEdit(RELATIONS, head, {}, (drawn,))],
            extra=plan.extra,
        )


def saving_of(app: App, caller: Caller, new: NewMemory) -> Saving:
    """Return the saving of a statement. *Raises:* InvalidInput, LimitExceeded."""
    safe = without_secrets(cast(ItemInput, {**new.given, "content": new.content}))
    text = clean(str(safe["content"])).strip()
    title, content = worded(text)
    rest = {name: value for name, value in safe.items() if name not in _UNRESOLVED}
    return Saving(
        app=app,
        caller=caller,
        item_id=app.runtime.new_id("itm"),
        text=text,
        given=cast(ItemInput, {**rest, "kind": "memory", "title": title, "content": content}),
        type=new.type,
        fact_key=check_fact_key(safe.get("fact_key")),
    )


async def save_memory(app: App, caller: Caller, new: NewMemory) -> Answer:
    """Keep a statement: the predecessor's upsert with a key, its create without one.

    With a key, the same folded text as the active holder's is seen again; anything else
    supersedes the holder and inherits its tags, importance, pin and place unless given. Without
    one, what only repeats an active memory is seen again, everything else is new.

    *Shape:* answers `{"memory", "outcome": "created" | "seen" | "superseded", "superseded":
    ids}`; what is seen again stays as it is, whatever else was given. *Raises:* InvalidInput,
    LimitExceeded, NotFound (project, topic), Conflict (a task holds the key; a job meets what a
    person wrote, pinned or had forgotten). *Promise:* two round trips with a key, at most three
    without.
    """
    saving = saving_of(app, caller, new)

    return await write_in_turn(app, caller, lambda: plan_saving(saving))


async def plan_saving(saving: Saving) -> Plan:
    """Decide on a statement as `save_memory` does, for a caller that writes more in its batch.

    *Raises:* as `save_memory`. *Promise:* one round trip with a key, at most two without.
    """
    if saving.fact_key is not None:
        return await _decide_keyed(saving, saving.fact_key)
    return await _decide_unkeyed(saving)


async def _decide_keyed(saving: Saving, fact_key: str) -> Plan:
    namespace = saving.caller.namespace
    around = await look_around(
        saving.app,
        namespace,
        [],
        saving.given,
        more=[
            store.held_statement(namespace, fact_key),
            relations.head_statement(namespace),
            saving.forgotten,
        ],
    )
    held, heads, forgotten = around.more
    loaded, references = item_store.loaded(held)
    if not loaded:
        saving.refuse_forgotten(forgotten)
        return saving.made(around)
    [holder] = loaded.values()
    _refuse_task(holder, fact_key)
    if saving.says(holder.record) and rules.is_current(holder.record.fields, around.at.now_ms):
        return saving.seen(holder.record, references, around.at.now_ms)
    saving.refuse_forgotten(forgotten)
    return saving.superseding(around, holder, references, relations.head_of(heads.rows))


def _refuse_task(holder: LoadedItem, fact_key: str) -> None:
    if holder.record.fields.get("kind") != "memory":
        raise Conflict(
            f"the task {holder.record.id} holds the fact key {fact_key!r}",
            hint="clear it there, or use another key",
            details={"item_id": holder.record.id},
        )


async def _decide_unkeyed(saving: Saving) -> Plan:
    around = await look_around(
        saving.app,
        saving.caller.namespace,
        [],
        saving.given,
        more=[terms_statement(saving.caller.namespace, saving.text), saving.forgotten],
    )
    frequencies, forgotten = around.more
    again = await find_repetition(
        saving.app,
        saving.caller,
        saving.text,
        frequencies,
        type_=str(saving.given.get("type") or saving.type),
    )
    if again is not None:
        return saving.seen(*again, around.at.now_ms)
    saving.refuse_forgotten(forgotten)
    return saving.made(around)


async def plan_memories(app: App, person: Caller, news: Sequence[NewMemory]) -> list[Plan]:
    """Decide on a person's statements without keys, for a caller that writes more in its batch.

    *Shape:* each plan's answer is that of `save_memory`, and its repetition is not counted yet; no
    key, project or topic in `given`, and one type for all; what nothing is left of once it is
    cleaned is left out. *Promise:* at most two round trips for all, a statement for each and two;
    the plans touch no stream that another statement's plan may touch.
    """
    savings: list[Saving] = []
    for new in news:
        try:
            savings.append(saving_of(app, person, new))
        except (InvalidInput, LimitExceeded):
            continue
    if not savings:
        return []
    texts = [one.text for one in savings]
    terms = terms_statement(person.namespace, *texts)
    around = await look_around(app, person.namespace, [], {}, more=[terms])
    [frequencies] = around.more
    again = await find_repetitions(app, person, texts, frequencies, type_=savings[0].type)
    result: list[Plan] = []
    for saving, found in zip(savings, again, strict=True):
        if found is not None:
            result.append(replace(saving.seen(*found, around.at.now_ms), extra=()))
            continue
        try:
            result.append(saving.made(around))
        except (InvalidInput, LimitExceeded):
            continue
    return result


async def supersede_memory(
    app: App, caller: Caller, old_id: str, new: NewMemory, *, reason: str | None = None
) -> Answer:
    """Put a new statement in the place of a memory, which stays as history.

    The new one inherits key, tags, importance, pin and place unless given.

    *Shape:* answers as `save_memory`; the same folded text under the same key is seen again.
    *Raises:* NotFound (no such memory), Conflict (it is superseded or deleted already; another
    item holds the new key; a job meets what a person wrote or pinned), and as `save_memory`.
    *Promise:* two round trips.
    """
    reason = check_reason(reason)
    reason = check_reason(None if reason is None else redact(reason))
    saving = saving_of(app, caller, new)

    return await write_in_turn(app, caller, lambda: plan_superseding(saving, old_id, reason))


async def plan_superseding(saving: Saving, old_id: str, reason: str | None) -> Plan:
    """Decide as `supersede_memory` does, for a caller that writes more in its batch.

    *Raises:* as `supersede_memory`. *Promise:* one round trip.
    """
    namespace = saving.caller.namespace
    more = [relations.head_statement(namespace), saving.forgotten]
    if saving.fact_key is not None:
        more.append(store.held_statement(namespace, saving.fact_key))
    around = await look_around(saving.app, namespace, [old_id], saving.given, more=more)
    old = require(around.items, old_id)
    rules.require_memory(old.record)
    rules.refuse_ended(old.record)
    key = old.record.fields.get("fact_key")
    is_same_key = saving.fact_key in (None, key)
    is_active = old.record.fields.get("state") == "active"
    if is_same_key and is_active and saving.says(old.record):
        return saving.seen(old.record, around.references, around.at.now_ms)
    if saving.fact_key is not None:
        _refuse_other_holder(around.more[2], old_id, saving.fact_key)
    saving.refuse_forgotten(around.more[1])
    if saving.fact_key is None and key is not None:
        saving = replace(saving, fact_key=str(key))
    head = relations.head_of(around.more[0].rows)
    return saving.superseding(around, old, around.references, head, reason)


def _refuse_other_holder(outcome: Outcome, old_id: str, fact_key: str) -> None:
    holders, _ = item_store.loaded(outcome)
    for id_ in holders:
        if id_ != old_id:
            raise Conflict(
                f"the active item {id_} holds the fact key {fact_key!r}",
                hint="supersede that one, or leave new_fact_key out",
                details={"item_id": id_},
            )
