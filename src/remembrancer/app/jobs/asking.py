"""Asking a model on behalf of a job: one repair, and what counts as no model at all.

What is asked and how an answer is read is `core.distill`. A failure is raised, so that the run's
cursor stays; only the absence of a model is a way to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from remembrancer.app.jobs.frame import JobContext
from remembrancer.core.distill.answers import Unreadable
from remembrancer.core.distill.lines import Language
from remembrancer.core.distill.prompts import repair_prompt
from remembrancer.core.errors import InvalidInput, ModelRefused
from remembrancer.ports.models import Completion, Prompt

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Question(Generic[AnswerT]):
    """What is asked. *Shape:* `read` gives the answer, or why it is none."""

    model: str
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, object]
    language: Language
    read: Callable[[str], AnswerT | Unreadable]


@dataclass(frozen=True, slots=True)
class CutOff:
    """An answer that ended at its limit. *Shape:* `text` as far as it came."""

    text: str


class NoModel(Exception):  # an outcome, caught by the job that asked
    """There is no model to ask: the rules do what they can."""


async def ask(ctx: JobContext, question: Question[AnswerT]) -> AnswerT | CutOff | NoModel:
    """Return what a model answers; an unreadable answer is asked for once more.

    *Raises:* ModelRefused for an answer that cannot be used, or none to this very prompt; what else
    the model raises. *Promise:* at most two calls; their tokens are counted with the run.
    """
    user, why = question.user, ""
    for attempt in range(2):
        completion = await _complete(ctx, question, user)
        if isinstance(completion, NoModel):
            return completion
        found = question.read(completion.text)
        if not isinstance(found, Unreadable):
            return found
        if completion.is_cut:
            return CutOff(completion.text)
        why = found.why
        user = repair_prompt(question.user, why, question.language)
        ctx.count(repairs=1 - attempt)
    raise ModelRefused(
        f"the model {question.model!r} gave no usable answer: {why}",
        reason="unreadable",
        hint="the messages stay where they are and are tried again; or set another model",
    )


async def _complete(
    ctx: JobContext, question: Question[AnswerT], user: str
) -> Completion | NoModel:
    if ctx.app.chat is None:
        return NoModel()
    await ctx.still_mine()
    prompt = Prompt(
        question.model, question.system, user, question.max_tokens, dict(question.schema)
    )
    try:
        completion = await ctx.app.chat.complete(prompt)
    except InvalidInput:
        # No server is set up for this model: memory works without.
        return NoModel()
    ctx.count(
        calls=1,
        prompt_tokens=completion.prompt_tokens or 0,
        completion_tokens=completion.completion_tokens or 0,
    )
    return completion
