"""The job `extract`: facts from the messages that came since, in small batches.

A batch is read behind the cursor, asked about, judged and written together with the cursor. The
first run begins at the oldest stored message, not four hours ago: retention keeps messages for two
weeks at most, and none shall go unread. A model's failure leaves the cursor; without a model the
rules of `core.distill.rules` read the messages, and so they do with one that a model refuses, which
is set aside for a person (`narrowing.py`, `skips.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.app.commit import Plan, write_in_turn
from remembrancer.app.jobs import narrowing
from remembrancer.app.jobs.asking import CutOff, NoModel, Question, ask
from remembrancer.app.jobs.frame import JobCode, JobContext, JobReport
from remembrancer.app.jobs.keeping import plan_facts
from remembrancer.app.jobs.narrowing import MODEL_FAILURES, batch_max, narrow, passed_statements
from remembrancer.core.distill import prompts
from remembrancer.core.distill.answers import read_list, salvage
from remembrancer.core.distill.facts import (
    Fact,
    Sifted,
    distinct,
    read_facts,
    sift,
    source_text,
)
from remembrancer.core.distill.lines import (
    EXTRACT_LINE_CHARS,
    Line,
    beside,
    language_of,
    own_words,
)
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
from remembrancer.core.limits import INTEGER_MAX
from remembrancer.core.values import JSON
from remembrancer.core.vectorcheck import EMBED_TEXTS_MAX
from remembrancer.ports.sql import Statement
from remembrancer.store import distilling as store
from remembrancer.store import job_cursors as cursor_store
from remembrancer.store import skips as skip_store
from remembrancer.store.distilling import Said
from remembrancer.store.job_cursors import ReadMessages
from remembrancer.store.skips import Skip, Standing

CURSOR: Final = "extract"
"""Name of the cursor; retention reads it as well."""

SETTLE_MS: Final = 2_000
"""Milliseconds for which a message waits before an unforced run reads it: one that was written
beside it may still come with an earlier time or id. Our choice."""

REMEMBERED: Final = "remember_now"
"""Source of memories that were saved at once; see `app.memories.remember`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages in order behind a place, and their lines as they are shown."""

    said: Sequence[Said]
    lines: Sequence[Line]
    after: Cursor

    @property
    def cursor(self) -> Cursor:
        """The place behind the last message."""
        return self.said[-1].cursor

    def half(self) -> Batch:
        """Return its first half, at least one message."""
        count = max(1, len(self.said) // 2)
        ids = {one.id for one in self.said[:count]}
        lines = [line for line in self.lines if line.id in ids]
        return Batch(self.said[:count], lines, self.after)


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
    standing, batch = await _next_batch(ctx)
    if batch is None:
        return JobReport(answer=_mode(ctx))
    skips: list[Skip] = []
    try:
        batch, facts = await _facts(ctx, batch)
    except MODEL_FAILURES as error:
        refusal = await narrow(ctx, standing, _asked(ctx, batch), error)
        if refusal is None:
            return JobReport(is_done=False, answer=_mode(ctx))
        [said] = batch.said
        skips.append(Skip(said.id, said.created_at, refusal.reason))
        facts = _by_rule(ctx, batch)
    read = ReadMessages(batch.after, len(batch.said))
    extra = [ctx.cursor_statement(CURSOR, batch.cursor, read)]
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
    ctx.count(batches=1, messages=len(batch.said))
    if skips:
        ctx.count(skipped=len(skips))
    most = runs_max * ctx.app.settings.extract_max_messages
    ctx.progress(ctx.counts["messages"], min(ctx.total, most))
    if ctx.counts["batches"] < runs_max:
        return JobReport(is_done=False, answer=_mode(ctx))
    return JobReport(answer=_mode(ctx))


async def _set_aside(ctx: JobContext) -> list[Said]:
    [outcome] = await ctx.app.sql.read(
        [skip_store.skipped_statement(ctx.namespace, ctx.asked.messages)]
    )
    return store.messages_of(outcome.rows)


async def _retry(ctx: JobContext) -> JobReport:
    """Ask again about one message that was set aside; the cursor has long passed it."""
    waiting = await _set_aside(ctx)
    if not waiting:
        return JobReport(answer=_mode(ctx))
    said = waiting[0]
    lines = await lines_of(ctx, [said], chars_max=EXTRACT_LINE_CHARS)
    batch = Batch([said], lines, Cursor(0))
    by_rule = ctx.counts["by_rule"]
    try:
        _, facts = await _facts(ctx, batch)
    except (ModelRefused, Rejected) as error:
        if isinstance(error, Rejected):
            await narrowing.prove(ctx, _asked(ctx, batch), error)
        reason = error.reason if isinstance(error, ModelRefused) else "rejected"
        again = Skip(said.id, said.created_at, reason)
        note = skip_store.skip_statement(ctx.namespace, again, run_id=ctx.run_id, now_ms=ctx.now_ms)
        await _write(ctx, batch, [], [note, *ctx.guard_statements()])
        raise
    if ctx.counts["by_rule"] > by_rule:
        raise Conflict(
            "no model is set up to read the message",
            hint="set EXTRACT_MODEL, or let the message go: the rules have read it",
        )
    settled = skip_store.settle_statement(ctx.namespace, said.id)
    await _write(ctx, batch, facts, [settled, *ctx.guard_statements()])
    ctx.count(batches=1, messages=1)
    return JobReport(is_done=len(waiting) == 1, answer=_mode(ctx))


def _asked(ctx: JobContext, batch: Batch) -> narrowing.Batch:
    return narrowing.Batch(
        ctx.job,
        [one.cursor for one in batch.said],
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


def until_ms(ctx: JobContext, after: Cursor) -> int:
    """Return the time up to which messages are read: all, where a clock was ahead of today's."""
    if after.at_ms >= ctx.now_ms:
        return INTEGER_MAX
    return ctx.now_ms if ctx.force else ctx.now_ms - SETTLE_MS


async def _next_batch(ctx: JobContext) -> tuple[Standing | None, Batch | None]:
    cursors, refused = await ctx.app.sql.read(
        [
            cursor_store.cursors_statement(ctx.namespace, CURSOR),
            skip_store.standing_statement(ctx.namespace, ctx.job),
        ]
    )
    after = cursor_store.cursors_of(cursors.rows).get(CURSOR, Cursor(0))
    standing = skip_store.standing_of(refused.rows)
    [outcome] = await ctx.app.sql.read(
        [
            store.next_messages_statement(
                ctx.namespace,
                after,
                until_ms=until_ms(ctx, after),
                limit=batch_max(standing, after, ctx.app.settings.extract_max_messages),
            )
        ]
    )
    said = store.messages_of(outcome.rows)
    if not said:
        return standing, None
    lines = await lines_of(ctx, said, chars_max=EXTRACT_LINE_CHARS)
    return standing, Batch(said, lines, after)


async def lines_of(ctx: JobContext, said: Sequence[Said], *, chars_max: int) -> list[Line]:
    """Return messages as lines: the words of user and assistant, without what was injected,
    quoted, or saved at once. *Promise:* one round trip, none without a user's message."""
    spoken = [one for one in said if one.role in ("user", "assistant")]
    if not any(one.role == "user" for one in spoken):
        return []
    [outcome] = await ctx.app.sql.read(
        [
            store.saved_statement(
                ctx.namespace,
                REMEMBERED,
                from_ms=said[0].created_at,
                to_ms=said[-1].created_at,
            )
        ]
    )
    saved = store.saved_of(outcome.rows)
    lines = [_line(one, saved.get(one.id, [])) for one in spoken]
    return [line.cut(chars_max) for line in lines if line.text]


def _line(said: Said, saved: Sequence[str]) -> Line:
    text = own_words(said.content)
    line = Line(said.id, said.role, text, said.created_at)
    if not saved:
        return line
    rest = beside(text, saved)
    return replace(line, is_saved=True) if rest is None else replace(line, text=rest)


async def _facts(ctx: JobContext, batch: Batch) -> tuple[Batch, list[Fact]]:
    """Return the facts of a batch, or of its first part when the answer came too long."""
    if not any(line.is_source for line in batch.lines):
        return batch, []
    if ctx.app.settings.extract_model is None:
        return batch, _by_rule(ctx, batch)
    while True:
        answered = await ask(ctx, _question(ctx, batch))
        if isinstance(answered, NoModel):
            return batch, _by_rule(ctx, batch)
        if not isinstance(answered, CutOff):
            return batch, await _judged(ctx, batch, answered)
        ctx.count(cut=1)
        if len(batch.said) == 1:
            return batch, await _judged(ctx, batch, salvage(answered.text, "memories"))
        batch = batch.half()
        if not any(line.is_source for line in batch.lines):
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
    facts, dropped = read_facts(
        entries,
        batch.lines,
        importance_min=settings.memory_min_importance,
        empty_chars_min=settings.empty_memory_min_chars,
    )
    sifted = sift(facts, batch.lines)
    dropped += sifted.dropped
    kept = list(sifted.facts)
    if sifted.far:
        again = sift(sifted.far, batch.lines, await _cosines(ctx, sifted, batch.lines))
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
    texts = [text for fact in far for text in (fact.content, source_text(fact, by_id))]
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
    said_at = {one.id: one.created_at for one in batch.said}

    async def decide() -> Plan:
        plan = await plan_facts(ctx, facts, said_at=said_at)
        return replace(plan, extra=[*plan.extra, *extra])

    answer = await write_in_turn(ctx.app, ctx.caller, decide)
    ctx.count(**{name: value for name, value in answer.items() if isinstance(value, int)})


CODE: Final = JobCode(pending, run)
"""What the frame runs."""
