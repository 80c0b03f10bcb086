"""A candidate's record: one fact, one decision, known again by its words."""

from __future__ import annotations

import pytest

from remembrancer.core.candidates.decide import (
    Candidate,
    Proposed,
    after_decision,
    candidate_view,
    check_note,
    decide_candidate,
    file_candidate,
    larger,
    merged_tags,
    merged_text,
    require_worded,
    revise_candidate,
)
from remembrancer.core.errors import Conflict, InvalidInput, LimitExceeded
from remembrancer.core.ledger.changes import apply_changes

TEA = Proposed("fact", "用户喜欢喝茶", "preference", source_message_ids=("msg_1",))


def filed(proposed: Proposed = TEA) -> Candidate:
    return Candidate("cnd_1", 1, 0, 0, apply_changes({}, file_candidate(proposed).changes))


def test_same_statement_is_one_fact_whatever_its_key() -> None:
    keyed = Proposed("fact", "用户喜欢喝茶。", fact_key="preference:drink")
    assert keyed.text_hash == TEA.text_hash
    assert keyed.fact == "key preference:drink"
    assert TEA.fact.startswith("text ")
    assert Proposed("retire", "x", target_ids=("b", "a")).fact == "retire a b"


def test_same_words_are_nothing_new_and_others_revise() -> None:
    present = filed(Proposed("fact", "Lives in Porto", fact_key="profile:city")).fields
    assert revise_candidate(present, Proposed("fact", "lives in Porto.", confidence=0.1)) is None
    new = Proposed("fact", "Lives in Lisbon", fact_key="profile:city")
    draft = revise_candidate(present, new)
    assert draft is not None
    assert draft.changes["content"] == ("Lives in Porto", "Lives in Lisbon")


@pytest.mark.parametrize(
    ("action", "status"),
    [("approve", "approved"), ("discard", "discarded"), ("merge", "merged"),
     ("supersede", "superseded")],
)  # fmt: skip
def test_candidate_is_decided_once(action: str, status: str) -> None:
    draft = decide_candidate(filed(), action, note="好", result_id="itm_1", now_ms=7)  # type: ignore[arg-type]  # a table of texts
    decided = after_decision(filed(), draft, 7)
    view = candidate_view(decided)
    assert (view["status"], view["decision_note"], view["memory_id"]) == (status, "好", "itm_1")
    with pytest.raises(Conflict):
        decide_candidate(decided, "discard", note=None, result_id=None, now_ms=8)


def test_only_what_has_words_is_merged() -> None:
    with pytest.raises(InvalidInput):
        require_worded(filed(Proposed("retire", "x", target_ids=("a",))), "merge")
    require_worded(filed(), "merge")


def test_merge_takes_the_candidates_words_unless_they_are_there() -> None:
    assert merged_text("likes tea", "likes oolong") == "likes oolong"
    assert merged_text("likes oolong tea", "likes oolong") == "likes oolong tea"
    assert merged_tags(["a", "b"], ["b", "c"]) == ["a", "b", "c"]
    assert (larger(0.2, 0.9), larger(None, 0.4), larger(None, None)) == (0.9, 0.4, None)


def test_note_is_redacted_and_bounded() -> None:
    assert check_note("  ") is None
    assert "[redacted" in str(check_note("my password is hunter2secret!!"))
    with pytest.raises(LimitExceeded):
        check_note("字" * 1001)
