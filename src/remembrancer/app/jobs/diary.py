"""The diary of a day's end: its page, the pages of the week and month that it closes, the digest.

Pages are read and rolled up before the batch is planned, since a model may be asked; they are
written in it. What a page says is `core.distill.pages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.jobs.asking import CutOff, NoModel, Question, ask
from remembrancer.app.jobs.calendar import Day
from remembrancer.app.jobs.frame import JobContext
from remembrancer.app.jobs.narrowing import MODEL_FAILURES, Batch, ModelFailure, narrow, prove
from remembrancer.core.distill import prompts
from remembrancer.core.distill.diary import (
    SUMMARY_CHARS_MAX,
    Page,
    PageKind,
    closes,
    span_of,
    week_of,
    write_page,
)
from remembrancer.core.distill.lines import Language, language_of
from remembrancer.core.distill.nights import Night, read_night
from remembrancer.core.distill.pages import (
    day_digest,
    day_page,
    grounded_text,
    grounded_title,
    rolled_by_rule,
    rolled_page,
)
from remembrancer.core.distill.parts import Part
from remembrancer.core.errors import ModelRefused, Rejected
from remembrancer.core.ids import DIGEST
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.ledger.events import Head
from remembrancer.core.library.digest import set_digest
from remembrancer.store import days as store
from remembrancer.store import distilling
from remembrancer.store import library as library_store
from remembrancer.store.days import page_stream
from remembrancer.store.ledger import StreamEdit

ROLL_TOKENS_MAX: Final = 1_500
"""Tokens of a roll-up's answer. Our choice: its texts have some 1,500 characters."""


@dataclass(frozen=True, slots=True)
class Writing:
    """What is to be written, against what is there.

    *Shape:* `digest` None leaves the present one.
    """

    pages: Sequence[Page]
    digest: str | None
    present: Mapping[str, Fields]
    digest_fields: Fields
    heads: Mapping[str, Head]


async def read_diary(ctx: JobContext, day: Day, parts: Sequence[Part]) -> Writing:
    """Return the pages and the digest of a day's end.

    *Raises:* what a model raises. *Promise:* four round trips; a model is asked once for a day of
    several batches, and once for each week or month that ends.
    """
    digest, before = await ctx.app.sql.read(
        [
            distilling.digest_statement(ctx.namespace),
            store.latest_statement(ctx.namespace, "day", before=day.date, limit=1),
        ]
    )
    present = [row for row in digest.rows if row["content"] is not None]
    digest_fields = library_store.digest_of(present)
    present_digest = str(digest_fields.get("content") or "")
    # A day that was dreamt by force and brought nothing since is only closed.
    is_new = any(not part.is_applied for part in parts)
    nights = [part.night for part in parts if part.night.summary] if is_new else []
    rolled = await _rolled(
        ctx, day, [night.summary for night in nights], label=day.date, digest=present_digest
    )
    pages: list[Page] = []
    if nights:
        quotes = list(dict.fromkeys(text for part in parts for text, _ in part.quotes))
        pages.append(
            day_page(
                day.date,
                nights,
                quotes[: ctx.app.settings.dream_excerpt_limit],
                summary=rolled.summary,
                title=rolled.title,
                through_id=parts[-1].through_id or None,
            )
        )
    if day.is_over:
        latest = [store.page_of(row) for row in before.rows]
        pages += await _closed(ctx, day, pages, latest)
    labels = [page.label for page in pages]
    [found] = await ctx.app.sql.read([store.known_statement(ctx.namespace, labels)])
    heads: dict[str, Head] = {
        page_stream(str(row["named"])): store.head_of(row) for row in found.rows
    }
    if digest.rows:
        heads[DIGEST] = store.head_of(digest.rows[0])
    is_by_rule = any(part.is_by_rule for part in parts)
    actor = str(digest.rows[0]["actor"]) if digest.rows else ctx.caller.actor
    # Without a model a digest that a person or an agent wrote is better than what a rule makes.
    is_kept = is_by_rule and bool(present_digest) and actor != ctx.caller.actor
    return Writing(
        pages=pages,
        digest=None if is_kept or not nights else day_digest(nights, present_digest, rolled.digest),
        present={
            str(row["named"]): store.fields_of(row)
            for row in found.rows
            if row["label"] is not None
        },
        digest_fields=digest_fields,
        heads=heads,
    )


def plan_diary(writing: Writing) -> list[StreamEdit]:
    """Return the edits that write pages and digest; none for what says the same already."""
    edits: list[StreamEdit] = []
    for page in writing.pages:
        present = writing.present.get(page.label, {})
        draft = write_page(present, page)
        if draft is not None:
            stream = page_stream(page.label)
            head = writing.heads.get(stream, Head())
            edits.append(StreamEdit(stream, head, dict(present), (draft,)))
    if writing.digest is not None:
        draft = set_digest(writing.digest_fields, writing.digest)
        if draft is not None:
            head = writing.heads.get(DIGEST, Head())
            edits.append(StreamEdit(DIGEST, head, writing.digest_fields, (draft,)))
    return edits


async def _closed(
    ctx: JobContext, day: Day, today: Sequence[Page], latest: Sequence[Page]
) -> list[Page]:
    """Return the pages of the weeks and months that are over with this day, or were before it, or
    have a page already that this day is dreamt again for."""
    labels: list[tuple[PageKind, str]] = []
    for page in latest:
        week, month = week_of(page.label), page.label[:7]
        labels += [("week", week)] if week != week_of(day.date) else []
        labels += [("month", month)] if month != day.date[:7] else []
    labels += closes(day.date)
    if day.is_again:
        labels += [("week", week_of(day.date)), ("month", day.date[:7])]
    labels = list(dict.fromkeys(labels))
    if not labels:
        return []
    spans = [span_of(label) for _, label in labels]
    # One span over all of them: no page lies between the latest one's month and this day's.
    whole = min(first for first, _ in spans), max(end for _, end in spans)
    known, within = await ctx.app.sql.read(
        [
            store.pages_statement(ctx.namespace, [label for _, label in labels]),
            store.span_statement(ctx.namespace, "day", start=whole[0], end=whole[1]),
        ]
    )
    written = {str(row["label"]) for row in known.rows}
    fresh = {page.label for page in today}
    open_ = {week_of(day.date), day.date[:7]} - {label for _, label in closes(day.date)}
    earlier = [page for page in map(store.page_of, within.rows) if page.label not in fresh]
    result: list[Page] = []
    for (kind, label), (first, end) in zip(labels, spans, strict=True):
        days = [page for page in (*earlier, *today) if first <= page.starts_on < end]
        is_new = label not in written or any(page in days for page in today)
        is_open = label in open_ and label not in written
        if days and is_new and not is_open:
            rolled = await _rolled(ctx, day, [page.summary for page in days], label=label)
            result.append(
                rolled_page(kind, label, days, title=rolled.title, summary=rolled.summary)
            )
    return result


async def _rolled(
    ctx: JobContext, day: Day, notes: Sequence[str], *, label: str, digest: str = ""
) -> Night:
    """Return several notes as one; by rule without a model, or where its words are not theirs."""
    by_rule = Night(summary=rolled_by_rule(notes, chars_max=SUMMARY_CHARS_MAX // 2))
    if len(notes) < 2:
        return Night(summary=notes[0] if notes else "")
    settings = ctx.app.settings
    if settings.dream_model is None:
        return by_rule
    language = language_of(notes)
    shown = [*notes, *([digest] if digest else [])]
    system, user = prompts.roll_prompt(shown, language, label=label)
    question = Question(
        model=settings.dream_model,
        system=system,
        user=user,
        max_tokens=ROLL_TOKENS_MAX,
        schema=prompts.DREAM_SCHEMA,
        language=language,
        read=read_night,
    )
    try:
        answered = await ask(ctx, question)
    except MODEL_FAILURES as error:
        # An outage is raised; a page by rule is better than none for ever.
        await _give_up(ctx, day, language, error)
        return by_rule
    if isinstance(answered, NoModel | CutOff):
        return by_rule
    source = "\n".join(shown)
    return Night(
        title=grounded_title(answered.title, source),
        summary=grounded_text(answered.summary, source) or by_rule.summary,
        digest=grounded_text(answered.digest, source),
    )


async def _give_up(ctx: JobContext, day: Day, language: Language, error: ModelFailure) -> None:
    """Return when a rule shall roll up what a model would not. *Raises:* the error, otherwise."""
    model = str(ctx.app.settings.dream_model)
    # A place behind all messages of the day.
    batch = Batch(ctx.job, [Cursor(day.end_ms)], model, language)
    if isinstance(error, ModelRefused | Rejected):
        if isinstance(error, Rejected):
            await prove(ctx, batch, error)
        ctx.count(refused=1)
        return
    await narrow(ctx, day.standing, batch, error)
