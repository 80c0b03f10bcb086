"""How much retention may take, and from when."""

from __future__ import annotations

import pytest

from remembrancer.core.ids import make_id
from remembrancer.core.jobs.retention import Periods, cutoffs, expiry_bound, first_id
from remembrancer.core.values import DAY_MS


@pytest.mark.parametrize(
    ("active", "bound"), [(0, 5), (5, 5), (100, 5), (119, 5), (120, 6), (10_000, 500)]
)
def test_one_run_may_end_a_twentieth_and_at_least_five(active: int, bound: int) -> None:
    assert expiry_bound(active) == bound


def test_cutoffs_are_so_many_days_ago() -> None:
    now_ms = 1_000 * DAY_MS
    found = cutoffs(Periods(14, 30, 31, 7, 180, 29, 28), now_ms)
    assert (found.messages, found.usage, found.recalls) == tuple(
        (1_000 - days) * DAY_MS for days in (14, 30, 31)
    )
    assert (found.idempotency, found.memories, found.deleted) == tuple(
        (1_000 - days) * DAY_MS for days in (7, 180, 29)
    )
    assert found.skipped == 972 * DAY_MS


def test_first_id_of_a_moment_divides_ids_by_time() -> None:
    at_ms = 1_772_366_400_000
    before = make_id("rcl", at_ms - 1, b"\xff" * 10)
    after = make_id("rcl", at_ms, b"\x00" * 9 + b"\x01")
    assert before < first_id("rcl", at_ms) < after
    assert first_id("rcl", -5) == make_id("rcl", 0, b"\x00" * 10)
