"""The table of states: who may follow whom, and what a refusal says."""

from __future__ import annotations

import itertools

import pytest

from remembrancer.core.errors import InvalidInput
from remembrancer.core.items.fields import CURRENT_STATES, STATES
from remembrancer.core.items.states import TRANSITIONS, check_transition

ALLOWED = {
    "active": "dormant stale superseded archived completed expired deleted",
    "dormant": "active stale superseded archived completed expired deleted",
    "stale": "active dormant superseded archived completed expired deleted",
    "superseded": "active dormant archived deleted",
    "archived": "active dormant superseded deleted",
    "completed": "active archived superseded deleted",
    "expired": "active dormant archived superseded deleted",
    "deleted": "",
}


def is_allowed(kind: str, present: str, wanted: str) -> bool:
    try:
        check_transition(kind, present, wanted)
    except InvalidInput as error:
        assert error.code == "invalid_transition"
        assert error.hint
        return False
    return True


@pytest.mark.parametrize("present", STATES)
def test_transitions_of_a_state_are_exactly_those_of_the_table(present: str) -> None:
    found = {wanted for wanted in STATES if is_allowed("task", present, wanted)}
    assert found == {present, *ALLOWED[present].split()}


@pytest.mark.parametrize(("present", "wanted"), list(itertools.product(STATES, STATES)))
def test_memories_follow_the_same_table_but_are_never_completed(present: str, wanted: str) -> None:
    expected = present == wanted or (wanted in ALLOWED[present].split() and wanted != "completed")
    assert is_allowed("memory", present, wanted) == expected


def test_transitions_name_every_state_and_no_other() -> None:
    assert set(TRANSITIONS) == set(STATES)
    assert set().union(*TRANSITIONS.values()) <= set(STATES)
    assert set(CURRENT_STATES) < set(STATES)


def test_every_state_but_deleted_leads_back_to_active() -> None:
    back = {state for state in STATES if "active" in TRANSITIONS[state]}
    assert back == set(STATES) - {"active", "deleted"}


def test_an_unknown_state_is_refused_with_the_list_of_states() -> None:
    with pytest.raises(InvalidInput, match="'done' is not a state") as caught:
        check_transition("task", "active", "done")
    assert caught.value.hint is not None and "completed" in caught.value.hint
    assert caught.value.code == "invalid_input"


def test_a_refused_transition_names_both_states_and_the_way_out() -> None:
    with pytest.raises(InvalidInput) as caught:
        check_transition("task", "archived", "completed")
    assert "'archived'" in caught.value.message and "'completed'" in caught.value.message
    assert caught.value.hint == "from 'archived': active, deleted, dormant, superseded"


def test_a_deleted_item_is_told_about_restore() -> None:
    with pytest.raises(InvalidInput) as caught:
        check_transition("task", "deleted", "active")
    assert caught.value.hint == "from 'deleted': only restore_item"
