"""The job `dream`: tidies memories at night, and writes the diary and the digest.

It goes through a namespace's own day in batches. What a model makes of each is kept as a part; when
all are in, one batch of statements carries out what a job may do, files what a person shall decide,
and writes page and digest once (`night.py`). So a night can be killed anywhere and undone by its
run. Without a model, rules consolidate and sum up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.commit import Plan, write
from remembrancer.app.jobs.asking import CutOff, NoModel, Question, ask
from remembrancer.app.jobs.calendar import Day, is_redone, next_day
from remembrancer.app.jobs.frame import JobCode, JobContext, JobReport
from remembrancer.app.jobs.narrowing import MODEL_FAILURES, Batch, narrow, passed_statements
from remembrancer.app.jobs.night import finish_day
from remembrancer.core.distill import prompts
from remembrancer.core.distill.lines import DREAM_LINE_CHARS, Line, fitted, language_of, own_words
from remembrancer.core.distill.nights import Night, kept_quotes, read_night
from remembrancer.core.distill.pages import extract_of, grounded_night
from remembrancer.core.distill.parts import Part
from remembrancer.core.errors import Conflict
from remembrancer.core.items.query import ItemQuery
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.memories.wording import whole_of
from remembrancer.core.search.ranking import chosen_terms
from remembrancer.core.text.graphemes import shorten
from remembrancer.core.text.segment import query_terms
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement
from remembrancer.store import days as day_store
from remembrancer.store import distilling as store
from remembrancer.store import items as item_store
from remembrancer.store import library as library_store
from remembrancer.store import search
from remembrancer.store.distilling import Said
from remembrancer.store.item_filters import Asked
from remembrancer.store.job_cursors import ReadMessages

MEMORY_CHARS: Final = 260
"""Characters of a memory that a dream is shown. Source: the predecessor."""

RECENT_SHARE: Final = 4
"""One in so many of the memories shown is there because it changed last, the rest because it bears
on the day. Our choice."""

TERMS_MAX: Final = 48
"""Words of a batch by which memories are looked for. Our choice: one and a half queries."""


async def pending(ctx: JobContext) -> Mapping[str, int]:
    """Return whether a day has work. *Promise:* as `next_day`."""
    return {"days": int(await next_day(ctx) is not None)}


async def run(ctx: JobContext) -> JobReport:
    """Read one batch of a day, or write its page; there is more while a day has work."""
    day = await next_day(ctx)
    if day is None:
        return JobReport()
    runs_max = ctx.asked.runs_max or ctx.app.settings.dream_max_runs
    if not day.said:
        await finish_day(ctx, day)
        ctx.count(days=1)
        ctx.progress(ctx.counts["days"], ctx.total)
        return JobReport(is_done=False, answer={"prompts": prompts.VERSION})
    if ctx.counts["batches"] >= runs_max:
        return JobReport(answer={"more": True})
    if await _read_batch(ctx, day):
        ctx.count(batches=1)
    return JobReport(is_done=False)


@dataclass(frozen=True, slots=True)
class _Context:
    """What a batch is shown of what is there."""

    digest: str
    memories: Sequence[ItemRecord]


async def _read_batch(ctx: JobContext, day: Day) -> bool:
    """Keep what is made of the next messages; tell whether, or their batch was only narrowed."""
    standing = day.standing
    said: Sequence[Said] = day.said
    if standing is not None and standing.size and said[0].cursor <= standing.until:
        said = said[: standing.size]
    try:
        said, lines, part = await _asked(ctx, day, said)
    except MODEL_FAILURES as error:
        lines, part = _lines(said), None
        asked = Batch(
            ctx.job,
            [one.cursor for one in said],
            str(ctx.app.settings.dream_model),
            language_of([line.text for line in lines if line.is_source]),
        )
        if await narrow(ctx, standing, asked, error) is None:
            return False
    # Not even one message's answer came whole, or at all: the rule sums it up.
    extra = passed_statements(ctx, standing, said[-1].cursor)
    try:
        await _keep(ctx, day, said, part or _by_rule(ctx, lines), extra)
    except Conflict as clash:
        await ctx.read_again(clash)
        return False
    ctx.count(messages=len(said))
    return True


async def _asked(
    ctx: JobContext, day: Day, said: Sequence[Said]
) -> tuple[Sequence[Said], Sequence[Line], Part | None]:
    """Return what was made of as many of the messages as an answer has room for."""
    while True:
        lines = _lines(said)
        if not any(line.is_source for line in lines):
            return said, lines, Part(Night())
        part = await _made(ctx, day, lines, await _context(ctx, lines))
        if part is not None or len(said) == 1:
            return said, lines, part
        ctx.count(cut=1)
        said = said[: len(said) // 2]


def _lines(said: Sequence[Said]) -> list[Line]:
    spoken = [one for one in said if one.role in ("user", "assistant")]
    lines = [Line(one.id, one.role, own_words(one.content), one.created_at) for one in spoken]
    return fitted([line for line in lines if line.text], chars_each=DREAM_LINE_CHARS)


async def _context(ctx: JobContext, lines: Sequence[Line]) -> _Context:
    """Return the digest and the memories that bear on a batch, then those that changed last."""
    limit = ctx.app.settings.dream_memory_context_limit
    said = " ".join(line.text for line in lines if line.is_source)
    terms = query_terms(said, limit=TERMS_MAX)
    digest, frequencies, recent = await ctx.app.sql.read(
        [
            library_store.digest_statement(ctx.namespace),
            search.frequencies_statement(ctx.namespace, [term.text for term in terms]),
            store.recent_statement(ctx.namespace, limit=limit),
        ]
    )
    near: list[ItemRecord] = []
    chosen = chosen_terms(terms, search.frequencies(frequencies.rows))
    if chosen and limit:
        query = ItemQuery(kinds=("memory",), states=("active",), current_only=True)
        asked = Asked(ctx.namespace, query, ctx.now_ms)
        share = limit - limit // RECENT_SHARE
        foreign = search.foreign_rows(frequencies.rows, chosen)
        statement = search.matches_statement(asked, chosen, [], limit=share, foreign=foreign)
        [outcome] = await ctx.app.sql.read([statement])
        near = [match.record for match in search.matches_of(outcome.rows)[0]]
    latest, _ = item_store.records_of(recent.rows)
    known = {record.id: record for record in (*near, *latest)}
    text = library_store.digest_of(digest.rows).get("content")
    return _Context(str(text or ""), list(known.values())[:limit])


async def _made(ctx: JobContext, day: Day, lines: Sequence[Line], context: _Context) -> Part | None:
    """Return what a model, or the rule, makes of a batch; None when its answer was cut off."""
    settings = ctx.app.settings
    if settings.dream_model is None:
        return _by_rule(ctx, lines)
    language = language_of([line.text for line in lines if line.is_source])
    system, user = prompts.dream_prompt(
        lines,
        [(record.id, _described(record)) for record in context.memories],
        language,
        date=day.date,
        digest=context.digest,
        quotes_max=settings.dream_excerpt_limit,
    )
    question = Question(
        model=settings.dream_model,
        system=system,
        user=user,
        max_tokens=settings.dream_max_tokens,
        schema=prompts.DREAM_SCHEMA,
        language=language,
        read=read_night,
    )
    answered = await ask(ctx, question)
    if isinstance(answered, NoModel):
        return _by_rule(ctx, lines)
    if isinstance(answered, CutOff):
        return None
    night = grounded_night(answered, lines, before=context.digest)
    kept = kept_quotes(answered.quotes, lines, limit=settings.dream_excerpt_limit)
    named = {id_ for one in night.proposals for id_ in one.source_ids}
    return Part(
        night=night,
        quotes=tuple(kept),
        shown=tuple(record.id for record in context.memories),
        said={line.id: line.text for line in lines if line.is_source and line.id in named},
    )


def _by_rule(ctx: JobContext, lines: Sequence[Line]) -> Part:
    ctx.count(by_rule=1)
    return Part(Night(summary=extract_of(lines)), is_by_rule=True)


def _described(record: ItemRecord) -> str:
    fields = record.fields
    name = fields.get("fact_key") or fields.get("type")
    return f"({name}) {shorten(whole_of(fields), MEMORY_CHARS)}"


async def _keep(
    ctx: JobContext, day: Day, said: Sequence[Said], part: Part, passed: Sequence[Statement]
) -> None:
    parts = [*(await _earlier(ctx, day)), {**part.body, "through_id": said[-1].id}]
    numbered = list(enumerate(parts, len(day.parts)))
    extra: list[Statement] = [*passed]
    is_first = is_redone(ctx, day.date)
    if is_first:
        extra.append(day_store.drop_parts_statement(ctx.namespace, day.date))
    extra += [
        day_store.keep_parts_statement(ctx.namespace, day.date, numbered),
        ctx.cursor_statement(day.cursor_name, said[-1].cursor, ReadMessages(day.after, len(said))),
    ]

    async def decide() -> Plan:
        return Plan({}, ctx.now_ms, extra=extra)

    await write(ctx.app, ctx.caller, decide)
    if is_first:
        ctx.count(**{f"redone_{day.date}": 1})


async def _earlier(ctx: JobContext, day: Day) -> list[dict[str, JSON]]:
    """Return the page that the first half of a day has already as a part of its own."""
    if not day.is_rest:
        return []
    [found] = await ctx.app.sql.read([day_store.pages_statement(ctx.namespace, [day.date])])
    pages = [day_store.page_of(row) for row in found.rows]
    # Without its first line, which is its heading.
    nights = [Night(page.title, page.content.partition("\n")[2].strip()) for page in pages]
    return [Part(night, is_applied=True).body for night in nights]


CODE: Final = JobCode(pending, run)
"""What the frame runs."""
