"""Remembering, finding, and taking back at the command line."""

from __future__ import annotations

import io
import sys

import pytest
from tests.cli.running import Program


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("My passport is in the blue drawer #home", "passport drawer", id="english"),
        pytest.param("护照在蓝色抽屉里 #家", "护照", id="chinese"),
    ],
)
def test_search_finds_what_was_remembered(program: Program, text: str, query: str) -> None:
    item = program.item("remember", *text.split(), "--type", "fact", "--importance", "0.9")
    assert (item["kind"], item["type"]) == ("memory", "fact")
    program("remember", "something else 另外的事")
    found = program("search", *query.split(), "--json").json
    assert found["matches"][0]["item"]["id"] == item["id"]
    assert item["title"] in program("search", query).out


def test_search_of_nothing_says_so(program: Program) -> None:
    assert program("search", "没有的词", "--kind", "task").out == "Nothing found.\n"


def test_remember_with_a_fact_key_that_is_taken_names_its_holder(program: Program) -> None:
    first = program.item("remember", "住在苏黎世", "--fact-key", "profile:city")
    taken = program("remember", "lives in Basel", "--fact-key", "profile:city", "--json")
    assert (taken.code, taken.error["code"]) == (5, "conflict")
    assert first["id"] in taken.error["message"]


def test_history_shows_changes_with_who_made_them(program: Program) -> None:
    item_id = program.item("remember", "喝茶", "--fact-key", "habit:drink")["id"]
    program("tasks", "edit", item_id, "--title", "drinks tea")
    shown = program("history", item_id).out
    assert "ItemUpdated by user" in shown
    assert "title: 喝茶 → drinks tea" in shown
    events = program("history", item_id, "--json").json["events"]
    assert [event["version"] for event in events] == [2, 1]
    page = program("history", item_id, "--limit", "1")
    cursor = page.out.rpartition("--cursor ")[2].strip()
    assert "ItemCreated" in program("history", item_id, "--cursor", cursor).out


def test_undo_and_redo_take_back_and_bring_back(program: Program) -> None:
    item_id = program.item("tasks", "add", "交税")["id"]
    program("tasks", "done", item_id)
    assert "undone: ItemCompleted" in program("undo", item_id).out
    assert program.item("tasks", "show", item_id)["state"] == "active"
    assert "(undone)" in program("history", item_id).out
    assert "redone:" in program("redo", item_id).out
    assert program.item("tasks", "show", item_id)["state"] == "completed"
    cause = program("history", item_id, "--json").json["events"][-1]["cause"]
    assert program("undo", "--cause", cause, "--json").code in (0, 5)
    assert program("undo").code == 2


def test_forget_needs_a_yes_where_nobody_can_be_asked(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    item_id = program.item("remember", "秘密")["id"]
    refused = program("forget", item_id)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert program("forget", item_id, "--yes").out == f"forgotten: {item_id}\n"
    gone = program("tasks", "show", item_id, "--json")
    assert (gone.code, gone.error["code"]) == (4, "not_found")
    assert program("forget", item_id, "-y", "--json").error["code"] == "not_found"


def test_forget_shows_first_what_would_go(program: Program) -> None:
    item_id = program.item("remember", "我对花生过敏")["id"]
    shown = program("forget", item_id, "--dry-run")
    assert shown.out.startswith(f"我对花生过敏  {item_id}\n")
    counts = program("forget", item_id, "--dry-run", "--json").json["counts"]
    assert counts["events_emptied"] == 1
    gone = program("forget", item_id, "--yes", "--json").json
    assert gone == {"forgotten": item_id, **counts}
    assert program("forget", item_id, "--dry-run", "--json").error["code"] == "not_found"


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 130)], ids=["yes", "no"])
def test_forget_asks_at_a_terminal(
    program: Program, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    item_id = program.item("remember", "再见")["id"]
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    asked = program("forget", item_id)
    assert asked.code == code
    assert "events emptied" in asked.out
    assert "再见" in asked.out
    assert program("tasks", "show", item_id).code == (4 if code == 0 else 0)


@pytest.mark.parametrize(
    ("command", "word"), [("search", "邮件"), ("recall", "怎么给 Dana 写邮件？")]
)
def test_what_was_just_remembered_is_found_by_its_meaning(
    program: Program, command: str, word: str
) -> None:
    program("remember", "Dana prefers short emails #people")
    assert "Dana prefers short emails" in program(command, word).out
