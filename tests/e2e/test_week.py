"""The week of one person's agent, played through a real client: what is loaded on Sunday night."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.e2e.week import Played, days, play, report

CALLS_MIN = 200
"""Calls of the week: captures, edits, completions, at least. Source: issue of the foundation."""
READMES = ("README.md", "README.zh-CN.md")


@dataclass(slots=True)
class Line:
    """One captured line, as a reader of the script understands it."""

    text: str
    project: str | None
    topic: str | None
    is_open: bool = True
    recurs: bool = False


@dataclass(frozen=True, slots=True)
class Book:
    """The week as a reader of the script books it, without the product."""

    lines: list[Line]
    goals: dict[str, str]
    verbs: Counter[str]

    def count(self, *, project: str | None = None, topic: str | None = None) -> int:
        """Count what is still current in a project or a topic, a project's goal included."""
        found = [
            line
            for line in self.lines
            if line.is_open and (line.project == project if project else line.topic == topic)
        ]
        return len(found) + (project in self.goals)

    def newest(self, start: str) -> Line:
        """The line that an action of the script means."""
        return next(line for line in reversed(self.lines) if line.text.startswith(start))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The week, played once for all tests."""
    return asyncio.run(play(tmp_path_factory.mktemp("week")))


@pytest.fixture(scope="module")
def book() -> Book:
    """The week, booked by hand."""
    kept = Book([], {}, Counter())
    for _, actions in days():
        for _, verb, rest in sorted(actions, key=lambda action: action[0]):
            kept.verbs[verb] += 1
            _enter(kept, verb, rest)
    return kept


def _enter(book: Book, verb: str, rest: str) -> None:
    match verb:
        case "say":
            project = re.search(r" \+(\S+)", rest)
            topic = re.search(r" @(\S+)", rest)
            text = re.sub(r"^(note: |remember: |记住：)", "", rest)
            book.lines.append(
                Line(text, project[1] if project else None, topic[1] if topic else None)
            )
        case "done":
            line = book.newest(rest)
            line.is_open = line.recurs
        case "recur":
            book.newest(rest.rsplit(" ", 1)[0]).recurs = True
        case "supersede":
            book.newest(rest.partition(" => ")[0]).is_open = False
        case "objective":
            slug, title = rest.split(": ", 1)
            book.goals[slug] = title


def _titles(played: Played, name: str) -> list[str]:
    entries: list[Any] = played.bundle[name]
    return [entry["title"] for entry in entries]


def test_week_makes_enough_calls_and_as_many_as_the_script_says(played: Played, book: Book) -> None:
    assert sum(played.calls.values()) == sum(book.verbs.values()) + 1
    assert sum(played.calls.values()) - 1 >= CALLS_MIN
    assert played.calls["quick_capture"] == book.verbs["say"] == len(book.lines)
    states = book.verbs["done"] + book.verbs["snooze"]
    assert played.calls["update_task_state"] == states
    assert played.calls["update_item"] == book.verbs["edit"] + book.verbs["recur"]


def test_week_ends_with_who_the_user_is_and_what_is_always_loaded(played: Played) -> None:
    assert played.bundle["profile"]["title"].startswith("我叫林晓，住在上海徐汇")
    [rule] = played.bundle["always_load"]
    assert rule["title"] == "永远不要替我发送邮件或付款，只起草"
    assert rule["startup_priority"] == 10
    assert rule["pinned"] is True


def test_week_ends_with_the_goals_of_now(played: Played, book: Book) -> None:
    assert sorted(_titles(played, "active_goals")) == sorted(book.goals.values())
    assert "三月底前发布星火 2.0" not in _titles(played, "active_goals")
    objectives = {
        project["slug"]: project["active_objective"]["title"]
        for project in played.bundle["active_projects"]
    }
    assert objectives == book.goals


def test_week_counts_projects_and_topics_as_a_reader_does(played: Played, book: Book) -> None:
    counts = {
        project["slug"]: project["active_count"] for project in played.bundle["active_projects"]
    }
    assert counts == {slug: book.count(project=slug) for slug in book.goals}
    totals = {
        topic["group"]["slug"]: topic["summary"]["total"]
        for topic in played.bundle["topic_summaries"]
    }
    assert totals == {slug: book.count(topic=slug) for slug in ("工作", "健康", "家")}
    assert list(totals) == ["工作", "健康", "家"]


def test_week_ends_with_a_next_step_that_is_still_open(played: Played, book: Book) -> None:
    step = played.bundle["current_focus"]["tactical_next_step"]["title"]
    assert book.newest(step).is_open
    assert book.newest(step).project in book.goals


@pytest.mark.parametrize("name", READMES)
def test_readme_shows_what_the_week_prints(played: Played, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    [block] = re.findall(r"<!-- week -->\n```text\n(.*?)```\n<!-- /week -->", text, re.DOTALL)
    assert block == report(played)
