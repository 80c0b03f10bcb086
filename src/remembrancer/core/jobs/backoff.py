"""When a failed job is tried again, and when it counts as dead.

Pure; every ring may import it.
"""

from __future__ import annotations

from typing import Final

from remembrancer.core.values import HOUR_MS, MINUTE_MS

FIRST_WAIT_MS: Final = 2 * MINUTE_MS
"""Milliseconds until the first repetition. Our choice: most refusals of a model pass by then."""

WAIT_MS_MAX: Final = 3 * HOUR_MS
"""Longest wait in milliseconds: shorter than the time between two scheduled extractions."""

ATTEMPTS_MAX: Final = 8
"""Failures in a row after which a job is dead: about six hours of trying. Our choice."""


def wait_ms(attempts: int) -> int:
    """Return how long to wait after so many failures in a row: doubling, up to a cap."""
    return min(FIRST_WAIT_MS << min(attempts - 1, 20), WAIT_MS_MAX)


def is_dead(attempts: int) -> bool:
    """Tell whether only the next scheduled run, or a person, shall try again."""
    return attempts >= ATTEMPTS_MAX
