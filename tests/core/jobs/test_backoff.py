"""When a failed job is tried again."""

from __future__ import annotations

from remembrancer.core.jobs.backoff import (
    ATTEMPTS_MAX,
    FIRST_WAIT_MS,
    WAIT_MS_MAX,
    is_dead,
    wait_ms,
)
from remembrancer.core.values import HOUR_MS


def test_wait_doubles_up_to_its_cap() -> None:
    waits = [wait_ms(attempts) for attempts in range(1, 40)]
    assert waits[:3] == [FIRST_WAIT_MS, 2 * FIRST_WAIT_MS, 4 * FIRST_WAIT_MS]
    assert waits == sorted(waits) and waits[-1] == WAIT_MS_MAX


def test_job_is_dead_after_its_attempts_and_not_before() -> None:
    assert not is_dead(ATTEMPTS_MAX - 1) and is_dead(ATTEMPTS_MAX)
    tried_for = sum(wait_ms(attempts) for attempts in range(1, ATTEMPTS_MAX))
    assert 4 * HOUR_MS < tried_for < 12 * HOUR_MS
