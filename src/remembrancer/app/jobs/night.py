"""The end of a day's dream: what a job may do is done, the rest is filed, page and digest written.

Everything is one batch under the run's id: killed before it nothing has happened, and undo of the
run takes all of it back. Which proposals are carried out is `core.distill.verdicts`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.commit import Plan, write_in_turn
from remembrancer.app.focus import get_stale_tasks
from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.resolve import Surroundings, look_around
from remembrancer.app.jobs.calendar import CURSOR, Day
from remembrancer.app.jobs.diary import Writing, plan_diary, read_diary
from remembrancer.app.jobs.frame import JobContext
from remembrancer.app.jobs.keeping import Kept, file_in
from remembrancer.app.memories.replacing import Place, plan_replacing
from remembrancer.app.memories.save import NewMemory, Saving, saving_of
from remembrancer.core.candidates.decide import DISCARDS_MAX, CandidateKind, Proposed
from remembrancer.core.distill.grounding import telling_words
from remembrancer.core.distill.lines import Line
from remembrancer.core.distill.nights import Proposal
from remembrancer.core.distill.parts import Part, part_of
from remembrancer.core.distill.verdicts import (
    CANDIDATES_MAX,
    Shown,
    Verdicts,
    consolidated,
    contradictions,
    judge_night,
)
from remembrancer.core.items.decide import archive_item
from remembrancer.core.items.derive import text_hash
from remembrancer.core.items.record import ItemRecord, References
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.ledger.events import Head
from remembrancer.core.memories.sameness import is_same_text
from remembrancer.core.memories.wording import content_of, whole_of
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Outcome, Statement
from remembrancer.store import candidates as candidate_store
from remembrancer.store import days as day_store
from remembrancer.store import distilling as store
from remembrancer.store import items as item_store
from remembrancer.store import relations
from remembrancer.store import skips as skip_store
from remembrancer.store.items import LoadedItem

RECENT_MAX: Final = 60
"""Memories that changed last and are compared with each other by rule. Our choice: a day's worth,
and under two thousand pairs."""

STALE_MAX: Final = 5
"""Stale tasks that one night proposes. Our choice."""

QUOTE_SCORES: Final = (0.72, 0.9)
"""Importance and confidence of a quote. Source: the predecessor."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What the end of a day begins with."""

    day: Day
    parts: Sequence[Part]
    around: Surroundings
    items: Mapping[str, LoadedItem]
    references: References
    shown: Mapping[str, Shown]
    recent: Sequence[Shown]
    active: int
    relations_head: Head


@dataclass(frozen=True, slots=True)
class _Marks:
    """Ids of items that are a precious quote, and of those whose last change was taken back."""

    precious: set[str]
    taken_back: set[str]


async def finish_day(ctx: JobContext, day: Day) -> None:
    """Carry a day's proposals out, file what waits, write its page and the digest.

    *Raises:* what a model raises, then nothing was written. *Promise:* one write.
    """
    parts = [part_of(body) for body in day.parts]
    writing = await read_diary(ctx, day, parts)
    stale = await _stale(ctx) if day.is_over else []

    async def decide() -> Plan:
        scene = await _look(ctx, day, parts)
        verdicts = _verdicts(ctx, scene)
        kept = Kept()
        _carry_out(ctx, scene, verdicts, kept)
        await _file(ctx, scene, verdicts, kept, stale)
        return _whole(ctx, scene, kept, writing, verdicts)

    answer = await write_in_turn(ctx.app, ctx.caller, decide)
    ctx.count(**{name: value for name, value in answer.items() if isinstance(value, int)})


async def _stale(ctx: JobContext) -> list[Proposed]:
    answer = await get_stale_tasks(ctx.app, ctx.caller, limit=4 * STALE_MAX)
    found: list[Proposed] = []
    tasks = answer["items"]
    for task in tasks if isinstance(tasks, list) else []:
        assert isinstance(task, dict)
        if task.get("state") == "active":
            found.append(
                Proposed(
                    "stale_task",
                    str(task["title"]),
                    type=str(task["type"]),
                    source="dream",
                    target_ids=(str(task["id"]),),
                    reason="nobody has touched it for weeks",
                )
            )
    return found[:STALE_MAX]


async def _look(ctx: JobContext, day: Day, parts: Sequence[Part]) -> _Scene:
    namespace = ctx.namespace
    named = {
        id_
        for part in parts
        for one in part.night.proposals
        for id_ in (*one.ids, one.by or "")
        if id_ in part.shown
    }
    around = await look_around(
        ctx.app,
        namespace,
        [],
        {},
        more=[
            store.items_statement(namespace, sorted(named)),
            store.recent_statement(namespace, limit=RECENT_MAX),
            store.active_statement(namespace),
            relations.head_statement(namespace),
        ],
    )
    by_id, recent, active, heads = around.more
    items, references = item_store.loaded(by_id)
    more, others = item_store.loaded(recent)
    marks = _Marks(
        store.precious_of(by_id) | store.precious_of(recent),
        store.taken_back_of(by_id) | store.taken_back_of(recent),
    )
    shown = {
        id_: _shown(item.record, marks) for id_, item in items.items() if _is_active(item.record)
    }
    return _Scene(
        day=day,
        parts=parts,
        around=around,
        items={**more, **items},
        references=References(
            {**others.projects, **references.projects}, {**others.topics, **references.topics}
        ),
        shown=shown,
        recent=[_shown(item.record, marks) for item in more.values()],
        active=int(str(active.rows[0]["total"])),
        relations_head=relations.head_of(heads.rows),
    )


def _is_active(record: ItemRecord) -> bool:
    return record.fields.get("kind") == "memory" and record.fields.get("state") == "active"


def _shown(record: ItemRecord, marks: _Marks) -> Shown:
    fields = record.fields
    key = fields.get("fact_key")
    return Shown(
        id=record.id,
        type=str(fields.get("type")),
        content=whole_of(fields),
        fact_key=None if key is None else str(key),
        authored_by=str(fields.get("authored_by") or "human"),
        is_pinned=bool(fields.get("pinned")),
        is_precious=record.id in marks.precious,
        is_taken_back=record.id in marks.taken_back,
        updated_at=record.updated_at,
    )


def _verdicts(ctx: JobContext, scene: _Scene) -> Verdicts:
    """Judge the model's proposals, and then the rules': of what is left, and within the bound."""
    parts = [part for part in scene.parts if not part.is_applied]
    said = {id_: text for part in parts for id_, text in part.said.items()}
    lines = [Line(id_, "user", text, 0) for id_, text in said.items()]
    before = ctx.counts["retired"]
    verdicts = judge_night(
        [one for part in parts for one in part.night.proposals],
        scene.shown,
        lines,
        active=scene.active,
        retired_before=before,
    )
    taken = {id_ for one in verdicts.allowed for id_ in (*one.ids, one.by)}
    rest = {one.id: one for one in scene.recent if one.id not in taken}
    by_rule = [*consolidated(list(rest.values())), *contradictions(list(rest.values()))]
    more = judge_night(
        by_rule,
        rest,
        [],
        active=scene.active,
        retired_before=before + verdicts.retired,
    )
    verdicts.allowed += more.allowed
    room = max(0, CANDIDATES_MAX - len(verdicts.candidates))
    verdicts.candidates += more.candidates[:room]
    verdicts.refused += more.refused
    verdicts.retired += more.retired
    verdicts.left_out += more.left_out + len(more.candidates[room:])
    return verdicts


def _carry_out(ctx: JobContext, scene: _Scene, verdicts: Verdicts, kept: Kept) -> None:
    for one in verdicts.allowed:
        kept.count({"merge": "merged", "replace": "replaced"}.get(one.change, "archived"))
        olds = [scene.items[id_] for id_ in one.ids]
        if one.change == "retire":
            [old] = olds
            draft = archive_item(old.record.fields, at=scene.around.at)
            kept.edits.append(old.edit(draft))
            continue
        place = Place(olds, scene.references, scene.relations_head)
        saving = _saving(ctx, one, olds)
        kept.take(plan_replacing(saving, scene.around, place, reason="dreamt"))


def _saving(ctx: JobContext, one: Proposal, olds: Sequence[LoadedItem]) -> Saving:
    sources: list[str] = []
    for old in olds:
        ids = old.record.fields.get("source_message_ids")
        sources += [str(id_) for id_ in ids] if isinstance(ids, list) else []
    given: ItemInput = {
        "type": str(olds[0].record.fields.get("type")),
        "source": ctx.job,
        "source_message_ids": list(dict.fromkeys([*sources, *one.source_ids]))[-50:],
    }
    return saving_of(ctx.app, ctx.caller, NewMemory(one.content, given))


async def _file(
    ctx: JobContext,
    scene: _Scene,
    verdicts: Verdicts,
    kept: Kept,
    stale: Sequence[Proposed],
) -> None:
    """Add the quotes that are new, and the candidates that do not wait already."""
    proposed = [*(_proposed(one, scene) for one in verdicts.candidates), *stale]
    quotes = _quotes(ctx, scene)
    namespace = ctx.namespace
    outcomes = await ctx.app.sql.read(
        [
            candidate_store.pending_statement(namespace, [one.fact for one in proposed]),
            candidate_store.fates_statement(
                namespace,
                [one.text_hash for one in proposed],
                [_hash(saving) for saving, _ in quotes],
            ),
            store.alike_statement(
                namespace,
                [store.all_words_expression(namespace, telling_words(text)) for _, text in quotes],
            ),
        ]
    )
    fates = candidate_store.fates_of(outcomes[1].rows)
    _keep_quotes(scene, quotes, kept, fates.forgotten, outcomes[2])
    pending = {
        str(one.candidate.fields["fact"]): one for one in candidate_store.loaded(outcomes[0])
    }
    for one in {one.fact: one for one in proposed}.values():
        if fates.discards.get(one.text_hash, 0) >= DISCARDS_MAX:
            kept.count("discarded_before")
        else:
            file_in(ctx, kept, one, pending)


def _proposed(one: Proposal, scene: _Scene) -> Proposed:
    ids = one.ids if one.by is None else (*one.ids, one.by)
    texts = [content_of(scene.items[id_].record.fields) for id_ in ids if id_ in scene.items]
    first = scene.items[one.ids[0]].record.fields
    kind: CandidateKind = one.change
    return Proposed(
        kind,
        one.content or " ↔ ".join(texts)[:1_000],
        type=str(first.get("type")),
        source="dream",
        source_message_ids=one.source_ids,
        target_ids=ids,
        reason=one.reason or "proposed at night",
    )


def _quotes(ctx: JobContext, scene: _Scene) -> list[tuple[Saving, str]]:
    """Return the quotes of the day that no page had yet, as savings."""
    importance, confidence = QUOTE_SCORES
    found: dict[str, str] = {}
    for part in scene.parts:
        for text, id_ in () if part.is_applied else part.quotes:
            found.setdefault(text, id_)
    result: list[tuple[Saving, str]] = []
    for text, id_ in list(found.items())[: ctx.app.settings.dream_excerpt_limit]:
        given: ItemInput = {
            "type": "excerpt",
            "importance": importance,
            "confidence": confidence,
            "source": ctx.job,
            "source_message_ids": [id_],
        }
        result.append((saving_of(ctx.app, ctx.caller, NewMemory(text, given)), text))
    return result


def _hash(saving: Saving) -> str:
    given = saving.given
    return text_hash({"title": given.get("title"), "content": given.get("content")})


def _keep_quotes(
    scene: _Scene,
    quotes: Sequence[tuple[Saving, str]],
    kept: Kept,
    forgotten: Collection[str],
    similar: Outcome,
) -> None:
    alike = store.alike_of(similar)[0]
    for number, (saving, text) in enumerate(quotes):
        known = any(is_same_text(whole_of(one.fields), text) for one in alike.get(number, ()))
        if not known and _hash(saving) not in forgotten:
            kept.count("quotes")
            kept.take(saving.made(scene.around))


def _whole(
    ctx: JobContext, scene: _Scene, kept: Kept, writing: Writing, verdicts: Verdicts
) -> Plan:
    """Return the one plan of the day's end."""
    day = scene.day
    edits = [*kept.all_edits(scene.relations_head), *plan_diary(writing)]
    extra: list[Statement] = [*kept.extra]
    if day.standing is not None:
        extra.append(skip_store.drop_standing_statement(ctx.namespace, ctx.job))
    if day.is_over:
        extra.append(day_store.drop_parts_statement(ctx.namespace, day.date))
    else:
        applied = [
            (number, part.applied().body)
            for number, part in enumerate(scene.parts)
            if not part.is_applied
        ]
        extra.append(day_store.keep_parts_statement(ctx.namespace, day.date, applied))
    if day.is_over and (day.done is None or day.done.at_ms < day.end_ms):
        extra.append(ctx.cursor_statement(CURSOR, Cursor(day.end_ms)))
    else:
        extra += ctx.guard_statements()
    refused = {f"refused_{why}": count for why, count in verdicts.refused.items() if count}
    answer: dict[str, JSON] = {**kept.counts, **refused}
    if verdicts.retired:
        answer["retired"] = verdicts.retired
    if verdicts.left_out:
        answer["left_out"] = verdicts.left_out
    return Plan(answer, scene.around.at.now_ms, edits, extra)
