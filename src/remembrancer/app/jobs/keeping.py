"""Keeping a batch of facts: what each does to the memories that are there, in one plan.

A fact that is known is only seen again; one that is sure, and meets nothing of a person's, becomes
a memory or takes the place of an older one; everything else waits as a candidate. The plan is
written by the job, together with its cursor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from remembrancer.app.commit import Plan
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.resolve import Surroundings, look_around
from remembrancer.app.jobs.frame import JobContext
from remembrancer.app.memories.save import NewMemory, Saving, saving_of
from remembrancer.core.candidates.decide import (
    DISCARDS_MAX,
    Proposed,
    file_candidate,
    revise_candidate,
)
from remembrancer.core.distill.facts import Fact
from remembrancer.core.distill.grounding import is_said_alike, telling_words
from remembrancer.core.ids import RELATIONS
from remembrancer.core.items.derive import text_hash
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.ledger.events import Draft, Head
from remembrancer.core.memories.sameness import is_repetition
from remembrancer.core.memories.wording import whole_of
from remembrancer.core.text.variants import simplified
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement
from remembrancer.store import candidates as candidate_store
from remembrancer.store import distilling as store
from remembrancer.store import items as item_store
from remembrancer.store import relations
from remembrancer.store.candidates import LoadedCandidate, candidate_stream
from remembrancer.store.items import LoadedItem
from remembrancer.store.ledger import StreamEdit


@dataclass(frozen=True, slots=True)
class _Known:
    """What one read brought for a batch of facts."""

    around: Surroundings
    relations_head: Head
    held: Mapping[str, LoadedItem]
    precious: frozenset[str]
    forgotten: frozenset[str]
    alike: Mapping[int, Sequence[ItemRecord]]
    pending: Mapping[str, LoadedCandidate]
    discards: Mapping[str, int]
    said_at: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Case:
    """One fact of the batch."""

    number: int
    fact: Fact
    saving: Saving


@dataclass(slots=True)
class Kept:
    """What becomes of the facts, gathered for one batch."""

    edits: list[StreamEdit] = field(default_factory=list)
    extra: list[Statement] = field(default_factory=list)
    drawn: list[Draft] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, name: str) -> None:
        """Count an outcome."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def take(self, plan: Plan) -> None:
        """Add a memory's plan; relations are gathered, since they are one stream."""
        for edit in plan.edits:
            if edit.stream == RELATIONS:
                self.drawn += edit.drafts
            else:
                self.edits.append(edit)
        self.extra += plan.extra

    def all_edits(self, relations_head: Head) -> list[StreamEdit]:
        """Return the edits, that of the relations among them."""
        if not self.drawn:
            return self.edits
        return [*self.edits, StreamEdit(RELATIONS, relations_head, {}, tuple(self.drawn))]


def proposed_of(fact: Fact, *, why: str = "", targets: Sequence[str] = ()) -> Proposed:
    """Return a fact as a candidate."""
    return Proposed(
        kind="fact",
        content=fact.content,
        type=fact.type,
        fact_key=fact.fact_key,
        confidence=fact.confidence,
        importance=fact.importance,
        tags=fact.tags,
        source_message_ids=fact.source_ids,
        target_ids=tuple(targets),
        reason=why,
    )


async def plan_facts(ctx: JobContext, facts: Sequence[Fact], *, said_at: Mapping[str, int]) -> Plan:
    """Decide on a batch of facts that stand on their sources.

    *Shape:* `facts` without repetitions; `said_at` message id → when it was said. The answer holds
    the counts `created`, `superseded`, `seen`, `candidates`, `forgotten`, `discarded_before`.
    *Promise:* one round trip, whatever their number; every edit acts as the job.
    """
    if not facts:
        return Plan({}, ctx.now_ms)
    savings = [_saving(ctx, fact) for fact in facts]
    known = await _look(ctx, facts, savings, said_at)
    kept = Kept()
    for number, (fact, saving) in enumerate(zip(facts, savings, strict=True)):
        _decide(ctx, known, kept, _Case(number, fact, saving))
    if kept.seen:
        kept.extra.append(
            store.seen_statement(ctx.namespace, sorted(kept.seen), at_ms=known.around.at.now_ms)
        )
    answer: dict[str, JSON] = {**kept.counts}
    edits = kept.all_edits(known.relations_head)
    return Plan(answer, known.around.at.now_ms, edits, kept.extra)


def _saving(ctx: JobContext, fact: Fact) -> Saving:
    given: ItemInput = {
        "fact_key": fact.fact_key,
        "type": fact.type,
        "importance": fact.importance,
        "confidence": fact.confidence,
        "source": ctx.job,
        "source_message_ids": fact.source_ids,
    }
    if fact.tags:
        given["tags"] = fact.tags
    return saving_of(ctx.app, ctx.caller, NewMemory(fact.content, given, fact.type))


async def _look(
    ctx: JobContext,
    facts: Sequence[Fact],
    savings: Sequence[Saving],
    said_at: Mapping[str, int],
) -> _Known:
    namespace = ctx.namespace
    proposed = [proposed_of(fact) for fact in facts]
    expressions = [
        store.all_words_expression(namespace, telling_words(fact.content)) for fact in facts
    ]
    around = await look_around(
        ctx.app,
        namespace,
        [],
        {},
        more=[
            relations.head_statement(namespace),
            store.held_statement(namespace, [fact.fact_key for fact in facts if fact.fact_key]),
            store.alike_statement(namespace, expressions),
            candidate_store.pending_statement(namespace, [one.fact for one in proposed]),
            candidate_store.fates_statement(
                namespace,
                [one.text_hash for one in proposed],
                [_hash(saving) for saving in savings],
            ),
        ],
    )
    heads, held, alike, pending, fated = around.more
    fates = candidate_store.fates_of(fated.rows)
    items, references = item_store.loaded(held)
    loaded = candidate_store.loaded(pending)
    return _Known(
        around=replace(around, references=references),
        relations_head=relations.head_of(heads.rows),
        held={str(item.record.fields["fact_key"]): item for item in items.values()},
        precious=frozenset(store.precious_of(held)),
        forgotten=fates.forgotten,
        alike=store.alike_of(alike)[0],
        pending={str(one.candidate.fields["fact"]): one for one in loaded},
        discards=fates.discards,
        said_at=said_at,
    )


def _hash(saving: Saving) -> str:
    given = saving.given
    return text_hash({"title": given.get("title"), "content": given.get("content")})


def _decide(ctx: JobContext, known: _Known, kept: Kept, case: _Case) -> None:
    fact, saving = case.fact, case.saving
    if _hash(saving) in known.forgotten:
        kept.count("forgotten")
        return
    if known.discards.get(proposed_of(fact).text_hash, 0) >= DISCARDS_MAX:
        kept.count("discarded_before")
        return
    same = _same(known, case)
    if same is not None:
        kept.count("seen")
        kept.seen.add(same)
        return
    holder = None if fact.fact_key is None else known.held.get(fact.fact_key)
    why = _waits(ctx, fact, known, holder)
    if why is not None:
        targets = [] if holder is None else [holder.record.id]
        file_in(ctx, kept, proposed_of(fact, why=why, targets=targets), known.pending)
    elif holder is None:
        kept.count("created")
        kept.take(saving.made(known.around))
    else:
        kept.count("superseded")
        plan = saving.superseding(
            known.around, holder, known.around.references, known.relations_head
        )
        kept.take(plan)


def _same(known: _Known, case: _Case) -> str | None:
    """Return the active memory that says the fact already; None when it is new.

    Under a key only its holder's words count: elsewhere they may be about something else.
    """
    fact = case.fact
    holder = None if fact.fact_key is None else known.held.get(fact.fact_key)
    if holder is not None:
        whole = simplified(whole_of(holder.record.fields))
        return holder.record.id if is_repetition(whole, simplified(fact.content)) else None
    for record in known.alike.get(case.number, ()):
        whole = whole_of(record.fields)
        if is_repetition(whole, fact.content) or is_said_alike(whole, fact.content):
            return record.id
    return None


def _waits(ctx: JobContext, fact: Fact, known: _Known, holder: LoadedItem | None) -> str | None:
    """Return why a person shall see the fact first; None when nothing speaks against it."""
    if fact.why is not None:
        return fact.why
    if holder is not None:
        fields = holder.record.fields
        if fields.get("kind") != "memory":
            return "a_task_holds_the_key"
        is_own = fields.get("authored_by") == "human" or fields.get("pinned")
        if is_own or holder.record.id in known.precious:
            return "protected"
        if _is_older(fact, holder.record, known.said_at):
            return "older"
    if fact.confidence < ctx.app.settings.extract_review_confidence:
        return "unsure"
    return None


def _is_older(fact: Fact, record: ItemRecord, said_at: Mapping[str, int]) -> bool:
    """Tell whether what is there was said after the fact: a late batch must not turn back time."""
    sources = record.fields.get("source_message_ids")
    if record.fields.get("authored_by") == "job" and isinstance(sources, list) and sources:
        # Ids of messages sort by time.
        return max(map(str, sources)) > max(fact.source_ids)
    return record.updated_at > max(said_at.get(id_, 0) for id_ in fact.source_ids)


def file_in(
    ctx: JobContext, kept: Kept, proposed: Proposed, pending: Mapping[str, LoadedCandidate]
) -> None:
    """File a candidate, or say the pending one of its fact anew."""
    present = pending.get(proposed.fact)
    if present is None:
        kept.count("candidates")
        stream = candidate_stream(ctx.app.runtime.new_id("cnd"))
        kept.edits.append(StreamEdit(stream, Head(), {}, (file_candidate(proposed),)))
        return
    draft = revise_candidate(present.candidate.fields, proposed)
    if draft is None:
        kept.count("pending_already")
        return
    kept.count("candidates_revised")
    stream = candidate_stream(present.candidate.id)
    kept.edits.append(StreamEdit(stream, present.head, present.candidate.fields, (draft,)))
