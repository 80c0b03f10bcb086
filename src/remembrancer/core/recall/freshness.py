"""The order of what was found: age and a recent recall put off, and hide nothing.

Gates look at the score itself, never at what is returned here. Every ring may import it.
"""

from __future__ import annotations

from typing import Final

from remembrancer.core.values import DAY_MS, MINUTE_MS

HALF_LIFE_MS: Final = 180 * DAY_MS
"""Milliseconds after which half of what age can take is taken. Source: the days after which an
unused memory expires."""

AGE_SHARE: Final = 0.05
"""Share of a score that age takes at most, so that it decides between what is nearly alike. Our
choice."""

RECENT_MS: Final = 30 * MINUTE_MS
"""Milliseconds for which a recall counts as recent. Source: the predecessor's rule."""

RECENT_SHARE: Final = 0.1
"""Share of a score that a recent recall takes: something nearly as sure comes first then. Our
choice; the predecessor's half hid the right answer to a question asked twice."""


def standing(
    score: float, *, now_ms: int, at_ms: int, recalled_at: int | None, is_lasting: bool = False
) -> float:
    """Return by what a candidate is ordered. *Units:* 0…1, times in milliseconds UTC.

    *Shape:* `at_ms` when it was last changed; `is_lasting` for what does not age, such as an
    identity or a rule. *Promise:* over 0 for a score over 0; at least 0.85 of the score.
    """
    if not is_lasting and now_ms > at_ms:
        score *= 1 - AGE_SHARE * (1 - 0.5 ** ((now_ms - at_ms) / HALF_LIFE_MS))
    if recalled_at is not None and was_recalled(recalled_at, now_ms):
        score *= 1 - RECENT_SHARE
    return score


def was_recalled(recalled_at: int | None, now_ms: int) -> bool:
    """Tell whether something was recalled a short time ago."""
    return recalled_at is not None and 0 <= now_ms - recalled_at < RECENT_MS
