"""The check list and the dated lines of an item."""

from __future__ import annotations

import pytest
from tests.core.items.moments import NOW, at, edited, made

from remembrancer.core import limits
from remembrancer.core.errors import InvalidInput, LimitExceeded
from remembrancer.core.items.decide import edit_item
from remembrancer.core.values import JSON

LATER = at("2026-03-03T10:00")


def step(id_: str, *children: JSON, done_at: int | None = None) -> dict[str, JSON]:
    made_: dict[str, JSON] = {"id": id_, "text": f"步骤 {id_}", "done_at": done_at}
    return {**made_, "steps": list(children)} if children else made_


def test_ticking_one_step_leaves_the_others() -> None:
    fields = made({"steps": [step("a", step("b"), step("c")), step("d")]})
    after = edited(fields, {"step_done": {"b": True}}, when=LATER)
    assert after["steps"] == [
        step("a", step("b", done_at=LATER.now_ms), step("c")),
        step("d"),
    ]


def test_ticking_a_done_step_again_keeps_its_time() -> None:
    fields = made({"steps": [step("a", done_at=NOW.now_ms)]})
    assert edit_item(fields, {"step_done": {"a": True}}, at=LATER) is None


def test_unticking_a_step_clears_its_time() -> None:
    fields = made({"steps": [step("a", done_at=NOW.now_ms)]})
    assert edited(fields, {"step_done": {"a": False}})["steps"] == [step("a")]


def test_ticking_an_unknown_step_is_refused_and_named() -> None:
    with pytest.raises(InvalidInput, match="'zz'") as caught:
        edited(made({"steps": [step("a")]}), {"step_done": {"a": True, "zz": True}})
    assert caught.value.field == "step_done"


def test_new_steps_can_be_ticked_in_the_same_edit() -> None:
    after = edited(made({}), {"steps": [step("a"), step("b")], "step_done": {"b": True}})
    assert after["steps"] == [step("a"), step("b", done_at=NOW.now_ms)]


def test_steps_are_counted_with_their_children() -> None:
    full: list[JSON] = [step("a", *[step(f"s{n}") for n in range(limits.STEPS_MAX - 1)])]
    assert made({"steps": full})["steps"] == full
    with pytest.raises(LimitExceeded) as caught:
        made({"steps": [*full, step("z")]})
    assert caught.value.field == "steps"


@pytest.mark.parametrize(
    ("name", "column"),
    [("add_note", "notes"), ("add_decision", "decisions"), ("add_problem", "problems")],
)
def test_a_dated_line_is_added_behind_the_others(name: str, column: str) -> None:
    fields = edited(made({}), {name: "  用 Postgres  "})  # type: ignore[misc]
    fields = edited(fields, {name: "second"}, when=LATER)  # type: ignore[misc]
    assert fields[column] == [
        {"at": NOW.now_ms, "text": "用 Postgres"},
        {"at": LATER.now_ms, "text": "second"},
    ]


def test_an_empty_line_is_refused() -> None:
    with pytest.raises(LimitExceeded) as caught:
        edited(made({}), {"add_note": "  "})
    assert caught.value.field == "add_note"


def test_lines_are_taken_up_to_the_limit() -> None:
    fields = made({})
    fields["notes"] = [{"at": 1, "text": "n"}] * (limits.LINES_MAX - 1)
    fields = edited(fields, {"add_note": "last"})
    with pytest.raises(LimitExceeded):
        edited(fields, {"add_note": "one more"})
