"""A batch that a model refuses: tried whole a few times, then halved down to what it refuses.

A refusal is about the prompt itself (`ModelRefused`): too long, filtered, or answered without use;
a server that says no in words we do not know (`Rejected`) is asked about the plainest sentence, and
refuses the prompt when it answers that. After `REFUSALS_MAX` of them, each in a run of its own, the
batch is halved, one step a piece, until a single message is left, and grows again behind it.

An outage, a wrong key or a slow server leaves the cursor, whatever waits. Only what fails
`FAILURES_MAX` times while the plainest sentence is answered is narrowed as well, one step a run: it
is the batch that fails then. Nothing is given up on a model's word alone: one that refuses the
plainest sentence too is broken, and its run fails. A spent quota sets no message aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.app.commit import Plan, write
from remembrancer.app.jobs.asking import CutOff, NoModel, Question, ask
from remembrancer.app.jobs.frame import JobContext
from remembrancer.core.distill import prompts
from remembrancer.core.distill.answers import read_list
from remembrancer.core.distill.lines import Language, Line
from remembrancer.core.errors import (
    LimitExceeded,
    ModelRefused,
    Rejected,
    TimedOut,
    UpstreamFailed,
)
from remembrancer.core.jobs.cursor import Cursor
from remembrancer.core.values import JSON
from remembrancer.ports.sql import Statement
from remembrancer.store import skips as store
from remembrancer.store.skips import Standing

REFUSALS_MAX: Final = 3
"""Refusals of a batch after which it is narrowed, each in a run of its own: a quarter of an
hour by the schedule of failures. Our choice."""

FAILURES_MAX: Final = 8
"""Failures of another kind at one batch after which it is narrowed, when the model answers others:
as many as make a job dead, some six hours by the schedule of failures. Our choice."""

PROBES: Final[dict[Language, str]] = {"zh": "我喜欢喝绿茶。", "en": "I like green tea."}
"""What every model answers to that answers at all."""

PROBE_TOKENS: Final = 400
"""Tokens that the answer to a probe may have. Our choice: one fact has a hundred."""

_HINT: Final = "it answers others: the message is found and set aside after some tries"

ModelFailure = UpstreamFailed | TimedOut | LimitExceeded
"""What a model that was asked can come back with instead of an answer."""

MODEL_FAILURES: Final = (UpstreamFailed, TimedOut, LimitExceeded)
"""As above, to be caught."""


def batch_max(standing: Standing | None, after: Cursor, most: int) -> int:
    """Return how many messages the next batch behind a place may have."""
    if standing is None or not standing.size or after >= standing.until:
        return most
    return min(most, standing.size)


@dataclass(frozen=True, slots=True)
class Batch:
    """What was asked about, and of whom.

    *Shape:* `job` under which its standing is kept; `places` of its messages, in order.
    """

    job: str
    places: Sequence[Cursor]
    model: str
    language: Language


async def narrow(
    ctx: JobContext, standing: Standing | None, batch: Batch, error: ModelFailure
) -> ModelRefused | None:
    """Note that a batch was refused, or failed; tell what follows.

    *Shape:* None: a smaller batch shall be asked about. The refusal: it is one message and was
    tried long enough. *Raises:* why it was refused, while the batch is still tried as it is.
    *Promise:* one write, guarded by the lease, and at most one question.
    """
    places = batch.places
    is_same = standing is not None and places[0] <= standing.until
    present = standing if standing is not None and is_same else Standing(places[-1], 0)
    refusal = await _refusal(ctx, batch, error)
    if refusal is not None:
        ctx.count(refused=1)
    if present.attempts < (FAILURES_MAX if refusal is None else REFUSALS_MAX):
        await _keep(ctx, batch.job, replace(present, attempts=present.attempts + 1))
        raise refusal or error
    size = len(places) // 2
    if refusal is None or (not size and refusal is error):
        await prove(ctx, batch, error)
    if size:
        await _keep(ctx, batch.job, replace(present, size=size))
    if refusal is not None:
        return None if size else refusal
    if size or isinstance(error, LimitExceeded):
        raise error
    return ModelRefused(error.message, reason="failing", hint=_HINT)


async def _refusal(ctx: JobContext, batch: Batch, error: ModelFailure) -> ModelRefused | None:
    """Return the error as a refusal of this very batch; None when it is something else."""
    if isinstance(error, Rejected):
        await prove(ctx, batch, error)
        return ModelRefused(error.message, reason="rejected", hint=_HINT)
    return error if isinstance(error, ModelRefused) else None


async def _keep(ctx: JobContext, job: str, standing: Standing) -> None:
    async def decide() -> Plan:
        kept = store.keep_standing_statement(ctx.namespace, job, standing)
        return Plan({}, ctx.now_ms, extra=[kept, *ctx.guard_statements()])

    await write(ctx.app, ctx.caller, decide)


async def prove(ctx: JobContext, batch: Batch, error: ModelFailure) -> None:
    """Ask about the plainest sentence. *Raises:* the error, when that is not answered either."""
    lines = [Line("msg_0", "user", PROBES[batch.language], 0)]
    system, user = prompts.extract_prompt(lines, batch.language)
    question: Question[list[JSON]] = Question(
        model=batch.model,
        system=system,
        user=user,
        max_tokens=PROBE_TOKENS,
        schema=prompts.EXTRACT_SCHEMA,
        language=batch.language,
        read=lambda text: read_list(text, "memories"),
    )
    try:
        answered = await ask(ctx, question)
    except MODEL_FAILURES:
        raise error from None
    if isinstance(answered, NoModel | CutOff):
        raise error


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
