"""The job `extract`: facts from the messages that came since, in small batches.

A batch is read behind the cursor, asked about, judged and written together with the cursor. The
first run begins at the oldest stored message, not four hours ago: retention keeps messages for two
weeks at most, and none shall go unread. A model's failure leaves the cursor; without a model the
rules of `core.distill.rules` read the messages, and so they do with one that a model refuses, which
is set aside for a person (`narrowing.py`, `skips.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from remembrancer.app.commit import Plan, write_in_turn
from remembrancer.app.jobs import narrowing
from remembrancer.app.jobs.asking import CutOff, NoModel, Question, ask
from remembrancer.app.jobs.frame import JobCode, JobContext, JobReport
from remembrancer.app.jobs.keeping import plan_facts
from remembrancer.app.jobs.narrowing import MODEL_FAILURES, narrow, passed_statements
from remembrancer.app.jobs.reading import CURSOR, Batch, chars_read, next_batch, units_of, until_ms
from remembrancer.core.distill import prompts
from remembrancer.core.distill.answers import read_list, salvage
from remembrancer.core.distill.facts import (
    Fact,
    Sifted,
    distinct,
    nearest_text,
    read_facts,
    sift,
)
from remembrancer.core.distill.lines import Line, language_of
from remembrancer.core.distill.rules import facts_by_rule
from remembrancer.core.errors import (
    Conflict,
    LimitExceeded,
    ModelRefused,
    Rejected,
    TimedOut,
    UpstreamFailed,
)
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.values import JSON
from remembrancer.core.vectorcheck import EMBED_CHARS_MAX, EMBED_TEXTS_MAX
from remembrancer.ports.sql import Statement
from remembrancer.store import distilling as store
from remembrancer.store import skips as skip_store
from remembrancer.store.distilling import Said
from remembrancer.store.skips import Skip

RETRY_QUESTIONS_MAX: Final = 4
"""Questions in which a message that was set aside is asked about again. Our choice: one where a
batch is as large as by default, and few statements where it is not."""


async def pending(ctx: JobContext) -> Mapping[str, int]:
    """Return how many messages wait, or are asked for again. *Promise:* two round trips."""
    if ctx.asked.messages:
        return {"messages": len(await _set_aside(ctx))}
    if not ctx.app.settings.enable_auto_memory:
        return {"messages": 0}
    after = await ctx.cursor(CURSOR) or Cursor(0)
    [outcome] = await ctx.app.sql.read(
        [store.waiting_statement(ctx.namespace, after, until_ms=until_ms(ctx, after))]
    )
    return {"messages": int(str(outcome.rows[0]["total"]))}


async def run(ctx: JobContext) -> JobReport:
    """Distil one batch; there is more while messages wait and the run's batches are not spent."""
    if ctx.asked.messages:
        return await _retry(ctx)
    runs_max = ctx.asked.runs_max or ctx.app.settings.extract_max_runs
    if ctx.counts["batches"] >= runs_max:
        return JobReport(answer=_mode(ctx))
    standing, batch = await next_batch(ctx)
    if batch is None:
        return JobReport(answer=_mode(ctx))
    skips: list[Skip] = []
    try:
        batch, facts = await _facts(ctx, batch)
    except MODEL_FAILURES as error:
        refusal = await narrow(ctx, standing, _asked(ctx, batch), error)
        if refusal is None:
            return JobReport(is_done=False, answer=_mode(ctx))
        said = batch.units[0].said
        skips.append(Skip(said.id, said.created_at, refusal.reason))
        facts = _by_rule(ctx, batch)
    extra = batch.statements(ctx)
    extra += passed_statements(ctx, standing, batch.cursor)
    extra += [
        skip_store.skip_statement(ctx.namespace, one, run_id=ctx.run_id, now_ms=ctx.now_ms)
        for one in skips
    ]
    try:
        await _write(ctx, batch, facts, extra)
    except Conflict as clash:
        await ctx.read_again(clash)
        return JobReport(is_done=False, answer=_mode(ctx))
    ctx.count(batches=1, **batch.counts())
    if skips:
        ctx.count(skipped=len(skips))
    most = runs_max * ctx.app.settings.extract_max_messages
    ctx.progress(ctx.counts["messages"], min(ctx.total, most))
    if ctx.counts["batches"] < runs_max:
        return JobReport(is_done=False, answer=_mode(ctx))
    return JobReport(answer=_mode(ctx))


async def _set_aside(ctx: JobContext) -> list[Said]:
    [outcome] = await ctx.app.sql.read(
        [skip_store.skipped_statement(ctx.namespace, ctx.asked.messages, chars_max=chars_read(ctx))]
    )
    return store.messages_of(outcome.rows)


async def _retry(ctx: JobContext) -> JobReport:
    """Ask again about one message that was set aside; the cursor has long passed it."""
    waiting = await _set_aside(ctx)
    if not waiting:
        return JobReport(answer=_mode(ctx))
    said = waiting[0]
    whole = Batch(await units_of(ctx, [said]), Cursor(0))
    by_rule = ctx.counts["by_rule"]
    try:
        facts = await _facts_of_all(ctx, whole)
    except (ModelRefused, Rejected) as error:
        if isinstance(error, Rejected):
            await narrowing.prove(ctx, _asked(ctx, whole), error)
        reason = error.reason if isinstance(error, ModelRefused) else "rejected"
        again = Skip(said.id, said.created_at, reason)
        note = skip_store.skip_statement(ctx.namespace, again, run_id=ctx.run_id, now_ms=ctx.now_ms)
        await _write(ctx, whole, [], [note, *ctx.guard_statements()])
        raise
    if ctx.counts["by_rule"] > by_rule:
        raise Conflict(
            "no model is set up to read the message",
            hint="set EXTRACT_MODEL, or let the message go: the rules have read it",
        )
    settled = skip_store.settle_statement(ctx.namespace, said.id)
    await _write(ctx, whole, facts, [settled, *ctx.guard_statements()])
    ctx.count(batches=1, **whole.counts())
    return JobReport(is_done=len(waiting) == 1, answer=_mode(ctx))


async def _facts_of_all(ctx: JobContext, whole: Batch) -> list[Fact]:
    """Return the facts of a message in as many questions as it takes."""
    most = max(ctx.app.settings.extract_max_messages, -(-len(whole.units) // RETRY_QUESTIONS_MAX))
    facts: list[Fact] = []
    rest = whole
    while rest.units:
        read, found = await _facts(ctx, rest.first(most))
        facts += found
        rest = replace(rest, units=rest.units[len(read.units) :])
    return distinct(facts)


def _asked(ctx: JobContext, batch: Batch) -> narrowing.Batch:
    return narrowing.Batch(
        ctx.job,
        [unit.said.cursor for unit in batch.units],
        str(ctx.app.settings.extract_model),
        language_of([line.text for line in batch.lines if line.is_source]),
    )


def _mode(ctx: JobContext) -> dict[str, JSON]:
    """Return who read the messages: `model`, `rules`, `both`, or `none` where nothing was left to
    read of them."""
    is_asked, is_ruled = ctx.counts["calls"] > 0, ctx.counts["by_rule"] > 0
    if is_asked and is_ruled:
        mode = "both"
    else:
        mode = "model" if is_asked else "rules" if is_ruled else "none"
    return {"mode": mode, "prompts": prompts.VERSION}


async def _facts(ctx: JobContext, batch: Batch) -> tuple[Batch, list[Fact]]:
    """Return the facts of a batch, or of its first part when the answer came too long."""
    while any(line.is_source for line in batch.lines):
        if ctx.app.settings.extract_model is None:
            return batch, _by_rule(ctx, batch)
        answered = await ask(ctx, _question(ctx, batch))
        if isinstance(answered, NoModel):
            return batch, _by_rule(ctx, batch)
        if not isinstance(answered, CutOff):
            return batch, await _judged(ctx, batch, answered)
        ctx.count(cut=1)
        if len(batch.units) == 1:
            return batch, await _judged(ctx, batch, salvage(answered.text, "memories"))
        batch = batch.half()
    return batch, []


def _by_rule(ctx: JobContext, batch: Batch) -> list[Fact]:
    ctx.count(by_rule=1)
    least = ctx.app.settings.memory_min_importance
    return distinct(facts_by_rule(batch.lines, importance_min=least))


def _question(ctx: JobContext, batch: Batch) -> Question[list[JSON]]:
    settings = ctx.app.settings
    language = language_of([line.text for line in batch.lines if line.is_source])
    system, user = prompts.extract_prompt(batch.lines, language)
    return Question(
        model=str(settings.extract_model),
        system=system,
        user=user,
        max_tokens=settings.extract_max_tokens,
        schema=prompts.EXTRACT_SCHEMA,
        language=language,
        read=lambda text: read_list(text, "memories"),
    )


async def _judged(ctx: JobContext, batch: Batch, entries: Sequence[JSON]) -> list[Fact]:
    settings = ctx.app.settings
    sources = batch.sources
    facts, dropped = read_facts(
        entries,
        sources,
        importance_min=settings.memory_min_importance,
        empty_chars_min=settings.empty_memory_min_chars,
    )
    sifted = sift(facts, sources)
    dropped += sifted.dropped
    kept = list(sifted.facts)
    if sifted.far:
        again = sift(sifted.far, sources, await _cosines(ctx, sifted, sources))
        kept += again.facts
        dropped["far"] += len(again.far)
    ctx.count(proposed=len(entries), **{f"dropped_{why}": n for why, n in dropped.items() if n})
    # In the order in which they were answered: of one key the last counts.
    order = {fact: number for number, fact in enumerate(facts)}
    kept.sort(key=lambda fact: order.get(replace(fact, why=None), 0))
    chosen = distinct(kept)
    if len(kept) > len(chosen):
        ctx.count(doubled=len(kept) - len(chosen))
    return chosen


async def _cosines(
    ctx: JobContext, sifted: Sifted, lines: Sequence[Line]
) -> dict[str, float] | None:
    """Return how near each far fact is to its sources in meaning; None without an embedder."""
    embedder = ctx.app.embedder
    if embedder is None:
        return None
    by_id = {line.id: line for line in lines}
    far = list(sifted.far)[: EMBED_TEXTS_MAX // 2]
    texts: list[str] = []
    for fact in far:
        texts += fact.content, nearest_text(fact, by_id, chars_max=EMBED_CHARS_MAX)
    try:
        vectors = await embedder.embed(texts)
    except (LimitExceeded, UpstreamFailed, TimedOut):
        # Words alone decide then: what they do not say is dropped, as without an embedder.
        ctx.count(degraded=1)
        return None
    return {
        fact.content: sum(a * b for a, b in zip(one, two, strict=True))
        for fact, one, two in zip(far, vectors[::2], vectors[1::2], strict=True)
    }


async def _write(
    ctx: JobContext, batch: Batch, facts: Sequence[Fact], extra: Sequence[Statement]
) -> None:
    said_at = {unit.said.id: unit.said.created_at for unit in batch.units}

    async def decide() -> Plan:
        plan = await plan_facts(ctx, facts, said_at=said_at)
        return replace(plan, extra=[*plan.extra, *extra])

    answer = await write_in_turn(ctx.app, ctx.caller, decide)
    ctx.count(**{name: value for name, value in answer.items() if isinstance(value, int)})


CODE: Final = JobCode(pending, run)
"""What the frame runs."""
