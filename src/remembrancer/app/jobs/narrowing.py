"""A batch that a model refuses: tried whole a few times, then halved down to what it refuses.

An outage, a quota or a slow server is no refusal: it leaves the cursor, whatever waits. A refusal
is about the prompt itself (`ModelRefused`): too long, filtered, or answered without use. After
`REFUSALS_MAX` of them, each in a run of its own, the batch is halved, one step a piece, until a
single message is left, and grows again behind it. Nothing is given up on a model's word alone: one
that refuses the plainest sentence as well is broken, and its run fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.app.commit import Plan, write
from remembrancer.app.jobs.asking import CutOff, NoModel, Question, ask
from remembrancer.app.jobs.frame import JobContext
from remembrancer.core.distill import prompts
from remembrancer.core.distill.answers import read_list
from remembrancer.core.distill.lines import Language, Line
from remembrancer.core.errors import ModelRefused
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement
from remembrancer.store import skips as store
from remembrancer.store.skips import Standing

REFUSALS_MAX: Final = 3
"""Refusals of a batch after which it is narrowed, each in a run of its own: a quarter of an
hour by the schedule of failures. Our choice."""

PROBES: Final[dict[Language, str]] = {"zh": "我喜欢喝绿茶。", "en": "I like green tea."}
"""What every model answers to that answers at all."""

PROBE_TOKENS: Final = 400
"""Tokens that the answer to a probe may have. Our choice: one fact has a hundred."""


def batch_max(standing: Standing | None, after: Cursor, most: int) -> int:
    """Return how many messages the next batch behind a place may have."""
    if standing is None or not standing.size or after >= standing.until:
        return most
    return min(most, standing.size)


async def narrow(
    ctx: JobContext,
    standing: Standing | None,
    places: Sequence[Cursor],
    refusal: ModelRefused,
) -> bool:
    """Note that a batch was refused; tell whether a smaller one shall be asked about.

    *Shape:* `places` of its messages, in order. False: it is one message and was tried long enough.
    *Raises:* the refusal, while the batch is still tried whole. *Promise:* one write, guarded by
    the lease.
    """
    ctx.count(refused=1)
    is_same = standing is not None and places[0] <= standing.until
    attempts = standing.attempts if standing is not None and is_same else 0
    until = standing.until if standing is not None and is_same else places[-1]
    if attempts < REFUSALS_MAX:
        attempts += 1
        size = 0
    else:
        size = len(places) // 2
        if not size:
            return False
    await _keep(ctx, Standing(until, attempts, size))
    if not size:
        raise refusal
    return True


async def _keep(ctx: JobContext, standing: Standing) -> None:
    async def decide() -> Plan:
        kept = store.keep_standing_statement(ctx.namespace, ctx.job, standing)
        return Plan({}, ctx.now_ms, extra=[kept, *ctx.guard_statements()])

    await write(ctx.app, ctx.caller, decide)


async def prove(ctx: JobContext, model: str, language: Language, refusal: ModelRefused) -> None:
    """Ask about the plainest sentence. *Raises:* the refusal, when the model refuses that too."""
    lines = [Line("msg_0", "user", PROBES[language], 0)]
    system, user = prompts.extract_prompt(lines, language)
    question: Question[list[JSON]] = Question(
        model=model,
        system=system,
        user=user,
        max_tokens=PROBE_TOKENS,
        schema=prompts.EXTRACT_SCHEMA,
        language=language,
        read=lambda text: read_list(text, "memories"),
    )
    try:
        answered = await ask(ctx, question)
    except ModelRefused:
        raise refusal from None
    if isinstance(answered, NoModel | CutOff):
        raise refusal


def passed_statements(
    ctx: JobContext, standing: Standing | None, cursor: Cursor
) -> list[Statement]:
    """Return what belongs beside a moved cursor: the narrowed batch grows again, or is passed."""
    if standing is None:
        return []
    if cursor >= standing.until:
        return [store.drop_standing_statement(ctx.namespace, ctx.job)]
    if not standing.size:
        return []
    grown = Standing(standing.until, standing.attempts, 2 * standing.size)
    return [store.keep_standing_statement(ctx.namespace, ctx.job, grown)]
