"""What retention takes and when: periods, who is exempt, how much one night may end.

Pure; the choice itself is made by the database with these values. Every ring may import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from remembrancer.core.ids import RANDOM_BYTES, make_id
from remembrancer.core.values import DAY_MS

EXEMPT_TYPES: Final = ("identity", "persona", "rule")
"""Types that never expire. Source: DESIGN section 8."""

LOADED_PRIORITY: Final = 8
"""Startup priority from which an item is loaded at each start, which is its use."""

EXPIRY_SHARE_MAX: Final = 0.05
"""Share of a namespace's active memories that may expire in one run. Source: DESIGN section 8."""

EXPIRY_COUNT_MIN: Final = 5
"""Memories that may expire in one run however few there are. Source: DESIGN section 8."""


@dataclass(frozen=True, slots=True)
class Periods:
    """How long things are kept. *Units:* days."""

    messages: int
    usage: int
    recalls: int
    idempotency: int
    memories: int
    deleted: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """The moments before which things have had their time. *Units:* ms, UTC."""

    messages: int
    usage: int
    recalls: int
    idempotency: int
    memories: int
    deleted: int
    skipped: int


def cutoffs(periods: Periods, now_ms: int) -> Cutoffs:
    """Return the moments that the periods mean at a time."""
    return Cutoffs(
        messages=now_ms - periods.messages * DAY_MS,
        usage=now_ms - periods.usage * DAY_MS,
        recalls=now_ms - periods.recalls * DAY_MS,
        idempotency=now_ms - periods.idempotency * DAY_MS,
        memories=now_ms - periods.memories * DAY_MS,
        deleted=now_ms - periods.deleted * DAY_MS,
        skipped=now_ms - periods.skipped * DAY_MS,
    )


def expiry_bound(active: int) -> int:
    """Return how many memories one run may let expire, of so many active ones."""
    return max(EXPIRY_COUNT_MIN, int(active * EXPIRY_SHARE_MAX))


def first_id(prefix: str, at_ms: int) -> str:
    """Return the smallest identifier of a moment: those made before sort before it."""
    return make_id(prefix, max(at_ms, 0), bytes(RANDOM_BYTES))
