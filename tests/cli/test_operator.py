"""Verify, rebuild, doctor and settings at the command line."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from tests.cli.running import Program

from remembrancer.local import wire


def test_verify_counts_and_says_whole(program: Program) -> None:
    program("tasks", "add", "一")
    assert "The ledger is whole." in program("verify").out
    assert program("verify", "--all", "--json").json["ok"] is True


def test_verify_of_a_changed_ledger_names_the_break(program: Program) -> None:
    program("tasks", "add", "一")
    with closing(sqlite3.connect(program.data / "remembrancer.db")) as raw, raw:
        raw.execute("UPDATE events SET body = replace(body, '一', '二')")
    broken = program("verify", "--json")
    assert broken.code == 7
    assert broken.error["code"] == "corrupt_data"
    assert "item/itm_" in broken.error["message"]
    assert program("verify").code == 7


def test_rebuild_tells_its_cost_and_keeps_everything(program: Program) -> None:
    item = program.item("tasks", "add", "重建", "#标签")
    assert program("rebuild", "--dry-run").out.startswith("would be rebuilt:")
    report = program("rebuild", "--json").json
    assert report["events"] >= 1
    assert "rebuilt:" in program("rebuild").out
    assert program.item("tasks", "show", item["id"]) == item


def test_doctor_tells_how_things_stand_without_secrets(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATBOX_API_KEY", "a-very-secret-key")
    program("tasks", "add", "一件事")
    report = program("doctor", "--json").json
    assert report["counts"]["tasks"] == 1
    assert report["health"]["status"] == "ok"
    assert report["store"]["database_check"] == "ok"
    assert report["warnings"] == []
    shown = {each["variable"]: each for each in report["settings"]}
    assert shown["CHATBOX_API_KEY"] == {
        "variable": "CHATBOX_API_KEY",
        "value": "***",
        "source": "environment",
    }
    assert shown["REMEMBRANCER_DATA"]["source"] == "command line"
    text = program("doctor").out
    assert "a-very-secret-key" not in text + str(report)
    assert "store version" in text


def test_doctor_tells_what_waits_to_be_embedded_and_why_nothing_is(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("tasks", "add", "一件事")
    vectors = program("doctor", "--json").json["vectors"]
    assert (vectors["items"], vectors["vectors"], vectors["outbox"]["waiting"]) == (1, 0, 1)
    assert vectors["dims"] > 0 and "canary" not in vectors
    monkeypatch.setenv("EMBEDDING_MODEL", "off")
    assert "EMBEDDING_MODEL is off" in program("doctor").out


def test_doctor_warns_of_files_that_others_can_open(program: Program) -> None:
    program("tasks")
    (program.data / "remembrancer.db").chmod(0o644)
    assert "chmod" in program("doctor").out


def test_settings_are_listed_set_and_reset(program: Program) -> None:
    assert "Asia/Singapore" in program("settings").out
    program("settings", "set", "time_zone", "Asia/Shanghai")
    program("settings", "set", "default_snooze_hours", "3")
    answer = program("settings", "--json").json
    assert answer["settings"]["time_zone"] == "Asia/Shanghai"
    assert answer["settings"]["default_snooze_hours"] == 3
    assert answer["sources"]["time_zone"] == "namespace"
    assert "Asia/Singapore" in program("settings", "reset", "time_zone").out
    for wrong in (("time_zone", "上海"), ("default_snooze_hours", "0"), ("nothing", "1")):
        assert program("settings", "set", *wrong).code == 2, wrong


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        pytest.param({"free_bytes": 1_000}, "1000 B are free", id="full-disk"),
        pytest.param({"database_check": "row 3 missing"}, "damaged", id="damaged"),
        pytest.param({"open_to_others": ["/数据"]}, "chmod", id="open"),
    ],
)
def test_doctor_warns_of_what_needs_a_hand(
    program: Program, monkeypatch: pytest.MonkeyPatch, facts: dict[str, object], word: str
) -> None:
    async def examine(*_: object) -> dict[str, object]:
        return {"database_check": "ok", "free_bytes": 2**50, "open_to_others": [], **facts}

    monkeypatch.setattr(wire, "examine", examine)
    shown = program("doctor").out
    assert "warning: " in shown
    assert word in shown


@pytest.mark.parametrize("how", ["no database", "zeros inside"])
def test_doctor_still_says_what_it_can_of_a_damaged_database(program: Program, how: str) -> None:
    for number in range(40):
        program("tasks", "add", f"任务 {number} " + "很长的标题" * 20)
    database = program.data / "remembrancer.db"
    raw = bytearray(database.read_bytes())
    if how == "no database":
        raw[:4_096] = b"x" * 4_096
    else:
        for offset in range(8_192, len(raw), 4_096):
            raw[offset : offset + 2_048] = bytes(2_048)
    database.write_bytes(raw)
    ran = program("doctor")
    assert ran.code == 7
    assert str(database) in ran.err and "remembrancer restore" in ran.err
    assert "database check" in ran.out and "remembrancer verify" not in ran.err
    told = program("verify", "--json")
    assert told.code == 7 and "remembrancer doctor" in told.error["hint"]
