"""The fit of what tells an answer finds what was put in, and leaves out what it is counted on."""

from __future__ import annotations

import pytest

from recall_answers import FLOORS, FOLDS, Kind, Weighed, collect, cross_validated, fit, show_floors
from recall_sets import LabelledSet, Memory, Part, Question
from recall_shelf import BOTH
from remembrancer.core.recall.bearing import Answering, Bearing, Coverage
from remembrancer.testing.models import HashingEmbedder


def weighed(number: int, kind: Kind, *stated: float) -> Weighed:
    """A question whose first candidate is right, when any is; candidates state as much."""
    ids = [f"m{place}" for place in range(len(stated))]
    question = Question(f"q{number}", ["m0"], "direct", "dev")
    found = [Bearing(Coverage(share), 0.3) for share in stated]
    return Weighed(question, kind, number % FOLDS, ids, found, range(len(ids)))


SOME = [
    *(weighed(number, "answerable", 0.9, 0.1) for number in range(8)),
    *(weighed(number, "emptied", 0.2) for number in range(8)),
    weighed(8, "unanswerable", 0.3),
]


def test_fit_finds_what_tells_an_answer() -> None:
    odds = fit(SOME, ["stated", "meaning"], 6.0)
    assert odds.stated > 0
    assert odds.score(Bearing(Coverage(0.9), 0.3)) > 0.5 > odds.score(Bearing(Coverage(0.2), 0.3))


def test_question_is_counted_once_by_a_fit_without_it() -> None:
    fitted: list[int] = []

    def fitting(some: list[Weighed]) -> Answering:
        fitted.append(len(some))
        return fit(some, ["stated"], 1.0)

    scored = cross_validated(SOME, fitting)  # type: ignore[arg-type]
    assert len(scored) == len(SOME)
    assert {one.fold for one, _ in scored} == {one.fold for one in SOME}
    assert all(len(SOME) - count in (1, 2) for count in fitted)


def test_floors_are_printed_with_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    show_floors(cross_validated(SOME, lambda some: fit(some, ["stated"], 1.0)), 5)
    printed = capsys.readouterr().out
    assert "unanswerable (1)" in printed
    assert "emptied (8)" in printed
    assert "another's" not in printed
    assert printed.count("\n") == len(FLOORS) + 1


async def test_questions_about_facts_are_asked_in_every_way() -> None:
    def part(name: str, text: str, question: str) -> Part:
        memory = Memory(f"{name}1", text, "fact", 1_767_225_600_000)
        asked = [
            Question(question, [memory.id], "direct", "dev"),
            Question(question, [memory.id], "direct", "test"),
            Question("好的", [], "small_talk", "dev"),
        ]
        return Part([memory], asked)

    parts = [
        part("a", "咖啡一天两杯", "咖啡一天几杯"),
        part("b", "The rent is 900 euros", "How much is the rent?"),
    ]
    found = await collect(LabelledSet("zh-recall", "facts", parts), HashingEmbedder(), BOTH)
    kinds = [one.kind for one in found]
    assert sorted(kinds) == sorted(["answerable", "emptied", "another's", "unanswerable"] * 2)
    assert all(one.question.split == "dev" for one in found)
    answered = [one for one in found if one.kind == "answerable"]
    assert all(one.right(0) for one in answered)
    assert not any(one.ids for one in found if one.kind == "emptied")
