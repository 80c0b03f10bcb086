"""The order of the next step: each criterion beats all that come after it."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.dates import parse_iso
from remembrancer.core.focus.ranking import (
    Horizon,
    first_anywhere,
    first_in_project,
    horizon_at,
    is_open,
    reason_for,
    urgency,
)
from remembrancer.core.items.fields import DEFAULTS
from remembrancer.core.items.record import ItemRecord
from remembrancer.core.values import DAY_MS, HOUR_MS, JSON
from remembrancer.testing.runtime import NOON_MS

HORIZON = horizon_at(NOON_MS, ZoneInfo("Asia/Singapore"), upcoming_days=7)
GOAL = "itm_goal"


def task(name: str, *, age_h: int = 100, **fields: JSON) -> ItemRecord:
    """An open task that nobody touched for `age_h` hours."""
    at_ms = NOON_MS - age_h * HOUR_MS
    return ItemRecord(name, 1, at_ms, at_ms, {**DEFAULTS, **fields})


IN_PROJECT = [
    task("goal", objective_id=GOAL, age_h=500, priority=1),
    task("pinned", pinned=True, age_h=400, priority=1),
    task("overdue", due_at=NOON_MS - 1, age_h=300, priority=1),
    task("high", priority=3, age_h=200),
    task("touched", age_h=1),
    task("a"),
    task("b"),
]
"""Each would come first but for those before it."""

ANYWHERE = [
    task("overdue", due_at=NOON_MS - DAY_MS, priority=1),
    task("today", due_at=NOON_MS + HOUR_MS, priority=1),
    task("soon", due_at=NOON_MS + 6 * DAY_MS, priority=1),
    task("touched", age_h=48, priority=1),
    task("pinned", pinned=True, priority=1),
    task("high", priority=3),
    task("dated", due_at=NOON_MS + 90 * DAY_MS),
    task("later", due_at=NOON_MS + 91 * DAY_MS, age_h=900),
    task("old", age_h=800),
    task("a"),
    task("b"),
]


@pytest.mark.parametrize("size", range(1, len(IN_PROJECT) + 1))
def test_next_step_of_a_project_follows_each_criterion_in_turn(size: int) -> None:
    tail = IN_PROJECT[-size:]
    for shuffled in (tail, tail[::-1]):
        assert first_in_project(shuffled, HORIZON, objective_id=GOAL) is tail[0]


@pytest.mark.parametrize("size", range(1, len(ANYWHERE) + 1))
def test_next_step_anywhere_follows_each_criterion_in_turn(size: int) -> None:
    tail = ANYWHERE[-size:]
    for shuffled in (tail, tail[::-1]):
        assert first_anywhere(shuffled, HORIZON) is tail[0]


def test_next_step_does_not_depend_on_the_order_of_candidates() -> None:
    some = IN_PROJECT[2:6]
    assert {
        first_in_project(order, HORIZON, objective_id=None).id  # type: ignore[union-attr]
        for order in permutations(some)
    } == {"overdue"}


def test_next_step_without_candidates_is_none() -> None:
    assert first_in_project([], HORIZON, objective_id=GOAL) is None
    assert first_anywhere([task("done", state="completed")], HORIZON) is None


@pytest.mark.parametrize(
    ("fields", "is_candidate"),
    [
        ({}, True),
        ({"state": "stale"}, False),
        ({"state": "completed"}, False),
        ({"type": "strategic_goal"}, False),
        ({"type": "recurring_system"}, False),
        ({"kind": "memory", "type": "fact"}, False),
        ({"snoozed_until": NOON_MS + 1}, False),
        ({"snoozed_until": NOON_MS}, True),
        ({"ignored_until": NOON_MS + 1}, False),
        ({"ignored_until": NOON_MS}, True),
        ({"expires_at": NOON_MS}, False),
        ({"expires_at": NOON_MS + 1}, True),
    ],
    ids=str,
)
def test_candidate_is_an_active_tactical_task_that_is_not_put_off(
    fields: dict[str, Any], is_candidate: bool
) -> None:
    assert is_open(task("x", **fields), NOON_MS) is is_candidate
    for first in (
        first_anywhere([task("x", **fields)], HORIZON),
        first_in_project([task("x", **fields)], HORIZON, objective_id=None),
    ):
        assert (first is not None) is is_candidate


@pytest.mark.parametrize(
    ("due_at", "level"),
    [
        (None, 0),
        (NOON_MS - 1, 3),
        (NOON_MS, 2),
        (NOON_MS + 4 * HOUR_MS - 1, 2),
        (NOON_MS + 4 * HOUR_MS, 1),
        (NOON_MS + 4 * HOUR_MS + 7 * DAY_MS - 1, 1),
        (NOON_MS + 4 * HOUR_MS + 7 * DAY_MS, 0),
    ],
)
def test_urgency_counts_days_of_the_namespace_zone(due_at: int | None, level: int) -> None:
    # 20:00 in Singapore: four hours are left of the day.
    assert urgency(due_at, HORIZON) == level


def test_horizon_takes_the_days_of_the_setting() -> None:
    one = horizon_at(NOON_MS, ZoneInfo("UTC"), upcoming_days=1)
    assert one == Horizon(NOON_MS, NOON_MS + 12 * HOUR_MS, NOON_MS + 36 * HOUR_MS)


def test_reason_says_what_put_the_task_first() -> None:
    due = {"due_at": NOON_MS - DAY_MS}
    full = task("x", objective_id=GOAL, pinned=True, priority=3, **due)
    assert reason_for(full, HORIZON, objective_id=GOAL) == (
        "serves the active objective; pinned; overdue since 2026-02-28T12:00:00Z; high priority"
    )
    assert reason_for(task("x", priority=1), HORIZON) == "low priority"
    today = task("x", due_at=NOON_MS + 1_000)
    assert reason_for(today, HORIZON) == "due today, 2026-03-01T12:00:01Z; medium priority"
    soon = task("x", due_at=NOON_MS + DAY_MS)
    assert reason_for(soon, HORIZON).startswith("due soon, ")


RECORDS = st.lists(
    st.builds(
        lambda number, age, fields: task(f"t{number}", age_h=age, **fields),
        st.integers(0, 10_000),
        st.integers(0, 100),
        st.fixed_dictionaries(
            {
                "priority": st.integers(1, 3),
                "pinned": st.sampled_from([True, None]),
                "due_at": st.none() | st.integers(NOON_MS - DAY_MS, NOON_MS + 20 * DAY_MS),
                "objective_id": st.sampled_from([GOAL, None]),
            }
        ),
    ),
    min_size=2,
    unique_by=lambda record: record.id,
)


@given(RECORDS)
def test_next_step_is_first_of_every_subset_that_holds_it(records: list[ItemRecord]) -> None:
    for first in (
        first_anywhere(records, HORIZON),
        first_in_project(records, HORIZON, objective_id=GOAL),
    ):
        assert first is not None
    best = first_anywhere(records, HORIZON)
    for one, two in pairwise(records):
        assert first_anywhere([one, two, best], HORIZON) is best  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-10-25T00:30", "2026-10-27T00:00"),  # a day of 25 hours
        ("2026-03-28T23:30", "2026-03-30T00:00"),  # the next one has 23
    ],
)
def test_upcoming_days_are_days_of_the_calendar_when_clocks_change(now: str, end: str) -> None:
    zone = ZoneInfo("Europe/Berlin")
    horizon = horizon_at(parse_iso(now, zone=zone), zone, upcoming_days=1)
    assert horizon.upcoming_end_ms == parse_iso(end, zone=zone)
