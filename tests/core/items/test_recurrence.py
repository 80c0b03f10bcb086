"""Completing tasks: once, again, late, early, in series that end."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.items.moments import NOW, ZONE, applied, at, edited, made, ms

from remembrancer.core.dates import format_local
from remembrancer.core.errors import Conflict, InvalidInput
from remembrancer.core.items.commands import ItemEdit, Moment
from remembrancer.core.items.decide import complete_item, reactivate_item, recurrence_of, set_state
from remembrancer.core.ledger.changes import Fields
from remembrancer.core.values import DAY_MS, HOUR_MS


def recurring(kind: str, due: str | None, **more: object) -> Fields:
    edit: dict[str, object] = {"recurrence_kind": kind, **more}
    if due is not None:
        edit["due_at"] = ms(due)
    return made(cast(ItemEdit, edit))


def completed(fields: Fields, when: Moment) -> Fields:
    return applied(fields, complete_item(fields, at=when))


def due(fields: Fields) -> str:
    moment = fields["due_at"]
    assert isinstance(moment, int)
    return format_local(moment, ZONE)


NEXT = {
    "daily, on time": ("daily", "2026-03-02T09:00", "2026-03-02T10:00", "2026-03-03 09:00"),
    "daily, three weeks late": (
        "daily",
        "2026-02-09T09:00",
        "2026-03-02T10:00",
        "2026-03-03 09:00",
    ),
    "daily, late by minutes": ("daily", "2026-03-01T09:00", "2026-03-02T08:59", "2026-03-02 09:00"),
    "weekly, late": ("weekly", "2026-02-06T18:00", "2026-03-02T10:00", "2026-03-06 18:00"),
    "monthly, clamped": ("monthly", "2026-01-31T09:00", "2026-01-31T10:00", "2026-02-28 09:00"),
    "monthly, late": ("monthly", "2025-10-31T09:00", "2026-03-02T10:00", "2026-03-31 09:00"),
    "yearly, leap day": ("yearly", "2024-02-29T09:00", "2026-03-02T10:00", "2027-02-28 09:00"),
    "weekdays, friday": ("weekdays", "2026-03-06T09:00", "2026-03-06T10:00", "2026-03-09 09:00"),
    "early": ("weekly", "2026-03-06T18:00", "2026-03-02T10:00", "2026-03-13 18:00"),
}


@pytest.mark.parametrize(("kind", "first", "now", "expected"), list(NEXT.values()), ids=list(NEXT))
def test_completing_a_recurring_task_moves_it_past_now(
    kind: str, first: str, now: str, expected: str
) -> None:
    fields = completed(recurring(kind, first), at(now))
    assert due(fields) == expected
    assert fields["state"] == "active" and "progress" not in fields
    assert fields["last_completed_at"] == ms(now)
    assert fields["last_completed_due_at"] == ms(first)


def test_a_monthly_series_keeps_its_day_through_short_months() -> None:
    fields = recurring("monthly", "2026-01-31T09:00")
    seen = []
    for month in ("01-31", "02-28", "03-31", "04-30"):
        fields = completed(fields, at(f"2026-{month}T10:00"))
        seen.append(due(fields)[5:10])
    assert seen == ["02-28", "03-31", "04-30", "05-31"]


def test_a_changed_due_date_gives_the_series_its_day() -> None:
    fields = edited(recurring("monthly", "2026-01-31T09:00"), {"due_at": ms("2026-03-15T09:00")})
    assert due(completed(fields, at("2026-03-15T10:00"))) == "2026-04-15 09:00"


@pytest.mark.parametrize("said", ["due_at", "recurrence_kind", "both"])
def test_a_series_that_is_only_said_again_keeps_its_day(said: str) -> None:
    fields = completed(recurring("monthly", "2026-01-31T09:00"), at("2026-01-31T10:00"))
    again = {"due_at": ms("2026-02-28T09:00"), "recurrence_kind": "monthly"}
    given = again if said == "both" else {said: again[said]}
    fields = edited(fields, cast(ItemEdit, given))
    assert due(completed(fields, at("2026-02-28T10:00"))) == "2026-03-31 09:00"


@pytest.mark.parametrize("kind", ["daily", "weekly", "weekdays"])
def test_a_series_that_changes_its_kind_forgets_the_day_of_the_month(kind: str) -> None:
    fields = edited(recurring("monthly", "2026-01-31T09:00"), {"recurrence_kind": kind})
    assert "recurrence_day" not in fields
    assert recurrence_of(fields) is not None
    completed(fields, NOW)


def test_an_interval_counts_in_its_unit() -> None:
    fields = recurring("weekly", "2026-03-02T09:00", recurrence_interval=2)
    assert due(completed(fields, NOW)) == "2026-03-16 09:00"


def test_a_series_without_a_due_date_starts_at_its_first_completion() -> None:
    fields = completed(recurring("daily", None), NOW)
    assert due(fields) == "2026-03-03 10:00"
    assert fields["last_completed_due_at"] == NOW.now_ms


def test_completing_twice_within_a_minute_counts_once() -> None:
    fields = completed(recurring("daily", "2026-03-01T09:00"), NOW)
    assert complete_item(fields, at=Moment(NOW.now_ms + 59_000, ZONE)) is None


def test_completing_early_twice_counts_once() -> None:
    fields = completed(recurring("weekly", "2026-03-06T18:00"), NOW)
    assert complete_item(fields, at=at("2026-03-05T10:00")) is None
    assert due(completed(fields, at("2026-03-07T10:00"))) == "2026-03-20 18:00"


def test_completing_a_named_occurrence_is_idempotent() -> None:
    first = recurring("daily", "2026-03-02T09:00")
    occurrence = ms("2026-03-02T09:00")
    draft = complete_item(first, at=NOW, occurrence_ms=occurrence)
    fields = applied(first, draft)
    assert due(fields) == "2026-03-03 09:00"
    later = at("2026-03-04T10:00")
    assert complete_item(fields, at=later, occurrence_ms=occurrence) is None
    again = complete_item(fields, at=later, occurrence_ms=ms("2026-03-03T09:00"))
    assert due(applied(fields, again)) == "2026-03-05 09:00"


def test_an_occurrence_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        complete_item(
            recurring("daily", "2026-03-02T09:00"), at=NOW, occurrence_ms=ms("2026-03-09T09:00")
        )
    assert caught.value.field == "occurrence_due_at"


def test_a_series_ends_with_its_last_instant() -> None:
    fields = recurring("daily", "2026-03-02T09:00", recurrence_until=ms("2026-03-03T12:00"))
    fields = completed(fields, NOW)
    assert due(fields) == "2026-03-03 09:00"
    fields = completed(fields, at("2026-03-03T10:00"))
    assert (fields["state"], fields["progress"]) == ("completed", "done")
    assert due(fields) == "2026-03-03 09:00"


def test_a_series_completed_after_its_end_is_done() -> None:
    fields = recurring("daily", "2026-03-02T09:00", recurrence_until=ms("2026-03-03T12:00"))
    assert completed(fields, at("2026-04-01T10:00"))["state"] == "completed"


def test_completing_unticks_the_steps_of_the_next_occurrence() -> None:
    fields = recurring("daily", "2026-03-02T09:00")
    fields["steps"] = [
        {
            "id": "a",
            "text": "浇花",
            "done_at": 5,
            "steps": [{"id": "b", "text": "back", "done_at": 6}],
        }
    ]
    steps = completed(fields, NOW)["steps"]
    assert steps == [
        {
            "id": "a",
            "text": "浇花",
            "done_at": None,
            "steps": [{"id": "b", "text": "back", "done_at": None}],
        }
    ]


def test_completing_wakes_a_stale_or_snoozed_series() -> None:
    fields = recurring("daily", "2026-03-01T09:00")
    fields |= {"state": "stale", "snoozed_until": NOW.now_ms + HOUR_MS}
    after = completed(fields, NOW)
    assert after["state"] == "active" and "snoozed_until" not in after


@pytest.mark.parametrize("name", ["recurrence_interval", "recurrence_until"])
def test_parts_of_a_recurrence_without_a_kind_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="does not recur") as caught:
        made(cast(ItemEdit, {name: 3}))
    assert caught.value.field == name


def test_clearing_the_recurrence_clears_all_of_it() -> None:
    fields = recurring(
        "monthly", "2026-01-31T09:00", recurrence_interval=2, recurrence_until=ms("2027-01-01")
    )
    after = edited(fields, {"recurrence_kind": None})
    assert not {name for name in after if name.startswith("recurrence")}


def test_an_item_that_does_not_recur_has_no_recurrence() -> None:
    assert recurrence_of(made({})) is None


def test_an_unknown_recurrence_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidInput) as caught:
        made({"recurrence_kind": "hourly"})
    assert caught.value.hint == "one of daily, weekly, monthly, yearly, weekdays"


def test_completing_a_plain_task_is_final_and_repeatable() -> None:
    fields = completed(made({"due_at": ms("2026-03-01")}), NOW)
    assert (fields["state"], fields["progress"]) == ("completed", "done")
    assert fields["last_completed_at"] == fields["state_since"] == NOW.now_ms
    assert complete_item(fields, at=at("2026-04-01")) is None


def test_a_completed_task_can_be_taken_up_again() -> None:
    fields = completed(made({}), NOW)
    again = applied(fields, reactivate_item(fields, at=at("2026-03-03")))
    assert again["state"] == "active" and "progress" not in again
    assert completed(again, at("2026-03-04"))["state"] == "completed"


@pytest.mark.parametrize("state", ["archived", "superseded", "expired"])
def test_what_has_ended_cannot_be_completed(state: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        complete_item({**made({}), "state": state}, at=NOW)
    assert caught.value.code == "invalid_transition"


def test_a_memory_and_a_deleted_task_cannot_be_completed() -> None:
    with pytest.raises(InvalidInput, match="only a task"):
        complete_item(made({"kind": "memory"}), at=NOW)
    with pytest.raises(Conflict):
        complete_item({**made({}), "state": "deleted"}, at=NOW)


def test_setting_the_state_completed_ends_a_series_for_good() -> None:
    fields = recurring("daily", "2026-03-02T09:00")
    after = applied(fields, set_state(fields, "completed", at=NOW))
    assert after["state"] == "completed" and after["recurrence_kind"] == "daily"
    assert due(after) == "2026-03-02 09:00"


@given(
    kind=st.sampled_from(["daily", "weekly", "monthly", "yearly", "weekdays"]),
    interval=st.integers(1, 12),
    start=st.integers(ms("2024-01-01"), ms("2026-12-31")),
    late=st.integers(-10 * DAY_MS, 900 * DAY_MS),
)
def test_the_next_due_date_lies_after_now_and_after_the_last(
    kind: str, interval: int, start: int, late: int
) -> None:
    edit: dict[str, object] = {"recurrence_kind": kind, "due_at": start}
    if kind != "weekdays":
        edit["recurrence_interval"] = interval
    fields = completed(made(cast(ItemEdit, edit)), Moment(start + late, ZONE))
    following = fields["due_at"]
    assert isinstance(following, int)
    assert following > start and following > start + late
