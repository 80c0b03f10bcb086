"""What a model may do to what was recalled: rank it again, and condense it. Both may fail.

On failure the fused order stands, and the rule's own condensing; the reason is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from remembrancer.app.recall.meaning import within
from remembrancer.app.state import App
from remembrancer.core.errors import LimitExceeded, RemembrancerError
from remembrancer.core.recall import condense as rules
from remembrancer.core.recall.scale import shown
from remembrancer.core.recall.selection import Selected
from remembrancer.core.text.graphemes import cut
from remembrancer.core.text.segment import Term
from remembrancer.ports.models import Prompt

RERANKED_MIN: Final = 2
"""Candidates from which ranking again can change anything."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """An order. *Shape:* `scores` item id → the reranker's score, 0…1; empty when it had no part;
    `degraded` why it failed."""

    order: Sequence[Selected]
    scores: dict[str, float]
    degraded: str | None = None


async def rerank(app: App, query: str, kept: Sequence[Selected], *, wait_ms: int) -> Reranked:
    """Return what is kept in a model's order, the first candidates; the others follow as they were.

    *Promise:* never raises our errors; without a reranker the order stays.
    """
    settings = app.settings
    asked = [
        one
        for one in kept[: settings.memory_filter_max_candidates]
        if shown(one.score) >= settings.memory_filter_min_score
    ]
    if app.reranker is None or not settings.enable_memory_reranker or len(asked) < RERANKED_MIN:
        return Reranked(kept, {})
    texts = [cut(one.contender.text, settings.memory_filter_max_content_chars) for one in asked]
    try:
        scores = await within(app.reranker.rerank(query, texts), wait_ms)
    except LimitExceeded:
        return Reranked(kept, {}, "reranker_quota")
    except RemembrancerError:
        return Reranked(kept, {}, "reranker_failed")
    by_id = {one.id: score for one, score in zip(asked, scores, strict=True)}
    first = sorted(asked, key=lambda one: -by_id[one.id])
    return Reranked([*first, *(one for one in kept if one.id not in by_id)], by_id)


async def condense(
    app: App, query: str, terms: Sequence[Term], texts: Sequence[str], *, wait_ms: int
) -> tuple[list[str], str | None]:
    """Return each text condensed, and why a model that was asked had no part in it.

    *Promise:* never raises our errors; never empty for a text that is not.
    """
    chars_max = app.settings.memory_filter_output_chars
    ruled = [rules.condense(text, terms, chars_max=chars_max) for text in texts]
    model = app.settings.memory_filter_model
    if model is None or not texts:
        return ruled, None
    if app.chat is None:
        return ruled, "no_condenser"
    cut_at = app.settings.memory_filter_max_content_chars
    asked = [cut(text, cut_at) for text in texts[: app.settings.memory_filter_max_candidates]]
    prompt = Prompt(
        model=model,
        system=rules.SYSTEM,
        user=rules.condensing_text(query, asked),
        max_tokens=app.settings.memory_filter_max_tokens,
        schema=rules.SCHEMA,
    )
    try:
        answer = await within(app.chat.complete(prompt), wait_ms)
    except RemembrancerError:
        return ruled, "condenser_failed"
    made = rules.condensed_of(answer.text, asked, chars_max=chars_max)
    if made is None:
        return ruled, "condenser_failed"
    made += [None] * (len(ruled) - len(made))
    return [new or old for new, old in zip(made, ruled, strict=True)], None
