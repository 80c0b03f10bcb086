"""Projects, topics and context at the command line."""

from __future__ import annotations

import pytest
from tests.cli.running import Program


@pytest.mark.parametrize(
    ("name", "slug"), [("新房子", "新房子"), ("New House", "new-house")], ids=["chinese", "english"]
)
def test_projects_are_added_shown_and_deleted(program: Program, name: str, slug: str) -> None:
    assert program("projects").out == "No projects.\n"
    made = program("projects", "add", name, "--description", "搬家", "--json").json
    assert made["project"]["slug"] == slug
    assert name in program("projects").out
    item = program.item("tasks", "add", "找房子", "--project", slug)
    assert program("projects", "objective", slug, "住进去").out.startswith(
        "objective: 住进去  itm_"
    )
    shown = program("projects", "show", slug).out
    assert "住进去" in shown
    assert "搬家" in shown
    timeline = program("projects", "timeline", slug).out
    assert "找房子" in timeline
    taken = program("projects", "objective", slug, "--item", item["id"], "--json").json
    assert taken["item"]["id"] == item["id"]
    assert "deleted" in program("projects", "delete", slug).out
    assert program.item("tasks", "show", item["id"])["project"] is None


def test_projects_of_one_name_are_made_once(program: Program) -> None:
    program("projects", "add", "花园")
    again = program("projects", "add", "花园", "--json")
    assert (again.code, again.error["code"]) == (5, "conflict")
    assert program("projects", "show", "无").code == 4


def test_topics_are_added_changed_and_deleted(program: Program) -> None:
    program("topics", "add", "健康", "--kind", "topic", "--priority", "7")
    item = program.item("remember", "血型 O", "--topic", "健康")
    chosen = program("topics", "canonical", "健康", item["id"], "--json").json["topic"]
    assert chosen["canonical_item"]["id"] == item["id"]
    listed = program("topics", "--json").json
    topic = next(each for each in listed["topics"] if each["slug"] == "健康")
    assert topic["retrieval_priority"] == 7
    assert "健康" in program("topics").out
    assert "deleted" in program("topics", "delete", "健康").out
    assert "健康" not in program("topics").out


def test_context_shows_each_level(program: Program) -> None:
    program("projects", "add", "花园")
    program("projects", "objective", "花园", "种番茄")
    program("remember", "对花生过敏", "--startup", "10", "--topic", "健康", "--tag", "过敏")
    for words, expected in (
        ((), "种番茄"),
        (("startup",), "对花生过敏"),
        (("topic", "健康"), "对花生过敏"),
        (("topic", "过敏"), "对花生过敏"),
        (("project", "花园"), "种番茄"),
        (("raw", "--tag", "过敏"), "对花生过敏"),
    ):
        shown = program("context", *words)
        assert expected in shown.out, words
        assert program("context", *words, "--json").json["level"]
    assert program("context", "project", "无").code == 4


def test_context_is_trimmed_to_a_budget(program: Program) -> None:
    for number in range(12):
        program("remember", f"第{number}件事 " + "很长的话" * 40, "--startup", "10")
    whole = program("context", "--json").json
    small = program("context", "--max-tokens", "300", "--json").json
    assert len(str(small)) < len(str(whole))
