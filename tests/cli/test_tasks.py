"""Tasks at the command line, in Chinese and in English."""

from __future__ import annotations

import asyncio

import pytest
from tests.cli.running import Program

from remembrancer.cli.answers import part as part_of
from remembrancer.cli.door import Door
from remembrancer.core.values import JSON
from remembrancer.local import wire


@pytest.mark.parametrize(
    ("text", "title", "tags"),
    [
        pytest.param("Pay the rent #money #家庭", "Pay the rent", ["money", "家庭"], id="english"),
        pytest.param("给妈妈打电话 #家庭", "给妈妈打电话", ["家庭"], id="chinese"),
    ],
)
def test_tasks_add_reads_the_marks_of_a_text(
    program: Program, text: str, title: str, tags: list[str]
) -> None:
    item = program.item("tasks", "add", *text.split(), "--priority", "high", "--topic", "生活")
    assert (item["title"], item["kind"], item["priority"]) == (title, "task", 3)
    assert item["tags"] == tags
    assert item["topic"]["slug"] == "生活"
    assert item["authored_by"] == "human"


@pytest.mark.parametrize(
    "due", ["2030-05-06 15:00", "2030年5月6日下午三点"], ids=["iso", "chinese"]
)
def test_tasks_are_shown_in_the_namespace_s_zone(program: Program, due: str) -> None:
    program("settings", "set", "time_zone", "Europe/Zurich")
    item = program.item("tasks", "add", "看牙医", "--due", due)
    assert item["due_at"] == "2030-05-06T13:00:00Z"
    for command in (("tasks",), ("tasks", "show", item["id"])):
        shown = program(*command).out
        assert "2030-05-06 15:00" in shown
        assert "看牙医" in shown


def test_tasks_without_a_word_after_it_lists_open_tasks_due_first(program: Program) -> None:
    program("tasks", "add", "没有期限")
    program("tasks", "add", "later", "--due", "2030-02-01")
    program("tasks", "add", "sooner", "--due", "2030-01-01")
    done = program.item("tasks", "add", "done already")
    program("tasks", "done", done["id"])
    program("remember", "not a task")
    titles = [item["title"] for item in program("tasks", "--json").json["items"]]
    assert titles == ["sooner", "later", "没有期限"]
    assert program("tasks", "list", "--json").json["items"]
    everything = program("tasks", "--all", "--json").json
    assert everything["total"] == 4


def test_tasks_list_filters_by_project_tag_words_and_time(program: Program) -> None:
    program("tasks", "add", "粉刷墙壁", "#家", "+reno", "--due", "2030-01-01")
    program("tasks", "add", "buy paint #家 #shop")
    for options, count in (
        (("--project", "reno"), 1),
        (("--tag", "家"), 2),
        (("--tag", "家", "--tag", "shop"), 1),
        (("-q", "墙壁"), 1),
        (("--due-before", "2030-01-02"), 1),
        (("--limit", "1"), 1),
        (("--stale",), 0),
    ):
        assert len(program("tasks", *options, "--json").json["items"]) == count, options
    assert "1 of 2" in program("tasks", "--limit", "1").out
    assert program("tasks", "--tag", "无").out == "No tasks.\n"


@pytest.mark.parametrize(
    ("action", "state", "word"),
    [
        pytest.param("done", "completed", "done", id="done"),
        pytest.param("archive", "archived", "archived", id="archive"),
        pytest.param("snooze", "active", "snoozed", id="snooze"),
        pytest.param("ignore", "active", "ignored", id="ignore"),
    ],
)
def test_tasks_actions_change_and_reopen_brings_back(
    program: Program, action: str, state: str, word: str
) -> None:
    item_id = program.item("tasks", "add", "浇花")["id"]
    said = program("tasks", action, item_id)
    assert said.out == f"{word}: 浇花  {item_id}\n"
    assert program.item("tasks", "show", item_id)["state"] == state
    program("tasks", "reopen", item_id)
    item = program.item("tasks", "show", item_id)
    assert item["state"] == "active"
    assert "snoozed_until" not in item


def test_tasks_snooze_until_a_time_in_words(program: Program) -> None:
    item_id = program.item("tasks", "add", "water")["id"]
    item = program.item("tasks", "snooze", item_id, "--until", "2030年1月1日")
    assert item["snoozed_until"].startswith("2030-01-01")


def test_tasks_done_of_a_recurring_task_moves_it(program: Program) -> None:
    item_id = program.item("tasks", "add", "倒垃圾", "--due", "2030-01-01 09:00")["id"]
    program("tasks", "edit", item_id, "--repeat", "weekly", "--every", "2")
    item = program.item("tasks", "done", item_id)
    assert (item["state"], item["due_at"][:10]) == ("active", "2030-01-15")
    assert "weekly, every 2" in program("tasks", "show", item_id).out


def test_tasks_edit_sets_and_an_empty_text_clears(program: Program) -> None:
    item_id = program.item("tasks", "add", "draft", "--due", "2030-01-01")["id"]
    edited = program.item(
        *("tasks", "edit", item_id, "--title", "写草稿", "--content", "很多字", "--project", ""),
        *("--tag", "一", "--tag", "two", "--startup", "8", "--pin", "--note", "开始了"),
    )
    assert (edited["title"], edited["content"], edited["tags"]) == (
        "写草稿",
        "很多字",
        ["一", "two"],
    )
    assert (edited["startup_priority"], edited["pinned"]) == (8, True)
    shown = program("tasks", "show", item_id).out
    assert "很多字" in shown
    assert "开始了" in shown
    cleared = program.item("tasks", "edit", item_id, "--due", "", "--tag", "", "--unpin")
    assert (cleared["due_at"], cleared["tags"], cleared["pinned"]) == (None, [], False)
    assert program.item("tasks", "edit", item_id, "--fact-key", "")["version"] == cleared["version"]


def test_tasks_edit_of_nothing_or_of_an_old_version_is_refused(program: Program) -> None:
    item_id = program.item("tasks", "add", "one")["id"]
    nothing = program("tasks", "edit", item_id)
    assert nothing.code == 2
    assert "nothing is to change" in nothing.err
    program("tasks", "edit", item_id, "--title", "two")
    late = program("tasks", "edit", item_id, "--title", "three", "--version", "1", "--json")
    assert (late.code, late.error["code"]) == (5, "version_conflict")


def test_tasks_delete_and_restore(program: Program) -> None:
    item_id = program.item("tasks", "add", "误删")["id"]
    assert item_id in program("tasks", "delete", item_id).out
    assert program("tasks").out == "No tasks.\n"
    program("tasks", "restore", item_id)
    assert "误删" in program("tasks").out


def test_tasks_show_of_a_past_time(program: Program) -> None:
    item_id = program.item("tasks", "add", "旧标题")["id"]
    program("tasks", "edit", item_id, "--title", "new title")
    assert program.item("tasks", "show", item_id, "--as-of", "1")["title"] == "旧标题"
    assert "旧标题" in program("tasks", "--as-of", "1").out


def test_tasks_focus_names_one_task_or_none(program: Program) -> None:
    assert program("tasks", "focus", "--json").json["item"] is None
    assert program("tasks", "focus").code == 0
    program("tasks", "add", "唯一的事", "--due", "2020-01-01")
    assert "唯一的事" in program("tasks", "focus").out


def test_tasks_show_draws_steps_and_relations(program: Program) -> None:
    async def prepare() -> tuple[str, str]:
        async with wire.open_app(str(program.data), {}) as local:
            door = Door(local.exchange)
            inner: JSON = {"text": "选颜色", "done": True}
            steps: JSON = [{"text": "buy paint", "steps": [inner]}, "刷墙"]
            whole = await door.call("create_item", {"title": "装修", "steps": steps})
            part = await door.call("create_item", {"title": "量尺寸"})
            ids = str(part_of(whole, "item")["id"]), str(part_of(part, "item")["id"])
            link: dict[str, JSON] = {"source_item_id": ids[1], "target_item_id": ids[0]}
            await door.call("add_relation", {**link, "relationship_type": "blocks"})
            return ids

    whole, part = asyncio.run(prepare())
    shown = program("tasks", "show", whole).out
    assert "- [ ] buy paint" in shown
    assert "  - [x] 选颜色" in shown
    assert f"← blocks {part}  量尺寸" in shown
    steps = program.item("tasks", "show", whole)["steps"]
    ticked = program.item(
        *("tasks", "edit", whole, "--tick", steps[1]["id"]),
        *("--untick", steps[0]["steps"][0]["id"]),
    )
    assert [step["done"] for step in ticked["steps"]] == [False, True]
    assert ticked["steps"][0]["steps"][0]["done"] is False
